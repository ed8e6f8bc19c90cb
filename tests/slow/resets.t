# Counts set back at any moment, as often as it goes, while perl runs.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

mkdir "$scratch/runtime", 0700;
$ENV{XDG_RUNTIME_DIR} = "$scratch/runtime";

my $script = 'for my $k (1 .. 150) { for my $i (1 .. 3000) {' .
    ' $h{$i % 97} = substr $h{$i % 97} . chr(65 + $i % 26), -50; }' .
    ' @s = sort { $h{$a} cmp $h{$b} } keys %h; eval { die "x" }; }' .
    ' print scalar keys %h';
for my $round (1 .. 6) {
	my $started = monitor_start(['--units=edge'], ['perl', '-e', $script]);
	my ($resets, $ended) = (0, 0);

	until ($ended) {
		my $reset = run([$pmon, '--reset', $started->{pid}]);

		$resets++ if $reset->{status} == 0;
		$ended = kill(0, $started->{pid}) == 0 ||
		    slurp("/proc/$started->{pid}/stat") =~ /\) Z/;
	}
	my $run = monitor_finish($started);

	is(ended($run) . $run->{out}, 'status 097', "resets, round $round");
	cmp_ok($resets, '>', 0, '  which were');
}

done_testing;
