# The kernel refuses pmon the hook at longjmp, in the program's own file.  No
# stack is seen to be left then, so no count of the file is known.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Faults;
use Pmon;

my $program = compile('unhooked.c', '-O1', '-static',
    '-Wl,--section-start=.far=0x700000');
my $csv = "$scratch/counts.csv";

# The counts of the blocks of deep and leave, by function and address.
sub
counts
{
	my ($fault, @options) = @_;
	my $end = run([$pmon, '--no-config', '--patch=trap', '--units=block',
	    "--report=csv:$csv", @options, '--', $program],
	    env => fault_env($fault));

	is($end->{status}, 0, 'it leaves ' . ($fault // 'unharmed'));
	my %counts;

	for (split /\n/, slurp($csv)) {
		$counts{"$1 $2"} = $3 if
		    /^block,[^,]*,"(deep|leave)",(0x\w+),[^,]*,\d+,,(\d*),/;
	}
	return \%counts;
}

my $right = counts(undef, '--placement=every');

is_deeply([sort { $a <=> $b } values %$right], [0, 0, 10, 10, 10, 10, 30, 40],
    'the blocks of deep, and leave');
is_deeply(counts(undef), $right, 'the hook lets pmon derive counts');

# Which of pmon's writes has the page of longjmp depends on the C library.
my ($unknown, @wrong) = 0;
for my $at (1 .. 8) {
	my $counts = counts("text:$at:5");

	push @wrong, map { "text $at: $_ is $counts->{$_}" } grep {
		$counts->{$_} ne '' && $counts->{$_} != $right->{$_}
	} sort keys %$right;
	$unknown++ unless grep { $_ ne '' } values %$counts;
}
is_deeply(\@wrong, [], 'no count is wrong without the hook');
cmp_ok($unknown, '>=', 1, 'none is known where the hook is refused');

done_testing();
