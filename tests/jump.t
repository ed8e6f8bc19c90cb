# Counting in relocated functions: what a program can see of itself is as it
# was, and the counts are those of traps without inference.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;

# All there is to count, as text.
sub
counted
{
	my ($options, $argv) = @_;
	my $base = "$scratch/counted";
	my @kinds = qw(funcs blocks edges);
	my $run = run([$pmon, '--exact', @$options,
	    '--units=func,block,edge', '--report=' .
	    join(',', "summary:$base.summary", map { "$_:$base.$_" } @kinds),
	    '--', @$argv]);

	$run->{report} = slurp("$base.summary");
	$run->{counts} = join '', map { slurp("$base.$_") } @kinds;
	unlink glob "$base.*";
	return $run;
}

# The first lines that differ, of two long texts.
sub
alike
{
	my ($got, $expected, $what) = @_;
	my @got = split /\n/, $got;
	my @expected = split /\n/, $expected;
	my @differ = grep { ($got[$_] // '') ne ($expected[$_] // '') }
	    0 .. ($#got > $#expected ? $#got : $#expected);

	ok(@got && !@differ, $what);
	diag "got $_: ", $got[$_] // '-', "\nexpected: ",
	    $expected[$_] // '-' for grep { defined } @differ[0 .. 4];
}

my $turn = 0;
my @every = qw(--patch=slot --placement=every);
my @modes = (['traces', 25], ['mend', 20], ['contexts', $slow ? 100 : 25],
    ['codes', $slow ? 200 : 40], ['threads', $slow ? 200 : 40],
    ['server', 17], ['chain', 4]);

for my $flags ('-O0', '-O2', '-Os -fcf-protection=full', '-O1 -no-pie') {
	my $program = compile('observe.c', '-Wno-infinite-recursion',
	    '-Wno-unused-parameter', '-pthread', split ' ', $flags);

	for my $mode (@modes) {
		# By turns: each in every other of these programs.
		next if $turn++ % 2 && !$slow;
		my @argv = ($program, @$mode);
		my $run = counted([], \@argv);
		my $what = "$flags, @$mode";

		same(run(\@argv), $run, $what);
		# Its handler leads control to a place that no edge leads to.
		unlike($run->{report}, qr/^Not counted/m, "$what: all known")
		    if $mode->[0] ne 'mend';
		alike($run->{counts}, counted(\@every, \@argv)->{counts},
		    "$what: counts");
	}
}

my $program = compile('observe.c', '-Wno-infinite-recursion',
    '-Wno-unused-parameter', '-pthread', '-O2');

# How deep the stack is when it overflows is a matter of chance.
{
	my @argv = ($program, 'jumps', 40);
	my $run = monitor(['--units=func'], \@argv);

	same(run(\@argv), $run, 'jumps');
	# Of 0 to 39, those that 5 does not divide: as deep as modulo 7.
	my $deep = 0;
	$deep += $_ % 7 + 1 for grep { $_ % 5 } 0 .. 39;
	counts_are($run, { leave => $deep, on_overflow => 8, step => 0 },
	    'jumps');
}

# Profiled at 1 kHz: no pc is seen that the program does not have.
for my $options ([], ['--separate=thread'], ['--object=*']) {
	my @argv = ($program, 'profile', $slow ? 200 : 80);
	my $run = monitor(['--units=func', @$options], \@argv);
	my ($spin, $step, $handled) = $run->{err} =~
	    /^counts: spin (\d+), step (\d+), on_prof (\d+)$/m;

	is($run->{out}, "strange 0, sum right\n", "profile @$options");
	counts_are($run, { spin => $spin, step => $step,
	    on_prof => $handled }, "profile @$options")
	    if !grep { /separate/ } @$options;
}

# The memory map: nothing is writable and executable.
{
	my @argv = ($program, 'maps');

	same(run(\@argv), monitor([], \@argv), 'maps');
}

# All there is, libraries and the dynamic linker too.
for my $mode ($slow ? @modes : @modes[0, 2, 4, 5]) {
	my @argv = ($program, @$mode);

	same(run(\@argv), monitor(['--units=func',
	    '--object=*'], \@argv), "--object=*, @$mode");
}

# A function that is given up because another jumps into it is left alone in
# the next program too; and a child that ends makes none be given up.
{
	my @argv = ('sh', '-c', 'exec ls -d /');
	my $run = monitor(['--units=func', '--object=*'],
	    \@argv);

	same(run(\@argv), $run, 'exec with all libraries');
	$run = monitor(['--units=func', '--object=*'],
	    [$program, 'server', 40]);
	unlike($run->{report},
	    qr/differs|not\s+all\s+functions\s+are\s+counted/,
	    'a fork server');
}

# Functions that go on in the middle of one that is relocated already.
for my $flags ('-O2', '-O2 -static') {
	my $mid_entry = compile('mid_entry.c', '-pthread', split ' ', $flags);
	my @argv = ($mid_entry, 30);
	my ($blocks, $expected) = map {
		run([$pmon, @$_, '--func=whole', '--func=beginning',
			'--func=end', '--func=main', '--report=blocks', '-o',
			"$scratch/blocks", '--', @argv])->{status} == 0 ?
		    slurp("$scratch/blocks") : ''
	} [], \@every;
	# How often those were called traps do not know, as all is jumps.
	s/  [\d?]+ calls$//mg for $blocks, $expected;

	alike($blocks, $expected, "mid-entries, $flags: blocks");
	my $run = monitor(['--units=func', "--report=sites:$scratch/sites"],
	    \@argv);
	same(run(\@argv), $run, "mid-entries, $flags");
	counts_are($run, { whole => 4 * 60, beginning => 4 * 30,
	    end => 4 * 30 }, "mid-entries, $flags");
	# beginning and end come to places of their own: 30 + 30 times in each
	# of four; the first cannot have a jump before it any more.
	# Where main calls whole, the trap at its entry is passed by, unless a
	# thread was running when whole was relocated.
	my $sites = slurp("$scratch/sites");
	like($sites, qr/^ *\d+ +\w+  whole\S* +other code/m,
	    "mid-entries, $flags: sites") or diag $sites;
	like($sites, qr/no room for a jump/, "mid-entries, $flags: entry");
}

# Functions that are shorter than a jump have the padding behind them.
for my $flags ('-O0', '-O2') {
	my $n = $slow ? 50000 : 2000;
	my @argv = (compile('tiny.c', $flags), $n);
	my $run = monitor(['--units=func'], \@argv);
	my %calls = (nothing => 2 * $n, same => $n, thunk => $n,
	    falls => $n / 1000);

	is($run->{out}, "0 wrong\n", "$flags: what is behind short functions");
	is_deeply({ map { $_ => $run->{funcs}{$_} } keys %calls }, \%calls,
	    'which are counted');
	is_deeply(counted([], \@argv)->{counts},
	    counted(\@every, \@argv)->{counts}, 'in all units')
	    if $flags eq '-O2';
	my ($traps) = $run->{report} =~ /, (\d+) traps?$/m;
	cmp_ok($traps, '<', 100, 'without traps');
}

# A function whose middle another jumps to, where its patch would be.
{
	my $variants = compile('variants.S');
	my $alone = run([$variants]);
	my $run = monitor(['--units=func'], [$variants]);
	my ($traps) = $run->{report} =~ /, (\d+) traps?$/m;
	my $nm = run(['nm', $variants])->{out};
	my ($sum) = map { hex } $nm =~ /^(\w+) t sum$/m;
	my $counts = counted([], [$variants])->{counts};

	same($alone, $run, 'variants of a function');
	is_deeply([@{$run->{funcs}}{qw(sum twice)}], [2000, 2000], 'calls');
	# Some functions are entered for the first time.
	cmp_ok($traps, '<', 20, 'without traps');
	like($counts, qr/^ *2000  +${\ sprintf '%x', $sum} /m, 'its entry');
	like($counts, qr/^ *4000  +${\ sprintf '%x', $sum + 3} /m,
	    'its middle');
	is($counts, counted(\@every, [$variants])->{counts}, 'in all units');
}

# Every function of every library, relocated and by traps alone.
for my $argv (['ls', '-l', '/usr'], ['sed', 's/a*b/c/g', 'README.md']) {
	my ($jump, $slot) = map {
		run([$pmon, @$_, '--units=func', '--report=funcs', '-o',
			"$scratch/all", '--object=*', '--', @$argv])->{status}
		    == 0 ? slurp("$scratch/all") : ''
	} [], ['--patch=slot'];

	alike($jump, $slot, "--object=*, @$argv: calls");
}

# Programs that use the register that counters are found by.
for my $way (qw(BY_INSN BY_INLINE BY_LIBRARY BY_CALL)) {
	my $gs = compile('gs.c', '-O2', "-D$way");
	my $alone = run([$gs]);

	SKIP: {
		skip 'the CPU or kernel has no wrgsbase', 1
		    if $alone->{signal} == 4;
		my $run = monitor(['--units=func'], [$gs]);

		is($alone->{out}, "42000 0\n", "$way: its own");
		same($alone, $run, $way);
		counts_are($run, { get => 1000, set => 1 }, $way);
		like($run->{report}, qr/relocated\s+functions\s+entered/,
		    'relocated all the same');
	}
}

# Threads that come and go, each with its own counters, used again.
{
	my $run = monitor(['--units=func'],
	    [$program, 'threads', 2000]);

	is($run->{out}, "joined\n", '2000 threads');
	counts_are($run, { thread => 2000, step => 2000 / 50 * 49 * 50 / 2 },
	    '2000 threads');
}

# Does a process catch SIGTERM already?
sub
catches_term
{
	my ($pid) = @_;

	return slurp("/proc/$pid/status") =~ /^SigCgt:\s+([0-9a-f]+)/m &&
	    hex(substr $1, -4) & 1 << 14;
}

# Reports while it runs, until it is told to end.
{
	my $run = monitor_start(['--units=func'], [$program, 'profile', 0]);
	my $child;

	ok(wait_for(sub {
		($child) = children_of($run->{pid});
		return $child && slurp("/proc/$child/comm") =~ /^observe/ &&
		    catches_term($child);
	}), 'it runs');
	for my $time (1 .. 5) {
		unlink "$run->{reports}.summary";
		kill USR1 => $run->{pid};
		ok(wait_for(sub { -s "$run->{reports}.summary" }),
		    "report $time while it runs");
	}
	kill TERM => $child;
	$run = monitor_finish($run);
	my ($spin, $step) = $run->{err} =~ /^counts: spin (\d+), step (\d+)/m;

	counts_are($run, { spin => $spin, step => $step }, 'and the last');
}

# Attached to and let go, time and again.
{
	my $alone = start([$program, 'profile', 0]);

	ok(wait_for(sub { catches_term($alone->{pid}) }),
	    'something to attach to');
	for my $time (1 .. 4) {
		my $run = monitor(['--units=func',
		    '--duration=0.1', '-p', $alone->{pid}], []);

		is(ended($run), 'status 0', "attached, time $time");
	}
	kill TERM => $alone->{pid};
	$alone = finish($alone);
	is($alone->{out}, "strange 0, sum right\n", 'it has seen nothing');
}

# Without memory for relocated functions: by traps, and it is said.
{
	my $run = monitor(['--units=func'],
	    ['sh', '-c', "ulimit -v 5000; exec $program codes 50"]);

	same(run([$program, 'codes', 50]), $run, 'little memory');
	like($run->{report}, qr/counted\s+by\s+traps:.*\(RLIMIT_AS\)/s,
	    'it is said');
	is($run->{funcs}{redzone}, 50, 'and counted');
	# Copies are made of the first program that the plan cannot have later.
	$run = monitor(['--units=line,insn', '--object=*ld-linux*'],
	    ['sh', '-c', "ulimit -v 5000; exec $program codes 50"]);
	same(run([$program, 'codes', 50]), $run, 'little memory, later');
	# The memory for counters would be a file, which is a deadly sin there.
	my @small = ('sh', '-c', "ulimit -S -f 1; exec $program codes 50");
	$run = monitor(['--units=func'], \@small);
	same(run(\@small), $run, 'small files');
	like($run->{report}, qr/counted\s+by\s+traps:.*\(RLIMIT_FSIZE\)/s,
	    'it is said');
	is($run->{funcs}{redzone}, 50, 'and counted');
}

# The program itself limits its memory, and has more threads (64) than there was
# memory for at first: it gets all that it would get without pmon.
{
	my @limited = (compile('limited.c', '-O1', '-pthread'), 6, 100);
	my $run = monitor(['--units=func'], \@limited);

	same(run(\@limited), $run, 'a limit set later');
	is($run->{out}, "100 threads, and memory\n", 'it has its memory');
	like($run->{report}, qr/a\s+thread\s+got\s+no\s+memory.*\(RLIMIT_AS\)/s,
	    'it is said');
	is($run->{funcs}{thread}, '?', 'what was counted is not known');
	$limited[2] = 60;
	$run = monitor(['--units=func'], \@limited);
	same(run(\@limited), $run, 'a limit set later, few threads');
	is($run->{funcs}{thread}, 60, 'they are counted');
}

# A call leads to the copy of what it calls, where both have one; until there
# is something that may write text.
{
	my $lib = abs_path(compile('linked.c', '-shared', '-fPIC',
	    '-DLIBRARY'));
	my $run = monitor(['--units=func'],
	    [compile('linked.c', '-O2', '-mno-red-zone'), 30, $lib]);

	is($run->{out}, "elsewhere\nelsewhere\nthere\n1425\n",
	    'a call, and a library');
	counts_are($run, { callee => 30, caller => 30 }, 'a library');
}
for my $case (['func', 'auto', 'elsewhere'], ['func,block', 'auto', 'elsewhere'],
    ['func', 'trap', 'there']) {
	my ($units, $patch, $where) = @$case;
	my $run = monitor(["--units=$units", "--patch=$patch"],
	    [compile('linked.c', '-O2', '-mno-red-zone'), 30]);
	my $sum = 3 * 30 * 31 / 2 + 30;

	is($run->{out}, "$where\n" x 3 . "$sum\n", "$units, $patch: a call");
	counts_are($run, { callee => 30, caller => 30 }, "$units, $patch");
}
{
	# Also if they were relocated before it was known what may write text.
	my $run = monitor(['--units=func', '--eager'],
	    [compile('linked.c', '-O2', '-mno-red-zone'), 30]);

	like($run->{out}, qr/\A(elsewhere\n){3}/, 'func, --eager: a call');
}

# Jumps past a lock prefix: the instruction is counted however it is come to.
# Its block is behind the branch, and every round passes both.
{
	my $skips = compile('skips.c', '-O2');

	for my $options ((map { ["--patch=$_"] } @patches),
	    ['--placement=every'], ['--placement=every', '--patch=trap'],
	    ['--once']) {
		my $once = $options->[0] eq '--once';
		my $run = monitor([@$options, '--func=bump',
		    '--units=' . ($once ? 'func,block' : 'func,block,edge'),
		    "--report=blocks:$scratch/blocks"], [$skips, 600]);
		my ($n, $m) = slurp("$scratch/blocks") =~
		    /^ +(\d+) +[0-9a-f]+ +2 .*\n +(\d+) +[0-9a-f]+ +3 /m;

		is($run->{out}, "right\n", "@$options: past a prefix");
		is_deeply([$n, $m], $once ? [1, 1] : [600, 600],
		    "@$options: both blocks");
	}

	# At any place when it is attached to.
	my $alone = start([$skips]);
	ok(wait_for(sub { catches_term($alone->{pid}) }),
	    'something to attach to');
	for my $options (map { [$_, '--units=func,block'],
	    [$_, '--units=func'] } map { "--patch=$_" } @patches) {
		for my $time (1 .. ($slow ? 6 : 2)) {
			my $run = monitor([@$options, '--duration=0.01',
			    '-p', $alone->{pid}], []);

			is(ended($run), 'status 0', "@$options, $time");
		}
	}
	kill TERM => $alone->{pid};
	is(finish($alone)->{out}, "right\n", 'the sum is right');
}

# Where nothing is derived no stack need be looked at, and where counts are, few.
for my $units ('func', 'func,line') {
	my $run = monitor(["--units=$units"],
	    [compile('leaps.c', '-O2'), 1000]);
	my ($stops) = $run->{out} =~ /^stopped (\d+) times$/;

	counts_are($run, { leap => 1000 }, "$units: leaps");
	cmp_ok($stops, '<', 500, "$units: stopped where they leave");
}

# Random programs.
SKIP: {
	skip 'csmith is not installed', 1
	    if system("cd $scratch && csmith --version >/dev/null 2>&1");
	for my $random ($seed + 30, $seed + 31) {
		my $source = "$scratch/random$random.c";

		# It writes a file of its own where it runs.
		system("cd $scratch && csmith -s $random " .
		    "--no-packed-struct --max-funcs 8 >$source") == 0
		    or die 'csmith';
		# By turns: one of them each way.
		for my $level ($slow ? qw(-O0 -O3) :
		    (qw(-O0 -O3))[($random - $seed) % 2]) {
			my $random = compile($source, $level, '-w',
			    '-I/usr/include/csmith');
			my $what = "random program $random, $level";
			my $run = counted([], [$random]);

			same(run([$random]), $run, $what);
			alike($run->{counts}, counted(['--patch=slot'],
			    [$random])->{counts}, "$what: counts");
		}
	}
}

done_testing;
