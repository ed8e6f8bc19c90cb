# The addresses in OCaml's frame tables are no labels, so its jumps by pointers
# leave their functions; a raise comes to a handler.  A program that jumps to
# such an address nevertheless is counted right.  If other data have the address
# it is a label.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my @links = ('-nostartfiles', '-Wl,-e,main');
my %right = (leaf => 40, apply => 20, raise => 10, find => 20, attempt => 20,
	main => 1);

for my $case (
	['-pie', 110, 0],
	['-no-pie', 110, 0],
	['-pie -DJUMPS', 115, 0],
	['-pie -DJUMPS -DLABEL', 115, 1]) {
	my ($flags, $status, $label) = @$case;
	my $argv = [compile('frames.S', split(/ /, $flags), @links)];
	my $truth = counted(['--placement=every', '--patch=trap'], $argv);
	my $run;

	is(ended($truth), "status $status", "$flags, by traps: the sum");
	is(scalar keys %{ counts_unknown($truth->{counts}) }, 0,
	    "$flags, by traps: all counts are known");
	for my $way ([], ['--placement=vertex'], ['--units=func']) {
		$run = monitor($way, $argv);
		is(ended($run), "status $status", "$flags, @$way: the sum");
		counts_are($run, \%right, "$flags, @$way");
		next if "@$way" =~ /units/;
		$run = counted($way, $argv);
		is(join("\n", counts_differ($run->{counts}, $truth->{counts})),
		    '', "$flags, @$way: as counted all");
	}
	$run = monitor(['--units=edge',
	    "--report=sites:$scratch/sites,csv:$scratch/csv"], $argv);
	# Nothing tells a return from a jump to a label.
	is(slurp("$scratch/csv") =~ /^edge,.*"neither counted/m ? 1 : 0, $label,
	    "$flags: edges that are not told apart");
	unlike(slurp("$scratch/sites"), qr/stack switched/, "$flags: no walks");
}
done_testing();
