# Threads enter functions at the same time that begin with breakpoint
# instructions of their own.  A thread may have run one just before another's
# entry has a jump written over it: it must not come back to the middle of the
# jump.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my @names = map { my $kind = $_; map { "$kind$_" } 0 .. 5 }
    qw(tight narrow first longer second third fourth);

for my $flags ([], ['-static']) {
	my $program = compile('breaks_together.c', '-O1', '-pthread', @$flags);

	for my $how ([2], [4], [1], [2, 'nodefer'], [2, 'jumps']) {
		my @argv = ($program, @$how);
		my $alone = run(\@argv);

		is($alone->{out}, "0 with other hits, 0 elsewhere\n",
		    "@$flags @$how alone");
		for my $options (['--units=func'], ['--units=func,edge']) {
			my $what = "@$flags @$how, @$options";
			my $run = monitor($options, \@argv);

			same($alone, $run, $what);
			counts_are($run, { map { $_ => 10 * $how->[0] } @names },
			    $what);
		}
	}
	my @blocked = ($program, 1, 'blocked');

	same(run(\@blocked), monitor(['--units=func'], \@blocked),
	    "@$flags blocked");
}
done_testing;
