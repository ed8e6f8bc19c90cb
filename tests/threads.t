# Threads: every call by every thread is counted, with every patch.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

# Mode, n, calls per thread, how often work_times is called, threads that
# wait at the barrier.
my @modes = (
	['hammer', 8, 400, 8, 8],
	['hammer', 100, 20, 100, 100],
	['storm', 12, 10, 4 * 12 + 4 * 6, 0],
	['leader', 2, 300, 2, 0],
	['vanish', 30, 10, 30, 0],
);
my $turn = 0;
for my $optimised (0, 2) {
	my $program = compile('threads.c', "-O$optimised", '-pthread');

	for my $patch (@patches) {
		for my $case (@modes) {
			# Every other, and the rest with the other program.
			next if !$slow && $turn++ % 2;
			my ($mode, $n, $calls, $times, $waiting) = @$case;
			my @argv = ($program, $mode, $n, $calls);
			my $what = "-O$optimised, $patch, $mode $n";
			my $run = monitor(["--patch=$patch"], \@argv);

			same(run(\@argv), $run, $what);
			counts_are($run, { work => $times * $calls },
			    $what);
			lines_are($run, 'threads.c',
			    annotated('tests/prog/threads.c',
				W => $times * $calls, T => $times,
				B => $waiting), $what)
			    if !$optimised;
		}
	}
}

# The process ends while eight threads are at traps: each may have been
# counted once more than it could say.
my $program = compile('threads.c', '-O2', '-pthread');
for my $patch (@patches) {
	my $run = monitor(["--patch=$patch", '--units=func', '--func=work'],
	    [$program, 'exit', 8, 2000]);

	is(ended($run), 'status 3', "$patch: exit amidst traps");
	my ($least) = $run->{out} =~ /at least (\d+)/;
	cmp_ok($run->{funcs}{work}, '>=', $least // 1e9,
	    "$patch: no call is lost");
}

# The same, killed from outside at some moment.
for my $patch (@patches) {
	for my $time (1 .. ($slow ? 5 : 2)) {
		my $run = monitor_start(["--patch=$patch", '--units=func'],
		    [$program, 'exit', 8, 1e9]);

		wait_for(sub { slurp("$run->{base}.out") =~ /running/ });
		my ($child) = children_of($run->{pid});
		kill KILL => $child if $child;
		$run = monitor_finish($run);
		is(ended($run), 'status 137', "$patch: killed while counting");
		like($run->{err}, qr/^pmon: .*killed by signal 9/m,
		    'pmon says so');
		is($run->{funcs}{endless}, 8, 'and what it counted');
		cmp_ok($run->{funcs}{work} // 0, '>=', 8, 'all of it');
	}
}

# Many small functions, whose counters need more memory than their code.
my $crowd = monitor([], [compile('crowd.c', '-O1', '-pthread')]);

is(scalar(grep { ($crowd->{funcs}{"f$_"} // 0) == 3 } 0 .. 15999), 16000,
    'every one of many small functions is counted');

done_testing;
