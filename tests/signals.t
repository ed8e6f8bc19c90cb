# Signals: each delivered once, to the handler it was meant for, whatever the
# program was doing; what a handler does is counted as everything else.
use strict;
use warnings;
use lib 'tests/lib';
use POSIX qw(SIGVTALRM SIGTRAP);
use Test::More;
use Pmon;

my $program = compile('signals.c', '-O0', '-pthread', '-Wno-unused-parameter');
my $source = 'tests/prog/signals.c';

sub
source_line
{
	return (split /\n/, slurp($source))[$_[0] - 1] // '';
}

# Modes whose number of calls and signals the program itself counts.
my @counting = (['timer', 300, 1], ['bombard', 60, 1], ['threads', 80, 0]);
# Modes that do the same each time, and their calls.
my @plain = (
	['mend', 12, { store => 12, mend => 12 }],
	['skip', 12, { store => 12, skip => 12 }],
	['leave', 12, { store => 12, leave => 12 }],
	['places', 12, { divide => 6, undefine => 6, where => 12 }],
	['traps', 12, { breakpoint => 12, on_trap => 48, work => 12 }],
	['children', 12, { work => 12 }],
	['stops', 6, { work => 6 }],
	['blocked', 12, { work => 12 }],
	['kinds', 4, { work => 40, nested => 40, on_signal => 1 }],
	# pmon is of the group, too, and none of it is meant for it.
	['group', 12, { work => 12, on_signal => 12 }],
	['calls', 3, undef],
);
# These by turns, too.
my @deaths = (1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 14, 15, 31);

# Its counts are an arithmetic matter: each call has so many rounds.
# SIGTRAP is also what traps make.
for my $signal (SIGVTALRM, SIGTRAP) {
	my $rounds = compile('rounds.c', '-O2');
	my $run = monitor(['--units=func,block,edge', '--func=rounds',
	    "--report=blocks:$scratch/blocks"], [$rounds, $signal]);
	my ($calls, $elsewhere) = $run->{err} =~
	    /^counts: rounds (\d+), elsewhere (\d+)$/m;
	my @counts = slurp("$scratch/blocks") =~ /^ *(\d+) +[0-9a-f]{4,} /mg;

	is(ended($run), 'status 4', "an unrolled loop, signal $signal: it ends");
	is($elsewhere, 0, 'its handlers see it in its own code');
	is_deeply(\@counts, [$calls, $calls << 20, $calls << 19,
	    $calls << 20, $calls], 'its blocks');
}

my $turn = 0;
for my $patch (@patches) {
	for my $units ('func', 'func,line') {
		# By turns every other with these units.
		$turn++;
		for my $case (@counting) {
			next if !$slow && $turn++ % 2;
			my ($mode, $n, $known) = @$case;
			my $what = "$patch, $units, $mode";
			my $run = monitor(["--patch=$patch",
			    "--units=$units"], [$program, $mode, $n]);
			my ($work, $handled) = $run->{err} =~
			    /^counts: work (\d+), on_signal (\d+)$/m;

			is(ended($run), 'status 4', "$what: it ends");
			cmp_ok($handled // 0, '>', 0, 'signals came');
			is($handled, $n, 'every one of them')
			    if $mode ne 'timer';
			counts_are($run, { work => $work,
			    on_signal => $handled }, $what);
			next if $units eq 'func';
			# Of n calls, from 0 on, those not divisible by three
			# add; the threads' calls do not begin at 0 once only.
			my $lines = annotated($source, W => $work,
			    H => $handled, N => 0,
			    S => $work - int(($work + 2) / 3));
			if (!$known) {
				my ($line) = grep { source_line($_) =~
				    /x S/ } keys %$lines;
				delete $lines->{$line};
			}
			lines_are($run, $source, $lines, $what);
		}
		for my $case (@plain) {
			next if !$slow && $turn++ % 2;
			my ($mode, $n, $calls) = @$case;
			my $what = "$patch, $units, $mode";
			my @argv = ($program, $mode, $n);
			my $alone = run(\@argv);
			my $run = monitor(["--patch=$patch",
			    "--units=$units"], \@argv);

			if (!$calls) {
				# How many timers go off depends on time.
				s/^counts.*\n//m for $alone->{err},
				    $run->{err};
			}
			same($alone, $run, $what);
			counts_are($run, $calls, $what) if $calls;
		}
	}
	# A line whose instruction faults, is mended and begun again, is
	# entered once.
	my $run = monitor(["--patch=$patch"], [$program, 'mend', 20]);
	my ($line) = grep { source_line($_) =~ /store\(page\)/ }
	    1 .. split /\n/, slurp($source);
	lines_are($run, $source, { $line => 20 }, "$patch, mended store");

	# Two handlers at once, of which the outer is on a higher stack.
	$run = monitor(["--patch=$patch"], [$program, 'aloft', 40]);
	my ($rounds) = $run->{out} =~ /^rounds (\d+), handled 40$/;
	ok($rounds, "$patch, aloft: it tells its rounds");
	($line) = grep { source_line($_) =~ /each round/ } 1 .. split /\n/,
	    slurp($source);
	lines_are($run, $source, { $line => $rounds }, "$patch, aloft");

	for my $signal (@deaths) {
		next if !$slow && $turn++ % 3;
		my @argv = ($program, 'die', $signal);
		my $run = monitor(["--patch=$patch"], \@argv);
		my $what = "$patch: death of signal $signal";

		same(run(\@argv), $run, $what);
		like($run->{err}, qr/^pmon: .*killed by signal $signal\b/m,
		    'pmon says so');
		counts_are($run, { die => 1, work => 1 }, $what);
	}
}

# A program that single-steps itself, with and without sites in its way.
{
	my @argv = ($program, 'ownsteps', 5);
	my $alone = run(\@argv);

	for my $patch (@patches) {
		same($alone, monitor(["--patch=$patch", '--units=func',
		    '--func=work'], \@argv), "$patch: own steps");
	}
}

# Stopped and continued from outside: it stands still, then goes on.
for my $patch (@patches) {
	my $run = monitor_start(["--patch=$patch"], [$program, 'bombard',
	    '100000']);
	my ($child, $state);

	ok(wait_for(sub {
		($child) = children_of($run->{pid});
		return $child && slurp("/proc/$child/comm") =~ /^signals/ &&
		    children_of($child);
	}), "$patch: the program runs");
	for my $time (1 .. 20) {
		kill STOP => $child;
		$state = wait_for(sub {
			slurp("/proc/$child/stat") =~ /\) [tT] /;
		}) or last;
		kill CONT => $child;
	}
	ok($state, 'it stops when told, each time');
	# The child's own child waits for an answer that does not come.  If it
	# were killed by SIGKILL, pmon might not know where it was, nor what
	# main has done: doc/theory/abnormal-edges.md, "Kills and failed
	# requests".
	my @waits = children_of($child);
	kill TERM => $child, @waits;
	$run = monitor_finish($run);
	is(ended($run), 'status 143', 'and ends when told');
	is($run->{funcs}{main}, 1, 'with its counts');
}

done_testing;
