# Calls that set the actions of signals: a trap only where pmon must know the
# action, and the program behaves as alone.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $program = compile('actions.c', '-O1');
my $what = qr/trap, sets the action of a signal/;

# How often the program stopped because it set an action.
sub
stops
{
	my ($options, $argv) = @_;
	my $alone = run($argv);
	my $run = monitor([@$options, "--report=sites:$scratch/sites"], $argv);

	same($alone, $run, "@$options @$argv[1 .. $#$argv]");
	return slurp("$scratch/sites") =~ /^ *(\d+) .* $what$/m ? $1 : 0;
}

for my $options (['--units=func'], ['--units=func,edge']) {
	is(stops($options, [$program, 'many', 1000]), 0,
	    '  no stop for a signal that pmon has no use for');

	# The C library looks at the action of each signal in the child, and
	# sets none: pmon keeps those of SIGTRAP, SIGBUS and SIGSEGV.
	my $stops = stops($options, [$program, 'spawns', 20]);
	cmp_ok($stops, '>=', 3 * 20, '  stops for SIGTRAP and its like');
	cmp_ok($stops, '<=', 6 * 20, '  and for no others');
}
for my $options (['--units=func'], ['--units=func,edge'],
    ['--units=func', '--patch=trap'], ['--units=func', '--object=*']) {
	stops($options, [$program, $_]) for qw(edits vforks);
}
done_testing;
