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
