# Stack switches that are counted in the program, once pmon has followed the
# same: with frames of other sizes between the same return addresses, to other
# places at the same depth, in threads, children, handlers and coroutines.  What
# is derived equals what is counted by traps, and what the program knows.
use strict;
use warnings;
use lib 'tests/lib';
use List::Util qw(sum);
use Test::More;
use Counts;
use Pmon;

# The calls of two functions: what all of its processes print.
sub
known
{
	my ($out) = @_;
	my @lines = split /\n/, $out;

	return (leave => sum(map { (split)[0] } @lines),
	    passed => sum(map { (split)[1] } @lines),
	    leaving => sum(map { (split)[2] } @lines));
}

# Is it unknown how often `leave` was called, for the reason that there may be?
sub
left_unknown
{
	my ($test, $run) = @_;

	return $test eq 'leaves' && $run->{funcs}{leave} eq '?' &&
	    $run->{report} =~ /: a signal interrupted the function, and /;
}

for my $flags (['-O0'], ['-O2']) {
	my $program = compile('stack_switches.c', @$flags, '-pthread');
	my $behind = `grep -n 'count(&passed)' tests/prog/stack_switches.c`;

	$behind =~ s/:.*//s;
	for my $test ('', qw(threads children swaps)) {
		my @argv = ($program, $test, 60);
		my $traps = counted(['--patch=trap', '--placement=every'],
		    \@argv);

		for my $options ([], ['--placement=every'], ['--eager']) {
			my $what = "@$flags $test @$options";
			my $run = counted($options, \@argv);

			same(run(\@argv), $run, $what);
			is_deeply([counts_differ($traps->{counts},
			    $run->{counts})], [], "$what: as by traps");
			is_deeply(counts_unknown($run->{counts}), {},
			    "$what: all are known");
		}
	}
	# How many there are is a matter of time.
	for my $test (qw(signals leaves), '', qw(threads children)) {
		my $run = monitor(['--units=func,line'], [$program, $test,
		    300]);
		my %known = known($run->{out});
		my $what = "@$flags $test";

		is($run->{status}, 0, "$what: how it ends");
		# A handler that leaves may come between a call and the
		# program's own count of it.
		$known{leave} = $run->{funcs}{leave}
		    if $test eq 'leaves' && $run->{funcs}{leave} ne '?' &&
		    $run->{funcs}{leave} >= $known{leave} &&
		    $run->{funcs}{leave} <= $known{leaving};
		# Seldom it leaves for good what pmon follows just then.
		$known{leave} = '?' if left_unknown($test, $run);
		counts_are($run, { leave => $known{leave} }, $what);
		# A signal in the middle of a switch that pmon follows makes
		# what is derived unknown.
		$known{passed} = '?' if $test =~ /signals|leaves/ &&
		    $run->{lines}{'stack_switches.c'}{$behind} eq '?';
		lines_are($run, 'stack_switches.c', { $behind => $known{passed} },
		    $what);
	}
	# Most runs know it.
	if ($slow) {
		my $unknown = grep { left_unknown('leaves',
		    monitor(['--units=func,line'], [$program, 'leaves', 300]))
		} 1 .. 40;

		cmp_ok($unknown, '<', 10, "@$flags leaves: known in most runs");
	}
	# That pmon has to follow few of them says that the others are counted.
	for my $test ('', qw(threads children)) {
		my $run = monitor(['--units=func,edge'], [$program, $test,
		    2000]);
		my %known = known($run->{out});
		my ($traps) = $run->{report} =~ /\s(\d+)\s+traps?\b/;

		cmp_ok($known{leave}, '>', 4000, "@$flags $test: switches");
		cmp_ok($traps, '<', 1000, "  and few traps");
	}
}
# Exceptions: from other depths and frame sizes, thrown again, and thrown in
# destructors and handlers while others are on their way.
for my $flags (['-O0'], ['-O2']) {
	my $program = compile('rethrows.cc', @$flags, '-pthread');

	for my $test ('', 'threads') {
		my @argv = ($program, $test, 60);
		my $traps = counted(['--patch=trap', '--placement=every'],
		    \@argv);

		for my $options ([], ['--placement=every']) {
			my $what = "rethrows.cc @$flags $test @$options";
			my $run = counted($options, \@argv);

			same(run(\@argv), $run, $what);
			is_deeply([counts_differ($traps->{counts},
			    $run->{counts})], [], "$what: as by traps");
			is_deeply(counts_unknown($run->{counts}), {},
			    "$what: all are known");
		}
	}
	for my $test ('', qw(threads signals)) {
		my $run = monitor(['--units=func,edge'], [$program, $test,
		    300]);
		my ($thrown, $cleaned) = split ' ', $run->{out};
		my ($traps) = $run->{report} =~ /\s(\d+)\s+traps?\b/;
		my $what = "rethrows.cc @$flags $test";

		is($run->{status}, 0, "$what: how it ends");
		counts_are($run, { throw_one => $thrown, clean => $cleaned },
		    $what);
		cmp_ok($traps, '<', $thrown, "  and few traps");
	}
}
done_testing;
