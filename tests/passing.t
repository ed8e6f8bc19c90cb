# pmon attaches to a process of one thread just as the process stops for
# something else than pmon: a signal, a new process, an exec.  Its code is
# relocated all the same, so all that it calls is counted without traps.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Target;

my $prog = compile('acts.c', '-O1');
my $preload = compile('act_at.c', '-shared', '-fPIC');

for my $case (['caught', 1], ['ignored', 0], ['fork', 0], ['vfork', 0],
    ['exec', 0], ['waits', 0]) {
	my ($act, $caught) = @$case;
	my $control = spew("$scratch/$act", "\0" x 4096);
	my $target = Target->new($prog, $control, $act);
	my $done = "done, $caught caught, 0 cut";

	is($target->answer, 'ready', "$act: the process is ready");
	my $run = monitor_start(['--units=func', '--no-traps', '-p',
	    $target->{pid}], [], env => { PMON_ACT => $control,
	    LD_PRELOAD => join ' ', $preload, $ENV{LD_PRELOAD} // () });
	ok(wait_for(sub { return run([$pmon, '--query',
	    $target->{pid}])->{status} == 0; }), "$act: pmon counts");
	is($target->ask('.'), $done, "$act: it goes on");
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', "$act: pmon ends");
	counts_are($run, { work => 1000 }, $act);
	is($target->ask('.'), $done, "$act: it goes on alone");
	is($target->finish('q'), 'status 0', "$act: it ends");
}

done_testing;
