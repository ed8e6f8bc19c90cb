# A process (tests/prog/orphan.c) whose monitor is killed just before one of its
# ptrace requests (tests/prog/fault_at.c): it goes on as if there had been none.
package Orphans;

use strict;
use warnings;
no warnings 'portable';
use Cwd qw(abs_path);
use Exporter qw(import);
use Left;
use Pmon;
use Target;

our @EXPORT = qw(followed interrupted orphan orphaned left_by);

my ($READ, $WAIT4, $TGKILL, $USR1) = (0, 61, 234, 10);
my $program = compile('orphan.c', '-O1', '-pthread');
my $inject = abs_path(compile('fault_at.c', qw(-O2 -shared -fPIC)));
# The number of the call that the first thread is in.
my %calls = (read => $READ, late => $READ, threads => $READ, sleep => 230,
	futex => 202, poll => 7, epoll => 232, suspend => 130);
my $answer = 210;

# What signals each thread blocks and has pending.
sub
signals
{
	my ($pid) = @_;

	return join ' ', map { slurp($_) =~ /^(?:S\w+Pnd|SigBlk):\s+(\w+)/mg }
	    sort glob "/proc/$pid/task/*/status";
}

# Do the first thread and the one that reads wait for what they wait for?  A
# thread that makes or begins another blocks signals.
sub
ready
{
	my ($pid, $mode) = @_;
	my $call = $calls{$mode};
	my @calls = map { slurp($_) } glob "/proc/$pid/task/*/syscall";

	return slurp("/proc/$pid/task/$pid/syscall") =~
	    (defined $call ? qr/^($call|219) / : qr/^running/) &&
	    signals($pid) =~ /^[0 ]+$/ &&
	    grep { /^$READ / } @calls;
}

# Does the first thread wait again, or run, which does not show in `spin`?  What
# the process is told to do at its end may come before a thread that pmon woke
# is back in its call, and the call then fails as it would without pmon.
sub
rests
{
	my ($pid, $mode) = @_;

	return $mode eq 'spin' || has_ended($pid) ||
	    slurp("/proc/$pid/task/$pid/syscall") =~ /^\d/;
}

sub
orphan
{
	my ($mode) = @_;
	my $target = Target->new($program, $mode);

	wait_for(sub { ready($target->{pid}, $mode) });
	return $target;
}

sub
attached
{
	my ($pmon, $target, $mode) = @_;

	return 1 if has_ended($pmon);
	return slurp("/proc/$pmon/syscall") =~ /^$WAIT4 / &&
	    $target->status('TracerPid') == $pmon &&
	    ready($target->{pid}, $mode);
}

# Another pmon attaches and counts what it is asked to count.
sub
again
{
	my ($target, $mode) = @_;
	my $run = monitor_start(['--no-config', '-p', $target->{pid}], []);

	wait_for(sub { attached($run->{pid}, $target, $mode) });
	my $out = $target->ask('w');
	kill TERM => $run->{pid};
	$run = monitor_finish($run);
	my $calls = $run->{funcs}{leaf} // 'nothing';

	return $out eq $answer && $calls eq '20' ? () :
	    "another pmon: $out, $calls calls of leaf: $run->{err}";
}

# How the process ended that its monitor left; 'traps' if a breakpoint in its
# text ended it.
sub
death
{
	my ($target, $how, $text) = @_;

	return $how eq 'signal 5' && $text ? 'traps' : $how;
}

# Send pmon a signal while it counts.  How it ends, what the process answers
# then and says at the end, and how the process ends.
sub
left_by
{
	my ($signal, $mode, $options) = @_;
	my $target = orphan($mode);
	my $run = start([$pmon, '--no-config', @$options,
		"--report=summary:$scratch/orphan", '-p', $target->{pid}]);

	wait_for(sub { attached($run->{pid}, $target, $mode) &&
	    text_changes($target->{pid}) || has_ended($run->{pid}) });
	kill $signal => $run->{pid};
	my $end = finish($run);
	my $out = $target->ask('w');
	wait_for(sub { rests($target->{pid}, $mode) });
	$target->tell('q');
	my $last = $target->answer // 'nothing';
	return join ', ', ended($end), $out // 'nothing', $last,
	    $target->finish;
}

# Kill pmon while it counts and its traps are in the text, and attach with
# another.  How that ends, and what the report says of the text.
sub
followed
{
	my ($mode, $options, $next) = @_;
	my $target = orphan($mode);
	my @pmon = ($pmon, '--no-config', "--report=summary:$scratch/orphan",
	    '-p', $target->{pid});
	my $run = start([@pmon, @$options]);

	wait_for(sub { attached($run->{pid}, $target, $mode) &&
	    text_changes($target->{pid}) || has_ended($run->{pid}) });
	kill KILL => $run->{pid};
	finish($run);
	$run = start([@pmon, @$next]);
	wait_for(sub { attached($run->{pid}, $target, $mode) });
	kill TERM => $run->{pid};
	my $end = ended(finish($run));
	kill KILL => $target->{pid};
	$target->finish;
	my ($differs) = slurp("$scratch/orphan") =~
	    /(code in memory\s+differs from the\s+file)/;
	return join ', ', $end, ($differs // 'nothing') =~ s/\s+/ /gr;
}

# Stop pmon just before its nth request while it attaches, send the process's
# first thread a signal that it handles, and let pmon go on.  What the process
# says at the end.
sub
interrupted
{
	my ($mode, $options, $n) = @_;
	my $target = orphan($mode);
	my $pid = $target->{pid};
	my $run = start([$pmon, '--no-config', @$options,
		"--report=summary:$scratch/orphan", '-p', $pid], env => {
		LD_PRELOAD => $inject, PMON_FAULT => "ptrace:$n:halt" });

	wait_for(sub { slurp("/proc/$run->{pid}/stat") =~ /\) T / ||
	    has_ended($run->{pid}) });
	syscall($TGKILL, $pid, $pid, $USR1) == 0 or die "tgkill: $!";
	kill CONT => $run->{pid};
	# It waits for the thread that reads when it has left its own call.
	wait_for(sub { has_ended($run->{pid}) ||
	    (slurp("/proc/$run->{pid}/syscall") =~ /^$WAIT4 / &&
	    signals($pid) =~ /^[0 ]+$/ && rests($pid, $mode)) });
	kill TERM => $run->{pid};
	my $end = finish($run);
	$target->tell('q');
	my $last = $target->answer // 'nothing';
	return join ', ', ended($end), $last, $target->finish;
}

# Kill pmon just before its nth request, or nth call of `call`.  What is not as it
# should be then, or '': 'traps' if the process died of a breakpoint.  undef: it
# has not come so far.  With `again` another pmon attaches behind it.
sub
orphaned
{
	my ($mode, $options, $n, %how) = @_;
	my $target = orphan($mode);
	my $pid = $target->{pid};
	my $call = $how{call} // 'ptrace';
	my $run = start([$pmon, '--no-config', @$options,
		"--report=summary:$scratch/orphan", '-p', $pid], env => {
		LD_PRELOAD => $inject, PMON_FAULT => "$call:$n:die" });

	wait_for(sub { attached($run->{pid}, $target, $mode) });
	my $first = $target->ask('w');
	kill TERM => $run->{pid};
	my $end = finish($run);
	my $text = text_changes($pid);
	my @wrong;

	return "pmon: " . ended($end) . " $end->{err}"
	    unless $end->{signal} == 9 || $end->{status} == 0;
	for ($first, $target->ask('w'), $target->ask('w')) {
		push @wrong, "answers $_" if $_ ne $answer;
	}
	push @wrong, again($target, $mode) if $how{again} && !@wrong;
	wait_for(sub { rests($pid, $mode) });
	$target->tell('q');
	my $last = $target->answer // 'nothing';
	push @wrong, "says $last" if $last ne "$mode 0";
	my $ends = $target->finish;
	return death($target, $ends, $text) if $ends ne 'status 0';
	return @wrong ? join('; ', @wrong) : $end->{signal} ? '' : undef;
}

1;
