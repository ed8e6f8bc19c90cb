# Labels whose addresses a program stores one by one when it starts are known:
# control comes to them without traps, and the counts are those of the program's
# rounds.  Data in the midst of code stay as they are.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $rounds = 2000;
# How often control comes to each label of filled.c.
my %counts = (more => 1, less => $rounds, twice => $rounds, again => $rounds,
    call => $rounds, skip => 1, test => $rounds, leave => 0, halt => 1);

# The counts of run's blocks by how far they are into it.
sub
blocks
{
	my $places = places_read($_[0], 'run');

	return { map { /^block (\w+)$/ ? (hex $1, $places->{$_}) : () }
	    keys %$places };
}

for my $flags (qw(-pie -no-pie)) {
	my $program = compile(['filled.c', 'filled_asm.S'], '-O1', '-g0', '-fPIE',
	    $flags);
	my @argv = ($program, $rounds);
	my $alone = run(\@argv);
	my %at = $alone->{out} =~ /^(\w+) (\d+)$/mg;
	my ($csv, $sites) = ("$scratch/csv", "$scratch/sites");
	my %rows;

	for my $mode ('--patch=auto', '--placement=every', '--patch=trap') {
		my $run = monitor([$mode, '--units=func,block,edge',
			"--report=csv:$csv,sites:$sites"], \@argv);
		my $blocks = blocks($csv);

		same($alone, $run, "$flags, $mode");
		is($blocks->{$at{$_}}, $counts{$_}, "$flags, $mode: $_")
		    for sort keys %counts;
		$rows{$mode} = rows_read($csv);
		cmp_ok(func_traps($sites, 'run'), '<=', 20, "$flags, $mode: traps")
		    unless $mode eq '--patch=trap';
	}
	is($rows{$_}, $rows{'--patch=trap'}, "$flags, $_: as with traps")
	    for '--patch=auto', '--placement=every';
}

done_testing();
