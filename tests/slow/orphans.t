# pmon is killed before each of its requests, or of its writes of text, while it
# attaches to a process, counts and detaches.  The process goes on as if there
# had been no pmon, unless it has breakpoints: then it may die of one.
# PMON_ORPHANS=1: before each; 3: before each third.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Orphans;
use Pmon;

my $each = $ENV{PMON_ORPHANS} // 3;
# Of pmon's calls for one attach, the work and the detach there are fewer.
my $most = 1000;

# How the process may end where it has breakpoints, and where it runs into them
# while pmon is there.  The signal that a task has stopped for goes as soon as
# pmon has waited for the stop: the task that pmon leaves behind a breakpoint runs
# on in the middle of an instruction.
my $strays = qr/^(?:traps|signal (?:4|11))$/;
# A pause makes this call fail.  pmon has it repeated once all threads have
# stopped and, at the end, their frames are entered.
my $cut = qr/^says epoll -4$/;

# How often each of the ways of `may` was seen is told; at most `few` times in
# a hundred, if that is given.
sub
swept
{
	my ($mode, $option, %how) = @_;
	my $may = $how{may} // qr{(?!)};
	my $call = $how{call} // 'ptrace';
	my ($n, $kills, %seen, @bad) = (1, 0);

	for (; $n <= $most; $n += $each) {
		my $why = orphaned($mode, [$option], $n, call => $call) // last;

		$kills++;
		next unless $why;
		if ($why =~ $may) {
			$seen{$why}++;
		} else {
			push @bad, "$n: $why";
		}
	}
	my $what = "$mode, $option: pmon is killed before each $each. $call";
	is_deeply(\@bad, [], "$what, $kills times");
	diag("$what: $kills kills, ", join ', ', map { "$seen{$_} $_" }
	    sort keys %seen) if %seen;
	my $seen = 0;
	$seen += $_ for values %seen;
	cmp_ok($seen, '<=', $kills * $how{few} / 100, "$what: few such ends")
	    if defined $how{few};
}

for my $mode (qw(read sleep futex poll suspend spin threads)) {
	swept($mode, '--no-traps');
	# Its handler has a breakpoint.
	swept($mode, '--units=func', may => $strays);
}
swept('epoll', '--no-traps', may => $cut, few => 10);
for my $mode (qw(read threads)) {
	swept($mode, '--units=edge', may => $strays);
	swept($mode, '--no-traps', call => 'pwrite');
	swept($mode, '--units=edge', may => $strays, call => 'pwrite');
}
swept('read', '--patch=trap', may => $strays);

done_testing();
