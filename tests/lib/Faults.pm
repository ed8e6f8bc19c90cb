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

our @EXPORT = qw(faulted fault_env fault_places kept_at);

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

# What is asked of a process while pmon is attached, and how many lines are the
# answer.  What it executes there is asked, too.
my %asked = (
	serve => [[w => 1], [w => 1], [w => 1]],
	family => [[t => 1], [f => 2], [e => 0], [w => 1]],
);

# A process that does so while pmon is attached, and works once alone; its
# answers and its end are what it prints.
sub
attached
{
	my ($mode, $options, %how) = @_;
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
	my @out;
	for my $asked (@{$asked{$mode}}) {
		my ($what, $lines) = @$asked;

		$target->tell($what);
		push @out, $target->answer for 1 .. $lines;
	}
	wait_for($waits);
	kill TERM => $run->{pid} if $run;
	# It stays until the end where it cannot remove its traps.
	wait_for(sub {
		has_ended($run->{pid}) ||
		    slurp("$run->{base}.err") =~ /so pmon stays/;
	}) if $run;
	push @out, $target->ask('w');
	if ($how{until}) {
		unlink $how{until};
		kill TERM => $run->{pid};
		wait_for(sub { has_ended($run->{pid}) });
	}
	push @out, $target->finish('q');
	my $end = $run ? finish($run) : { status => 0 };
	$end->{out} = join "\n", @out;
	return $end;
}

sub
monitored
{
	my ($mode, $options, $fault, $calls) = @_;
	my $csv = "$scratch/faults" . ++$serial . '.csv';
	my @pmon = ($pmon, '--no-config', @$options, "--report=csv:$csv");
	my $env = fault_env($fault, $calls);
	my $end = $asked{$mode} ? attached($mode, \@pmon, env => $env) :
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

# Calls by who calls, whomever they went to.
sub
by_caller
{
	my ($rows) = @_;
	my %sums;

	for (grep { /^call,/ } keys %$rows) {
		my ($caller) = /^(.*0x[0-9a-f]+,)/ or next;

		$sums{$caller} += $rows->{$_} || 0;
	}
	return \%sums;
}

# The traps of a process that does `serve` cannot be removed, but later they can:
# what pmon says, and what the process does, alone too.
sub
kept_at
{
	my ($options, $fault) = @_;
	my $file = spew("$scratch/while" . ++$serial, '');
	my $env = fault_env($fault);

	$env->{PMON_FAULT_WHILE} = $file;
	my $end = attached('serve', [$pmon, '--no-config', @$options,
	    '--output=/dev/null'], env => $env, until => $file);
	return ($end, $alone{serve} //= attached('serve'));
}

# Counts that are not those of all counters, of those that are known.  A call to
# an image that pmon could not read has no name there, but a row.
sub
wrong
{
	my ($right, $rows) = @_;
	my ($calls, $all) = map { by_caller($_) } $rows, $right;
	my @wrong = grep { defined $rows->{$_} && $rows->{$_} ne '' &&
		$right->{$_} ne '' && $rows->{$_} != $right->{$_} }
	    sort keys %$right;

	return grep { !(/^(call,.*0x[0-9a-f]+,)/ &&
		$rows->{$_} < $right->{$_} && $calls->{$1} == $all->{$1}) }
	    @wrong;
}

# Run it with one fault; what is not as it should be, or ''.
sub
faulted
{
	my ($mode, $options, $fault) = @_;
	my $alone = $alone{$mode} //= $asked{$mode} ? attached($mode) :
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
