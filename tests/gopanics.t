# A function of Go that recovered from a panic goes on where only Go's own table
# says, in the middle of what a relocated function's entry patch would cover; and
# so does a goroutine that ends.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my $argv = [compile('gopanics.S', '-no-pie',
	'-nostartfiles', '-Wl,-e,main')];
my $truth = counted(['--placement=every', '--patch=trap'], $argv);

for my $way ([], ['--patch=trap'], ['--placement=vertex']) {
	my $run = monitor($way, $argv);

	is(ended($run), 'status 100', "@$way: the sum is right");
	counts_are($run, { work => 20, gopanic => 10, deferreturn => 20 },
	    "@$way");
	$run = counted($way, $argv);
	is(join("\n", counts_differ($run->{counts}, $truth->{counts})), '',
	    "@$way: as counted all");
}

# A goroutine returns to the middle of a function in the end.
my $exits = [compile('goexit.S', '-no-pie', '-nostartfiles', '-Wl,-e,main')];
for my $way ([], ['--eager'], ['--units=func', '--eager'], ['--units=func'],
    ['--patch=trap'], ['--units=func,edge', '--eager']) {
	my $run = monitor($way, $exits);

	is(ended($run), 'status 100', "goexit, @$way: the sum is right");
	counts_are($run, { work => 10, goexit1 => 10 }, "goexit, @$way");
}
done_testing();
