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

# SI_TKILL is -6, SI_USER 0.
sub
came
{
	my ($n, $code) = @_;

	return "$n SIGTRAP, code $code";
}

# What makes it happen.
sub
env_of
{
	my ($how) = @_;

	return (env => { LD_PRELOAD => $inject, PMON_DETOUR => $how });
}

# Most of what it does is counting, so most signals find it in a copy.
for my $n (1 .. 4) {
	my $run = monitor(['--placement=every'], [$program, 'traps'],
	    env_of("step:$n"));

	is(ended($run), 'status 0', "SIGTRAP at step $n: how it ends");
	is($run->{out}, came(1, -6) . "\n", 'it comes, as it was sent');
}

for my $n (1 .. 4) {
	my $target = Target->new($program, 'serve');

	is($target->answer, 'ready', 'it is ready');
	my $run = monitor_start(['-p', $target->{pid}], [],
	    env_of("call:$n"));
	ok(wait_for(sub { $target->planted('work') }), 'pmon attaches');
	is($target->ask('w'), came(1, -6), "SIGTRAP at call $n: it comes");
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'pmon detaches');
	counts_are($run, { work => 1 }, 'it counts');
	is($target->ask('w'), came(1, -6), 'it goes on');
	is($target->finish, 'status 0', 'it ends well');
}

SKIP: {
	my $run = monitor(['--placement=every'], [$program, 'exec'],
	    env_of('exec'));

	skip 'no userfaultfd(2) here', 3 if $run->{out} =~ /^no userfaultfd/;
	is(ended($run), 'status 0', 'exec instead of a step: how it ends');
	is($run->{out}, "SIGUSR2 is blocked, SIGALRM is blocked\n",
	    'with the mask of the thread that executes');
	is($run->{funcs}{done}, 1, 'it is counted');
}

done_testing();
