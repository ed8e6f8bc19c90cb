# Events of calls: functions whose instructions are known by hand, the same
# numbers whatever pmon does, and sums that are those of the profile.
use strict;
use warnings;
use lib 'tests/lib';
use JSON::PP;
use List::Util qw(sum);
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
my $program = compile('percall.S');
my $json = "$scratch/json";

# name => { calls, self, total, min, max, ... } of the functions in JSON.
sub
per_read
{
	return { map { $_->{name} => $_->{per_call} }
	    grep { $_->{per_call} } @{decode_json(slurp($_[0]))->{functions}} };
}

sub
per
{
	my ($options, @argv) = @_;
	my $run = run([$pmon, '--no-config', '--exact', '--quiet',
		"--report=json:$json,events:$scratch/events,times:$scratch/times",
		@$options, @argv]);

	$run->{of} = per_read($json);
	($run->{events}) = slurp("$scratch/events") =~
	    /^ +(\d+|\?)  +\S/m;
	return $run;
}

# [calls, self, total, min, max] of those functions.
sub
short
{
	my ($run, @names) = @_;

	return { map { $_ => [@{$run->{of}{$_}}{qw(calls self total min max)}] }
	    grep { $run->{of}{$_} } @names };
}

sub
sums_up
{
	my ($run, $what) = @_;
	my @of = values %{$run->{of}};

	# A signal came in the middle of a stack switch.
	if ($run->{events} eq '?') {
		is((grep { !$_->{why} } @of), 0, "$what: nothing is known");
		return;
	}
	is_deeply([grep { $_ } map { $_->{why} } @of], [],
	    "$what: all is known");
	is(sum(map { $_->{self} } @of), $run->{events},
	    "$what: what calls have themselves is what the profile has");
}

# ---- by hand

# In 20 rounds, n from 20 to 1.  loop(n) has 2 n + 2, rec(n) 3 and 5 for each
# call of itself; tail's loop is the one of 4.
my $rounds = 20;
my $all = sum(1 .. $rounds);
my $loops = 2 * $all + $rounds * (2 + 8 + 12 + 10);
my %known = (
	loop => [4 * $rounds, $loops, $loops, 4, 42],
	nest => [$rounds, 5 * $rounds, 25 * $rounds, 25, 25],
	rec => [$all + $rounds, 5 * $all + 3 * $rounds,
		5 * $all + 3 * $rounds, 3, 5 * $rounds + 3],
	tail => [$rounds, 2 * $rounds, 2 * $rounds, 2, 2],
	nothing => [$rounds, $rounds, $rounds, 1, 1],
	back => [$rounds, 11 * $rounds, 22 * $rounds, 22, 22],
	dive => [3 * $rounds, 11 * $rounds, 11 * $rounds, 5, 11],
	caught => [$rounds, 2 * $rounds, 2 * $rounds, 2, 2],
	struck => [$rounds, 5 * $rounds, 7 * $rounds, 7, 7],
	jolt => [1, 11, 15, 15, 15],
	strike => [1, 4, 4, 4, 4],
);
# main has 7 before its rounds, 11 in each, and 3 then; leave has 13, and does
# not come back.
my $main = 7 + 11 * $rounds + 4;

my @modes = ([], map([$_], qw(--patch=trap --patch=slot --patch=jump
	--patch=emulate --placement=every --placement=vertex --eager
	--units=func --object=*percall*)));
for my $mode (@modes) {
	my $run = per(['--per=*', @$mode], $program);
	my $name = "--per=* @$mode";

	is(ended($run), 'status 7', "$name: status");
	is($run->{err}, '', "$name: no message");
	is_deeply(short($run, keys %known), \%known, "$name: known numbers")
	    or diag explain short($run, keys %known);
	is($run->{of}{main}{self}, $main, "$name: main");
	is($run->{of}{leave}{self}, 13, "$name: functions that exit ends");
	sums_up($run, $name);
}

# Whatever else is measured, or is not.
for my $name (sort keys %known, 'main', 'leave') {
	my $run = per(["--per=$name"], $program);

	is_deeply([keys %{$run->{of}}], [$name], "--per=$name: it alone");
	is($run->{of}{$name}{total}, $known{$name}[2], "--per=$name")
	    if $known{$name};
	is($run->{of}{main}{total}, $run->{events} - 11 - 18,
	    'all but _start and what it calls are in main') if $name eq 'main';
}

# ---- other events

my $run = per(['--per=*', '--event=calls=func:loop'], $program);
is_deeply(short($run, qw(nest loop dive)), { nest => [$rounds, 0,
	2 * $rounds, 2, 2], loop => [4 * $rounds, 4 * $rounds, 4 * $rounds,
	1, 1], dive => [3 * $rounds, 0, 0, 0, 0] }, 'calls of a function');
is($run->{of}{nest}{event}, 'calls', 'the name of the event');
$run = per(['--per=loop', '--event=insns:taken'], $program);
is($run->{of}{loop}{self}, $loops / 2 - 2 * 4 * $rounds,
    'branches that were taken') if $run->{of}{loop};
$run = per(['--per=*', '--event=insns:call*3'], $program);
is_deeply($run->{of}{nest}{self}, 6 * $rounds, 'a class of instructions')
    if $run->{of}{nest};

# ---- every way to end

my $requests = compile('requests.cc', '-O1', '-pthread');
my $expected = per(['--per=*'], $requests);
sums_up($expected, 'threads, exceptions, signals, a child');
for my $mode (@modes[1 .. 6]) {
	$run = per(['--per=*', @$mode], $requests);
	is($run->{out}, $expected->{out}, "@$mode: output");
	is_deeply($run->{of}, $expected->{of}, "@$mode: the same numbers");
}
for (1 .. 3) {
	$run = per(['--per=*'], $requests, 'ticks');
	sums_up($run, 'signals at any time');
}

# ---- stacks

# main is measured, so that its stack has calls; or is not.
my $stacks = compile('call_stacks.c', '-O1');
my $both = per(['--per=leap', '--per=main'], $stacks);
$run = per(['--per=leap'], $stacks);
is_deeply($run->{of}{leap}, $both->{of}{leap},
    'a call that is left for a frame far away has ended');
is($run->{of}{leap}{total}, $run->{of}{leap}{self}, 'and has what it ran');
# Where stacks are left that stay, no number is taken to be known.
$run = per(['--per=step'], $stacks, 'swap');
like($run->{of}{step}{why}, qr/it was left while other stacks had calls$/,
    'a coroutine');
for my $mode (@modes[0 .. 5]) {
	$run = per(['--per=*', @$mode], $stacks, 'alt');
	ok($run->{of}{handler}{why} ||
	    $run->{of}{handler}{total} < $run->{of}{main}{total},
	    "@$mode: a handler that jumps off its stack ends");
}

# ---- data files, reports

my $data = "$scratch/data";
$run = per(['--per=nest', '-d', $data], $program);
run([$pmprint, "--report=json:$scratch/again", $data]);
is_deeply(per_read("$scratch/again"), $run->{of}, 'a data file has all');
my $text = run([$pmprint, '-r', 'times', $data])->{out};
like($text, qr/^Events per call of .*percall.*\n.*\n  of the event insns$/m,
    'a report says which event');
like($text, qr/^ +500 +100\.0 +500 +20 +25 +25 +25 +25  nest$/m, 'a report');
my %rows;
for (split /\r\n/, run([$pmprint, '-r', 'csv', $data])->{out}) {
	$rows{$1} = $2 if /^per-(\w+),[^,]*,"nest",.*,(\d+),$/;
}
is_deeply(\%rows, { map { $_ => $run->{of}{nest}{$_} }
	qw(calls self total sum min max) }, 'CSV has the same');
per(['--per=nest', '-d', "$scratch/other"], $program);
is(run([$pmprint, "--merge=$scratch/both", $data, "$scratch/other"])->{err},
    '', 'merge');
run([$pmprint, "--report=json:$scratch/again", "$scratch/both"]);
is(per_read("$scratch/again")->{nest}{self}, 2 * 25 * $rounds,
    'merged: what is not measured is its caller\'s');
per(['--per=nest', '--event=calls=func:loop', '-d', "$scratch/other"], $program);
run([$pmprint, "--merge=$scratch/both", $data, "$scratch/other"]);
like(run([$pmprint, '-r', 'times', "$scratch/both"])->{out},
    qr/\? +nest\n\?: not known: the merged files have times, or events, that/,
    'different events');

# ---- options

for (['--time', '--per cannot be used with --time, --slow or --trace: a run ' .
	'measures one thing of calls'],
    ['--once', '--per cannot be used with --once'],
    ['--event=mix', '--per counts one event a run, but --event names 15'],
    ['--event=line:x.c:3', '--per: "line:x.c:3" is of lines or calls, which ' .
	'are known only in the end'],
    ['--event=insns@file:x.c', '--per: "insns@file:x.c" is of files; pmon can tell ' .
	'events of functions and objects alone by calls']) {
	my ($option, $message) = @$_;

	$run = run([$pmon, '--no-config', '--per=main', $option, $program]);
	is(ended($run), 'status 125', "$option: status");
	is($run->{err}, "pmon: $message\n", "$option: message");
}

done_testing;
