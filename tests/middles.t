# Jumps with unknown targets into the middles of blocks: no count is wrong,
# whether the function has traps or is relocated.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my $rounds = 3;

for my $flags ('-pie', '-no-pie') {
	my $program = compile('middles.c', '-O1', '-fPIE', $flags);
	my $code = run(['objdump', '-d', '--no-show-raw-insn',
		'--disassemble=sled', $program])->{out};
	my @addrs = $code =~ /^ +([0-9a-f]+):/mg;
	my ($label) = $code =~ /lea .*# ([0-9a-f]+) <sled/;
	my (%expected, $n);

	# Jumps are made to 0 to 7 and to 14 to 21 bytes behind the label.
	for (@addrs) {
		my $at = hex($_) - hex $label;

		next if $at < 0;
		$n += $rounds if $at < 8 || $at > 13;
		$expected{$_} = $n;
	}
	for my $way ([], ['--placement=vertex'], ['--placement=every'],
	    ['--patch=trap'], ['--patch=trap', '--placement=every'],
	    ['--patch=step']) {
		my $counts = counted([@$way, '--object=middles*'],
		    [$program])->{counts};
		my %got = map { $_ => $counts->{"insn - $_"} } keys %expected;

		is_deeply(\%got, \%expected, "$flags, @$way");
	}
}
done_testing;
