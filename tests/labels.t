# Places in the middle of a function whose address its code takes: control may
# come there from another function, and if it never does, they cost nothing.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

for my $flags ('-pie', '-no-pie -static') {
	my $program = compile('labels.S', split ' ', $flags);
	my $csv = "$scratch/csv";

	for my $patch (@patches, 'auto --placement=every',
	    'trap --placement=every') {
		my $what = "$flags, $patch";
		my $run = run([$pmon, split(' ', "--patch=$patch"),
		    '--units=func,block,edge', "--report=csv:$csv,sites",
		    '-o', "$scratch/sites", '--', $program]);

		is($run->{status}, 0, "$what: status");
		# Of 50 calls 10 come by jumper; the loop goes round
		# 10 (1 + 2 + 3 + 4 + 5) times.
		is_deeply(places_read($csv, 'fall'), {
			'func 0' => 50, 'block 0' => 50,
			'edge a-c' => 40, 'edge a-15' => 10,
			'block c' => 40, 'edge c-e' => 40,
			'block e' => 150, 'edge 12-e' => 100,
			'edge 12-14' => 50, 'block 14' => 50, 'block 15' => 10,
		}, "$what: a function that is left and come back to");
		is(places_read($csv, 'jumper')->{'func 0'}, 10,
		    "$what: the other one");
		is(places_read($csv, 'stored')->{'func 0'}, 50,
		    "$what: one whose place nobody comes to");
		unlike(slurp("$scratch/sites"), qr/ stored .*takes the address/,
		    "$what: needs no trap") if $patch =~ /auto/;
	}
}

done_testing();
