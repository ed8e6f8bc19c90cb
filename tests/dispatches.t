# The edges of several indirect jumps to the same places are counted where the
# jumps are.  Whatever comes, and wherever in that code it finds a task, each
# edge is counted once, and nothing of it shows.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;
use Target;

my $step = abs_path(compile('step_at.c', qw(-O2 -shared -fPIC)));
# The labels that dispatches.c goes to, one after the other.
my @labels = (0, 1, 1, 2, 3, 0, 0, 4, 1, 2, 2, 2, 5);
# How the program is compiled; instructions from SIGURG to the second
# instruction of the last label, at most, which are stepped one after the other;
# and whether it is ended and let go in between.
my @builds = (
	# mov (table, index, 8), register; jmp *register
	['-fPIE -pie', 160, 1],
	# The same with the table's address in the instruction.
	['-fno-pie -no-pie', 160, 0],
	# No index counts these: their targets are looked up.
	['-fPIE -pie -DOFFSETS', 320, 1],
	['-fPIE -no-pie -DOFFSETS', 320, 0],
);

# The instructions before which it is ended or let go: from before a jump to
# behind several; and fewer, with a jump among them, where that takes long.
my @all_at = 70 .. 110;
my @some_at = $slow ? @all_at : 70 .. 86;

# How often the jumps behind each label (0 of @path is where all begins) go
# where, over the first n jumps: the counts that are not 0, ascending.
sub
edges_known
{
	my ($n) = @_;
	my @path = ('begin', @labels);
	my %counts;

	for my $i (0 .. $n - 1) {
		my $at = $i % @labels;

		$counts{"$path[$at] $path[$at + 1]"}++;
	}
	return [sort { $a <=> $b } values %counts];
}

# Rows of interpret() in the csv file: [address, to, count].  All its jumps by
# the table are behind labels.
sub
rows
{
	my ($kind, $file) = @_;

	return map { [/^$kind,"[^"]*","interpret",(\w+),.*,"?(\w*)"?,(\d*),[^,]*$/] }
	    grep { /^$kind,"[^"]*","interpret"/ } slurp($file) =~ /^.*\n/mg;
}

sub
table_rows
{
	my ($program, $file) = @_;
	my $code = run(['objdump', '-d', '--no-show-raw-insn',
		'--disassemble=interpret', $program])->{out};
	my %jumps = map { (hex $_ => 1) } $code =~ /^ +(\w+):\s.*jmp +\*/mg;

	return grep { $jumps{hex $_->[0]} } rows('edge', $file);
}

# Are the counts of the table's edges those of the first n jumps?  n is found if
# it is not given; returned.
sub
edges_are
{
	my ($program, $file, $n, $what) = @_;
	my @counts = map { $_->[2] } table_rows($program, $file);
	my @ran = sort { $a <=> $b } grep { $_ ne '' && $_ } @counts;

	is(scalar(grep { $_ eq '' } @counts), 0, "$what: all are known");
	$n //= eval { my $sum = 0; $sum += $_ for @ran; $sum };
	is_deeply(\@ran, edges_known($n), "$what: as the program goes");
	return $n;
}

sub
env_of
{
	my ($signal, $first) = @_;

	return (env => { LD_PRELOAD => $step, PMON_STEP => $signal,
		PMON_STEP_FIRST => $first });
}

for my $build (@builds) {
	my ($flags, $rounds, $in_between) = @$build;
	my $program = compile('dispatches.c', '-O2', split(' ', $flags), '-ldl');
	my $csv = "$scratch/csv";
	my @units = ('--units=edge,block', "--report=csv:$csv");
	my $alone = run([$program, $rounds]);
	my $all = @labels * ($rounds + 1);
	my %rows;

	for my $mode ('--patch=auto', '--placement=every', '--patch=trap') {
		my $run = monitor([$mode, @units], [$program, $rounds]);

		same($alone, $run, "$flags, $mode");
		edges_are($program, $csv, $all, "$flags, $mode");
		$rows{$mode} = [rows('edge', $csv), rows('block', $csv)];
	}
	is_deeply($rows{$_}, $rows{'--patch=trap'}, "$flags, $_: as with traps")
	    for '--patch=auto', '--placement=every';

	# A signal, to be handled, before each instruction in turn.
	my $run = monitor([@units], [$program, $rounds], env_of(10, 0));
	my $out = $alone->{out} =~ s/0 signals/$rounds signals/r;

	is(ended($run), 'status 0', "$flags, signals: how it ends");
	is($run->{out}, $out, "$flags, signals: it computes the same");
	edges_are($program, $csv, $all, "$flags, signals");
	is_deeply([rows('edge', $csv), rows('block', $csv)],
	    $rows{'--patch=trap'}, "$flags, signals: as without");

	# One that ends it, at each instruction from before a jump to behind it:
	# each jump has been counted when its target has.
	next unless $in_between;
	for my $signal (9, 12) {
		my ($ends, $first, $last) = (0);

		my @at = $signal == 9 ? @all_at : @some_at;

		for my $at (@at) {
			my $what = "signal $signal at $at";
			my $run = monitor([@units], [$program, 1],
			    env_of($signal, $at));
			my ($n, $blocks) = (0, 0);

			$ends += $run->{status} == 128 + $signal;
			$n = edges_are($program, $csv, undef, $what);
			$blocks += $_->[2] || 0 for rows('block', $csv);
			# A block more for each call, if it has been come to.
			$blocks -= 2;
			ok($blocks == $n || $blocks == $n - 1,
			    "$what: $n edges, $blocks labels");
			$first //= $n;
			ok($n == ($last // $n) || $n == $last + 1,
			    "$what: not twice") if $signal == 9;
			$last = $n;
		}
		is($ends, @at, "signal $signal ends it");
		cmp_ok($last, '>', $first, "signal $signal: jumps were made");
	}

	# pmon lets it go at each of these instructions.
	$alone = run([$program, 3, 'serve'], in => "\n" x 3);
	for my $at (@some_at) {
		my $target = Target->new($program, 3, 'serve');
		my $run;

		is($target->ask(''), 'done', "let go at $at: it runs");
		$run = monitor_start([@units, '-p', $target->{pid}], [],
		    env_of(0, $at));
		ok(wait_for(sub { $target->planted('interpret') }),
		    'pmon attaches');
		is($target->ask(''), 'done', 'it is counted');
		is($target->ask('u'), 'done', 'it is let go');
		is($target->answer, $alone->{out} =~ s/^(done\n)+|\n$//gr,
		    'it computes the same');
		$run = monitor_finish($run);
		is(ended($run), 'status 0', 'pmon ends');
	}
}
done_testing;
