# Threads run into breakpoints of their own and of pmon's at the same time.  pmon
# may pause one between its breakpoint and the stop for it: the kernel has reset
# the handler of SIGTRAP by then, and another's breakpoint must not end the
# program.  On two busy processors that happened in one run of a hundred.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $program = compile('breaks_together.c', '-O1', '-pthread', '-static');
my @busy = map { start(['sh', '-c', 'while :; do :; done']) } 1 .. 4;

for my $options (['--units=func'], ['--units=func,edge']) {
	my %ends;

	$ends{ended(monitor($options, [$program, 4]))}++ for 1 .. 300;
	is_deeply(\%ends, { 'status 0' => 300 }, "@$options: how runs end");
}
kill 'KILL', $_->{pid} for @busy;
finish($_) for @busy;
done_testing;
