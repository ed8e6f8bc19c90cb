# Jump tables by hand whose length is not what it seems.  The program counts for
# itself how often its places are passed: whatever pmon says must be that, and
# of a plain table it must know all.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my @modes = (
	['--units=edge,insn'],
	['--units=edge,insn', '--patch=trap'],
	['--units=insn', '--placement=vertex'],
	['--units=insn', '--placement=every', '--patch=trap'],
);
my @links = (
	['lines', qw(-pie -fPIE)],
	['symbols', qw(-g0 -pie -fPIE)],
	['no symbols', qw(-g0 -pie -fPIE -s)],
	['fixed addresses', qw(-g0 -no-pie -fno-pie)],
);
my %funcs;	# the function at an address, as symbols say

# The counts of instructions by address, '?' if not known; and where functions
# begin.
sub
insns_read
{
	my ($file) = @_;
	my %counts;

	for (split /\n/, slurp($file)) {
		my ($func, $addr, $n) =
		    /^insn,"[^"]*","([^"]*)",0x([0-9a-f]+),.*,(\d*),[^,]*$/
		    or next;

		$counts{hex $addr} = [$func, $n eq '' ? '?' : $n];
	}
	return \%counts;
}

for my $link (@links) {
	my ($name, @flags) = @$link;
	my $program = compile(['tables.c', 'tables.S'], '-O1', @flags);
	my $alone = run([$program]);
	my @passed = map { [split] } split /\n/, $alone->{out};

	is(ended($alone), 'status 0', "$name: runs");
	for my $mode (@modes) {
		my $csv = "$scratch/tables.csv";
		my $run = monitor([@$mode, "--report=csv:$csv"], [$program]);
		my $counts = insns_read($csv);
		my (@wrong, %known);

		is($run->{out}, $alone->{out}, "$name, @$mode: output");
		for (@passed) {
			my ($addr, $n) = @$_;
			my ($func, $got) = @{$counts->{hex $addr} //
			    ['nothing', '?']};

			$funcs{$addr} = $func if $name eq 'symbols';
			$func = $funcs{$addr} if $name eq 'no symbols';
			$known{$func}++ if $got ne '?';
			push @wrong, "$func $addr: $got, not $n"
			    if $got ne '?' && $got != $n;
		}
		is_deeply(\@wrong, [], "$name, @$mode: counts");
		is($known{plain}, 5, "$name, @$mode: a plain table is known");
		is($known{split}, 3, "$name, @$mode: a table of parts is known")
		    if $name eq 'no symbols';
		unlink $csv;
	}
}
done_testing;
