# The project's most valuable test: however counting is done, all counts are
# the same.  Few counters, counters in blocks only, a counter in every block;
# stepped, out of line, emulated; functions looked at when first entered, or
# at once; everything counted, or some units only.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Counts;
use Pmon;
use Sources;

# The first, which infers nothing, steps over every instruction and prepares
# everything beforehand, is what the others are compared with.
my @ways = (
	[qw(--placement=every --patch=step --eager)],
	[qw(--placement=optimal --patch=trap)],
	[qw(--placement=vertex --patch=trap)],
	[qw(--placement=optimal --patch=emulate --eager)],
	[qw(--placement=optimal --patch=step)],
	[qw(--placement=every --patch=slot)],
	[qw(--placement=optimal --patch=slot --eager)],
	[qw(--placement=optimal --patch=auto)],
);
# Of these only what was asked for is compared.
my @some = (
	['--units=func,line'], [qw(--units=func)], [qw(--units=line)], [qw(--units=block)],
	[qw(--units=edge --eager)], [qw(--units=insn)],
	[qw(--units=line --placement=vertex)],
	[qw(--units=call --placement=every)],
);

# Options: ways, some (how many of each), least (so many counts), shared (jumps
# by tables have targets in common: in relocated functions these are counted
# together).
# Vertex placement cannot tell all edges.
sub
equal
{
	my ($what, $argv, %opt) = @_;
	my $alone = run($argv, %opt);
	my @how = (@ways[0 .. ($opt{ways} // @ways) - 1],
	    @some[0 .. ($opt{some} // @some) - 1]);
	my $whole;

	for my $options (@how) {
		my $run = counted($options, $argv, %opt);
		my $label = "$what, @$options";
		my $counts = $run->{counts};

		same($alone, $run, $label);
		if (!$whole) {
			$whole = $counts;
			cmp_ok(scalar keys %$whole, '>=', $opt{least},
			    "$label: counts");
			is_deeply(counts_unknown($whole), {},
			    "$label: all are known");
			next;
		}
		my @bad = counts_differ($whole, $counts,
		    scalar grep { /units/ } @$options);
		is(scalar @bad, 0, "$label: as many") or
		    diag map { "$_\n" } splice @bad, 0, 20;
		my $unknown = counts_unknown($counts);
		delete @$unknown{qw(taken fall table call line)}
		    if "@$options" =~ /vertex/;
		delete $unknown->{table}
		    if $opt{shared} && "@$options" =~ /auto|units/;
		is_deeply($unknown, {}, "$label: all are known");
	}
}

my $calls = [compile(['calls.c', 'calls_asm.S'], '-O2', '-w'), 3];
my $lang = [compile('lang.c', '-O0', '-w')];
my $forks = compile('forks.c', '-O1', '-pthread', '-w');
my $threads = compile('threads.c', '-O2', '-pthread');
my $signals = compile('signals.c', '-O0', '-pthread', '-w');

equal('calls', $calls, least => 900);
equal('statements', $lang, least => 1800);
equal('statements, optimised', [compile('lang.c', '-O2', '-w')],
    least => 1200, some => 2);
equal('jump tables', [compile('lang.c', '-Os', '-w')], least => 900,
    some => 0);
equal('computed gotos', [compile('dispatch.c', '-O2')], least => 200,
    shared => 1);
equal('exceptions', [compile('except.cc', '-O2'), 1], least => 3000,
    ways => 3, some => 1);
equal('threads', [$threads, qw(hammer 3 20)], least => 700, some => 1);
equal('forks', [$forks, qw(forks 2 2)], least => 1400, some => 1);
equal('vforks', [$forks, qw(vforkexec 2)], least => 1400, some => 0);
equal('signals', [$signals, 'kinds'], least => 1000, some => 1);
my $text = spew("$scratch/text", join ' ', map { $_ * 7919 % 997 }
    1 .. ($slow ? 60 : 15));
for (['bzip2', $slow ? 4 : 3, '-c'], ['lua', 3, '-e', 'print(("x"):rep(3))']) {
	my ($name, $ways, @arguments) = @$_;
	my $from = source_build($name, '-O2', '-g');

	SKIP: {
		skip $Sources::reason, 1 unless $from;
		equal($name, [abs_path("$from/$name"), @arguments],
		    in_file => $text, least => 15000, ways => $ways, some => 1);
	}
}
for (['gzip', '-c'], ['dash', '-c', 'echo $((2 + 2))']) {
	my ($name, @arguments) = @$_;

	SKIP: {
		skip "no $name here", 1 unless -x "/usr/bin/$name";
		equal("$name, stripped", ["/usr/bin/$name", @arguments],
		    in_file => $text, least => 10000, ways => 4, some => 0);
	}
}

done_testing;
