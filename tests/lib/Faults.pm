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

our @EXPORT = qw(faulted fault_env fault_calls);

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

sub
monitored
{
	my ($mode, $options, $fault, $calls) = @_;
	my $csv = "$scratch/faults" . ++$serial . '.csv';
	my $end = run([$pmon, '--no-config', @$options, "--report=csv:$csv",
		'--', $program, $mode], limit => 20,
	    env => fault_env($fault, $calls));

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

# How many calls of each name pmon makes in such a run.
sub
fault_calls
{
	my ($mode, $options) = @_;
	my $file = "$scratch/calls";

	monitored($mode, $options, undef, $file);
	return { map { split } split /\n/, slurp($file) };
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
	my $alone = $alone{$mode} //= run([$program, $mode]);
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
