# One short run of each kind of monitoring, with counts that follow from the
# programs: what `make check-fast` sees of pmon as a whole.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Counts;
use Faults;
use Ledger;
use Phases;
use Pmon;
use Simulated;
use Target;

# Whom nobody may not ask for options.
$ENV{HOME} = '/';
my $busy = compile('busy.c', '-O2', '-pthread');
my $forks = compile('forks.c', '-O0', '-pthread');
my $leave = compile('leave.c', '-O0', '-w', '-pthread');
my $threads = compile('threads.c', '-O0', '-pthread');

# ---- every patch and placement: the same counts of all that there is

my $lang = [compile('lang.c', '-O0', '-w')];
my $alone = run($lang);
my $whole;

for my $options ([qw(--placement=every --patch=step --eager)],
    [qw(--placement=optimal --patch=trap)],
    [qw(--placement=optimal --patch=emulate)], [qw(--placement=vertex)],
    [qw(--placement=optimal --patch=slot)], []) {
	my $run = counted($options, $lang);

	same($alone, $run, "statements @$options");
	$whole //= $run->{counts};
	is_deeply([counts_differ($whole, $run->{counts})], [],
	    "statements @$options: as many");
}
is_deeply(counts_unknown($whole), {}, 'all are known');
cmp_ok(scalar keys %$whole, '>', 1800, 'and there are many');

# ---- threads, processes, programs that load others

sub
counts
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($what, $argv, $expected, @options) = @_;
	my $run = monitor(\@options, $argv);

	same(run($argv), $run, $what);
	counts_are($run, $expected, $what);
	return $run;
}

lines_are(counts('threads', [$threads, qw(hammer 8 20)], { work => 8 * 20 }),
    'threads.c', annotated('tests/prog/threads.c', W => 8 * 20, T => 8,
    B => 8), 'threads');
counts('fork', [$forks, qw(forks 2 2 50)], { work => 3 * 2 * 50 });
counts('fork, none followed', [$forks, qw(forks 2 2 50)], { work => 2 * 50 },
    '--follow=none');
counts('vfork and exec', [$forks, qw(vforkexec 2)], { in_child => 2,
    in_parent => 2, leaf => 6 });
{
	my $lib = abs_path(compile('plug.c', '-O0', '-shared', '-fPIC',
	    '-fno-inline', '-DTAG=one'));

	counts('dlopen', [compile('dlopen.c', '-O0'), 2, 3, "$lib:one"],
	    { init_one => 2 + 1, helper_one => (2 + 1) * 3 },
	    '--object=*plug-*');
}

# ---- control that leaves otherwise than by returns

counts('longjmp', [$leave, 'longjmp'], { t_jump => 1 + 4 + 7 + 10 + 13,
    t_longjmp => 1 }, '--units=edge,func');
counts('faults', [$leave, 'faults'], { t_fault => 1 + 3 + 5 + 2,
    t_fault_other => 2 + 4 + 3, t_handler => 5 + 1 }, '--units=edge,func');
counts('exit', [$leave, 'exit'], { t_exit_deep => 21, t_atexit => 1 },
    '--units=edge,func');
counts('killed', [$leave, 'kill'], { t_kill => 21 }, '--units=edge,func');
same(run([compile('throw.cc', '-O2', '-w', '-pthread'), 'plain']),
    monitor(['--units=edge'], [compile('throw.cc', '-O2', '-w', '-pthread'),
    'plain']), 'exceptions');
killed_at(8, 'calls', ['--patch=auto']);
is(faulted('calls', [], 'ptrace:30:3'), '', 'a request that fails');

# ---- attached to, asked, let go

for my $options (['--units=func'], ['--units=func,line', '--patch=trap'],
    ['--units=func', '--no-traps']) {
	my ($target, $what) = (Target->new($busy, 4, 50), "attached @$options");

	is($target->answer, 'ready', "$what: the process is ready");
	my $run = monitor_start([@$options, '-p', $target->{pid}], []);
	# In time for the next: nobody works before the trap is there.
	ok(wait_for(sub { $target->planted('work') }), "$what: planted");
	is($target->ask('g'), 'done 200', "$what: it works");
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run) . $run->{err}, 'status 0', "$what: let go");
	counts_are($run, { work => 200, verified => 200 }, $what)
	    if "@$options" !~ /no-traps/;
	is($target->ask('t'), 'same', "$what: its text is the file's");
	is($target->status('TracerPid'), 0, "$what: it is not traced");
	is($target->finish('q'), 'status 21', "$what: it ends well");
}

$ENV{XDG_RUNTIME_DIR} = "$scratch/runtime";
for my $options ([], ['--once']) {
	my $server = begin(@$options);
	my @calls = map {
		my $what = $_;

		run([$pmon, '--reset', $server->{pid}]) if $what eq 'reset';
		order($what) if $what =~ /^a/;
		spew("$scratch/funcs", run([$pmon, '--query=funcs',
		    $server->{pid}])->{out});
		funcs_read("$scratch/funcs")->{work};
	} 'aaa', 'reset', 'aa';

	is("@calls", @$options ? '1 0 1' : '3 0 2', "phases @$options");
	is(ended(end()), 'status 0', 'the program ends');
}

# ---- data files, and programs without symbols

data_test($lang, 'statements');
SKIP: {
	skip 'no dash here', 3 unless -x '/usr/bin/dash';
	my @argv = ('/usr/bin/dash', '-c', 'echo $((2 + 2)) | cat');

	same(run(\@argv), monitor(['--units=func'], \@argv),
	    'stripped, and its children');
}

# ---- simulated machines, stubs

for my $case (['qemu-m68k', 'tests/m68k/shell-O0.m68k', 'qemu-user'],
    ['qemu-aarch64', 'tests/m68k/shell-O0.aarch64', 'qemu-user'],
    ['vax780', 'tests/vax/bishop.O0', 'simh']) {
	my ($simulator, $program, $package) = @$case;

	SKIP: {
		skip "$simulator is not installed ($package)", 1
		    if system("command -v $simulator >$scratch/version");
		bishop_test($program, $simulator);
	}
}
SKIP: {
	skip 'gdbserver is not installed (gdbserver)', 2
	    if system("command -v gdbserver >$scratch/version");
	my $program = compile('children.c', '-O1', '-pthread');
	my $here = counts_of(['--file=children.c'], [$program, 'none']);
	my $pid = open my $stub, '-|', 'exec gdbserver --once 127.0.0.1:0 ' .
	    "$program none 2>&1" or die;
	my $port;

	while (!$port && defined(my $line = <$stub>)) {
		($port) = $line =~ /^Listening on port (\d+)/;
	}
	my $run = counts_of(['--file=children.c',
	    "--remote=127.0.0.1:$port"], [$program]);
	is($run->{status}, 3, 'gdbserver: status');
	is_deeply($run->{insns}, $here->{insns}, 'gdbserver: instructions');
	1 while <$stub>;
	close $stub;
}

done_testing;
