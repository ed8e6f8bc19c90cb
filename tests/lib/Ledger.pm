# tests/prog/ledger.c under pmon: it keeps counts of itself in a file that
# outlives it, which pmon's must equal however it ends.
package Ledger;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use Test::More;
use Pmon;

our @EXPORT = qw(agrees child_of killed_at ledger ledger_counted ledger_new
    ledger_read monitored sudden);

my ($ledger, $base);

# The program.
sub
ledger
{
	return $ledger //= compile('ledger.c', '-O2', '-pthread', '-fPIE',
	    '-pie');
}

# What the program knows: the entries that are not 0.
sub
ledger_read
{
	my @entries = unpack 'q*', slurp($_[0]);

	return { map { $_ => $entries[$_] } grep { $entries[$_] } 0 ..
	    $#entries };
}

# How often pmon says that the instructions of the entries have run.
sub
ledger_counted
{
	my ($report) = @_;
	my %counts;

	$base //= hex((run(['nm', ledger()])->{out} =~ /^(\w+) \w ledger$/m)[0]);
	for (split /\n/, slurp($report)) {
		/^ *(\S+)  .*lock addq \$0x1, 0x([0-9a-f]+)/ or next;
		my $entry = (hex($2) - $base) / 8;

		if ($1 eq '?' || ($counts{$entry} // 0) eq '?') {
			$counts{$entry} = '?';
		} elsif ($1 ne '#####') {
			$counts{$entry} += $1;
		}
	}
	return \%counts;
}

sub
ledger_new
{
	return spew("$scratch/ledger", "\0" x 4096);
}

sub
monitored
{
	my ($mode, $options, %opt) = @_;
	my $file = ledger_new();

	unlink "$scratch/insns";
	my $run = start([$pmon, '--units=insn', '-r', "insns:$scratch/insns",
	    @$options, '--', ledger(), $file, $mode, $opt{rounds} // ()],
	    %opt);
	return ($run, $file);
}

# The process that pmon has started.
sub
child_of
{
	my ($pid) = @_;

	return (children_of($pid))[0];
}

# Do both agree?  A thread that is killed just when pmon looks whether it was,
# ends before its stack can be walked.  Then counts are unknown, with that
# reason, but none is wrong.
my ($sudden, $ends) = (0, 0);

sub
sudden
{
	return ($sudden, $ends);
}

sub
agrees
{
	my ($file, $what) = @_;
	my $is = ledger_read($file);
	my $counted = ledger_counted("$scratch/insns");

	$ends++;
	if (slurp("$scratch/insns") =~ /a thread ended or was interrupted/) {
		my @unknown = grep { $counted->{$_} eq '?' } keys %$counted;

		$sudden++ if @unknown;
		delete $counted->{$_}, delete $is->{$_} for @unknown;
	}
	return is_deeply($counted, $is, $what);
}

# Killed just before pmon's nth request since it began its ledger, so that it
# is in code whose stack can be walked.  In mode often some requests
# before come with a signal that it handles.  One that is slow to die answers
# no more requests at once.

sub
killed_at
{
	my ($n, $mode, $options, $slow) = @_;
	my $kill = abs_path(compile('kill_at.c', qw(-O2 -shared -fPIC)));
	my ($run, $file) = monitored($mode, $options, rounds => 30,
	    env => { LD_PRELOAD => $kill, PMON_KILL_AT => $n,
	    PMON_KILL_FROM => "$scratch/ledger",
	    PMON_ALARM_EACH => $mode eq 'often' ? 43 : 0,
	    PMON_KILL_SLOW => $slow ? 1 : 0 });
	my $what = "$mode, @$options: killed at request $n";
	my $end = finish($run);

	like(ended($end), qr/^status (137|0)$/, $what);
	agrees($file, "$what: what ran");
	return $end->{status} == 137;
}

1;
