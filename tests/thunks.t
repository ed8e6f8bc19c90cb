# Retpolines, return thunks and other calls whose targets drop or replace the
# return address are jumps: counts are those that the programs' comments give,
# the same in every way of counting, and no such call costs a trap.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my @ways = ([qw(--placement=every --patch=step --eager)],
    (map { ["--patch=$_"] } @patches), ['--placement=every'],
    [qw(--placement=every --patch=trap)], ['--units=func,line,edge'],
    ['--units=func,line,insn']);

# The counts that the comments of the source give, by line.
my %lines;
{
	my $n = 0;

	for (split /\n/, slurp('tests/prog/thunks.c')) {
		$n++;
		$lines{"line thunks.c:$n"} = $1 if m{/\* (\d+) \*/$};
	}
}
my %calls = ('func first' => 800, 'func second' => 800, 'func tail' => 200,
    'func goes' => 10, 'func main' => 1);

my @flags = ([qw(-O2 -fno-inline)]);
if (`$cc --version` =~ /clang/) {
	push @flags, [qw(-O2 -mretpoline)];
} else {
	for my $how (qw(thunk thunk-inline)) {
		push @flags, [qw(-O2 -fcf-protection=none),
			map { "$_=$how" } qw(-mindirect-branch
			    -mfunction-return)];
		push @flags, [qw(-O1 -fcf-protection=none),
			"-mfunction-return=$how"];
	}
}
for my $flags (@flags) {
	my $program = compile('thunks.c', @$flags, qw(-g -fPIE -pie));
	my $alone = run([$program]);
	my $all;

	for my $way (@ways) {
		my $what = "@$flags, @$way";
		my $run = counted([@$way, '--object=thunks*'], [$program]);
		my $counts = $run->{counts};

		same($alone, $run, $what);
		is_deeply({ map { $_ => $counts->{$_} } keys %lines }, \%lines,
		    "$what: lines");
		is_deeply({ map { $_ => $counts->{$_} } keys %calls }, \%calls,
		    "$what: calls");
		$all //= $counts;
		is_deeply([counts_differ($all, $counts, 'some')], [],
		    "$what: as with $ways[0][0]");
	}
}

# By offset.  Of the arguments 0 to 49 half are odd, 37 no multiples of 4; the
# loop goes round 1 to 5 times for ten arguments each, less one and but for 0.
my %places = (
	inside => {
		'func 0' => 50, 'block 0' => 50, 'block 8' => 25, 'block d' => 0,
		'block 14' => 25, 'block 15' => 50, 'block 1e' => 1,
		'block 1f' => 145, 'block 24' => 49, 'edge 6-8' => 25,
		'edge 6-14' => 25, 'edge 8-15' => 25, 'edge 14-15' => 25,
		'edge 1c-1e' => 1, 'edge 1c-1f' => 49, 'edge 22-1f' => 96,
		'edge 22-24' => 49,
	},
	outside => {
		'func 0' => 50, 'block 0' => 50, 'block 8' => 37, 'block d' => 0,
		'block f' => 13, 'edge 6-8' => 37, 'edge 6-f' => 13,
	},
	dropper => { 'func 0' => 37, 'block 0' => 37 },
	replaced => {
		'func 0' => 50, 'block 0' => 50, 'block c' => 0,
		'block e' => 50, 'edge 7-e' => 50,
	},
	goal => {
		'func 0' => 50, 'block 0' => 50, 'block 4' => 1,
		'block 5' => 49, 'edge 2-4' => 1, 'edge 2-5' => 49,
	},
	kept => {
		'func 0' => 50, 'block 0' => 50, 'block 5' => 50, 'block 9' => 0,
		'block a' => 50, 'block 10' => 50, 'edge 0-5' => 50,
		'edge 7-9' => 0, 'edge 7-10' => 50,
	},
);
{
	my $program = compile('drops.S');
	my ($csv, $sites) = ("$scratch/csv", "$scratch/sites");

	for my $way ((map { ["--patch=$_"] } @patches), ['--placement=every'],
	    [qw(--placement=every --patch=trap)]) {
		my $run = run([$pmon, @$way, '--units=func,block,edge',
			"--report=csv:$csv,sites:$sites", '--', $program]);

		is($run->{status}, 0, "@$way: status");
		for my $func (sort keys %places) {
			my $got = places_read($csv, $func);
			my %want = %{$places{$func}};

			is_deeply({ map { $_ => $got->{$_} } keys %want },
			    \%want, "@$way: $func");
		}
		unlike(slurp($sites), qr/(inside|outside|dropper|replaced).*trap/,
		    "@$way: no trap") if "@$way" =~ /auto/;
	}
}

done_testing;
