# Jumps with unknown targets into the middles of blocks, and calls of places in
# the middle of a function: no count is wrong, whether the function has traps or
# is relocated, and the calls need no traps.
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

my $calls = 5000;
my $duff = compile('duff.c', '-O1');
my $sites = "$scratch/sites";

for my $way ([], ['--eager'], ['--placement=every'], ['--patch=trap']) {
	my $run = counted([@$way, "--report=sites:$sites", '--object=duff*'],
	    [$duff, $calls]);
	my $counts = $run->{counts};
	my %symbols = map { $_->[1] => $_->[0] }
	    map { [/^0*(\w+) . (zero\w*)$/] }
	    grep { / zero/ } split /\n/, run(['nm', $duff])->{out};
	my ($led) = slurp($sites) =~ /^ +(\d+).*leads into a relocated/m;

	is($counts->{"insn - $symbols{zero}"}, 0, "@$way: its beginning");
	is($counts->{"insn - $symbols{zero_32}"}, 1, "@$way: one place");
	is($counts->{"insn - $symbols{zero_80}"}, $calls + 1,
	    "@$way: another, after the first");
	# The calls before a function is relocated.
	cmp_ok($led // 0, '<', 10, "@$way: no trap for each call")
	    unless "@$way" =~ /trap/;
}
done_testing;
