# The ledger killed at any moment, from outside and just before any request of
# pmon's, in all modes.  PMON_KILLS=50 for a long run.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Ledger;
use Pmon;

my $kills = $ENV{PMON_KILLS} // 5;
my $turn = 0;

sub
killed
{
	my ($mode, $options) = @_;
	my $least = 3 + $turn++ * 7 % 5;
	my ($run, $file) = monitored($mode, $options);
	my $going = wait_for(sub { (ledger_read($file)->{0} // 0) >= $least });

	kill KILL => child_of($run->{pid});
	my $end = finish($run);
	is(ended($end), 'status 137', "$mode, killed");
	ok($going, "$mode: it ran");
	agrees($file, "$mode, @$options: what ran when it was killed");
}

for my $mode (qw(calls jumps bytes handlers threads children)) {
	for my $options (['--patch=trap'], ['--patch=emulate'],
	    ['--patch=step'], ['--patch=auto'], ['--placement=vertex'],
	    ['--placement=every']) {
		# Of threads that are stepped only one goes on.
		next if "$mode @$options" =~ /threads.*step/;
		killed($mode, $options) for 1 .. $kills;
	}
}
# Mostly within a step, whose end it does not tell of.
killed('bytes', ['--patch=step']) for 1 .. 8 * $kills;

for my $options (['--patch=trap'], ['--patch=step'], ['--patch=auto'],
    ['--placement=every']) {
	my $killed = 0;

	for my $n (1 .. 3 * $kills) {
		$killed += killed_at(19 * $n, $_, $options)
		    for qw(calls jumps bytes often);
	}
	cmp_ok($killed, '>', $kills, "@$options: some were killed");
}
# While the task is led out of a slot, too.
killed_at(27 * $_, 'often', ['--patch=trap']) for 1 .. 30 * $kills;

# Just when a child is born, or ends.
for my $options (['--patch=trap'], ['--placement=vertex'],
    ['--placement=every']) {
	killed_at(7 * $_, 'children', $options) for 1 .. 10 * $kills;
}

# The end of one thread is the end of others.
for my $options (['--patch=trap'], ['--patch=emulate'], ['--patch=auto'],
    ['--placement=every']) {
	for (1 .. $kills) {
		my ($run, $file) = monitored('threads', $options, rounds => 5);
		my $end = finish($run);

		is(ended($end), 'status 0', 'exit_group');
		agrees($file, "@$options: what ran when others ended it");
	}
}

my ($sudden, $ends) = sudden();
cmp_ok($sudden, '<=', 2 + $ends / 5, 'few ended too suddenly');
diag "$sudden of $ends ended too suddenly to walk a stack";

done_testing;
