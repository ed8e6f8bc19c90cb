# pmon comes and goes at any moment: attached to and detached from processes
# that fork, execute and make threads all the time, or told to stop while the
# program it started does so.  The programs check themselves.  PMON_ATTACH=500
# says how often pmon attaches to each at least.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Time::HiRes qw(sleep);
use Pmon;

srand $seed;
my $least = $ENV{PMON_ATTACH} // 25;
my $forks = compile('forks.c', '-O1', '-pthread');
my $threads = compile('threads.c', '-O1', '-pthread');
my $signals = compile('signals.c', '-O1', '-pthread',
    '-Wno-unused-parameter');
# For each, an argument that keeps it busy for about a second.
my @busy = (
	[11, $forks, 'forks', 30, 4, 100000],
	[11, $forks, 'tree', 10],
	[11, $forks, 'vfork', 5000],
	[11, $forks, 'vforkexec', 800],
	[11, $forks, 'vforkfail', 5000],
	[11, $forks, 'vforkthreads', 500, 1000000],
	[11, $forks, 'spawn', 800],
	[11, $forks, 'system', 300],
	[11, $forks, 'threadfork', 400, 1000000],
	[11, $forks, 'chain', 800],
	[11, $forks, 'threadchain', 60],
	[11, $forks, 'storm', 3000],
	[11, $forks, 'killed', 1000],
	[0, $threads, 'storm', 1500, 10],
	[0, $threads, 'vanish', 4000, 10],
	[4, $signals, 'children', 2000],
	[4, $signals, 'mend', 50000],
	[4, $signals, 'blocked', 50000],
	[4, $signals, 'timer', 200000],
);

# The processes left of those that the program was, as /proc has them.
sub
left
{
	my ($pid) = @_;
	my @found;

	for my $stat (map { slurp($_) } glob '/proc/[0-9]*/stat') {
		my ($state, $group) = $stat =~ /\) (\S) \d+ (\d+)/ or next;
		push @found, $stat if $group == $pid && $state ne 'Z';
	}
	return @found;
}

# A leader is a zombie, too, while an exec in another thread waits for it.
sub
running
{
	my ($run) = @_;
	my @threads = glob "/proc/$run->{pid}/task/*";

	return @threads > 1 || slurp("/proc/$run->{pid}/stat") =~ /\) [^Z] /;
}

# Attach and detach once.  Is all well?  The process may have ended meanwhile.
sub
passing
{
	my ($target, $mode, $turn) = @_;
	my $patch = $patches[$turn % @patches];
	my $run = run([$pmon, "--patch=$patch", '--units=func',
	    '-o', '/dev/null', '-p', $target->{pid},
	    sprintf('--duration=%.4f', 0.0001 + rand 0.03)]);

	return 1 if ended($run) eq 'status 0' && complaints($run) eq '';
	return 1 if !running($target) &&
	    $run->{err} =~ /no such process|has ended|pmon ended/;
	diag "$mode, $patch: ", ended($run), ' ', $run->{err};
	return 0;
}

for my $case (@busy) {
	my ($status, @argv) = @$case;
	my $mode = $argv[1];

	# Attached and detached until it ends, and again if that was too soon.
	my ($times, $failed) = (0, 0);
	my @wrong;
	while ($times < $least) {
		my $target = start(\@argv);
		my $most = $times + ($least > 500 ? $least : 500);

		do {
			$failed += !passing($target, $mode, $times++);
		} while running($target) && $times < $most;
		$target = finish($target);
		push @wrong, ended($target) . ": $target->{err}"
		    if ended($target) ne "status $status";
	}
	is_deeply(\@wrong, [], "$mode: unharmed by $times times of pmon");
	is($failed, 0, "$mode: pmon attaches and detaches, seed $seed");

	# Started by pmon, which is soon told to stop.
	my ($wrong, $alive) = (0, 0);
	for my $patch (@patches) {
		my $run = start([$pmon, "--patch=$patch", '--units=func',
		    '-o', '/dev/null', '--', @argv]);
		sleep 0.01 + rand 0.1;
		kill TERM => $run->{pid};
		my $ended = wait_for(sub { !running($run) });
		# What it has started may take a moment to end.
		my @left;
		wait_for(sub { !(@left = left($run->{pid})) });
		diag "$mode, $patch: left: $_" for @left;
		$alive += @left;
		$run = finish($run);
		# It is told before it is ready to hear, or too late.
		next if $ended && ended($run) =~
		    /^(?:status (?:143|$status)|signal 15)$/;
		diag "$mode, $patch: ", ended($run), ' ', $run->{err};
		$wrong++;
	}
	is($wrong, 0, "$mode: told to stop, pmon ends");
	is($alive, 0, "$mode: and so do all that the program has started");
}

done_testing;
