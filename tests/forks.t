# Processes: fork, vfork, exec, spawn, daemons, with threads or without.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;

my $program = compile('forks.c', '-O0', '-pthread');
my $fast = compile('forks.c', '-O2', '-pthread', '-no-pie');

# Arguments, the calls in all processes, those in the first alone.
my $turn = 0;
my @modes = (
	['forks 4 4 50', { work => 5 * 4 * 50 }, { work => 4 * 50 }],
	['tree 4', { node => 31 }, { node => 1 }],
	['vfork 20', { in_child => 40, in_parent => 20 }, { in_parent => 20 }],
	['vforkexec 8', { in_child => 8, in_parent => 8, leaf => 24 },
	    { in_parent => 8, in_child => 0, leaf => 0 }],
	['vforkfail 20', { in_child => 20, in_parent => 20 },
	    { in_child => 0, in_parent => 20 }],
	['vforkthreads 6 200', { in_child => 6, in_parent => 6, leaf => 18,
	    work => 800 }, { in_child => 0, in_parent => 6, leaf => 0,
	    work => 800 }],
	['spawn 8', { in_parent => 8, leaf => 16 },
	    { in_parent => 8, leaf => 0 }],
	['system 4', { leaf => 8 }, { leaf => 0 }],
	['daemon 50', { work => 50 }, { work => 0 }],
	['threadfork 8 200', { in_child => 32, work => 800 },
	    { in_child => 0, work => 800 }],
	['chain 12', { work => 13, main => 13 }, { work => 13 }],
	['storm 100', { in_child => 100 }, { in_child => 0 }],
	['killed 12', {}, {}],
);
for my $patch (@patches) {
	for my $case (@modes) {
		my ($args, $all, $first) = @$case;

		# By turns one of them.
		for my $prog ($slow ? ($program, $fast) :
		    ($program, $fast)[$turn++ % 2]) {
			my @argv = ($prog, split ' ', $args);
			my $alone = run(\@argv);
			my $what = "$patch, $args" .
			    ($prog eq $fast ? ', -O2' : '');
			my $run = monitor(["--patch=$patch",
			    '--units=func'], \@argv);

			same($alone, $run, $what);
			counts_are($run, $all, $what);
			$run = monitor(["--patch=$patch", '--units=func',
			    '--follow=none'], \@argv);
			same($alone, $run, "$what, none followed");
			counts_are($run, $first, "$what, none followed");
		}
	}
}

# exec in a thread ends the others at whatever they are doing.
for my $patch (@patches) {
	for my $time (1 .. 5) {
		my $run = monitor(["--patch=$patch", '--units=func'],
		    [$program, 'threadexec', 20]);

		is(ended($run), 'status 42', "$patch: exec in a thread");
		counts_are($run, { leaf => 20, in_parent => 1, execer => 1 },
		    "$patch: exec in a thread");
	}
}

# The program ends, a child does not: it is counted to its end.
for my $patch (@patches) {
	my $run = monitor(["--patch=$patch", '--units=func'],
	    [$program, 'orphan', 30]);

	is(ended($run), 'status 11', "$patch: the status of the program");
	counts_are($run, { work => 30 }, "$patch: its orphan counts");
}

# Lines too.
for my $patch (@patches) {
	my $run = monitor(["--patch=$patch"], [$program, 'forks', 3, 3, 20]);

	lines_are($run, 'forks.c', annotated('tests/prog/forks.c',
	    W => 4 * 3 * 20), "$patch: forks with lines");
}

# Functions that are first called while another process, which has the same
# traps, is ending.
my $dying = compile('dying.c', '-O1', '-w');
my $kill = abs_path(compile('kill_at.c', qw(-O2 -shared -fPIC)));

# How often each of its 200 functions calls work(), or nothing if that is unknown:
# a child that is killed between pmon's look at it and its resuming it runs past
# its last stop, of which pmon is not told then.
sub
dying
{
	my ($what, $patch, $args, @opt) = @_;
	my $run = run([$pmon, "--patch=$patch",
		"--report=calls:$scratch/calls,summary:$scratch/summary",
		'--', $dying, @$args], @opt);
	my @calls = slurp("$scratch/calls") =~ /^ *(\d+|\?) .* work$/mg;

	is($run->{status}, 0, "$what: its status");
	return @calls unless slurp("$scratch/summary") =~
	    /: a thread ended or was interrupted at an unknown instruction$/m;
	is_deeply(\@calls, [('?') x 200], "$what: no call is known");
	return ();
}

for my $patch ('trap', 'auto') {
	my @calls = dying("$patch, dying", $patch, []);

	is_deeply(\@calls, [(3) x 200],
	    "$patch, dying: each of 200 functions makes 3 calls") if @calls;
	is_deeply([dying("$patch, dying as it is resumed", $patch, ['begun'],
	    env => { LD_PRELOAD => $kill, PMON_KILL_BORN => 1 })], [],
	    "$patch, dying as it is resumed: that is unknown");
	# Most runs know it.
	if ($slow) {
		my $unknown = grep { !dying("$patch, dying", $patch, []) } 1 .. 40;

		cmp_ok($unknown, '<', 4, "$patch, dying: known in most runs");
	}
}

# A script: its interpreter runs, and what that starts is counted.
my $script = spew("$scratch/script", <<"END", 0755);
#!/bin/sh
echo one
$program leaf 4 || echo two \$?
( $program leaf 5; exit 9 ) | cat
$program vforkexec 2 &
wait \$!
echo three \$?
exec $program leaf 6
END
# One whose interpreter is missing is not what is missing.
my $orphan = spew("$scratch/orphan", "#! $scratch/none -x\n", 0755);
my $refused = monitor(['--units=func'], [$orphan]);

is($refused->{status}, 125, 'no interpreter: status 125');
like($refused->{err} . ($refused->{report} // ''),
    qr{^pmon: \Q$orphan\E: interpreter \Q$scratch/none\E: No such file}m,
    '  and the message names it');

for my $patch (@patches) {
	my $alone = run([$script]);
	my $run = monitor(["--patch=$patch", '--units=func',
	    '--object=' . $program], [$script]);

	is($alone->{status}, 42, 'the script ends as its last program');
	same($alone, $run, "$patch, script");
	counts_are($run, { leaf => 4 + 5 + 2 * 3 + 6, in_child => 2 },
	    "$patch, script");
	$run = monitor(["--patch=$patch", '--units=func'], [$script]);
	same($alone, $run, "$patch, script and its shell");
	counts_are($run, { leaf => 4 + 5 + 2 * 3 + 6, in_child => 2 },
	    "$patch, script and its shell");
}

# A program's auxiliary vector is read once, or twice if another one ends between
# its beginning and the loading of its libraries; and whether a child has ended
# is asked only if something has that nothing is known of.
my $opens = abs_path(compile('opens.c', '-O1', '-shared', '-fPIC', '-ldl'));
my $spawned = monitor(['--units=func'], [$program, 'spawn', 40],
    env => { LD_PRELOAD => join(' ', $opens, $ENV{LD_PRELOAD} // ()) });
my ($vectors) = $spawned->{err} =~ /opened auxv (\d+) times/;
my ($states) = $spawned->{err} =~ /opened stat (\d+) times/;
cmp_ok($vectors, '<=', 2 * 41, '40 children: their vectors are read once');
is($states // 0, 0, '  and nobody asks whether they have ended');

done_testing;
