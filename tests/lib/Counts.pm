# Every count of a run, read from pmon's reports of instructions, blocks,
# edges, calls, functions and lines into one hash, to be compared with that of
# another run.  Keys begin with what is counted and the object's name:
#
#   insn - 1139           block - 1139
#   taken - 1149          fall - 1149          table - 11b2 11b4
#   call - 1153 f         func f               line t.c:2
#
# The object is - if there is only one.  Values are numbers, or '?' where a
# count is not known.  Addresses are as the object's file has them.
package Counts;

use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(basename);
use Pmon;

our @EXPORT = qw(counted counted_start counted_finish counts_read
    counts_differ counts_unknown);

my @kinds = qw(insns blocks edges calls funcs lines);
my $serial = 0;

# Functions and lines are sums over their code: add, but do not make a number
# of what is not known.
sub
add
{
	my ($counts, $key, $n) = @_;

	if (($counts->{$key} // 0) eq '?' || $n eq '?') {
		$counts->{$key} = '?';
	} else {
		$counts->{$key} += $n;
	}
}

# One row of each report; $s is what is remembered of those before it.
my %row = (
	insns => sub {
		my ($counts, $s) = @_;

		return unless /^ *(\d+|\?|#####)  +([0-9a-f]+):  /;
		$counts->{"insn $s->{object} $2"} = $1 eq '#####' ? 0 : $1;
	},
	blocks => sub {
		my ($counts, $s) = @_;

		return unless /^ *(\d+|\?)  +([0-9a-f]+) +\d+(?:  |$)/;
		$counts->{"block $s->{object} $2"} = $1;
	},
	edges => sub {
		my ($counts, $s) = @_;
		my $object = $s->{object};

		if (/^( *(?:BRANCH|LOOP)|  +TO) /) {
			$s->{rows} = $1 =~ /(\w+)/ ? $1 : '';
		} elsif (/^ *([0-9a-f]+)  jump by a table/) {
			$s->{jump} = $1;
		} elsif (!/^ +[0-9a-f]|^[0-9a-f]+  |^ +(?:\d+|\?) /) {
			$s->{rows} = '';
		} elsif ($s->{rows} eq 'BRANCH' &&
		    /^ *([0-9a-f]+)  +[0-9a-f]+  +(\d+|\?)  +(\d+|\?) /) {
			$counts->{"taken $object $1"} = $2;
			$counts->{"fall $object $1"} = $3;
		} elsif ($s->{rows} eq 'TO' &&
		    /^ *([0-9a-f]+)?  +(\d+|\?)  +(?:\S+)(?:$|  (.*))/) {
			$counts->{"table $object $s->{jump} " . ($1 // $3)} =
			    $2;
		}
	},
	calls => sub {
		my ($counts, $s) = @_;

		# A call of several functions repeats neither its address
		# nor its line.
		$s->{at} = $2 if /^ *(\d+|\?)  +([0-9a-f]+)(?:  |$)/;
		$s->{column} = $-[1] if /^ *TIMES .*(CALLS)$/;
		return unless /^ *(\d+|\?)  / && defined $s->{column} &&
		    length > $s->{column};
		add($counts, "call $s->{object} $s->{at} " .
		    substr($_, $s->{column}), $1);
	},
	lines => sub {
		my ($counts, $s) = @_;

		return unless /$listed [\d\s?]*+:/;
		my $name = $s->{base}{$1} //= basename($1);
		$counts->{"line $name:$2"} = $3 eq '#####' ? 0 : $3;
	},
);

# Everything that was reported into files BASE.KIND.
sub
counts_read
{
	my ($base) = @_;
	my %counts;

	for my $kind (@kinds) {
		my %s = (object => '-', rows => '');

		if ($kind eq 'funcs') {
			my $calls = funcs_read("$base.funcs");
			$counts{"func $_"} = $calls->{$_} for keys %$calls;
			next;
		}
		open my $in, '<', "$base.$kind" or next;
		local $_;
		while (<$in>) {
			chomp;
			# A function's heading follows an empty line.
			if ($s{empty} && /^\S.*?(?:  (\S+))?$/) {
				$s{object} = $1 // '-';
				$s{object} = '-' if !defined $1 ||
				    $1 =~ /:\d+$/ || / calls?$/;
				$s{rows} = '';
			} else {
				$row{$kind}->(\%counts, \%s);
			}
			$s{empty} = $_ eq '';
		}
	}
	return \%counts;
}

# Start the program under pmon with these options, everything counted and no
# counter dropped for what it costs; and what it came to: as of Pmon's finish,
# with counts.  --units among the options says which of them are read.  Options
# as of start, and via: a program and its arguments that start pmon; units: what
# is counted, if not everything; kinds: of which of insns, blocks, edges, calls,
# funcs and lines there are reports, if not of all.  Slots of the linker's stubs
# are filled at the start: where threads call a function for the first time at
# once, more than one may fill its slot.
sub
counted_start
{
	my ($options, $argv, %opt) = @_;

	$opt{env} = { LD_BIND_NOW => 1, %{$opt{env} // {}} };
	my $base = "$scratch/counts" . ++$serial;
	my $all = '--units=' . ($opt{units} //
	    'func,line,block,edge,insn,call');
	my ($units) = (map { /^--units=(.*)/ ? $1 : () } @$options, $all);
	my $run = start([@{$opt{via} // []}, $pmon, '--no-demangle', '--exact',
	    $all, @$options, '--report=' . join(',', map { "$_:$base.$_" }
	    grep { $units =~ substr $_, 0, 4 } @{$opt{kinds} // \@kinds}),
	    @$argv ? ('--', @$argv) : ()], %opt);

	$run->{counts_base} = $base;
	return $run;
}

sub
counted_finish
{
	my $run = finish(@_);

	$run->{counts} = counts_read($run->{counts_base});
	unlink glob "$run->{counts_base}.*";
	return $run;
}

sub
counted
{
	return counted_finish(counted_start(@_));
}

# Where both know a count and it differs, or one has no such unit: texts.  With
# `some`, the second has not all that the first has, but something.
sub
counts_differ
{
	my ($one, $two, $some) = @_;
	my @found;

	for (keys %$two) {
		my ($a, $b) = ($one->{$_} // 'none', $two->{$_});
		push @found, "$_: $a, $b"
		    unless $a eq $b || $a eq '?' || $b eq '?';
	}
	push @found, map { "$_: $one->{$_}, none" }
	    grep { !exists $two->{$_} && $one->{$_} ne '?' } keys %$one
	    unless $some;
	push @found, 'nothing is counted' unless %$two || %$one && !$some;
	return sort @found;
}

# How many counts of each kind are not known.
sub
counts_unknown
{
	my ($counts) = @_;
	my %unknown;

	for (keys %$counts) {
		$unknown{(split)[0]}++ if $counts->{$_} eq '?';
	}
	return \%unknown;
}

1;
