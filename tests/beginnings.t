# Functions of which calls alone are counted, in a program that may write text:
# by a jump at their beginning, unless something may lead to the bytes that this
# overwrites.  Counts are those that the program's source tells.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Target;

my $rounds = 4;
# The program calls each from five places; `leaf` is called by `plain` and
# jumped to by `tail`, too, and `again` calls itself.
my $calls = 5 * $rounds;
my %counts = (
	(map { $_ => $calls }
	    qw(plain loops within entered enters flags flagged parted tail
	    tiny)),
	leaf => 3 * $calls, again => 2 * $calls,
);

for my $kind (qw(-pie -no-pie)) {
	my $program = compile(['beginnings.c'], '-O1', $kind, '-pthread');
	my @argv = ($program, $rounds);
	my $alone = run(\@argv);

	is(ended($alone), 'status 0', "$kind: runs alone");
	for my $patch (qw(auto trap step)) {
		my $run = monitor(['--units=func', "--patch=$patch"], \@argv);

		same($alone, $run, "$kind, $patch");
		counts_are($run, \%counts, "$kind, $patch");
	}

	# Neither lines nor blocks can be had from beginnings.
	my $blocks = monitor(['--units=func,block'], \@argv);
	same($alone, $blocks, "$kind, with blocks");
	counts_are($blocks, \%counts, "$kind, with blocks");

	# Attached to; without traps some counts are not known.
	for my $traps ([], ['--no-traps']) {
		my $target = Target->new(@argv, 'w');
		my $what = "$kind, attached @$traps";
		my %known = %counts;

		is($target->answer, 'waits', "$what: waits");
		my $run = monitor_start(['--units=func', @$traps,
			'-p', $target->{pid}], []);
		delete @known{qw(again entered flagged tiny within)}
		    if @$traps;
		ok(wait_for(sub {
			return !grep { !$target->planted($_) } keys %known;
		}), "$what: the patches are there");
		$target->tell('');
		is($target->answer . "\n", $alone->{out}, "$what: output");
		is($target->finish, 'status 0', "$what: ends well");
		counts_are(monitor_finish($run), \%known, $what);
	}
}

done_testing;
