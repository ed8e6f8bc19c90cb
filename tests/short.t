# Functions whose first block has no room for a jump: the counts are those of
# traps and those that the program's loops give, and jumps into the middle of
# what a jump has come to cover find what was there.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $n = $slow ? 20000 : 400;
# again calls zero 0, 0, 0, 1, 1, 1, 2 and 2 times in eight, and tail ends in
# one.  pivot calls down 1, 1, 2, 3 to 7 times in eight.
my %calls = ((map { $_ => $n } qw(branches steps loops shared again cases
    escape pivot nothing tail)), zero => $n + $n / 8 * 7, one => 2 * $n,
    down => $n / 8 * 29, main => 1);
my %entered = (%calls, intruder => $n, looper => $n);
# Those that are shorter than a jump and have no padding behind them.  Direct
# calls go past their traps: of nothing all but the first, of zero all but those
# by way of a pointer.
my %cramped = (nothing => 1, one => 2 * $n, tail => $n, zero => $n);
my @modes = (['--units=func'], ['--units=func', '--patch=trap'],
    ['--units=func', '--placement=every'], ['--units=func', '--eager'],
    ['--units=func,block,edge'],
    ['--units=func,block,edge', '--placement=every']);

# How often the traps at functions' entries were hit, of those that were.
sub
trapped
{
	my %trapped = reverse
	    slurp("$scratch/sites") =~ /^ *(\d+) +\w+  (\w+) +\S/mg;

	delete @trapped{qw(_start main)};
	return \%trapped;
}

for my $flags ('-O1', '-O1 -no-pie', '-O1 -s') {
	my $program = compile('short.c', split ' ', $flags);

	for my $intrudes ([], ['intrudes']) {
		my @argv = ($program, $n, @$intrudes);
		my $alone = run(\@argv);

		for my $mode (@modes) {
			my $what = "$flags, @$mode @$intrudes";
			my $run = monitor([@$mode, '--report=sites:' .
				"$scratch/sites"], \@argv);

			same($alone, $run, $what);
			next if $flags =~ /-s$/;
			# Without frames edges need not be known.
			my %expected = %{@$intrudes ? \%entered : \%calls};
			delete @expected{grep { $run->{funcs}{$_} eq '?' }
			    keys %expected} if @$intrudes && "@$mode" =~ /edge/;
			counts_are($run, \%expected, $what);
			next if "@$mode" =~ /trap/;
			unlike(slurp("$scratch/sites"), qr/ pivot\+\w+ +no room/,
			    "$what: no trap behind the call");
			is_deeply(trapped(), \%cramped, "$what: traps")
			    if !@$intrudes && "@$mode" !~ /eager/;
		}
	}
}
done_testing;
