# Programs that handle, block or ignore SIGTRAP find all that as it is without
# pmon's traps, whatever these do.  PMON_SIGTRAP=all (tests/slow/sigtrap.t) takes
# each mode of the program with all options.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;
use Target;

$ENV{HOME} = '/';
my $program = compile('sigtraps.c', '-O1', '-pthread');

# How often work is called, by all processes; each delivered signal calls it
# twice.
my %calls = (
	blocked => 3 + 3 * 2 + 1 + 2 + 1,
	waits => 3 + 2 * 2 + 1,
	forks => 1 + 2 + 2 + 1,
	spawns => 2 + 1,
	handlers => 1 + 2 + 1 + 1 + 1 + 2 + 0,
	nested => 4 + 4 + 1 + 1 + 1,
	ignored => 2 + 2 + 1 + 1,
	dies => 1,
	'dies-ignored' => 1,
	reset => 2 + 2,
	threads => 2 * 3 + 2 + 1,
	exec => 1 + 13,
	'exec ignored' => 1 + 13,
);

my @modes = sort keys %calls;
my @some = $ENV{PMON_SIGTRAP} ? @modes : qw(waits nested ignored);
my @others = $ENV{PMON_SIGTRAP} ? @modes : qw(forks threads);

for my $case ([[], @modes], [['--patch=trap', '--units=func'], @modes],
    [['--patch=step', '--units=func'], @some],
    [['--patch=emulate', '--placement=every'], @some],
    [['--object=*', '--units=func'], @others],
    !$ENV{PMON_SIGTRAP} ? () : ([['--patch=slot', '--units=insn'], @modes],
	[['--patch=step', '--object=*'], @modes],
	[['--object=*'], @modes], [['--units=func'], @modes])) {
	my ($options, @of) = @$case;

	for my $mode (@of) {
		my @argv = ($program, split / /, $mode);
		my $run = monitor($options, \@argv);

		same(run(\@argv), $run, "@$options, $mode");
		counts_are($run, { work => $calls{$mode} },
		    "@$options, $mode");
	}
}

# One that has its handler, and blocks it, before pmon comes.
for my $options ([], ['--patch=trap']) {
	my $target = Target->new($program, 'serves');

	is($target->answer, 'ready', "@$options: it is ready");
	is($target->ask('b'), 'blocked: handled, blocked, none waits, got 0',
	    'it blocks SIGTRAP');
	my $run = monitor_start([@$options, '-p', $target->{pid}], []);
	ok(wait_for(sub { $target->planted('work') }), 'pmon attaches');
	is($target->ask('b'), 'blocked: handled, blocked, none waits, got 0',
	    'it is blocked');
	is($target->ask('u'), 'unblocked: handled, open, none waits, got 0',
	    'and not');
	is($target->ask('t'), 'trapped: handled, open, none waits, got 1',
	    'and handled');
	is($target->ask('b'), 'blocked: handled, blocked, none waits, got 1',
	    'and blocked again');
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'pmon detaches');
	counts_are($run, { work => 2 + 2 }, 'it counts');
	is($target->ask('b'), 'blocked: handled, blocked, none waits, got 1',
	    'it is still blocked');
	is($target->ask('u'), 'unblocked: handled, open, none waits, got 1',
	    'and not');
	is($target->ask('t'), 'trapped: handled, open, none waits, got 2',
	    'and handled');
	is($target->finish('q'), 'status 0', 'it ends well');
}

# Its own breakpoints, in a relocated function, and what a table leads to, a
# call by r12 and a load from the middle of an instruction besides.
{
	my $own = compile('breakpoints.c', '-O1');
	my $alone = run([$own]);
	my $truth;

	for my $options (['--patch=trap'], []) {
		my $blocks = "$scratch/blocks";
		my $run = monitor([@$options, '--placement=every',
			'--func=breaks', '--units=func,block,edge',
			"--report=blocks:$blocks"], [$own]);

		same($alone, $run, "@$options: its own breakpoints");
		# 12 rounds, 2 for each way.
		counts_are($run, { breaks => 12 }, "@$options");
		$truth //= slurp($blocks);
		is(slurp($blocks), $truth, 'and each block');
		unlike($run->{report}, qr/by\s+traps:\s/, 'not by traps')
		    unless @$options;
	}
}

# A signal at an instruction that loads the trap flag, which is set in a step.
{
	my $flag = compile('trap_flag.c', '-O1');

	for my $options ([], ['--patch=trap'], ['--patch=step']) {
		my $run = monitor([@$options, '--units=func'], [$flag]);

		is($run->{out}, "3 faults, 0 traps\n",
		    "@$options: no trap flag is left");
	}
}

# Two threads at a time: one runs into a breakpoint in its handler, or ignores
# SIGTRAP, just when the other is given a SIGTRAP; or one blocks SIGTRAP, and the
# other asks for the action (tests/prog/given_at.c).
{
	my $given = compile('given.c', '-O1', '-pthread');
	my $inject = abs_path(compile('given_at.c', qw(-O2 -shared -fPIC)));

	for my $case (['handles', '2 came, action is kept'],
	    ['ignores', '1 came, action is ignored'],
	    ['looks', "SIGTRAP is blocked\n" .
		"it finds that the action is kept\n" .
		'1 came, action is kept']) {
		my ($mode, $says) = @$case;

		for my $options (['--units=func', '--patch=trap'],
		    ['--units=func']) {
			my $file = spew("$scratch/given", "\0" x 16);
			my $run = monitor($options, [$given, $mode], env => {
			    LD_PRELOAD => $inject, PMON_GIVEN => $file });

			is(ended($run), 'status 0', "@$options, $mode: two " .
			    'threads at a time');
			is($run->{out}, "$says\n", 'with what it has set');
			is($run->{funcs}{work}, 1, 'and counted');
		}
	}
}

done_testing;
