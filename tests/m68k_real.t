# A program of real size for the 68020: lua 5.4, linked with all it uses of
# glibc, against the simulator's own trace of every instruction.
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
my $run = counts_of([], \@argv, limit => 200);

same($run, $truth, 'lua');
counts_equal($run->{insns}, $truth->{insns},
    'every instruction, from optimal places');
cmp_ok(keys %{$run->{insns}}, '>', 100_000, '  of which there are many');
# That takes the interpreter's jump table, whose address is in a register all
# through its loop.
is(scalar(grep { $_ eq '?' } map { values %$_ } values %{$run->{lines}}), 0,
    'no line is unknown');

# The slower ways, of some files: each instruction as in the trace.
for my $options (['--placement=every', '--file=lvm.c', '--file=lgc.c'],
    ['--patch=step', '--file=ltable.c', '--file=lstring.c'],
    ['--patch=step', '--placement=every', '--file=ltm.c']) {
	my $some = counts_of($options, \@argv, limit => 200);

	same($some, $truth, "@$options");
	cmp_ok(keys %{$some->{insns}}, '>', 300, '  instructions');
	counts_equal($some->{insns}, {map { $_ => $truth->{insns}{$_} // 0 }
	    keys %{$some->{insns}}}, '  have the counts of the trace');
}
done_testing();
