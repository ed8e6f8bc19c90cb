# A function that a signal handler has called where the signal came returns into
# the middle of an entry patch.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my $argv = [compile('calls_back.c', '-O1')];

for my $way (['--units=func'], ['--units=func', '--patch=trap'],
	['--units=func,edge'], ['--units=func,edge', '--placement=every']) {
	my $run = monitor([@$way, '--func=f'], $argv);

	is(ended($run), 'status 0', "@$way: it goes on as without pmon");
	counts_are($run, { f => 800 }, "@$way");
}
done_testing();
