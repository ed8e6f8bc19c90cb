# Traces: a program knows how often its functions are called, and from where; what
# a trace has is what it says, what the counters say, and what --time says.
use strict;
use warnings;
use lib 'tests/lib';
use JSON::PP;
use List::Util qw(sum);
use Fcntl qw(:flock);
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
my $program = compile('timed.cc', '-O1', '-pthread');
my $trace = "$scratch/trace";
my ($depth, $rounds, $leaves) = (10, 20, 20_000);

sub
printed
{
	my ($file, @options) = @_;

	return run([$pmprint, @options, $file]);
}

# The calls of a trace, by thread: [[depth, name, how it ended]...], in the order
# in which they begin; and other lines, by thread.
sub
calls_of
{
	my ($text) = @_;
	my (%calls, %open, %others);

	for (split /\n/, $text) {
		my ($tid, $what) =
		    /^ *\d+\.\d{9} {1,10}(?:[\d.]+ [mnu]?s)? {1,10}(\d+)  (.*)$/
		    or next;

		if ($what =~ /^-- (.*)/) {
			push @{$others{$tid}}, $1;
		} elsif ($what =~ /^( *)\} (.*?)(?:  \((.*)\))?$/) {
			my $call = pop @{$open{$tid}};

			return ("$_: no such call")
			    unless $call && $call->[1] eq $2 &&
			    $call->[0] == length($1) / 2;
			$call->[2] = $3 // '';
		} elsif ($what =~ /^( *)(.*?)( \{)?(?:  \((.*)\))?$/) {
			my $call = [length($1) / 2, $2, $3 ? 'open' : $4 // ''];

			push @{$calls{$tid}}, $call;
			push @{$open{$tid}}, $call if $3;
		}
	}
	return (\%calls, \%others);
}

sub
counts_of
{
	my ($file) = @_;
	my $counts = decode_json(slurp($file));

	return { map { ($_->{name} => $_->{calls}) }
	    grep { $_->{name} && $_->{calls} } @{$counts->{functions}} };
}

# The rows of times: name => [self, total, calls].
sub
rows_of
{
	return { map { /^ *(\S+(?: \S+)?) +\S+ +(\S+ \S+) +(\d+) +\S+ \S+ +\S+ \S+  (\S.*)$/
	    ? ($4 => [$1, $2, $3]) : () } split /\n/, $_[0] };
}

my %units = (ns => 1, us => 1e3, ms => 1e6, s => 1e9);

sub
ns
{
	my ($n, $unit) = split ' ', $_[0];

	return $n * $units{$unit};
}

# ---- the calls of one run, by all that know them

my @modes = ([], ['--patch=trap'], ['--units=func,edge'], ['--eager'],
	['--placement=every'], ['--follow=none'], ['--separate=thread']);
my $alone = run([$program]);

for my $mode (@modes) {
	my $name = "@$mode";
	my $json = "$scratch/json";
	my $run = run([$pmon, '--no-config', '--exact', '--quiet',
		"--trace=func:$trace", '--time', "--report=json:$json,times:$json.times",
		@$mode, $program]);
	my ($calls, $others) = calls_of(printed($trace, '-r', 'trace')->{out});
	my %counted;

	is(ended($run), ended($alone), "$name: status");
	is($run->{out}, $alone->{out}, "$name: output");
	is($run->{err}, '', "$name: no message");
	ok(ref $calls, "$name: ends belong to begins") or diag $calls;
	next unless ref $calls;
	$counted{$_->[1]}++ for map { @$_ } values %$calls;
	# The child has main() and _start() from its maker.
	my $counts = counts_of($json);
	is_deeply({ map { ($_ => $counted{$_}) } keys %$counts },
	    { map { ($_ => $counts->{$_} + ($name !~ /none/ && /^(?:main|_start)$/)) }
	    keys %$counts }, "$name: as many calls as the counters say");
	is(scalar(keys %$calls), $name =~ /none/ ? 2 : 3, "$name: threads");

	my $rows = rows_of(printed($trace, '-r', 'times')->{out});
	is_deeply({ map { ($_ => $rows->{$_}[2]) } keys %$counts },
	    { map { ($_ => $counts->{$_}) } keys %$counts },
	    "$name: and so does the report of times");
	# The ticks are the same.  How long a tick is was measured twice, which
	# makes all times differ by one factor.  Either time is rounded to
	# nanoseconds and to three digits, which is half a percent, and so is
	# the factor's.
	my $times = rows_of(slurp("$json.times"));
	my @both = grep { $times->{$_} } keys %$rows;
	my ($factor) = map { sum(map { ns($rows->{$_}[1]) } @both) /
	    sum(map { ns($times->{$_}[1]) } @both) } 1;
	my @differ = grep {
		my ($one, $other) = map { ns($_->[1]) } $rows->{$_},
		    $times->{$_};

		abs($one - $factor * $other) >
		    0.5 + $factor * (0.5 + 0.02 * $other)
	} @both;
	# Of short functions that run in place they are not.
	cmp_ok(scalar @both, '>', $name =~ /trap/ ? 5 : 15,
	    "$name: times are known");
	is("@differ", '', "$name: times are those of --time");
}

# ---- what the program does, call by call

run([$pmon, '--no-config', '--quiet', "--trace=func:$trace", $program]);
my ($calls, $others) = calls_of(printed($trace, '-r', 'trace')->{out});
my ($first) = sort { $a <=> $b } keys %$calls;
my @sequence = @{$calls->{$first}};

# The calls within the n-th call of a function, as text.
sub
within
{
	my ($name, $n) = @_;
	my ($at) = (grep { $sequence[$_][1] eq $name } 0 .. $#sequence)[$n];
	my $deep = $sequence[$at][0];
	my @inner;

	for my $call (@sequence[$at + 1 .. $#sequence]) {
		last if $call->[0] <= $deep;
		push @inner, $call->[0] - $deep . $call->[1] .
		    ($call->[2] ? "!" : '');
	}
	return "@inner";
}

is(within('deep', 0), join(' ', map({ "${_}deep" } 1 .. $depth),
    $depth + 1 . 'leaf', map({ "${_}leaf" } reverse 1 .. $depth)),
    'recursion');
is(within('tail', $_), '1leaf 1tail_end 2leaf', "tail call $_") for 0, $rounds - 1;
like(within('catches', 0), qr/^1throws! (?:\d+throws! ?)+/,
    'calls that an exception left');
my @threads = grep { $_ != $first } keys %$calls;
is_deeply([sort map { scalar grep { $_->[1] eq 'leaf' } @{$calls->{$_}} }
    @threads], [($leaves) x 2], 'a thread and a child');

# ---- parts

my $part = printed($trace, '-r', 'trace', '--from=catches', '--to=catches');
my ($some) = calls_of($part->{out});
my @some = @{$some->{$first}};
is(scalar(grep { $_->[1] eq 'catches' } @some), 1, 'one call of a function');
is($some[0][1], '_start', 'with those that it is in');
is(scalar(grep { $_->[1] eq 'throws' } @some), $depth + 1, 'and makes');
like(printed($trace, '-r', 'trace', '--from=thread(void*)')->{out},
    qr/  thread\(void\*\) \{\n/, 'a name as it is shown');
is(printed($trace, '--from=nothing_like_it')->{err},
    'pmprint: --from: no call of a function named "nothing_like_it" is in ' .
    "the trace\n", 'no such function');
($some) = calls_of(printed($trace, '-r', 'trace', "--thread=$threads[0]")->{out});
is_deeply([keys %$some], [$threads[0]], 'one thread');
is_deeply($some->{$threads[0]}, $calls->{$threads[0]}, 'all of it');

# ---- formats of others

my ($chrome, $perfetto, $folded) = map { "$scratch/$_" } qw(c p f);
is(printed($trace, '-r',
    "chrome:$chrome,perfetto:$perfetto,folded:$folded")->{err}, '', 'exports');

my ($begins, $ends, $bad, %names, %stack, %last) = (0, 0, 0);
for my $event (@{decode_json(slurp($chrome))->{traceEvents}}) {
	my $id = "$event->{pid} $event->{tid}";

	next if $event->{ph} eq 'M';
	$bad++ if $event->{ts} < ($last{all} // 0);
	$last{all} = $event->{ts};
	if ($event->{ph} eq 'B') {
		push @{$stack{$id}}, $event->{name};
		$names{$event->{name}}++;
		$begins++;
	} elsif ($event->{ph} eq 'E') {
		$bad++ if pop @{$stack{$id}} ne $event->{name};
		$ends++;
	}
}
is($bad, 0, 'Chrome: events are in order, and ends belong to begins');
is($begins, $ends, 'Chrome: all calls end');
is($begins, sum(map { scalar @$_ } values %$calls), 'Chrome: all calls');

SKIP: {
	skip 'no protoc', 3 unless grep { -x "$_/protoc" } split /:/, $ENV{PATH};
	my $text = qx(protoc -Ireport/export --decode=perfetto.Trace perfetto.proto <$perfetto);
	my (%track, %depth, %named, $order);

	($begins, $ends, $bad) = (0, 0, 0);
	for my $packet (split /^packet \{\n/m, $text) {
		my ($type) = $packet =~ /type: TYPE_SLICE_(\w+)/;
		my ($stamp) = $packet =~ /timestamp: (\d+)/;
		my ($uuid) = $packet =~ /uuid: (\d+)/;

		$track{$uuid}++ if $packet =~ /track_descriptor/;
		$named{$1} = $2
		    while $packet =~ /iid: (\d+)\n\s+name: "(\w+)"/g;
		next unless $type;
		$bad++ if $stamp < ($order // 0) || !$track{$uuid};
		$order = $stamp;
		if ($type eq 'BEGIN') {
			$depth{$uuid}++;
			$begins++;
			$packet =~ /name_iid: (\d+)/ && $named{$1} or $bad++
			    unless $packet =~ /thread/;
		} else {
			$bad++ if --$depth{$uuid} < 0;
			$ends++;
		}
	}
	is($bad, 0, 'Perfetto: events are in order, have tracks and names');
	is($begins, $ends, 'Perfetto: all calls end');
	is($begins, sum(map { scalar @$_ } values %$calls),
	    'Perfetto: all calls');
}

my @lines = split /\n/, slurp($folded);
is(scalar(grep { !/^[^ ].* \d+$/ } @lines), 0, 'folded: stacks and times');
ok((grep { /^_start;main;outer;spin \d{8,}$/ } @lines), 'folded: spin took long');

# ---- one of each

run([$pmon, '--no-config', '--quiet', '--func=main', '--follow=none',
    "--trace=func:$trace", $program]);
like(printed($trace)->{out}, qr/^1 call of 1 function in /m, 'one of each');

# ---- refusals

for (['func:', '--trace: the file name is empty'],
    ['block', '--trace: "block" is not func or func:FILE']) {
	my ($arg, $message) = @$_;
	my $run = run([$pmon, '--no-config', "--trace=$arg", $program]);

	is(ended($run), 'status 125', "--trace=$arg: status");
	like($run->{err}, qr/^pmon: --trace/, "--trace=$arg: message");
}
{
	open my $other, '+<', $trace or die "$trace: $!";
	flock $other, LOCK_EX or die "$trace: $!";
	my $size = -s $trace;
	my $run = run([$pmon, '--no-config', "--trace=func:$trace", $program]);

	is($run->{err}, "pmon: $trace: another pmon writes its trace to it\n",
	    'two write to one file: message');
	is(ended($run), 'status 125', 'two write to one file: status');
	is(-s $trace, $size, 'two write to one file: it stays');
}
is(printed($trace, '--diff', $trace)->{err} =~ /^pmprint: /, 1, '--diff');
is(printed($trace, '-r', 'lcov')->{err}, "pmprint: --report: $trace is a trace; " .
    "its reports are summary, trace, times, chrome, perfetto and folded\n",
    'a report of counts');
is(run([$pmon, '--no-config', '-r', 'trace', $program])->{err},
    'pmon: --report: trace is made of a trace by pmprint; pmon --trace=func ' .
    "writes one\n", 'a report of traces');

done_testing;
