# What happens to a task while it runs for pmon's sake: a step out of a copy, or a
# system call made in its name.  tests/prog/detour_at.c makes it happen then.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;
use Target;

my $program = compile('detours.c', '-O1', '-pthread');
my $inject = abs_path(compile('detour_at.c', qw(-O2 -shared -fPIC)));

# SI_TKILL is -6, SI_QUEUE -1.  It tells 0 if another than pmon sent it, or a
# value.  No handler sees it in memory of pmon's.
sub
came
{
	my ($n, $code, $tells) = @_;

	$tells //= 0;
	return "$n SIGTRAP, code $code, tells $tells, 0 elsewhere";
}

# One for each signal that was sent, which is one or more.
sub
came_often
{
	my ($code) = @_;

	return qr/^([1-9]\d*) SIGTRAP, code (??{ $code * $1 }), tells 0, 0 /;
}

# What makes it happen.
sub
env_of
{
	my ($how) = @_;

	return (env => { LD_PRELOAD => $inject, PMON_DETOUR => $how });
}

# Most of what it does is counting, so most signals find it in a copy.
# With `waits` the program has SIGTRAP blocked, and asks for it.
for my $n (1 .. 4, 'each') {
	# Of one that waits the library makes SI_USER of SI_TKILL.
	for my $case (['traps', -6], ['waits', 0]) {
		my ($mode, $code) = @$case;
		my $run = monitor(['--placement=every'], [$program, $mode],
		    env_of("step:$n"));

		is(ended($run), 'status 0', "SIGTRAP at step $n, $mode: " .
		    'how it ends');
		like($run->{out}, $n eq 'each' ? came_often($code) :
		    qr/^@{[quotemeta came(1, $code)]}$/,
		    'it comes, as it was sent');
	}
}

# One that waits all the time is not taken by a step.
{
	my $run = monitor(['--placement=every'], [$program, 'pending']);

	is(ended($run), 'status 0', 'SIGTRAP waits: how it ends');
	is($run->{out}, came(1, -1, 42) . "\n", 'it tells what was sent');
}

for my $n (1 .. 4, 'each') {
	my $target = Target->new($program, 'serve');
	my $came = $n eq 'each' ? came_often(-6) :
	    qr/^@{[quotemeta came(1, -6)]}$/;

	is($target->answer, 'ready', 'it is ready');
	my $run = monitor_start(['-p', $target->{pid}], [],
	    env_of("call:$n"));
	ok(wait_for(sub { $target->planted('work') }), 'pmon attaches');
	like($target->ask('w'), $came, "SIGTRAP at call $n: it comes");
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'pmon detaches');
	counts_are($run, { work => 1 }, 'it counts');
	like($target->ask('w'), $came, 'it goes on');
	is($target->finish, 'status 0', 'it ends well');
}

# A signal that the program waits for is not taken for one of pmon's own.
for my $how ('none', 'child') {
	my $run = monitor(['--units=func'], [compile('waits_chld.c')],
	    env_of($how));

	is(ended($run) . $run->{out}, 'status 0' .
	    ($how eq 'child' ? "got it\n" : "none\n"),
	    "SIGCHLD that another sends: $how");
}

# Another thread's exec takes the id of a thread that runs for pmon's sake.
SKIP: for my $how ('exec', 'exec:end') {
	my $run = monitor(['--placement=every'], [$program, 'exec'],
	    env_of($how));

	skip 'no userfaultfd(2) here', 3 if $run->{out} =~ /^no userfaultfd/;
	is(ended($run), 'status 0', "$how instead of a step: how it ends");
	is($run->{out}, "SIGUSR2 is blocked, SIGALRM is blocked\n",
	    'with the mask of the thread that executes');
	is($run->{funcs}{done}, 1, 'it is counted');
}

# One that forked is killed by another's exec before it tells of its child, which
# the new program waits for.
SKIP: for my $patch ('trap', 'auto') {
	my $run = monitor(["--patch=$patch"], [$program, 'forks'],
	    env_of('fork'));

	skip 'no userfaultfd(2) here', 3 if $run->{out} =~ /^no userfaultfd/;
	is(ended($run), 'status 0', "$patch: exec instead of a fork: how it ends");
	like($run->{out}, qr/child\nSIGUSR2 is blocked, SIGALRM is blocked\n\z/,
	    'its child has ended');
	is($run->{funcs}{work}, 1 + (() = $run->{out} =~ /^child$/mg),
	    'all children are counted');
}

# The task that unmaps pmon's memory is stopped for a signal: it gets that signal
# as it was sent, also where the call is made without a trap.
for my $ignores ([], ['ignores']) {
	my $target = Target->new($program, 'serve', @$ignores);
	my $file = "$scratch/pause";

	is($target->answer, 'ready', 'it is ready');
	my $run = monitor_start(['-p', $target->{pid}], [],
	    env_of("pause:$file"));
	ok(wait_for(sub { $target->planted('work') }), 'pmon attaches');
	$target->ask('w');
	spew($file, '');
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'a signal at the detach: pmon detaches');
	ok(!-e $file, 'the signal was sent');
	unlike($run->{report}, qr/stays\s+mapped/, 'its memory is gone');
	is($target->answer, 'SIGUSR1, code -1, value 42', 'as it was sent');
	# Others may be ignored by whoever started the tests.
	is(hex(substr $target->status('SigIgn'), -2) & 0x10,
	    $ignores->[0] ? 0x10 : 0, 'SIGTRAP is as it was');
	is($target->finish, 'status 0', 'it ends well');
}

# Without breakpoints no hook tells what becomes of SIGTRAP.  Each step would take
# away that it is ignored; or its handler, behind one that was sent.
for my $case (['ignores', 'none', 0, 0], ['step:1', 'step:1', 1, -6]) {
	my ($name, $env, $n, $code) = @$case;
	my $ignores = $name eq 'ignores';
	my $target = Target->new($program, 'serve', $ignores ? $name : ());
	my $handled = $ignores ? 'SigIgn' : 'SigCgt';
	my $actions = $target->answer eq 'ready' && $target->status($handled);

	my $run = monitor_start(['--no-traps', '-p', $target->{pid}], [],
	    env_of($env));
	ok(wait_for(sub { $target->planted('work') }),
	    "--no-traps, $name: pmon attaches");
	# Handlers see where they return to, which is in a copy.
	like($target->ask('a'), qr/^$n SIGTRAP, code $code,/,
	    'signals come');
	is($target->status($handled), $actions, 'SIGTRAP is as it was');
	kill INT => $run->{pid};
	is(ended(monitor_finish($run)), 'status 0', 'pmon detaches');
	is($target->status($handled), $actions, 'SIGTRAP is as it was');
	is($target->finish, 'status 0', 'it ends well');
}

done_testing();
