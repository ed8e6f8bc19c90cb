# Whatever its threads are doing when pmon goes, nothing of pmon's is left in a
# process that was attached to.  PMON_LEAVE lists what they are to do, in all the
# ways that pmon can count; without it each is done in two of these.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Left;
use Pmon;
use Target;

$ENV{HOME} = '/';

my $program = compile('threaded.c', '-O2', '-pthread');
my @all = (['--units=func'], [], ['--units=edge'], ['--patch=trap'],
    ['--no-traps', '--units=func'], ['--once']);
my @modes = split ' ', $ENV{PMON_LEAVE} //
    'sleep wait handle calls vfork malloc';
my @stopped = grep { /^(calls|storm|malloc)$/ } @modes;
my $turn = 0;

# By turns, so that with all that threads do each comes more than once.
sub
ways
{
	return @all if $ENV{PMON_LEAVE};
	my @ways = @all[$turn, ($turn + 3) % @all];
	$turn = ($turn + 1) % @all;
	return @ways;
}

# Failing early: what is dead answers no more.
sub
rounds
{
	my ($target) = @_;
	my $answer = $target->ask("?");

	BAIL_OUT("it has ended") if $answer !~ /^\d+$/;
	return $answer;
}

# How each of the threads of a process is, as in /proc.
sub
states
{
	my ($pid) = @_;

	return join '', sort map { slurp($_) =~ /\) (\S)/ ? $1 : '' }
	    glob "/proc/$pid/task/*/stat";
}

# Let a vfork child end: by the writing end of the pipe that it reads.
sub
child_end
{
	my ($target) = @_;

	open my $pipe, '>:unix', "/proc/$target->{pid}/fd/4" or return;
	syswrite $pipe, 'x';
	return;
}

# Attach to the process, call `attached`, have pmon let go of it, and call `left`.
sub
leave
{
	my ($target, $options, %do) = @_;
	my $run = monitor_start([@$options, '-p', $target->{pid}], []);
	my $attached = wait_for(sub {
		# A thread in vfork cannot be stopped before its child ends.
		child_end($target) if $do{vfork};
		return $target->status('TracerPid') == $run->{pid} &&
		    text_changes($target->{pid});
	});

	ok($attached, 'attached') or diag slurp("$run->{base}.err");
	$do{attached}->() if $do{attached};
	kill INT => $run->{pid};
	$do{left}->($run) if $do{left};
	return monitor_finish($run);
}

my %varies = (storm => ['SigBlk'], vfork => ['SigBlk']);
# Otherwise threads that meet in malloc make arenas of 64 MB, whenever they do.
local $ENV{MALLOC_ARENA_MAX} = 1;

for my $mode (@modes) {
	my $target = Target->new($program, $mode);
	my @without = @{$varies{$mode} // []};

	is($target->answer, 'ready', "$mode: ready");
	wait_for(sub { $mode eq 'vfork' || rounds($target) > 100 });
	my $before = process_state($target->{pid}, @without);
	my $size = process_size($target->{pid});

	is($before->{text}, '', 'its text is the files\'');
	for my $options (ways()) {
		my $what = "$mode @$options";
		my $run = leave($target, $options, vfork => $mode eq 'vfork',
		    attached => sub {
			my $n = rounds($target);

			ok(wait_for(sub {
				child_end($target) if $mode eq 'vfork';
				return rounds($target) > $n;
			}), 'it goes on');
		}, left => sub {
			return if $mode ne 'vfork';
			ok(wait_for(sub { !text_changes($target->{pid}) }),
			    'the traps are out');
			my $n = rounds($target);
			ok(wait_for(sub {
				child_end($target);
				return rounds($target) > $n + 1;
			}), 'the children end');
		});

		is(ended($run), 'status 0', "$what: pmon ends");
		is(complaints($run), '', 'without a word');
		unlike($run->{report}, qr/stays\s+mapped/, 'with nothing left');
		is_deeply(process_state($target->{pid}, @without), $before,
		    "$what: all is as before");
		cmp_ok(process_size($target->{pid}) - $size, '<', 64,
		    'in megabytes, too');
		is($target->ask('g'), 'clear', 'no gs register is set');
		my $n = rounds($target);
		ok(wait_for(sub {
			child_end($target) if $mode eq 'vfork';
			return rounds($target) > $n + 10;
		}), 'it goes on');
	}
	is($target->finish('q'), 'status 21', 'it ends well');
}

# Told to go once more while it waits for a vfork child: what it says is as if it
# were told once.
{
	my $target = Target->new($program, 'vfork');
	my @traps;

	is($target->answer, 'ready', 'told twice: ready');
	# It may have gone before it is told again.
	for my $times (1, (2) x 4) {
		my $run = leave($target, ['--units=func'], vfork => 1,
		    left => sub {
			my ($run) = @_;

			ok(wait_for(sub { !text_changes($target->{pid}) }),
			    'the traps are out');
			kill TERM => $run->{pid} if $times > 1;
			my $n = rounds($target);
			ok(wait_for(sub {
				child_end($target);
				return rounds($target) > $n + 1;
			}), 'the children end');
		});

		is(ended($run), 'status 0', "told $times times: pmon ends");
		like($run->{report}, qr/with\s+\d+\s+traps?\s+in/,
		    'it says how many traps there were');
		push @traps, $run->{report} =~
		    /with\s+(\d+)\s+traps?\s+in/;
	}
	is_deeply(\@traps, [($traps[0]) x 5], 'it had as many traps');
	is($target->finish('q'), 'status 21', 'it ends well');
}

# Stopped by a signal while it is counted: it is let go as it is.
for my $mode (@stopped) {
	my $target = Target->new($program, $mode);
	my @without = @{$varies{$mode} // []};

	is($target->answer, 'ready', "stopped, $mode: ready");
	wait_for(sub { rounds($target) > 100 });
	my $before = process_state($target->{pid}, @without);
	for my $options (ways()) {
		my $what = "stopped, $mode @$options";
		my $run = leave($target, $options, attached => sub {
			my $n = rounds($target);

			ok(wait_for(sub { rounds($target) > $n }),
			    'it goes on');
			kill STOP => $target->{pid};
			ok(wait_for(sub { states($target->{pid}) =~
			    /^t+$/i }), 'it is stopped');
		});

		is(ended($run), 'status 0', "$what: pmon ends");
		is(complaints($run), '', 'without a word');
		ok(wait_for(sub { states($target->{pid}) =~ /^T+$/ }),
		    'all its threads are stopped');
		is_deeply(process_state($target->{pid}, @without), $before,
		    'all is as before');
		kill CONT => $target->{pid};
		my $n = rounds($target);
		ok(wait_for(sub { rounds($target) > $n + 10 }),
		    'it goes on');
		is($target->ask('g'), 'clear', 'no gs register is set');
	}
	is($target->finish('q'), 'status 21', 'it ends well');
}

# A handler runs when pmon comes and returns while it counts, and one that began
# then returns when it has gone: to the middle of what a patch takes.
my $handlers = compile('handlers.c', '-O1');

for my $stack ([], ['other'], ['deep'], ['within'], ['several'],
    ['through']) {
	my $calls = "@$stack" eq 'several' ? 2 : 1;

	# Where counts are derived pmon says that it cannot walk the stack.
	for my $options ("@$stack" eq 'through' ? $all[0] :
	    (@all, ['--placement=every'], ['--eager'])) {
		my $target = Target->new($handlers, @$stack);
		my $what = "handlers @$stack @$options";

		is($target->answer, 'handler', "$what: it is in one");
		my $run = leave($target, $options, attached => sub {
			for my $n (1, 2) {
				is($target->ask('on'), $n, 'that returns');
				is($target->answer, 'handler', 'the next');
			}
		});

		is(ended($run), 'status 0', 'pmon ends');
		is(complaints($run), '', 'without a word');
		like($run->{report}, qr/\d relocated\s+functions/,
		    'counted where it is')
		    if "@$stack" eq 'through';
		is($run->{funcs}{faults}, "@$options" eq '--once' ? 1 :
		    2 * $calls,
		    'what began meanwhile is counted')
		    if "@$options" ne '--units=edge';
		is($target->ask('on'), 3, 'what runs then returns');
		is($target->answer, 'handler', 'the last');
		is($target->ask('on'), 4, 'returns');
		is($target->finish, 'status 7', 'it ends well');
	}
}

# Killed just before pmon detaches, when it has unmapped its memory: the program
# has changed nothing, so all that ran is known.
for my $options (['--units=func'], ['--units=func,block']) {
	my $told = compile('told.c', qw(-O1 -pthread));
	my $kill = abs_path(compile('kill_at.c', qw(-O2 -shared -fPIC)));
	my $ready = spew("$scratch/ready", '');
	my $what = "killed while it is let go, @$options";
	my $run = monitor_start($options, [$told, $ready],
	    env => { LD_PRELOAD => join(' ', $kill, $ENV{LD_PRELOAD} // ()),
	    PMON_KILL_FROM => $ready, PMON_KILL_DETACH => 1 });

	ok(wait_for(sub { -s $ready || has_ended($run->{pid}) }),
	    "$what: it is ready");
	kill TERM => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 137', "$what: it ends");
	is($run->{funcs}{count}, 3, '  its calls are known');
	unlike($run->{report}, qr/changed\s+the\s+counters/,
	    '  the program changed nothing');
}

done_testing;
