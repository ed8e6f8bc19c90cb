# Attaching to processes that run, and leaving them as they were.
use strict;
use warnings;
use lib 'tests/lib';
use File::Copy qw(copy);
use Test::More;
use Orphans;
use Pmon;
use Target;

# Whom nobody may not ask for options.
$ENV{HOME} = '/';

my $busy = compile('busy.c', '-O2', '-pthread');
my ($threads, $calls) = (8, 100);
my $all = $threads * $calls;

# A busy process that waits for commands.
sub
busy
{
	my $target = Target->new($_[0] // $busy, $threads, $calls);

	is($target->answer, 'ready', 'the process is ready') or return;
	return $target;
}

# Attach with these options; returns when the function has its trap.
sub
attach
{
	my ($target, $function, @options) = @_;
	my $run = monitor_start([@options, '-p', $target->{pid}], []);

	ok(wait_for(sub {
		return $target->planted($function) ||
		    $run->{pid} != (split ' ', slurp("/proc/$run->{pid}/stat"),
		    2)[0];
	}), 'the trap is there') or diag slurp("$run->{base}.err");
	return $run;
}

# End it as ^C would.
sub
detach
{
	my ($run, $signal) = @_;

	kill $signal // 'INT', $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'pmon detaches');
	is(complaints($run), '', 'without a word');
	return $run;
}

# Nothing of pmon must be left.
sub
untouched
{
	my ($target, $what) = @_;

	is($target->status('TracerPid'), 0, "$what: it is not traced");
	is($target->ask('t'), 'same', "$what: its text is the file's");
}

# Wait until calls were made since now: more than can have begun before.
sub
works
{
	my ($target) = @_;
	my $before = $target->ask('c') =~ s/\D//gr;

	ok(wait_for(sub {
		return $target->ask('c') =~ s/\D//gr > $before + $threads;
	}), 'it works');
}

# Of both functions as many calls, but for one in each thread, which may have
# been between them.
sub
counted
{
	my ($run, $what) = @_;

	cmp_ok($run->{funcs}{work}, '>', 0, "$what: it counted");
	cmp_ok(abs($run->{funcs}{work} - $run->{funcs}{verified}), '<=',
	    $threads, 'as many of both, but for one each');
}

my $turn = 0;
for my $patch (@patches) {
	# By turns one of them.
	for my $units ($slow ? ('func', 'func,line') :
	    ('func', 'func,line')[$turn++ % 2]) {
		my $what = "$patch, $units";
		my $target = busy();

		# Exactly what it does while attached.
		is($target->ask('g'), "done $all", 'it works alone');
		my $run = attach($target, 'work', "--patch=$patch",
		    "--units=$units");
		is($target->ask('g'), 'done ' . 2 * $all, 'it works');
		is($target->ask('f'), 'child 33', 'its child works');
		$run = detach($run);
		counts_are($run, { work => $all + $calls, verified => $all,
		    child => 1, main => 0 }, $what);
		untouched($target, $what);
		is($target->ask('g'), 'done ' . 3 * $all, 'it works on');

		# Attached while it runs, and let go.
		is($target->ask('r'), 'running', 'it runs');
		$run = attach($target, 'work', "--patch=$patch",
		    "--units=$units");
		works($target);
		counted(detach($run), $what);
		like($target->ask('s'), qr/^stopped \d+$/, 'it runs on');
		untouched($target, $what);
		is($target->finish('q'), 'status 21', 'it ends well');
	}
}

# For a time: however short that is, it is let go.
{
	my $target = busy();

	is($target->ask('r'), 'running', 'it runs');
	my $run = monitor(['--units=func', '--duration=0.2', '-p',
	    $target->{pid}], []);
	is(ended($run), 'status 0', '--duration ends');
	is(complaints($run), '', 'without a word');
	like($target->ask('s'), qr/^stopped \d+$/, 'it runs on');
	untouched($target, '--duration');
	is($target->finish('q'), 'status 21', 'it ends well');
}

# Without breakpoints: it is counted, let go as it was, and lives on if pmon is
# killed.
for my $kill (0, 1) {
	my $target = busy();

	is($target->ask('r'), 'running', 'it runs');
	my $run = attach($target, 'work', '--no-traps', '--units=func');
	# There is nothing to be run out of line, in no library.
	my @areas = slurp("/proc/$target->{pid}/maps") =~
	    /^\S+ r-x\S+ \S+ \S+ 0 *$/mg;
	is(@areas, 1, 'memory for relocated functions, and no other');
	if ($kill) {
		kill KILL => $run->{pid};
		is(ended(monitor_finish($run)), 'signal 9', 'pmon is killed');
	} else {
		works($target);
		like($target->ask('s'), qr/^stopped \d+$/, 'it stops');
		$run = detach($run);
		like($run->{report}, qr/ and 0\s+traps,\s+with\s+0\s+guards/,
		    'no traps');
		counted($run, 'without traps');
		untouched($target, 'without traps');
	}
	like($target->ask('s'), qr/^stopped \d+$/, 'it runs on') if $kill;
	like($target->ask('g'), qr/^done \d+$/, 'it works on');
	is($target->finish('q'), 'status 21', 'it ends well');
}
is(monitor(['--no-traps'], ['true'])->{status}, 125,
    '--no-traps is not for programs that are started');

# Where only calls are counted no entry has a trap.
sub
traps
{
	my ($run) = @_;

	return $run->{report} =~ /with\s+(\d+)\s+traps?\s+in\s+its/ ? $1 : -1;
}

{
	my $target = busy();
	my $run = attach($target, 'work', '--units=func');

	is($target->ask('g'), "done $all", 'it works');
	$run = detach($run);
	counts_are($run, { work => $all, verified => $all, main => 0 },
	    'looked at early');
	like($run->{report}, qr/\d\d relocated\s+functions.*\sand\s+0\s+traps/s,
	    'all are relocated, entered without traps');
	unlike($run->{report}, qr/by\s+traps:/, 'and all can be');
	my $early = traps($run);
	$run = attach($target, 'work', '--units=func', '--eager');
	is($target->ask('g'), 'done ' . 2 * $all, 'it works');
	is(traps(detach($run)), $early, 'there are no others');
	untouched($target, 'looked at early');
}

# How much the process may map from now on, which has more.
sub
memory_limit
{
	my ($pid, $bytes) = @_;
	my ($prlimit64, $as, $limit) = (302, 9, pack 'QQ', $bytes, 1 << 60);

	return !syscall $prlimit64, $pid, $as, $limit, 0;
}

# Refused memory for relocated functions, all of two processes or one of them
# has traps.
for my $options (['--units=func'], ['--eager'],
    ['--units=func,edge', '--eager'], []) {
	for my $limited ([0], [0, 1], [1]) {
		my @targets = map { busy() } 1 .. (@$limited == 1 &&
		    !$limited->[0] ? 1 : 2);
		my $what = "@$options, limited @$limited of " . @targets;

		ok(memory_limit($targets[$_]{pid}, 1 << 20), 'a limit')
		    for @$limited;
		my $run = monitor_start([@$options,
		    map { ('-p', $_->{pid}) } @targets], []);
		for my $target (@targets) {
			ok(wait_for(sub { $target->planted('work') }),
			    'the trap is there');
			is($target->ask('g'), "done $all", 'it works');
		}
		$run = detach($run);
		counts_are($run, { work => @targets * $all,
			verified => @targets * $all, main => 0 }, $what);
		like($run->{report}, qr/counted\s+by\s+traps:.*\(RLIMIT_AS\)/s,
		    'it is said');
		unlike($run->{report}, qr/relocated|given\s+up/, 'and no more');
		memory_limit($_->{pid}, 1 << 60) for @targets;
		untouched($_, $what) for @targets;
	}
}

# What functions it was in is not known.  It comes back to the right places in
# relocated functions.  What is derived from where it was is not known.
my $within = compile('within.c', '-O1');
for my $options (['--units=func'], ['--units=func', '--eager'], ['--eager'],
    ['--units=func,edge', '--eager'], []) {
	my $target = Target->new($within);
	my $calls = "@$options" =~ /func(?!,)/;
	my $what = "within, @$options";

	is($target->answer, 'ready', "$what: the process is ready");
	my $run = attach($target, 'work', @$options);
	is($target->ask('g'), 'done', "$what: it works");
	is($target->ask('q'), 'ready', "$what: it comes back");
	is($target->ask('g'), 'done', "$what: it works again");
	$run = detach($run);
	counts_are($run, { work => 200,
		$calls ? (main => 0, again => 0, through => 1, serve => 1) :
		() }, $what);
	# Only through() may have no room for a jump.
	like($run->{report},
	    qr/\d relocated\s+functions.*\sand\s+[01]\s+traps?/s,
	    "$what: all are relocated");
	unlike($run->{report}, qr/by\s+traps:/, "$what: and can have all");
	like($run->{report},
	    qr/Not counted:\n +\d+ \w+: a stack could not be walked/,
	    "$what: what is derived is not known") unless $calls;
	is($target->finish('q'), 'status 21', "$what: it ends well");
}

# Where all functions are looked at before pmon attaches, no entry has a trap: if
# pmon is killed, the process can call functions that it has not called yet.
for my $option ('--units=func', '--units=edge', '--no-traps') {
	my $target = busy();
	my $run = attach($target, 'work', $option);

	is($target->ask('g'), "done $all", "$option: it works");
	kill KILL => $run->{pid};
	is(ended(monitor_finish($run)), 'signal 9', "$option: pmon is killed");
	is($target->ask('g'), 'done ' . 2 * $all, "$option: it works on");
	like($target->ask('t'), qr/^differs/, "$option: and does what is new");
	is($target->finish('q'), 'status 21', "$option: it ends well");
}

# What did not run since pmon attached may have run before.
{
	my $target = busy();
	my $file = "$scratch/since";
	my $run = attach($target, 'work', "--data=$file.data",
	    '--units=func,line',
	    "--report=funcs:$file.funcs,uncovered:$file.lines");

	is($target->ask('g'), "done $all", 'it works');
	detach($run);
	like(slurp("$file.funcs"),
	    qr/^  \d+ of \d+ called, \d+ not since attaching$/m,
	    'functions not called since attaching');
	my $lines = slurp("$file.lines");

	like($lines, qr/^Lines not run since attaching of process \d+\n/,
	    'lines not run');
	like($lines, qr/ main \(not called since attaching\)$/m, '... in main');
	my @print = ("$build/pmprint", '-runcovered', "$file.data");

	is(run(\@print)->{out}, $lines, 'a data file says so, too');
	# Not of a program that another run counted from its start.
	run([$pmon, "--data=$file.all", '--', $busy, $threads, $calls]);
	like(run([@print, "$file.all"])->{out}, qr/^Lines never run of 2 runs\n/,
	    '... but not if one was counted from its start');
	untouched($target, 'after all');
}

# Reports in between.
{
	my $target = busy();
	my $file = "$scratch/between";
	my $run = attach($target, 'work', "--report=funcs:$file",
	    '--func=work');

	is($target->ask('g'), "done $all", 'it works');
	kill USR1 => $run->{pid};
	ok(wait_for(sub { (funcs_read($file)->{work} // 0) eq $all }),
	    'SIGUSR1: the report so far');
	is($target->ask('g'), 'done ' . 2 * $all, 'it works on');
	$run = detach($run, 'TERM');
	is(funcs_read($file)->{work}, 2 * $all, 'and is still counted');
	counts_are($run, { work => 2 * $all }, 'all in all');
	untouched($target, 'after SIGTERM');
}

# Two at once; one ends by itself, then the other.
{
	my @targets = (busy(), busy());
	my $run = monitor_start([map { ('-p', $_->{pid}) } @targets], []);

	for my $target (@targets) {
		ok(wait_for(sub { $target->planted('work') }), 'attached');
		is($target->ask('g'), "done $all", 'it works');
		is($target->finish('q'), 'status 21', 'it ends');
	}
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'pmon ends with the last');
	counts_are($run, { work => 2 * $all }, 'two processes');
}

# One that is killed.
{
	my $target = busy();
	my $run = attach($target, 'work');

	is($target->ask('g'), "done $all", 'it works');
	kill KILL => $target->{pid};
	is($target->finish, 'signal 9', 'it is killed');
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'pmon ends, too');
	counts_are($run, { work => $all }, 'killed');
}

# --follow=none: children are not counted and not disturbed.
for my $patch (@patches) {
	my $target = busy();
	my $run = attach($target, 'work', "--patch=$patch", '--follow=none');

	is($target->ask('f'), 'child 33', 'its child works');
	is($target->ask('g'), "done $all", 'it works');
	$run = detach($run);
	counts_are($run, { work => $all }, "$patch, none followed");
	untouched($target, "$patch, none followed");
}

# One whose file has another name by now.
{
	my $copy = "$scratch/busy";

	copy($busy, $copy) && chmod 0755, $copy or die "$copy: $!";
	my $target = Target->new($copy, $threads, $calls);
	is($target->answer, 'ready', 'the process is ready');
	rename $copy, "$copy.gone" or die;
	my $run = monitor_start(['--units=func', '-p', $target->{pid}], []);
	$target->{argv}[0] = "$copy.gone";
	ok(wait_for(sub { $target->planted('work') }), 'attached');
	is($target->ask('g'), "done $all", 'it works');
	$run = detach($run);
	counts_are($run, { work => $all }, 'renamed file');
}

# One that is stopped stays so.
for my $patch (@patches) {
	my $target = busy();
	my $state = sub {
		slurp("/proc/$target->{pid}/stat") =~ /\) (\S)/ ? $1 : '';
	};

	kill STOP => $target->{pid};
	ok(wait_for(sub { $state->() eq 'T' }), 'it is stopped');
	my $run = attach($target, 'work', "--patch=$patch");
	ok(wait_for(sub { $state->() =~ /[tT]/ }), 'and is while attached');
	$run = detach($run);
	ok(wait_for(sub { $state->() eq 'T' }), 'and when detached');
	kill CONT => $target->{pid};
	untouched($target, "$patch, stopped");

	# Continued while attached.
	kill STOP => $target->{pid};
	ok(wait_for(sub { $state->() eq 'T' }), 'it is stopped again');
	$run = attach($target, 'work', "--patch=$patch");
	kill CONT => $target->{pid};
	is($target->ask('g'), "done $all", 'and goes on when told');
	kill STOP => $target->{pid};
	ok(wait_for(sub { $state->() =~ /[tT]/ }), 'stopped while attached');
	kill CONT => $target->{pid};
	is($target->ask('g'), 'done ' . 2 * $all, 'and goes on');
	$run = detach($run);
	counts_are($run, { work => 2 * $all }, "$patch, stopped");
	is($target->finish('q'), 'status 21', 'it ends well');
}

# Threads that wait in system calls go on waiting, attached and detached.
my $blocked = compile('blocked.c', '-O2', '-pthread',
    '-Wno-unused-parameter');
for my $patch (@patches) {
	for my $detached (0, 1) {
		my $target = Target->new($blocked);

		is($target->answer, 'started', 'threads start');
		ok(wait_for(sub {
			my @states = map { slurp($_) =~ /\) S / } glob
			    "/proc/$target->{pid}/task/*/stat";
			return @states == 9;
		}), 'and wait');
		my $run = attach($target, 'wait_read', "--patch=$patch");
		$run = detach($run) if $detached;
		my @answers = $target->ask('');
		push @answers, $target->answer // 'none' for 1 .. 7;
		is(join(',', @answers), join(',', map { "$_ well" } 0 .. 7),
		    "$patch: waiting is not disturbed, " .
		    ($detached ? 'detached' : 'attached'));
		is($target->finish, 'status 0', 'it ends well');
		if (!$detached) {
			$run = monitor_finish($run);
			is(ended($run), 'status 0', 'and so does pmon');
		}
	}
}

# Files are looked at while the process still runs: libraries have megabytes,
# and once it has been seized some pages of them are read.
{
	local $ENV{LD_PRELOAD} = compile('reads.c', '-O1', '-shared', '-fPIC');
	local $ENV{READS} = "$scratch/reads";
	my $target = do { local $ENV{LD_PRELOAD}; busy() };
	my $run = attach($target, 'work');

	is($target->ask('g'), "done $all", 'it works');
	counts_are(detach($run), { work => $all }, 'after its files were read');
	my ($before, $after) = split ' ', slurp($ENV{READS});
	cmp_ok($before, '>', 1 << 20, 'they are read');
	cmp_ok($after, '<', 1 << 17, 'and not when it stands still');
	untouched($target, 'after its files were read');
}

# What cannot be attached to: one line, and why.
sub
refused
{
	my ($what, $pattern, @command) = @_;
	my $run = run([@command]);

	is(ended($run), 'status 125', "$what: refused");
	like($run->{err}, qr/\Apmon: [^\n]*$pattern[^\n]*\n\z/, 'and why');
	return;
}

{
	my $target = busy();
	my $run = attach($target, 'work');

	refused('a traced process', qr/already traced by process $run->{pid}/,
	    $pmon, '-p', $target->{pid});
	is($target->ask('g'), "done $all", 'it is not disturbed');
	counts_are(detach($run), { work => $all }, 'nor is its pmon');

	# Linux gives all processes lower numbers.
	refused('no process', qr/no such process/, $pmon, '-p', 1 << 22);
	refused('itself', qr/itself/, 'sh', '-c', "exec $pmon -p \$\$");
	refused('one process twice', qr/twice|already/, $pmon, '-p',
	    $target->{pid}, '-p', $target->{pid});
	untouched($target, 'refused');

	SKIP: {
		my $kernel = slurp('/proc/2/status') =~ /^PPid:\s*0$/m &&
		    slurp('/proc/2/comm') eq "kthreadd\n";

		skip 'no kernel threads to be seen here', 2 unless $kernel;
		skip 'not root', 2 if $>;
		refused('a kernel thread', qr/kernel thread/, $pmon, '-p', 2);
	}
	SKIP: {
		my @nobody = ('setpriv', '--reuid=65534', '--regid=65534',
		    '--clear-groups', '--inh-caps=-all', '--bounding-set=-all');

		skip 'not root', 3 if $>;
		skip 'no setpriv that works', 3
		    if run([@nobody, 'true'])->{status};
		my $copy = "$scratch/pmon";
		chmod 0755, $scratch;
		copy($pmon, $copy) && chmod 0755, $copy or die "$copy: $!";
		refused('another user\'s process', qr/not permitted/,
		    @nobody, $copy, '-p', $target->{pid});
		untouched($target, 'not permitted');
	}
}

# The kernel makes these calls again behind a pause, by way of the instruction
# that is in front of the pc.
is(left_by('TERM', $_, ['--units=edge']), "status 0, 210, $_ 0, status 0",
    "$_: a call that waits, in a function with edges")
    for qw(poll suspend futex);

# The kernel does not make this call again.  Where pmon watches system calls, the
# pause at the detach is told as the call's exit.
is(left_by('TERM', 'epoll', $_), 'status 0, 210, epoll 0, status 0',
    "epoll: @$_") for ['--units=edge'], ['--no-traps', '--object=*'];

done_testing;
