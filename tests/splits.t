# Programs of -fsplit-stack: __morestack goes on a byte behind its return
# address.  Counts are those that the program's comments give, in every way of
# counting, and what pmon cannot patch is unknown.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

plan skip_all => 'no gold' if system('command -v ld.gold >/dev/null');

my @ways = ([qw(--placement=every --patch=trap)], ['--patch=trap'], [],
    ['--placement=every'], ['--placement=vertex'], ['--units=func,edge'],
    ['--units=func,insn'], ['--units=func'], ['--units=func,call']);

# The counts that the comments of the source give, by line.
my %lines;
{
	my $n = 0;

	for (split /\n/, slurp('tests/prog/splits.c')) {
		$n++;
		$lines{"line splits.c:$n"} = $1 if m{/\* (\d+) \*/$};
	}
}
# By the program's loop; main and 100 calls of each of two functions go through
# __morestack.
my %calls = ('func big' => 100, 'func wide' => 100, 'func deep' => 550,
    'func sum' => 100, 'func main' => 1, 'func __morestack' => 201);

for my $flags ('-O0', '-O1') {
	my $program = compile('splits.c', $flags, qw(-g -fsplit-stack
		-fno-optimize-sibling-calls -fuse-ld=gold));
	my $alone = run([$program]);
	my $all;

	for my $way (@ways) {
		my $what = "$flags, @$way";
		my $run = counted($way, [$program],
		    units => 'func,line,block,edge,insn');
		my $counts = $run->{counts};
		my $follows = "@$way" !~ /units/;

		is($run->{out}, $alone->{out}, "$what: output");
		is_deeply({ map { $_ => $counts->{$_} } keys %lines }, \%lines,
		    "$what: lines") if $follows;
		# pmon sees sum go on at code that nothing is known to lead to.
		my %want = %calls;
		delete $want{'func sum'} if "@$way" =~ /call/;
		is_deeply({ map { $_ => $counts->{$_} } keys %want }, \%want,
		    "$what: calls");
		$all //= $counts;
		is_deeply([counts_differ($all, $counts, 'some')], [],
		    "$what: as with all counters") if "@$way" !~ /call/;
		# Where sum goes on.
		is(counts_unknown($counts)->{insn}, 1, "$what: unknown")
		    if $follows;
	}
}

done_testing;
