# Programs that a compiler of today makes for the 68020, linked with all they
# use of glibc, against the simulator's own trace of every instruction: all
# kinds of switches, whose tables lie in the code, and lua 5.4.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Simulated;
use Sources;

my $compiler = 'm68k-linux-gnu-gcc';

for my $tool ($compiler, 'qemu-m68k') {
	plan(skip_all => "$tool is not installed")
	    if system("command -v $tool >$scratch/version 2>&1");
}
# Every place of code has a trap, and none a table's entry or the middle of an
# instruction, or the program would not do the same.
my $serial = 0;

sub
compiled
{
	my ($source, @flags) = @_;
	my $program = "$scratch/program" . ++$serial;

	system($compiler, '-g', '-w', '-static', @flags, '-o', $program,
	    $source) == 0 or die "$compiler failed";
	return $program;
}

for my $flags (['-O0'], ['-O2'], ['-O2', '-fPIC'], ['-Os']) {
	my $program = compiled('tests/prog/switches.c', @$flags);
	my $truth = trace_counts('qemu-m68k', [$program]);

	for my $options (['--placement=every'], []) {
		my $some = counts_of(['--file=switches.c', @$options],
		    [$program]);

		same($some, $truth, "switches @$flags @$options");
		counts_equal($some->{insns}, {map { $_ =>
		    $truth->{insns}{$_} // 0 } keys %{$some->{insns}}},
		    '  each instruction');
		is(scalar(grep { $_ eq '?' }
		    values %{$some->{lines}{'switches.c'}}), 0,
		    '  no line is unknown');
	}
}
# A switch as gcc 14 makes it: the byte is extended behind its compare, and what
# is behind the table, to which only a later branch leads, looks like an entry.
my $extended = compiled(spew("$scratch/extended.c", <<'END'), '-O1');
#include <stdio.h>

int chosen(int n);

asm(".text\n"
    ".type chosen, @function\n"
    "chosen: move.l 4(%sp), %d0\n"
    "	cmpi.b #3, %d0\n"
    "	bhi 5f\n"
    "	andi.l #255, %d0\n"
    "	add.l %d0, %d0\n"
    "	lea 0f(%pc), %a1\n"
    "	move.w (%a1, %d0.l), %d0\n"
    "	jmp %pc@(2, %d0:w)\n"
    "0:	.word 1f - 0b, 2f - 0b, 3f - 0b, 4f - 0b\n"
    "6:	ori.w #0, %d0\n"
    "	moveq #1, %d0\n"
    "	rts\n"
    "1:	bra 6b\n"
    "2:	moveq #2, %d0\n"
    "	rts\n"
    "3:	moveq #3, %d0\n"
    "	rts\n"
    "4:	moveq #4, %d0\n"
    "	rts\n"
    "5:	moveq #5, %d0\n"
    "	.rept 24\n"
    "	nop\n"
    "	.endr\n"
    "	rts\n"
    ".size chosen, . - chosen\n");

int
main(void)
{
	for (int i = 0; i < 6; i++)
		printf("%d\n", chosen(i));
	return 0;
}
END
{
	my $truth = trace_counts('qemu-m68k', [$extended]);
	my $some = counts_of(['--func=chosen'], [$extended]);

	same($some, $truth, 'a byte that is extended');
	counts_equal($some->{insns}, {map { $_ => $truth->{insns}{$_} // 0 }
	    keys %{$some->{insns}}}, '  each instruction');
	is($some->{funcs}{chosen}, 6, '  and calls');
	cmp_ok(scalar(keys %{$some->{insns}}), '==', 44, '  of which there are');
}
my $formats = compiled(spew("$scratch/formats.c", <<'END'), '-O2');
#include <stdio.h>

int
main(void)
{
	printf("%2$s %1$d %3$lld %4$f\n", 5, "text", 123456789012LL, 3.25);
	return 0;
}
END
my $true = trace_counts('qemu-m68k', [$formats]);
my $all = counts_of(['--placement=every', '--eager'], [$formats]);

same($all, $true, 'printf, a trap at every block of the C library');
counts_equal($all->{insns}, $true->{insns}, '  each instruction');

# Sources compiles with what Pmon says.
$Pmon::cc = $compiler;
my $dir = source_build('lua', '-g', '-O2', '-static') //
    plan(skip_all => $Sources::reason);
my @argv = ("$dir/lua", spew("$scratch/script.lua", <<'END'));
local t = {}
for i = 1, 20 do t[i] = (i * 7) % 11 end
table.sort(t)
local s = 0
for i, v in ipairs(t) do s = s + v * i end
print(s, string.rep("x", 3), #t, string.format("%5.2f", s / 3))
END
my $truth = trace_counts('qemu-m68k', \@argv);
my $run = counts_of([], \@argv);

same($run, $truth, 'lua');
counts_equal($run->{insns}, $truth->{insns},
    'every instruction, from optimal places');
cmp_ok(keys %{$run->{insns}}, '>', 100_000, '  of which there are many');
# That takes the interpreter's jump table, whose address is in a register all
# through its loop.
is(scalar(grep { $_ eq '?' } map { values %$_ } values %{$run->{lines}}), 0,
    'no line is unknown');

# The slower ways, of some files: each instruction as in the trace.
for my $options ($slow ? (['--placement=every', '--file=lvm.c',
    '--file=lgc.c'], ['--patch=step', '--file=ltable.c', '--file=lstring.c']) :
    (), ['--patch=step', '--placement=every', '--file=ltm.c']) {
	my $some = counts_of($options, \@argv);

	same($some, $truth, "@$options");
	cmp_ok(keys %{$some->{insns}}, '>', 300, '  instructions');
	counts_equal($some->{insns}, {map { $_ => $truth->{insns}{$_} // 0 }
	    keys %{$some->{insns}}}, '  have the counts of the trace');
}
done_testing();
