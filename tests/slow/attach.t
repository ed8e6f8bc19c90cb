# Attached to and let go again and again, a process that never rests.
# PMON_ATTACH=1000 for a long run.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Target;

# Whom nobody may not ask for options.
$ENV{HOME} = '/';

my $busy = compile('busy.c', '-O2', '-pthread');

for my $patch (@patches) {
	my $times = $ENV{PMON_ATTACH} // 60;
	my ($failed, $counted) = (0, 0);
	my $target = Target->new($busy, 8, 100);

	is($target->answer, 'ready', 'the process is ready');
	is($target->ask('r'), 'running', 'it runs');
	for my $time (1 .. $times) {
		my $run = monitor(["--patch=$patch", '--units=func',
		    '--duration=0.005', '-p', $target->{pid}], []);

		if (ended($run) ne 'status 0' || complaints($run) ne '') {
			$failed++;
			diag "$time: ", ended($run), ' ', $run->{err};
		}
		$counted++ if $run->{funcs}{work};
	}
	is($failed, 0, "$patch: $times times attached and detached");
	cmp_ok($counted, '>', $times / 2, 'and counted most times');
	like($target->ask('s'), qr/^stopped \d+$/, 'it runs on');
	is($target->status('TracerPid'), 0, "$patch: it is not traced");
	is($target->ask('t'), 'same', "$patch: its text is the file's");
	is($target->finish('q'), 'status 21', 'it ends well');
}

done_testing;
