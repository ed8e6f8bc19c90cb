# Ends in the middle of a basic block, by a signal, a system call, an exec or a
# fault: what is behind the end is not counted, what has begun is.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my $program = compile('killed_in.c', '-O1', '-g');
my @ways = (['--patch=trap'], ['--placement=every'], ['--patch=auto']);
my @more = (['--patch=step'], ['--placement=vertex']);

# How often each instruction of the function that faults began.
my %faults = (
	first => [3, 2, 2, 2],
	middle => [3, 3, 2, 2],
	last => [3, 3, 2, 2],
	# 3 iterations in each of two calls, and the load of the third.
	loop => [3, 7, 7, 6, 6, 6, 2],
);

# The counts that the comments of a group in the source give, by line.
sub
expected
{
	my ($group) = @_;
	my ($n, %lines) = (0);

	for (split /\n/, slurp('tests/prog/killed_in.c')) {
		$n++;
		$lines{$n} = $1 if m{/\* $group: (\d+) \*/};
	}
	return \%lines;
}

# The addresses of a function's instructions.
sub
addrs
{
	my ($func) = @_;
	my $code = run(['objdump', '-d', '--no-show-raw-insn',
		"--disassemble=$func", $program])->{out};

	return $code =~ /^ +([0-9a-f]+):/mg;
}

for my $case (['sent', 9], ['sent', 15], ['sent', 'exit'], ['born', 'clone'],
    ['exec', 'exec'], ['joined', 'joined'],
    map { ['fault', $_] } sort keys %faults) {
	my ($group, $end) = @$case;
	my $lines = expected($group);
	my $all;

	for my $way (@ways, $end =~ /9|middle/ ? @more : ()) {
		my $counts = counted([@$way, '--object=killed_in*'],
		    [$program, $end])->{counts};
		my $what = "$end, @$way";
		my %got = map { $_ => $counts->{"line killed_in.c:$_"} }
		    keys %$lines;

		is_deeply(\%got, $lines, "$what: lines");
		$all //= $counts;
		is_deeply([counts_differ($all, $counts)], [],
		    "$what: as with $ways[0][0]");
		next unless $faults{$end};
		is_deeply([map { $counts->{"insn - $_"} } addrs($end)],
		    $faults{$end}, "$what: instructions");
	}
}

done_testing;
