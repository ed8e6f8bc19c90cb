# Programs that write, make and read code: never disturbed; counted as long
# as the code is what it was.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $n = 6;

# Mode, and what is sure of its counts: the least and the most.
my @modes = (
	['overwrite', { before => [1, 1], after => [1, 1], plain => [1, 1],
	    calls => [3, 3], victim => [$n, 3 * $n] }],
	['operand', { calls => [2, 2], victim => [0, 2 * $n] }],
	['child', { calls => [3, 3], victim => [2 * $n, 3 * $n] }],
	['remap', { calls => [2, 2], victim => [$n, $n] }],
	['jit', { before => [$n, $n] }],
	['read', { before => [$n, $n] }],
);
for my $kind ('-no-pie', '-pie') {
	my $program = compile('selfmod.c', '-O1', $kind, '-fPIE');

	for my $patch (@patches) {
		for my $case (@modes) {
			my ($mode, $expected) = @$case;

			# The instruction moved elsewhere stays what it was.
			next if $mode eq 'operand' && $patch ne 'step';
			my @argv = ($program, $mode, $n);
			my $alone = run(\@argv);
			my $run = monitor(["--patch=$patch",
			    '--units=func'], \@argv);
			my $what = "$kind, $patch, $mode";

			is(ended($alone), 'status 2', "$mode runs alone");
			same($alone, $run, $what);
			for my $func (sort keys %$expected) {
				my ($least, $most) = @{$expected->{$func}};
				my $got = $run->{funcs}{$func} // 'none';

				ok($got eq '?' || $got =~ /^\d+$/ &&
				    $got >= $least && $got <= $most,
				    "$what: calls of $func")
				    or diag "$got, not $least to $most";
			}
		}
	}
}

# ---- what executes a copy of its code executes breakpoints, too

{
	my $copied = compile('copied.c', '-O1');
	my $run = run([$pmon, '--no-config', '-u', 'func', $copied]);

	is($run->{status}, 128 + 5, 'a copy with a breakpoint in it');
	like($run->{err},
	    qr/^pmon: note: copied-\w+: SIGTRAP .* by --object='!NAME'$/m,
	    'is said to be the reason, and what helps');
	$run = run([$pmon, '--no-config', '-u', 'func', '--object=!copied*',
		$copied]);
	is("$run->{status} $run->{out}", "0 42\n", 'and that does');
}

done_testing;
