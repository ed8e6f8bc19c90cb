# Whose code is that to which the compiler gives a line but no statement.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $program = compile('apart.S');

for my $patch (@patches, 'auto --placement=every') {
	my $run = monitor([split(' ', "--patch=$patch"), '--units=line'],
	    [$program]);

	is($run->{status}, 0, "$patch: status");
	is_deeply($run->{lines}{'apart.c'}, { 1 => 1, 2 => 1, 3 => 1, 10 => 3,
		11 => 3, 12 => 3, 13 => 0, 14 => 3, 15 => 2, 21 => 0 },
	    "$patch: a line that never runs has no code of another's");
}

done_testing();
