# Programs whose stacks are lost in code that is in no file: memory is searched
# for return addresses.  What no task can be in is known then, and nothing that
# is said to be known is wrong: the program knows its counts.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;
use Target;

my $source = 'tests/prog/searched.c';
my $depth = 5;
mkdir "$scratch/runtime", 0700;
$ENV{XDG_RUNTIME_DIR} = "$scratch/runtime";
my @text = split /\n/, slurp($source);
my @ways = ([], ['--patch=trap'], ['--placement=vertex']);
my @every = ('--placement=every');

# How it ends; k by a signal.
my %ends = ((map { $_ => 'status 0' } qw(e f r x t o s h b u g w)),
    k => 'status 137');
# Where not all that may have been left can be found by a search.
my %old = (h => 1, b => 1, u => 1);

sub
expected
{
	my ($how, $back) = @_;
	my %is = map { $_ => $how eq $_ ? 1 : 0 } keys %ends;
	my $lost = $is{u} + $is{g};
	my $forks = $is{f} + $is{r};

	return annotated($source, DEPTH => $depth, STALE => 60,
	    ODD => (grep { $_ & 1 } 0 .. $depth) + 0,
	    TWO => (grep { ($_ & 3) == 2 } 0 .. $depth) + 0,
	    HANDLED => $is{h}, LOST => $lost, DEEP => 1 - $lost,
	    FORKS => $forks, BACK => $back // $is{f} + 2 * $is{r} + $is{w},
	    ENDS => $is{e} + $is{s} + $is{h} + $is{b},
	    PLAIN => 1 - $lost - $is{t} - $is{o} - $is{s},
	    map { uc $_ => $is{$_} } keys %is);
}

# The lines of a function.
sub
lines_of
{
	my ($function) = @_;
	my ($from) = grep { $text[$_] =~ /^$function\(/ } 0 .. $#text;
	my ($to) = grep { $_ > $from && $text[$_] eq '}' } 0 .. $#text;

	return $from + 1 .. $to;
}

# Lines that are said to be known and are not what they should be.
sub
wrong
{
	my ($lines, $expected) = @_;

	return [map { "$_: $lines->{$_}, not $expected->{$_}" }
	    grep { $lines->{$_} ne '?' && $lines->{$_} != $expected->{$_} }
	    sort { $a <=> $b } grep { defined $lines->{$_} }
	    keys %$expected];
}

sub
unknown
{
	my ($lines, $expected, $function) = @_;

	return grep { exists $expected->{$_} && ($lines->{$_} // 0) eq '?' }
	    lines_of($function);
}

# Run it, and look at what is known.
sub
look
{
	my ($run, $how, $what) = @_;
	my $lines = $run->{lines}{'searched.c'};
	my $expected = expected($how);

	is_deeply(wrong($lines, $expected), [], "$what: nothing is wrong");
	if ($old{$how}) {
		ok(unknown($lines, $expected, 'gone'), "$what: all in doubt");
		return;
	}
	is(join(' ', unknown($lines, $expected, $_)), '',
	    "$what: $_ is known") for qw(gone touch);
	ok(unknown($lines, $expected, 'stale'),
	    "$what: what looks like a frame is in doubt");
	like($run->{report}, qr/could\s+not\s+be\s+walked/, "$what: a note");
}

# It has come to its depth; its process id.
sub
is_there
{
	my ($target) = @_;
	my $pid = $target->{pid};

	is($target->answer, 'there', 'it is there');
	return slurp("/proc/$pid/task/$pid/children");
}

sub
asked
{
	my $run = run([$pmon, @_]);

	is(ended($run) . $run->{err}, 'status 0', "@_");
	return;
}

# What is in a data file.
sub
saved
{
	my ($file) = @_;
	my $text = "$scratch/lines";

	run(["$build/pmprint", "--report=lines:$text", $file]);
	return lines_read($text)->{'searched.c'};
}

for my $flags (['-O0'], ['-O1', '-fno-optimize-sibling-calls']) {
	my $program = compile('searched.c', @$flags, '-pthread');

	for my $how (grep { $_ ne 'w' } sort keys %ends) {
		for my $way (@ways) {
			my $what = "@$flags @$way $how";
			my $run = monitor($way, [$program, $how, $depth]);

			is(ended($run), $ends{$how}, "$what: how it ends");
			look($run, $how, $what);
		}

		# With all calls counted, one that is wrongly taken to have
		# come back contradicts the counter behind it.
		my $run = monitor([@every], [$program, $how, $depth]);

		unlike($run->{report}, qr/contradict/, "@$flags $how: agrees");
		is_deeply(wrong($run->{lines}{'searched.c'}, expected($how)),
		    [], "@$flags $how: counted");
	}
}

# Where calls are counted behind from the first, a search would tell nothing.
for my $flags ([], [qw(-fomit-frame-pointer -fno-asynchronous-unwind-tables
    -fno-unwind-tables -fno-exceptions)]) {
	my $program = compile('searched.c', '-O0', '-pthread', @$flags);
	my $sites = "$scratch/sites";
	my $run = run([$pmon, '--no-config', '--units=edge',
		"--report=sites:$sites", '--', $program, 'e', $depth]);

	is(ended($run), 'status 0', 'how it ends');
	is(scalar(() = slurp($sites) =~ /stack lost, memory searched/g),
	    @$flags ? 0 : 1, "@$flags: searches");
}

# Counts are asked for, and pmon lets go, while the stack is lost; and counts
# are asked for before it ends.
for my $end ('stop', 'end') {
	my $program = compile('searched.c', '-O0', '-pthread');
	my $base = "$scratch/$end";

	for my $way (@ways) {
		my $target = Target->new($pmon, @$way, '--no-config',
		    '-d', "$base.out", '--', $program, 'w', $depth);
		my ($pid) = split ' ', is_there($target);

		asked('--snapshot', "$base.before", $pid);
		asked('--stop', $pid) if $end eq 'stop';
		$target->tell('');
		is($target->finish, 'status 0', "$end @$way");
		is_deeply(wrong(saved("$base.before"), expected('w', 0)), [],
		    "$end @$way: before");
		is_deeply(wrong(saved("$base.out"),
		    $end eq 'stop' ? expected('w', 0) : expected('w')), [],
		    "$end @$way: after");
		is(join(' ', unknown(saved("$base.$_"), expected('w'),
		    'gone')), '', "$end @$way: known $_") for qw(before out);
	}
}

done_testing;
