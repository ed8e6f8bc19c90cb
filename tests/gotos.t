# Computed gotos are counted in relocated functions: jumps with unknown targets
# meet no traps at labels.  The counts are those that the program's rounds give,
# and those of traps; where control comes to what a patch at a label covers, the
# program does as it does alone, and no count is wrong.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $rounds = 50;
# By marks in gotos.c, whose loop is run three times.
my %lines = (more => 3 * $rounds, less => 3 * $rounds, again => 3 * $rounds,
    halt => 3);
# Lines of gotos_asm.S behind the label, each 20 * 5 times, and those of the
# jump into the middle, which go round three times.
my %enters = (17 => [103, 102], 18 => [103, 103], 19 => [103, 103]);
my %marks;
my $source = slurp('tests/prog/gotos.c');
my $number = 0;

for (split /\n/, $source) {
	$number++;
	$marks{$1} = $number if m{/\* (\w+) \*/$};
}

# The counts in a csv file: "file:line" => count, '' if unknown.
sub
lines_counted
{
	my $text = slurp($_[0]);
	my %counts;

	$counts{"$1:$2"} = $3
	    while $text =~ m{^line,,,,"[^"]*/([^/"]+)",(\d+),,(\d*),}mg;
	return \%counts;
}

# The second has its springboards above its text.
for my $flags ('-pie', '-no-pie') {
	my $program = compile(['gotos.c', 'gotos_asm.S'], '-O1', '-g',
	    '-fno-crossjumping', '-fPIE', $flags);

	for my $where ([], [2, 1], [0, 4]) {
		my @argv = ($program, $rounds, @$where);
		my $alone = run(\@argv);
		my ($csv, $sites) = ("$scratch/csv", "$scratch/sites");
		my %rows;

		for my $mode ('--patch=auto', '--placement=every',
		    '--patch=trap') {
			my $what = "$flags, @$where, $mode";
			my $run = monitor([$mode,
				'--units=func,line,block,edge',
				"--report=csv:$csv,sites:$sites"], \@argv);
			my $counts = lines_counted($csv);

			same($alone, $run, $what);
			$rows{$mode} = rows_read($csv);
			is($counts->{"gotos.c:$marks{$_}"}, $lines{$_},
			    "$what: $_") for sort keys %lines;
			next unless @$where;
			for (sort keys %enters) {
				my $n = $counts->{"gotos_asm.S:$_"};
				my $exact = $enters{$_}[$where->[0] ? 1 : 0];

				ok($n eq '' || $n == $exact,
				    "$what: line $_, $n");
			}
		}
		is($rows{'--placement=every'}, $rows{'--patch=trap'},
		    "$flags, @$where: as with traps")
		    unless grep { $_ } @$where;
		is($rows{'--patch=auto'}, $rows{'--patch=trap'},
		    "$flags, @$where: as with traps")
		    unless grep { $_ } @$where;
	}
	monitor(['--units=func,line,block,edge',
		"--report=sites:$scratch/sites"], [$program, $rounds]);
	cmp_ok(func_traps("$scratch/sites", 'run'), '<=', 7,
	    "$flags: traps at first entries and the last label alone");
}

# An instruction that does not exist, where a jump to a springboard ends: its
# SIGILL is the program's own, also when the jump is gone.
for my $flags (qw(-pie -no-pie)) {
	my $program = compile(['gotos_ill.c'], '-O1', '-g', '-fPIE', $flags);

	for my $how ([], ['b'], ['i'], ['n']) {
		my @argv = ($program, $rounds, @$how);
		my $alone = run(\@argv);

		for my $units ('func', 'func,line,block,edge') {
			my $what = "SIGILL, $flags, @$how, $units";
			my $run = monitor(["--units=$units"], \@argv);

			same($alone, $run, $what);
			counts_are($run, { begins => $rounds, run => 4 }, $what)
			    if !@$how && $units eq 'func';
		}
	}
}
done_testing;
