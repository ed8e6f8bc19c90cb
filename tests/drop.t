# Counters whose traps cost too much: pmon drops them and says so; what else is
# known stays right.  pmon's clock is made to run fast, so that it drops all that
# it may at once, and programs need not last.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $n = 3000;
my $dropped = qr/pmon dropped a breakpoint that cost too much; --exact keeps them/;
my $clock = compile('clock_at.c', '-O1', '-g0', '-shared', '-fPIC');
my $prog = compile('dropped.c', '-O0', '-pthread');
my $static = compile('dropped.c', '-O0', '-pthread', '-static');
my $sites = "$scratch/sites";

sub
dropping
{
	my ($options, @argv) = @_;

	return monitor([@$options, "--report=sites:$sites",
		'-d', "$scratch/data"], [@argv], drops => 1,
	    env => { LD_PRELOAD => join(' ', $clock,
		    $ENV{LD_PRELOAD} // ()) });
}

# A function of which only the calls are counted, in threads and processes, too.
for my $how ('', 'threads', 'fork') {
	my $run = dropping(['-u', 'func'], $prog, $n, $how);

	is(ended($run), 'status 0', "func $how: it ends");
	is($run->{out}, $how eq 'fork' ? "7 done\n" : "done\n",
	    '  as it does alone');
	like($run->{err}, qr/^pmon:\ note:\ dropped-\w+\ ran\ at\ least\ \d+
	    \ times\ slower\ than\ alone,\ so\ pmon\ dropped\ 1\ breakpoint,
	    \ in\ none:\ what\ needs\ them\ is\ not\ known;\ --exact\ keeps
	    \ them\n/mx, '  with a note');
	is_deeply([@{$run->{funcs}}{qw(before none behind main)}],
	    [1, '?', 1, 1], '  one count is not known');
	like(run(["$build/pmprint", '--report=funcs', "$scratch/data"])->{out},
	    qr/\? .* none \[$dropped\]/, '  for which the data file has a reason');
	my $hits = func_traps($sites, 'none');
	cmp_ok($hits, '<', $n, '  the trap is gone');
	like(slurp($sites),
	    qr/^ +$hits +\w+ +none +dropped: cost \d+ % of the program's time$/m,
	    '  and reported');
}
my $run = dropping(['-u', 'func', '--exact'], $prog, $n);
is($run->{funcs}{none}, $n, '--exact: all calls are counted');
unlike($run->{err}, qr{pmon dropped}, '  and nothing is dropped');

# Counts of lines and edges: what is known is right.
my %values = (N => $n, THIRD => $n / 3);
my %truth = %{annotated('tests/prog/dropped.c', %values)};
for my $case ([[], $prog], [[], $static], [['--placement=every'], $static],
    [[], 'prlimit', '--fsize=100000000', $static]) {
	my ($options, @argv) = @$case;
	my $run = dropping($options, @argv, $n, 'leaves');
	my $lines = $run->{lines}{'dropped.c'};
	my $name = join ' ', @$options, scalar @argv > 1 ? 'limited' :
	    $argv[0] eq $static ? 'static' : 'dynamic';

	is(ended($run) . $run->{out}, "status 0done\n", "$name: it ends");
	is(join(' ', grep { $lines->{$_} ne '?' && $lines->{$_} != $truth{$_} }
	    sort keys %truth), '', '  no known line is wrong');
	is($run->{funcs}{none}, '?', '  one function is not known');
	is($run->{funcs}{before}, 1, '  another is');
}

# A program that is executed after a hook of a library's was dropped.
my $second = spew("$scratch/second.c", slurp('tests/prog/dropped.c'));
system($cc, '-O0', '-g', '-pthread', '-o', "$scratch/second", $second) == 0
    or die "$cc failed";
$run = dropping(['--units=func,line,edge', '--object=*libc.so*',
    '--object=*/dropped*', '--object=*/second'], 'sh', '-c',
    "$prog $n leaves && exec $scratch/second 9 leaves");
%truth = %{annotated($second, N => 9, THIRD => 3)};
my $lines = $run->{lines}{'second.c'};
is(ended($run) . $run->{out}, "status 0done\ndone\n", 'another program');
is(join(' ', grep { $lines->{$_} ne '?' && $lines->{$_} != $truth{$_} }
    sort keys %truth), '', '  no known line of it is wrong');

done_testing;
