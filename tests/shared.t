# Programs that may set the gs register: all threads share the counters of
# relocated functions, which are found without a register.
use strict;
use warnings;
use lib 'tests/lib';
use IO::Socket::UNIX;
use Test::More;
use Counts;
use Left;
use Pmon;
use Target;

$ENV{HOME} = '/';

my @every = qw(--patch=slot --placement=every);

# The program may set gs, and counts in relocated functions all the same.
sub
shares
{
	my ($options, $argv, $what) = @_;
	my $run = monitor($options, $argv);

	like($run->{report}, qr/relocated\s+functions?\s+entered/,
	    "$what: relocated");
	unlike($run->{report}, qr/may\s+use\s+the\s+gs/, "$what: not by traps");
	return $run;
}

# All counts are those of traps that infer nothing.
sub
equal
{
	my ($what, $argv, %opt) = @_;
	my $alone = run($argv, %opt);
	my $expected = counted(\@every, $argv, %opt);

	same($alone, shares([], $argv, $what), $what);
	for my $options ([], ['--placement=every'], ['--units=func'],
	    ['--units=edge'], ['--units=insn', '--eager']) {
		my $run = counted($options, $argv, %opt);
		my @bad = counts_differ($expected->{counts}, $run->{counts},
		    scalar grep { /units/ } @$options);
		my $unknown = counts_unknown($run->{counts});

		same($alone, $run, "$what @$options");
		is(scalar @bad, 0, "$what @$options: as many") or
		    diag map { "$_\n" } splice @bad, 0, 20;
		# A dispatch needs memory of each thread's own.
		delete $unknown->{table} if $opt{tables};
		is_deeply($unknown, {}, "$what @$options: all are known");
	}
}

sub
may_gs
{
	my ($source, @flags) = @_;

	return compile([(ref $source ? @$source : $source), 'may_gs.S'],
	    '-w', @flags);
}

my $observe = may_gs('observe.c', '-O2', '-pthread');

equal('calls', [may_gs(['calls.c', 'calls_asm.S'], '-O2'), 3]);
equal('statements', [may_gs('lang.c', '-O0')]);
equal('not position-independent', [may_gs('lang.c', '-O2', '-no-pie')]);
equal('jump tables', [may_gs('lang.c', '-Os')], tables => 1);
equal('exceptions', [may_gs('except.cc', '-O2'), 1]);
equal('threads', [may_gs('threads.c', '-O2', '-pthread'), qw(hammer 3 20)]);
equal('forks', [may_gs('forks.c', '-O1', '-pthread'), qw(forks 2 2)]);
equal('vforks', [may_gs('forks.c', '-O1', '-pthread'), qw(vforkexec 2)]);
equal('signals', [may_gs('signals.c', '-O0', '-pthread'), 'kinds']);
# Stacks that end where nothing tells: nothing is derived from them.
equal('coroutines', [may_gs('coroutines.c', '-O1')]);
equal("observe @$_", [$observe, @$_])
    for ['contexts', 25], ['codes', 40], ['server', 17], ['chain', 4];

# Counters are placed where no flags are in use, if they can be.
for my $argv ([may_gs('lang.c', '-O0')], [may_gs('lang.c', '-Os')],
    [may_gs('except.cc', '-O2'), 1]) {
	run([$pmon, '--units=edge', "--report=sites:$scratch/sites", '--',
		@$argv]);
	unlike(slurp("$scratch/sites"), qr/flags are in use|^$/,
	    "@$argv: no traps for flags");
}

# The linker's stubs take no flags on to the functions that they lead to.
{
	run([$pmon, '--units=insn', "--report=sites:$scratch/sites", '--',
		may_gs('lang.c', '-O2')]);
	unlike(slurp("$scratch/sites"), qr/\@plt|^$/,
	    'no traps in stubs for flags');
}

# So many threads of two processes at once that each counter would lose some if
# its addition were not locked.
my $share = may_gs('share.c', '-O1', '-pthread');
{
	my $n = $slow ? 1000000 : 100000;
	my $argv = [$share, 'hammer', 4, $n];
	my $run = shares(['--units=func,edge'], $argv, 'hammer');

	same(run($argv), $run, 'hammer');
	counts_are($run, { work => 8 * $n, thread => 8, hammer => 1 }, 'hammer');
}

# Where nothing may be mapped it is counted by traps, and the reason is true.
{
	my @argv = ('sh', '-c', "ulimit -S -f 1; exec $share gs");
	my $run = monitor(['--units=func'], \@argv);

	is($run->{out}, "gs 0\n", 'small files: its output');
	like($run->{report}, qr/by\s+traps:.*\(RLIMIT_FSIZE\)/s, 'it is said');
	counts_are($run, { work => 2000 }, 'small files');
}

# Processes apart need counters apart; a child that is not followed must count
# nowhere.
for my $option ('--separate=process', '--separate=thread', '--follow=none') {
	my $argv = [$share, 'hammer', 2, 50];
	my $run = monitor(['--units=func', $option], $argv);

	same(run($argv), $run, $option);
	like($run->{report}, qr/may\s+use\s+the\s+gs/, "$option: by traps");
	counts_are($run, { work => 2 * 50 }, $option)
	    if $option eq '--follow=none';
}

# Read while two processes live that count in the same page.
{
	local $ENV{XDG_RUNTIME_DIR} = "$scratch/runtime";
	mkdir $ENV{XDG_RUNTIME_DIR}, 0700 or die;
	my $target = Target->new($pmon, '--units=func', "--report=summary:$scratch/pair", '--',
	    $share, 'pair');

	is($target->answer, 'ready', 'pair: ready');
	for my $request ('live', 'live still', 'live') {
		my $socket = IO::Socket::UNIX->new(
			Peer => glob "$ENV{XDG_RUNTIME_DIR}/pmon/*.sock") or
		    die $!;
		my $answer = '';

		syswrite $socket, "$request\n";
		shutdown $socket, 1;
		1 while sysread $socket, $answer, 65536, length $answer;
		like($answer, qr/^f 200 work$/m, "pair: $request");
	}
	is($target->finish, 'status 0', 'pair: it ends');
}

# Attached to, also where gs is in use already: all calls are counted, and all is
# as before when pmon lets go.
for my $flag ('-UGS', '-DSET_GS') {
	my $target = Target->new(may_gs('busy.c', '-O2', '-pthread', $flag),
	    4, 100);

	is($target->answer, 'ready', "$flag: ready");
	my $before = process_state($target->{pid});
	for my $units ('func', 'func,edge') {
		my $run = monitor_start(["--units=$units", '-p',
			$target->{pid}], []);

		ok(wait_for(sub { text_changes($target->{pid}) }),
		    "$flag: attached");
		is($target->ask('g') =~ s/\d+//r, 'done ', "$flag: works");
		is($target->ask('f'), 'child 33', "$flag: its child works");
		kill INT => $run->{pid};
		$run = monitor_finish($run);
		is(ended($run), 'status 0', "$flag: pmon ends");
		is(complaints($run), '', "$flag: without a word");
		unlike($run->{report}, qr/by\s+traps:\s+\S+\s+(may|the gs)/,
		    "$flag: not by traps");
		counts_are($run, { work => 500, verified => 400, child => 1 },
		    "$flag, $units");
		is_deeply(process_state($target->{pid}), $before,
		    "$flag: all is as before");
		like($target->ask('g'), qr/^done /, "$flag: it works on");
	}
	is($target->finish('q'), 'status 21', "$flag: it ends well");
}

# What the program does to the counters.
{
	my $run = shares(['--units=func'], [$share, 'gs'], 'gs');

	is($run->{out}, "gs 0\n", 'the register is not touched');
	counts_are($run, { work => 2000 }, 'gs');
}
{
	my $run = monitor(['--units=func,edge'], [$share, 'kill']);

	is(ended($run), 'status 137', 'kill: it is killed');
	counts_are($run, { work => 2000, works => 2 }, 'kill');
}
for my $how (qw(zero restore unmap)) {
	my $run = monitor(['--units=func'], [$share, $how]);

	is($run->{out}, "gs 0\n", "$how: its output");
	counts_are($run, { work => '?' }, $how);
	like($run->{report}, qr/the\s+program\s+changed\s+the\s+counters/,
	    "$how: why");
}

done_testing;
