# pmon whose own calls of the kernel fail (tests/prog/fault_at.c), running
# tests/prog/faulted.c.  Whatever fails, the program behaves as it does alone
# and every count is right or said to be unknown; or pmon ends with status 125
# and one line that says why, and the program was not run.
package Faults;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use Test::More;
use Pmon;
use Target;

our @EXPORT = qw(faulted fault_env fault_places);

my $program = compile('faulted.c', '-O1', '-pthread');
my $inject = abs_path(compile('fault_at.c', qw(-O2 -shared -fPIC)));
my (%alone, %right, $serial);

# What makes pmon fail so; a file for the numbers of its calls.
sub
fault_env
{
	my ($fault, $calls) = @_;

	return { LD_PRELOAD => $inject, $fault ? (PMON_FAULT => $fault) : (),
	    $calls ? (PMON_FAULT_COUNTS => $calls) : () };
}

# The rows of a CSV report: what it is of => its count, '' if not known.
sub
fault_rows
{
	my ($file) = @_;
	my %rows;

	for (split /\n/, slurp($file)) {
		# Count and reason are at the end.
		my ($key, $count) = /^(.*),(\d*),(?:[^",]*|"[^"]*")$/ or next;
		$rows{$key} = $count;
	}
	return \%rows;
}

# Has pmon let go on what it is attached to, or ended?
sub
attached_to
{
	my ($pmon, $target, $waits) = @_;

	return 1 if slurp("/proc/$pmon/stat") =~ /\) Z/;
	# It is in wait4(2); what it has stopped is in no call.
	return slurp("/proc/$pmon/syscall") =~ /^61 / &&
	    $target->status('TracerPid') == $pmon && $waits->();
}

# A process that works three times while pmon is attached, and once alone; its
# answers and its end are what it prints.
sub
attached
{
	my ($options, %how) = @_;
	my $target = Target->new($program, 'serve');
	# Sleeps in read(2) of its standard input, which is empty: it may be
	# seen there on its way to what it finds, too.
	my $waits = sub {
		slurp("/proc/$target->{pid}/syscall") =~ /^0 0x0 / &&
		    $target->status('State') eq 'S';
	};

	wait_for($waits);
	my $run = $options && start([@$options, '-p', $target->{pid}], %how);

	wait_for(sub { attached_to($run->{pid}, $target, $waits) }) if $run;
	my @out = map { $target->ask('w') } 1 .. 3;
	wait_for($waits);
	kill TERM => $run->{pid} if $run;
	my $end = $run ? finish($run) : { status => 0 };
	$end->{out} = join "\n", @out, $target->ask('w'),
	    $target->finish('q');
	return $end;
}

sub
monitored
{
	my ($mode, $options, $fault, $calls) = @_;
	my $csv = "$scratch/faults" . ++$serial . '.csv';
	my @pmon = ($pmon, '--no-config', @$options, "--report=csv:$csv");
	my $env = fault_env($fault, $calls);
	my $end = $mode eq 'serve' ? attached(\@pmon, env => $env) :
	    run([@pmon, '--', $program, $mode], env => $env);

	$end->{rows} = fault_rows($csv);
	unlink $csv;
	return $end;
}

# What all counters say; the same whatever is derived.
sub
right
{
	my ($mode) = @_;

	return $right{$mode} //= monitored($mode,
	    ['--placement=every'])->{rows};
}

# The places that pmon makes calls from in such a run: the name of the call =>
# the place => how often.
sub
fault_places
{
	my ($mode, $options) = @_;
	my $file = "$scratch/places";
	my %places;

	monitored($mode, $options, undef, $file);
	for (split /\n/, slurp($file)) {
		my ($name, $place, $calls) = split;

		$places{$name}{$place} = $calls;
	}
	return \%places;
}

# Counts that are not those of all counters, of those that are known.
sub
wrong
{
	my ($right, $rows) = @_;

	return grep { defined $rows->{$_} && $rows->{$_} ne '' &&
		$right->{$_} ne '' && $rows->{$_} != $right->{$_} }
	    sort keys %$right;
}

# Run it with one fault; what is not as it should be, or ''.
sub
faulted
{
	my ($mode, $options, $fault) = @_;
	my $alone = $alone{$mode} //= $mode eq 'serve' ? attached() :
	    run([$program, $mode]);
	my $end = monitored($mode, $options, $fault);
	my $lines = () = $end->{err} =~ /\n/g;

	return 'hangs' if $end->{late};
	return "pmon dies of $end->{signal}" if $end->{signal};
	return '' if $end->{status} == 125 && $lines == 1 &&
	    $end->{err} =~ /^pmon: / && $end->{out} =~ /^(\Q$alone->{out}\E)?$/;
	return "ends with $end->{status}: $end->{err}"
	    unless $end->{status} == $alone->{status};
	return "prints $end->{out}" unless $end->{out} eq $alone->{out};
	my @wrong = wrong(right($mode), $end->{rows});

	return @wrong ? @wrong . " wrong: $wrong[0] is " .
	    $end->{rows}{$wrong[0]} : '';
}

1;
