# Programs that block SIGTRAP and have no handler for it get that signal as
# without pmon: it waits until they take it, ignore it or unblock it.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Target;

$ENV{HOME} = '/';
my $program = compile('blocks_trap.c', '-O1', '-pthread');

# How often work is called, by all processes: once by each look, and once when a
# signal is taken, besides the calls of the mode itself.
my %calls = (
	waits => 5 + 6,
	'by-file' => 2 + 1,
	'from-parent' => 2 + 1 + 1 + 2 + 1,
	unblocks => 1,
	polls => 1,
	traps => 1,
	ignores => 6 + 2,
	masks => 7 + 2 + 2 + 1,
	threads => 3 + 1 + 1 + 1,
	crowd => 4 * 50 + 1 + 1,
	handles => 2 * 3 + 3 + 1,
);

my @modes = sort keys %calls;
my @most = $slow ? @modes : qw(waits by-file from-parent masks threads);

for my $case ([[], @modes], [['--patch=trap', '--units=func'], @modes],
    [['--object=*', '--units=func'], @modes],
    [['--patch=step', '--units=func'], @most],
    [['--patch=emulate', '--placement=every'], @most]) {
	my ($options, @of) = @$case;

	for my $mode (@of) {
		my @argv = ($program, $mode);
		my $alone = run(\@argv);
		my $run = monitor($options, \@argv);

		isnt($alone->{out}, '', "$mode says something");
		same($alone, $run, "@$options, $mode");
		is($run->{funcs}{work}, $calls{$mode}, '  and counted');
	}
}

# One that blocks it before pmon comes.
for my $options ([], ['--patch=trap'], ['--no-traps']) {
	my $target = Target->new($program, 'serves');
	my $waited = 'waited: signal 5, code 0, from itself, value 0';

	is($target->answer, 'ready', "@$options: it is ready");
	is($target->ask('w'), $waited, 'one waits');
	my $run = monitor_start([@$options, '-p', $target->{pid}], []);
	ok(wait_for(sub { $target->planted('work') }), 'pmon attaches');
	is($target->ask('w'), $waited, 'one waits') for 1 .. 2;
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'pmon detaches');
	counts_are($run, { work => 2 }, 'it counts');
	is($target->ask('w'), $waited, 'one waits');
	is($target->finish('q'), 'status 0', 'it ends well');
}

# The hooks go when there have been many calls, in all processes.
for my $options ([], ['--object=*', '--units=func'], ['--patch=trap']) {
	my $alone = run([$program, 'often']);
	my $run = monitor([@$options, "--report=sites:$scratch/sites"],
	    [$program, 'often']);
	my ($stops) = slurp("$scratch/sites") =~
	    /^ *(\d+) .* trap, sets which signals are blocked$/m;

	is(ended($alone), 'signal 5', 'one that sets the mask often');
	same($alone, $run, "@$options");
	is($run->{funcs}{work}, 3 + 1, '  and counted');
	ok($stops >= 5000, '  its first calls stop it') or diag $stops;
	ok($stops < 5010, '  and few of the others') or diag $stops;
	like($run->{report}, qr/was\s+sent\s+SIGTRAP,\s+which\s+it\s+may/,
	    '  the report says what is not known');
}

done_testing;
