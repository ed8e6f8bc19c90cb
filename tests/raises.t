# A raise as OCaml's, which pops the rest of its handler to memory, is seen to
# leave its stack.  Of the function with the handler, to which no edge leads,
# nothing may be known, but nothing is known wrongly.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my @ways = ([], ['--patch=trap'], ['--placement=vertex'],
    ['--placement=every'], ['--placement=every', '--patch=trap']);

for my $flags (['-O0'], ['-O2', '-no-pie']) {
	my ($n, $raised) = (21, 10);
	my $argv = [compile('raises.c', @$flags), $n];
	my $truth = counted(['--placement=every', '--patch=trap'], $argv);

	for my $way (@ways) {
		my $what = "raises.c @$flags @$way";
		my $run = monitor($way, $argv);

		is(ended($run), 'status 0', "$what: how it ends");
		counts_are($run, { raised => $raised, work => $n, main => 1 },
		    $what);
		like($run->{funcs}{guarded}, qr/^(?:$n|\?)$/,
		    "$what: with the handler");
		lines_are($run, 'tests/prog/raises.c', annotated(
		    'tests/prog/raises.c', N => $n, RAISED => $raised), $what);
		$run = counted($way, $argv);
		is(join("\n", counts_differ($run->{counts},
		    $truth->{counts})), '', "$what: as counted all");
	}
}
done_testing();
