# Times: a program knows how often its functions are called, and how long one of
# them takes at least.  No test says how long anything takes at most, but that no
# function takes longer than what called it.
use strict;
use warnings;
use lib 'tests/lib';
use JSON::PP;
use List::Util qw(sum);
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
my $program = compile('timed.cc', '-O1', '-pthread');
my ($spin, $leaves, $depth, $rounds, $loops) = (20e6, 20_000, 10, 20, 3);

# By hand: the three calls of many() are of the program, a thread and a child.
my %calls = (main => 1, spin => 1, nothing => 1, outer => 1, many => 3,
	deep => $rounds * ($depth + 1), tail => $rounds, tail_end => $rounds,
	catches => $rounds, throws => $rounds * ($depth + 1),
	lands => $rounds, jumps => $rounds * ($depth + 1), handler => $rounds,
	loops => $rounds, loop => $rounds * $loops,
	jumps_out => $rounds * $loops);
$calls{leaf} = 3 * $leaves + 1 +
    $rounds * ($depth + 1 + 2 + 1 + 1 + 1);

# The rows of a report of times: name => [self, total, calls, average, max], in
# nanoseconds; '?' where they are not known.
my %units = (ns => 1, us => 1e3, ms => 1e6, s => 1e9);
my $time = qr/(?:[\d.]+ (?:ns|us|ms|s)|\?)/;

sub
ns
{
	my ($text) = @_;

	return $text =~ /^([\d.]+) (\w+)$/ ? $1 * $units{$2} : '?';
}

sub
times_read
{
	my ($text) = @_;
	my %times;

	for (split /\n/, $text) {
		my ($self, $total, $calls, $average, $max, $name) =
		    /^ *($time) +\S+ +($time) +(\d+) +($time) +($time)  (\S.*)$/
		    or next;

		$times{$name} = [ns($self), ns($total), $calls, ns($average),
		    ns($max)];
	}
	return \%times;
}

sub
timed
{
	my ($options, @argv) = @_;
	my $file = "$scratch/times";
	my $run = run([$pmon, '--no-config', '--exact', '--quiet',
		"--report=times:$file", @$options, @argv]);

	$run->{text} = slurp($file);
	$run->{times} = times_read($run->{text});
	return $run;
}

sub
calls_are
{
	my ($times, $expected, $name) = @_;
	my %got = map { $_ => $times->{$_}[2] } keys %$expected;

	is_deeply(\%got, $expected, "$name: calls");
}

# function => what the JSON report has of its times
sub
json_times
{
	my ($file) = @_;

	return { map { ($_->{name} // '') => $_->{times} }
	    @{decode_json(slurp($file))->{functions}} };
}

# ---- a program that knows

my @modes = ([], ['--patch=trap'], ['--units=func,edge'], ['--eager'],
	['--placement=every', '--object=*timed*']);
my $alone = run([$program]);
my $json = "$scratch/json";

for my $mode (@modes) {
	my $run = timed(['--time', @$mode], $program);
	my ($times, $name) = ($run->{times}, "--time @$mode");

	is(ended($run), ended($alone), "$name: status");
	is($run->{out}, $alone->{out}, "$name: output");
	is($run->{err}, '', "$name: no message");
	calls_are($times, \%calls, $name);
	if ("@$mode" =~ /trap/) {
		# On no machine does a stop take a millisecond on average.
		is($times->{leaf}[0], '?', "$name: no time of leaf");
		cmp_ok($times->{spin}[0], '>=', 0.95 * $spin, "$name: spin");
		like($run->{text}, qr/^\?: .* a breakpoint at each entry and/m,
		    "$name: and why");
		next;
	}
	ok($times->{spin}[0] >= 0.95 * $spin, "$name: spin's own time")
	    or diag $run->{text};
	ok($times->{$_}[1] >= 0.95 * $spin, "$name: $_ called it")
	    for qw(outer main);
	cmp_ok($times->{outer}[0], '<', $times->{outer}[1],
	    "$name: outer's own time is less");
	# Three digits.
	cmp_ok($times->{deep}[1], '<=', 1.01 * $times->{main}[1],
	    "$name: recursion counts once");
	is($run->{text} =~ /^\?: /m, '', "$name: nothing is unknown");
}

# The calls that its records tell, whatever the counters do.
for my $mode ([], ['--patch=trap']) {
	timed(['--time', "--report=json:$json", @$mode], $program);
	my $of = json_times($json);

	for my $what (qw(calls ended)) {
		is_deeply({ map { $_ => $of->{$_}{$what} } keys %calls },
		    \%calls, "--time @$mode: recorded, $what");
	}
}

my $run = timed(['--time'], $program, 'blocked');

is($run->{out}, run([$program, 'blocked'])->{out}, 'SIGTRAP stays blocked');
calls_are($run->{times}, \%calls, 'SIGTRAP blocked');

# ---- without --time

$run = timed([], $program);
like($run->{text}, qr/^No times were measured; pmon --time measures them\.$/m,
    'not measured');

# ---- data files

my $data = "$scratch/data";

$run = timed(['--time', '-d', $data, "--report=json:$json"], $program);
my $printed = run([$pmprint, '-r', 'times', $data]);
is_deeply(times_read($printed->{out}), $run->{times}, 'a data file has all');

my $of = json_times($json)->{leaf};
my @bins = @{$of->{histogram}};
is($of->{calls}, $calls{leaf}, 'JSON: calls');
is($of->{ended}, $calls{leaf}, 'JSON: calls that ended');
is(sum(map { $_->{calls} } @bins), $of->{ended}, 'JSON: the histogram has all');
cmp_ok($of->{min}, '<=', $bins[0]{up_to}, 'JSON: the shortest is in a bin');
cmp_ok($of->{max}, '<=', $bins[-1]{up_to}, 'JSON: the longest is in a bin');
# A bin of ticks begins at 0.8 of its end, which is at 0.8 or more of the end of a
# bin of nanoseconds.  The time itself is rounded.
cmp_ok($of->{max}, '>=', $bins[-1]{up_to} * 0.8 * 0.8 - 1,
    'JSON: in the last one');
is($of->{self}, $of->{total}, 'JSON: a function that calls none');

my %rows;
for (split /\r\n/, run([$pmprint, '-r', 'csv', $data])->{out}) {
	$rows{$1} = $2 if /^time-(\w+),[^,]*,"leaf",.*,(\d+),$/;
}
is_deeply(\%rows, { map { $_ => $of->{$_} } qw(calls self total sum min max) },
    'CSV has the same');

my %twice = map { $_ => 2 * $calls{$_} } keys %calls;
my $other = "$scratch/other";
timed(['--time', '-d', $other], $program);
is(run([$pmprint, "--merge=$scratch/both", $data, $other])->{err}, '', 'merge');
$printed = times_read(run([$pmprint, '-r', 'times', "$scratch/both"])->{out});
calls_are($printed, \%twice, 'merged');
cmp_ok($printed->{spin}[0], '>=', 2 * 0.95 * $spin, 'merged: times');

# Parts: the program, its thread and its child.
timed(['--time', '--separate=thread', '-d', $data], $program);
my @parts = split /^(?=Times of )/m,
    run([$pmprint, '--parts', '-r', 'times', $data])->{out};
is(@parts, 3, 'a part for each thread');
is_deeply([map { times_read($_)->{many}[2] } @parts], [1, 1, 1],
    'each called many() once');
calls_are(times_read(run([$pmprint, '-r', 'times', $data])->{out}), \%calls,
    'joined');

# ---- slow calls

my @told = run([$pmon, '--no-config', '--slow=spin:10ms', '--slow=leaf:900s',
	'-o', '/dev/null', $program])->{err} =~
    /^pmon: note: (\w+) took [\d.]+ m?s in thread \d+: (.*)$/mg;
is_deeply(\@told, ['spin', '_start > main > outer > spin'],
    'a call that took longer than it may, and where it was');
for (qw(spin spin: :1ms spin:1 spin:1h spin:0ms spin:x2ms)) {
	$run = run([$pmon, '--no-config', "--slow=$_", $program]);
	is(ended($run), 'status 125', "--slow=$_: status");
	is($run->{err}, qq(pmon: --slow: "$_" is not FUNC:TIME, such as ) .
	    "parse:1.5ms\n", "--slow=$_: message");
}

# ---- of a process that runs

my $started = start([$program, 'attach']);
wait_for(sub { slurp("$started->{base}.out") =~ /ready/ });
my $monitor = start([$pmon, '--no-config', '--time', "-o$scratch/last", '-p',
	$started->{pid}]);
my $asked;
wait_for(sub {
	$asked = times_read(run([$pmon, '--query=times', $started->{pid}])
	    ->{out});
	return $asked->{spin} && $asked->{spin}[2] > 1;
});
cmp_ok($asked->{spin}[0], '>=', 0.95 * $spin, 'a query tells the times so far');
run([$pmon, '--stop', $started->{pid}]);
is(ended(finish($monitor)), 'status 0', 'attached');
my $last = times_read(slurp("$scratch/last"));
cmp_ok($last->{spin}[2], '>=', $asked->{spin}[2], 'more calls at the end');
ok(!has_ended($started->{pid}), 'the process goes on');
kill KILL => $started->{pid};
finish($started);

# ---- options

for (['--once', '--time cannot be used with --once'],
    ['--host=qemu', '--time cannot be used with --host: it measures programs ' .
	'of this machine']) {
	my ($option, $message) = @$_;

	$run = run([$pmon, '--no-config', '--time', $option, $program]);
	is(ended($run), 'status 125', "$option: status");
	is($run->{err}, "pmon: $message\n", "$option: message");
}
SKIP: {
	my $foreign = 'tests/m68k/many-O0.m68k';

	skip('qemu-m68k is not installed (qemu-user)', 6)
	    if system("qemu-m68k --version >$scratch/version 2>&1");
	for ('--time', '--trace') {
		my $trace = "$scratch/foreign";
		my $option = $_ eq '--trace' ? "$_=func:$trace" : $_;

		$run = run([$pmon, '--no-config', $option, $foreign]);
		is(ended($run), 'status 125', "$_, other CPU: status");
		is($run->{out}, '', "$_, other CPU: it does not run");
		is($run->{err}, "pmon: $foreign: $_ cannot be used with " .
		    'programs for the host qemu: it measures programs of ' .
		    "this machine\n", "$_, other CPU: message");
	}
}
$run = run([$pmon, '--no-config', '--time', '--no-traps', '-p', $$]);
is($run->{err}, 'pmon: --time cannot be used with --no-traps: its probes need ' .
    "breakpoints\n", '--no-traps: message');

done_testing;
