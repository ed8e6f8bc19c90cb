# Options from files: which files, what may stand in them, and who is believed.
use strict;
use warnings;
use lib 'tests/lib';
use File::Path qw(make_path);
use Test::More;
use Pmon;

my $home = "$scratch/home";
my $project = "$scratch/project";
my $below = "$project/src/deep";
make_path("$home/.config", $below);

# Run pmon on `true`, in a directory; what it says is hash of run.
sub
pmon
{
	my (@args) = @_;

	return run([$pmon, @args, 'true'], dir => $below, env => {
		HOME => $home, XDG_CONFIG_HOME => '' });
}

sub
says
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($files, $args, $expect, $what, $status) = @_;

	for ("$project/.pmonrc", "$home/.config/pmon", "$below/.pmonrc") {
		unlink $_;
	}
	for (keys %$files) {
		my $path = $_ eq 'user' ? "$home/.config/pmon" :
		    $_ eq 'project' ? "$project/.pmonrc" : "$below/.pmonrc";

		spew($path, $files->{$_}, 0644);
	}
	my $run = pmon(@$args);
	is(ended($run), 'status ' . ($status // 0), "$what: status")
	    or diag($run->{err});
	like($run->{err}, $_, $what) for ref $expect eq 'ARRAY' ? @$expect :
	    $expect;
	return $run;
}

my $funcs = qr/\AFunctions of true\n/;
my $edges = qr/\ABranches/;
my $summary = qr/\ACounts of true\n/;

says({}, [], $summary, 'no file');
says({ project => "report = funcs\n" }, [], $funcs, 'a file further up');
says({ project => "report=edges", deep => "# a comment\n\n\treport\t=  funcs \r" },
    [], $funcs, 'the nearest is taken, blanks do not matter');
says({ user => "report = funcs\n" }, [], $funcs, "the user's own");
says({ user => "report = funcs\n", project => "report = uncovered\n" }, [],
    qr/\ALines never run/, "the project's goes first");
says({ user => "report = funcs\n", project => "units = func,line\ntop = 3\n" },
    [], $funcs, "and the rest is the user's");
says({ user => "report = funcs\n" }, ['--report=summary'], $summary,
    'an option that is given is not taken from a file');
says({ user => "report = funcs\n" }, ['-rsummary'], $summary,
    'nor if it is one letter');
says({ user => "nonsense\n", project => "nonsense\n" }, ['--no-config'],
    $summary, '--no-config');
says({ project => "report = funcs\nreport = summary\n" }, [],
    [$funcs, qr/^Counts of/m], 'what may be repeated may be so there');
my $run = run([$pmon, 'true'], dir => $below, env => { HOME => $home,
	XDG_CONFIG_HOME => "$project" });
like($run->{err}, $funcs, 'XDG_CONFIG_HOME/pmon')
    if spew("$project/pmon", "report=funcs") && unlink("$project/.pmonrc") &&
    ($run = run([$pmon, 'true'], dir => $below, env => { HOME => $home,
	XDG_CONFIG_HOME => $project }));
unlink "$project/pmon";

# ---- mistakes, with their place

for (["\nfunc=a\nbogus = 1\n", ':3: unknown option "bogus"'],
    ["eager = yes\n", ':1: eager takes no argument'],
    ["func\n", ':1: func needs GLOB'],
    ["top = many\n", ':1: --top: "many" is not a number'],
    ["repor = funcs\n", ':1: unknown option "repor"']) {
	says({ project => $_->[0] }, [],
	    qr/\Apmon: \Q$project\E\/.pmonrc\Q$_->[1]\E\n\z/,
	    "refused: $_->[1]", 125);
}
says({ project => "eager\0\n" }, [], qr/pmonrc: contains a zero byte/,
    'a zero byte', 125);
says({ project => "#" x 70000 }, [], qr/pmonrc: longer than 65536/,
    'too long', 125);

# ---- what a project must not say

for my $line ("output = $scratch/bad", "data = $scratch/bad", 'data',
    'remote = localhost:1', 'host = qemu', "report = funcs:$scratch/bad",
    "weights = $scratch/bad", 'pid = 1', 'no-config', 'help', 'version',
    'completion = bash') {
	says({ project => "$line\n" }, [],
	    qr/\Apmon: \Q$project\E\/.pmonrc:1: .*only the command line/,
	    "not for a project: $line", 125);
}
ok(!-e "$scratch/bad", 'nothing is written');
says({ user => "output = $scratch/good\n" }, [], qr/\A\z/,
    'the user himself may');
like(slurp("$scratch/good"), $summary, 'and it is done');
says({ user => "pid = 1\n" }, [],
    qr/config\/pmon:1: pid: only the command line may/, 'but not this', 125);

# ---- the environment

for my $case (['--report=funcs', $funcs, 'PMON_OPTIONS'],
    [" \t--top=3\n--report=funcs ", $funcs, 'several words'],
    ['--report=funcs', $summary, 'the command line goes first',
	'--report=summary'],
    ['--report=funcs', qr/\ALines never run/, '--no-config', '--no-config',
	'--report=uncovered'],
    ['--no-such', qr/\Apmon: PMON_OPTIONS: unknown option "no-such"$/m,
	'an unknown option'],
    ['funcs', qr/\Apmon: PMON_OPTIONS: "funcs" does not begin with --$/m,
	'no option'],
    ['--pid=1', qr/\Apmon: PMON_OPTIONS: pid: only the command line may/,
	'not everything']) {
	my ($words, $expect, $what, @args) = @$case;

	local $ENV{PMON_OPTIONS} = $words;
	spew("$home/.config/pmon", "report = edges\n", 0644);
	like(pmon(@args)->{err}, $expect, "the environment: $what");
}
unlink "$home/.config/pmon";

# ---- whom to believe

says({ project => "report = funcs\n" }, [], $funcs, 'believed');
chmod 0664, "$project/.pmonrc";
$run = pmon();
like($run->{err},
    qr/\Apmon: \Q$project\E\/.pmonrc: not read: writable by others\nCounts of/,
    'a file that others may write is not read');
chmod 0644, "$project/.pmonrc";
SKIP: {
	skip 'only root can give files away', 2 if $>;
	chown 12345, 12345, "$project/.pmonrc";
	$run = pmon();
	like($run->{err}, qr/pmonrc: not read: owned by another user\nCounts/,
	    "nor another user's");
	is($run->{status}, 0, 'but that is no error');
}
unlink "$project/.pmonrc";
mkdir "$project/.pmonrc";
like(pmon()->{err}, qr/\.pmonrc: not read: not a regular file\n/,
    'nor a directory');
rmdir "$project/.pmonrc";
system('mkfifo', "$project/.pmonrc");
like(pmon()->{err}, qr/\.pmonrc: not read: not a regular file\n/, 'nor a pipe');

done_testing;
