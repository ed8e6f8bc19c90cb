# What the user names: functions, files and objects that are not there,
# processes, and files that are no programs.
use strict;
use warnings;
use lib 'tests/lib';
use File::Copy qw(copy);
use Test::More;
use Pmon;

my $program = compile('foreign.cc', '-O0');

# The program runs, and then pmon says what was wrong.
sub
says
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($options, $expect, $argv, $status) = @_;
	my $run = run([$pmon, @$options, '-o', "$scratch/report", '--',
		$argv ? @$argv : $program]);

	is(ended($run), 'status ' . ($status // 125), "@$options: status");
	is($run->{err}, "pmon: $expect\n", "@$options");
}

says(['--func=nevr'],
    '--func: nothing matches "nevr"; the nearest name is "never"');
says(['--func=doubled_'],
    '--func: nothing matches "doubled_"; the nearest name is "doubled"');
says(['--func=to_strng'],
    '--func: nothing matches "to_strng"; the nearest name is ' .
    '"std::__cxx11::to_string"');
says(['--func=quite another'], '--func: nothing matches "quite another"');
says(['--func=nev[a-d]r'], '--func: nothing matches "nev[a-d]r"');
says(['--file=foreing.cc'],
    '--file: nothing matches "foreing.cc"; the nearest name is "foreign.cc"');
says(['--line=foreign.c:3'],
    '--line: nothing matches "foreign.c"; the nearest name is "foreign.cc"');
says(['--object=nosuch'], '--object: nothing matches "nosuch"');
says(['--func=never', '--file=other.c'],
    'nothing matches --func, --file, --line and --object together');
says(['--func=nevr'],
    '--func: nothing matches "nevr"; the nearest name is "never"',
    [$program, 1 .. 5], 18);
for my $options (['--func=never'], ['--func=nevr', '--func=never'],
    ['--func=!never'], ['--file=foreign.cc'], ['--line=foreign.cc:1-99']) {
	my $run = run([$pmon, @$options, '-o', "$scratch/report", '--',
		$program]);

	is(ended($run) . $run->{err}, 'status 0', "@$options: it is there");
}

# pmprint says the same of a data file.
run([$pmon, '-o', "$scratch/report", "--data=$scratch/data", '--', $program]);
my $run = run(["$build/pmprint", '--report=funcs', '--func=nevr',
	"$scratch/data"]);
is(ended($run), 'status 125', 'pmprint --func=nevr');
is($run->{err}, 'pmprint: --func: nothing matches "nevr"; the nearest name ' .
    "is \"never\"\n", 'pmprint names the nearest name, too');

for my $options ([], ['--executed']) {
	$run = run(["$build/pmprint", '--func=nevr', @$options,
		"$scratch/data"]);
	is(ended($run) . $run->{err} . $run->{out}, 'status 125pmprint: ' .
	    '--func: nothing matches "nevr"; the nearest name is "never"' .
	    "\n", "pmprint @$options, of no function");
	$run = run(["$build/pmprint", '--func=doubled', @$options,
		"$scratch/data"]);
	is(join(' ', $run->{out} =~ /^ +\d+ +\d+  (\w+)/mg), 'doubled',
	    "pmprint @$options, of one function");
}
for my $case (['--object=nosuch', '--object: nothing matches "nosuch"'],
    ['--file=foreign.cc', '--file needs --report'],
    ['--line=foreign.cc:1', '--line needs --report']) {
	$run = run(["$build/pmprint", $case->[0], "$scratch/data"]);
	is(ended($run) . $run->{err}, "status 125pmprint: $case->[1]\n",
	    "pmprint $case->[0]");
}
for my $case (['--func=nevr', '--func needs --report'],
    ['--object=*', '--object needs --report'],
    ['-runcovered', '--func=nevr', '--func: nothing matches "nevr"; ' .
	'the nearest name is "never"']) {
	my $why = pop @$case;

	$run = run(["$build/pmprint", '--diff', @$case, "$scratch/data",
		"$scratch/data"]);
	is(ended($run) . $run->{err}, "status 125pmprint: $why\n",
	    "pmprint --diff @$case");
}

# ---- processes

my $name = "nm$$";
copy('/bin/cat', "$scratch/$name") and chmod 0755, "$scratch/$name" or die;
my (@pids, @pipes);
for (1, 2) {
	my $pid = open my $pipe, '|-', "$scratch/$name" or die;

	push @pids, $pid;
	push @pipes, $pipe;
}
ok(wait_for(sub {
	return 2 == grep { slurp("/proc/$_/comm") eq "$name\n" } @pids;
}), 'two processes run');
$run = run([$pmon, "--pid=$name", '--units=func', '--duration=0.01',
	"--report=summary:$scratch/report"]);
is(ended($run) . $run->{err}, 'status 0', 'processes by their name');
like(slurp("$scratch/report"), qr/, 2 processes, /, 'pmon counted both');
close $_ for @pipes;
$run = run([$pmon, "--pid=$name"]);
is(ended($run) . $run->{err},
    "status 125pmon: --pid: no process is named \"$name\"\n", 'none is left');

# pmprint replaces no file by a report of nothing.
{
	my $data = "$scratch/data";

	run([$pmon, "--data=$data", '--', compile('numbers.c', '-O0')]);
	spew("$scratch/kept", "kept\n");
	for my $options (["-rlcov:$scratch/kept"], ['-rfuncs', '-o',
	    "$scratch/kept"]) {
		$run = run(["$build/pmprint", '--func=nosuch', @$options,
		    $data]);
		is($run->{status}, 125, "pmprint @$options, of no function");
		is(slurp("$scratch/kept"), "kept\n", '... leaves the file');
	}
}

# ---- files that are no programs

spew("$scratch/script", "echo hello\n", 0755);
$run = run([$pmon, "$scratch/script"]);
is(ended($run) . $run->{err}, "status 125pmon: $scratch/script: no program: if " .
    "it is a script without #!, name its interpreter (pmon sh " .
    "$scratch/script)\n", 'a script that names no interpreter');
spew("$scratch/script", "\0\1\2", 0755);
$run = run([$pmon, "$scratch/script"]);
is(ended($run) . $run->{err},
    "status 125pmon: $scratch/script: not an ELF file\n", 'what is no text');
done_testing();
