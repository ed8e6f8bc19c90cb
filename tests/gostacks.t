# A function of Go that needs a larger stack, or is to let others run, begins
# anew behind a call that never returns.  That is not another call of it.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my $argv = [compile('gostacks.S', '-no-pie',
	'-nostartfiles', '-Wl,-e,main')];
my %right = (deep => 130, morestack => 6, newstack => 6, main => 1);
my $truth = counted(['--placement=every', '--patch=trap'], $argv);

is(ended($truth), 'status 120', 'by traps: the sum is right');
for my $way ([], ['--patch=trap'], ['--placement=vertex'],
	['--placement=every'], ['--units=func'],
	['--units=func', '--patch=trap']) {
	my $run = monitor($way, $argv);

	is(ended($run), 'status 120', "@$way: the sum is right");
	counts_are($run, \%right, "@$way");
	next if "@$way" =~ /units/;
	$run = counted($way, $argv);
	is(join("\n", counts_differ($run->{counts}, $truth->{counts})), '',
	    "@$way: as counted all");
}
done_testing();
