# Traces of what ends early: the program, pmon, the room for the file; and of a
# process that runs before and after.
use strict;
use warnings;
use lib 'tests/lib';
use JSON::PP;
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
my $program = compile('time_busy.c', '-O1');
my $trace = "$scratch/trace";
my @traced = ($pmon, '--no-config', '--quiet', "--trace=func:$trace");

sub
printed
{
	my (@options) = @_;

	return run([$pmprint, @options, $trace]);
}

sub
calls_of
{
	my ($name) = @_;

	return printed('-r', 'times')->{out} =~
	    /^ *\S+ \S+ +\S+ +\S+ \S+ +(\d+) .*  \Q$name\E$/m ? $1 : 0;
}

sub
large
{
	return -s $trace && -s $trace > 64 << 10;
}

# ---- the program is killed

my $json = "$scratch/json";
my $run = start([@traced, "--report=json:$json", $program]);
wait_for(\&large);
kill KILL => children_of($run->{pid});
is(ended(finish($run)), 'status 137', 'killed: status');
my ($fib) = grep { ($_->{name} // '') eq 'fib' }
    @{decode_json(slurp($json))->{functions}};
my $calls = calls_of('fib');
# It may be killed between the counter and the record.
ok($calls == $fib->{calls} || $calls + 1 == $fib->{calls},
    'killed: all calls are there') or diag "$calls, $fib->{calls}";
is(printed()->{err}, '', 'killed: the trace is complete');
my $from = printed('-r', 'trace', '--from=main', '--to=fib');
like($from->{out}, qr/ main \{\n(?:.* fib \{\n)+.*  fib\n/, 'killed: calls');

# ---- pmon is killed

unlink $trace;
$run = start([@traced, $program]);
wait_for(\&large);
my ($child) = children_of($run->{pid});
kill KILL => $run->{pid};
finish($run);
kill KILL => $child;
$run = printed('-r', 'times');
is(ended($run), 'status 0', 'pmon is killed: status');
like($run->{err}, qr/^pmprint: \Q$trace\E: (?:its end is missing|cut off) ?/,
    'pmon is killed: the end is missing');
cmp_ok(calls_of('fib'), '>', 20_000, 'pmon is killed: calls');

# ---- there is no room

my $timed = compile('timed.cc', '-O1', '-pthread');
my $alone = run([$timed]);
$run = run([$pmon, '--no-config', '--quiet', '--trace=func:/dev/full', $timed]);
is($run->{out}, $alone->{out}, 'no room: output');
is($run->{err}, "pmon: /dev/full: No space left on device; the trace ends " .
    "before\n", 'no room: message, once');
is(ended($run), 'status 125', 'no room: status');
$run = run([$pmon, '--no-config', '--quiet', "--trace=func:$scratch/no/trace",
	$timed]);
is(ended($run), 'status 125', 'no directory: status');
is($run->{out}, '', 'no directory: the program is not started');

# ---- attach and detach

my $busy = start([$program]);
unlink $trace;
$run = start([@traced, '-p', $busy->{pid}]);
wait_for(\&large);
run([$pmon, '--stop', $busy->{pid}]);
is(ended(finish($run)), 'status 0', 'detached: status');
ok(!has_ended($busy->{pid}), 'detached: the process goes on');
is(printed()->{err}, '', 'detached: the trace is complete');
cmp_ok(calls_of('fib'), '>', 20_000, 'detached: calls');
kill TERM => $busy->{pid};
is(ended(finish($busy)), 'status 0', 'detached: and ends');

# ---- a ring

my $ring = 64 << 10;

sub
size_is
{
	my ($name) = @_;

	# A chunk that is being made, tables and index come on top.
	ok(-s $trace > $ring / 2 && -s $trace < 3 * $ring, "$name: its size")
	    or diag -s $trace;
	is(printed()->{err}, '', "$name: it is complete");
	cmp_ok(calls_of('fib'), '>', 10_000, "$name: calls");
}

unlink $trace;
$run = start([@traced, '--ring=64K', $program]);
# More than the ring has: each round of the query is a moment of the run.
wait_for(sub {
	my $text = run([$pmon, '--query=funcs', $run->{pid}])->{out};

	return $text =~ /^ *(\d+) .*\bfib\b/m && $1 > 1_000_000;
});
ok(!-e $trace, 'a ring: nothing is written before somebody asks');
my $asked = run([$pmon, '--snapshot-trace', $run->{pid}]);
is(ended($asked), 'status 0', 'a snapshot: status');
is($asked->{out}, "$trace\n", 'a snapshot: the file is told');
size_is('a snapshot');
my ($begun) = printed('-r', 'trace', '--to=fib')->{out} =~
    /^ *(\d+\.\d+) +\d+  \S+ \{  \(began before\)\n/m;
cmp_ok($begun, '>', 0, 'a snapshot: calls that began before');
unlink $trace;
kill SEGV => children_of($run->{pid});
is(ended(finish($run)), 'status ' . (128 + 11), 'a crash: status');
size_is('a crash');
my ($end) = printed('-r', 'trace', "--from=${\ last_second()}")->{out} =~
    /(\d+  -- the thread ended)\n\z/;
ok($end, 'a crash: the end is there');

# Where the trace ends, less a bit.
sub
last_second
{
	my ($from, $for, $unit) = printed()->{out} =~
	    /^ *(\d+\.\d+) +([\d.]+) (\w+) +[\d,]+  process/m;
	my %units = (ns => 1e-9, us => 1e-6, ms => 1e-3, s => 1);

	return sprintf '%.9fs', $from + 0.99 * $for * $units{$unit};
}

$run = start([$pmon, '--no-config', '--quiet', $program]);
wait_for(sub { run([$pmon, '--query=funcs', $run->{pid}])->{out} =~ /fib/ });
$asked = run([$pmon, '--snapshot-trace', $run->{pid}]);
is($asked->{err}, "pmon: this pmon keeps no trace (--ring)\n", 'no ring');
kill KILL => children_of($run->{pid});
finish($run);
is(run([$pmon, '--no-config', '--ring=1M', $program])->{err},
    "pmon: --ring needs --trace\n", '--ring alone');
for (['1', '--ring: 1 is out of range (64K to 1024G)'],
    ['64Q', '--ring: "64Q" is not a number of bytes, such as 64M']) {
	my ($size, $message) = @$_;

	is(run([@traced, "--ring=$size", $program])->{err},
	    "pmon: $message\n", "--ring=$size");
}

# ---- several stacks

my $coroutines = compile('time_coroutines.c', '-O1');
my $chrome = "$scratch/chrome";
run([@traced, $coroutines, 20]);
printed('-r', "chrome:$chrome");
my (%stack, $bad);
for my $event (@{decode_json(slurp($chrome))->{traceEvents}}) {
	my $id = $event->{tid};

	push @{$stack{$id}}, $event->{name} if $event->{ph} eq 'B';
	$bad++ if $event->{ph} eq 'E' &&
	    (pop @{$stack{$id}} // '') ne $event->{name};
}
is($bad, undef, 'coroutines: ends belong to begins');
is(keys %stack, 21, 'coroutines: each has a track');

done_testing;
