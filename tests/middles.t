# Jumps with unknown targets into the middles of blocks: no count is wrong,
# whether the function has traps or is relocated.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my $rounds = 3;
my @ways = ([], ['--placement=vertex'], ['--placement=every'],
    ['--patch=trap'], ['--patch=trap', '--placement=every'], ['--patch=step']);

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
	for my $way (@ways) {
		my $counts = counted([@$way, '--object=middles*'],
		    [$program])->{counts};
		my %got = map { $_ => $counts->{"insn - $_"} } keys %expected;

		is_deeply(\%got, \%expected, "$flags, @$way");
	}
}
# Code that nothing leads to until its function is relocated, which pmon then
# gives up: nobody saw that the code did not run.
{
	my $program = compile(spew("$scratch/behind.c", <<'END'), '-O1');
long early(long a), late(long a);
__asm__(".text\n.globl early, late\n"
	".type early, @function\n"
	"early:	lea 5(%rdi), %rax; jmp 1f\n"
	"behind:	lea 9(%rdi), %rax\n"
	"1:	inc %rax; ret\n.size early, . - early\n"
	".type late, @function\n"
	"late:	call behind; ret\n.size late, . - late\n");
int main(void)
{
	long sum = 0;

	for (int i = 0; i < 10; i++)
		sum += early(i);
	for (int i = 0; i < 7; i++)
		sum += late(i);
	return sum == 10 * 6 + 45 + 7 * 10 + 21 ? 0 : 1;
}
END
	my ($behind) = run(['nm', $program])->{out} =~ /^0*(\w+) t behind$/m;

	for my $way (@ways) {
		my $run = counted([@$way, '--object=behind*'], [$program]);

		is($run->{status}, 0, "behind, @$way: status");
		like($run->{counts}{"insn - $behind"}, qr/^(?:7|\?)$/,
		    "behind, @$way");
	}
}
done_testing;
