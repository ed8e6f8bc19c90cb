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

# Programs in which `early` runs 10 times and `late` 7 times; that leads to
# `behind` in the middle of `early` when pmon has relocated this already.
my $late = <<'END';
long early(long a), late(long a);
__asm__(".text\n.globl early, late\n"
	".type early, @function\n"
	"early:	.cfi_startproc\n	lea 5(%rdi), %rax; JUMP; inc %rax\n"
	"behind:	lea 9(%rdi), %rax\n"
	"1:	inc %rax; ret\n	.cfi_endproc\n.size early, . - early\n"
	".type late, @function\n"
	"late:	.cfi_startproc\n	CALL; ret\n	.cfi_endproc\n"
	".size late, . - late\n");
int main(void)
{
	long sum = 0;

	for (int i = 0; i < 10; i++)
		sum += early(i);
	for (int i = 0; i < 7; i++)
		sum += late(i);
	return sum == SUM ? 0 : 1;
}
END
my @lates = (
	# Nothing else leads there, so pmon gives the function up: nobody saw
	# that the code did not run.
	{
		name => 'call',
		JUMP => 'jmp 1f',
		CALL => 'call behind',
		SUM => 10 * 6 + 45 + 7 * 10 + 21,
		is => 7,
	},
	# Half of the calls of early come there as well.
	{
		name => 'register',
		JUMP => 'test $1, %dil; jnz 1f',
		CALL => 'lea behind(%rip), %rax; mov %rax, %rdx; call *%rdx',
		SUM => 5 * 6 + 25 + 5 * 10 + 20 + 7 * 10 + 21,
		is => 5 + 7,
	});

for my $case (@lates) {
	my $source = $late =~ s/(JUMP|CALL|SUM)/$case->{$1}/gr;
	my $program = compile(spew("$scratch/$case->{name}.c", $source), '-O1');
	my ($behind) = run(['nm', $program])->{out} =~ /^0*(\w+) t behind$/m;

	for my $way (@ways) {
		# Where targets of calls are recorded, these show the entry.
		my $run = counted([@$way, "--object=$case->{name}*"],
		    [$program], units => 'func,block,edge,insn');

		is($run->{status}, 0, "$case->{name}, @$way: status");
		like($run->{counts}{"insn - $behind"}, qr/^(?:$case->{is}|\?)$/,
		    "$case->{name}, @$way");
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
