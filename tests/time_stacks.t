# Times (pmon --time) of functions that are in several stacks at once.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $program = compile('time_coroutines.c', '-O1');
my %ns = (ns => 1, us => 1e3, ms => 1e6, s => 1e9);

# function => [self, total], of a run with n coroutines; '?' if unknown.
sub
times_of
{
	my ($n) = @_;
	my $run = monitor(['--time', '--units=func',
		"--report=times:$scratch/times"], [$program, $n]);
	my $time = qr/(\?|[\d.]+ [num]?s)/;
	my %times;

	is(ended($run), 'status 0', "$n coroutines");
	for (split /\n/, slurp("$scratch/times")) {
		next unless /^ *$time +\S+ +$time +\d+ .* (\w+)$/;
		$times{$3} = [map { /(.*) (.*)/ ? $1 * $ns{$2} : $_ } $1, $2];
	}
	return \%times;
}

# A coroutine stays in both: they are never left by all at once.
my $few = times_of(3);
for my $name (qw(pass generate)) {
	my ($self, $total) = @{ $few->{$name} // [1, 0] };
	cmp_ok($total, '>=', 0.9 * $self, "$name: all is at least a part");
}

my $many = times_of(100);
is($many->{$_}[1], '?', "$_: unknown with so many stacks")
    for qw(pass generate);

done_testing;
