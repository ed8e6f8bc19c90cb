# With --object, system calls that may map code are traps.  One whose number is
# set before a loop is none if the number is the same whatever way control took.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $calls = 500;
my $program = compile('numbers.c', '-O1');

for my $units ('func', 'func,edge') {
	for my $which (qw(one two three)) {
		my ($csv, $sites) = ("$scratch/csv", "$scratch/sites");
		my @argv = ($program, $which, $calls);
		my $what = "$units, $which";
		my $run = monitor(["--units=$units", '--object=*numbers*',
			"--report=csv:$csv,sites:$sites"], \@argv);
		my ($hits) = slurp($sites) =~
		    /^ +(\d+) +[\da-f]+  $which\+\w+ +may make any system call/m;
		my $places = places_read($csv, $which);

		same(run(\@argv), $run, $what);
		is($places->{'func 0'}, 1, "$what: calls of the function");
		is($hits, $which eq 'one' ? undef : $calls,
		    "$what: traps at the system call");
		unlike(slurp($sites), qr/ $which\+\w+ +it switches stacks/,
		    "$what: the reasons are true");
		is_deeply([sort { $a <=> $b } map { $places->{$_} }
			grep { /^edge \w+-6$/ } keys %$places],
		    [1, $calls - 1], "$what: edges to the loop")
		    if $units =~ /edge/ && $which eq 'one';
	}
}

done_testing();
