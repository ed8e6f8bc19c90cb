# Stops of tasks that record times (pmon --time).  A stop between any two
# instructions of a probe neither loses nor repeats records.  A task that finds
# no room for records just when pmon goes does not die of that.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $program = compile('time_signals.c', '-O1');
my $run = monitor(['--time', '--units=func',
	"--report=times:$scratch/times"], [$program]);
my %calls = map { /(\d+) +\S+ \S+ +\S+ \S+ +(middle|leaf)$/ ? ($2, $1) : () }
    split /\n/, slurp("$scratch/times");

is(ended($run), 'status 0', 'the program makes its calls');
is($calls{middle}, 200000, 'calls of the function that calls');
is($calls{leaf}, 2000000, 'calls of the function that it calls');

# It finds no room most of the time.
my $busy = start([compile('time_busy.c', '-O1')]);
for my $round (1 .. 10) {
	my $attached = monitor(['--time', '--duration=0.1', '-o',
		"$scratch/busy", '-p', $busy->{pid}], []);
	is(ended($attached), 'status 0', "pmon attaches and goes, $round");
}
kill 'TERM', $busy->{pid};
is(ended(finish($busy)), 'status 0', 'the process ends as it wants to');

done_testing;
