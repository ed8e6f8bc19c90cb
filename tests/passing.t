# pmon attaches to a process of one thread just as the process stops for
# something else than pmon: a signal, a new process, an exec; or to one that has
# been stopped.  Its code is relocated all the same, so all that it calls is
# counted without traps.
use strict;
use warnings;
use lib 'tests/lib';
use POSIX qw(WNOHANG WUNTRACED);
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
	ok($target->counted, "$act: pmon counts");
	is($target->ask('.'), $done, "$act: it goes on");
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', "$act: pmon ends");
	counts_are($run, { work => 1000 }, $act);
	is($target->ask('.'), $done, "$act: it goes on alone");
	is($target->finish('q'), 'status 0', "$act: it ends");
}

# Stopped it stays, from its parent's view once, until it is continued.
sub
stops
{
	my ($pid, $what) = @_;

	kill STOP => $pid;
	is(waitpid($pid, WUNTRACED), $pid, "$what: it stops");
	return;
}

sub
stays
{
	my ($pid, $what) = @_;

	ok(wait_for(sub { status_of($pid, 'State') !~ /^R/ }),
	    "$what: it stands still");
	like(status_of($pid, 'State'), qr/^[tT]/, "$what: it is stopped");
	is(waitpid($pid, WUNTRACED | WNOHANG), 0, "$what: for the first time");
	return;
}

for my $options (['--units=func', '--no-traps'], ['--units=func,edge'],
    ['--units=func', '--patch=trap']) {
	my $what = "stopped, @$options";
	my $target = Target->new($prog, spew("$scratch/go", "\1" x 4096),
	    'caught');
	my $pid = $target->{pid};

	is($target->answer, 'ready', "$what: the process is ready");
	is($target->ask('.'), 'done, 1 caught, 0 cut', "$what: it runs");
	stops($pid, "$what, before");
	$target->tell('.');
	my $run = monitor_start([@$options, '-p', $pid], []);
	ok($target->counted, "$what: pmon counts");
	stays($pid, "$what, attached to");
	kill CONT => $pid;
	is($target->answer, 'done, 1 caught, 0 cut', "$what: it is continued");
	stops($pid, "$what, attached to");
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', "$what: pmon ends");
	counts_are($run, { work => 1000 }, $what);
	stays($pid, "$what, let go");
	kill CONT => $pid;
	is($target->ask('.'), 'done, 1 caught, 0 cut', "$what: it goes on");
	is($target->finish('q'), 'status 0', "$what: it ends");
}

done_testing;
