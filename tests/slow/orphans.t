# pmon is killed before each of its requests while it attaches to a process,
# counts and detaches.  The process goes on as if there had been no pmon, unless
# it has breakpoints: then it may die of one.  PMON_ORPHANS=1: before each
# request; 3: before each third.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Orphans;
use Pmon;

my $each = $ENV{PMON_ORPHANS} // 3;
# Requests for one attach, the work and the detach are fewer, but for those of
# breakpoints.
my $most = 400;

sub
swept
{
	my ($mode, $option, $traps) = @_;
	my ($dead, $n, @bad) = (0, 1);

	for (; $n <= $most; $n += $each) {
		my $why = orphaned($mode, [$option], $n) // last;

		$dead += $why eq 'traps';
		push @bad, "$n: $why" if $why && !($traps && $why eq 'traps');
	}
	is_deeply(\@bad, [], "$mode, $option: pmon is killed before each " .
	    "$each. of $n requests");
	diag("$mode, $option: the process dies of breakpoints $dead times")
	    if $traps;
}

for my $mode (qw(read sleep futex poll suspend spin threads)) {
	swept($mode, '--no-traps', 0);
	swept($mode, '--units=func', 1);
}
swept('read', '--units=edge', 1);
swept('read', '--patch=trap', 1);

done_testing();
