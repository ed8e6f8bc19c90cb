# Data files of real runs: every report that pmprint makes of one is what pmon
# itself says, whoever was counted and however it ended.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Copy qw(copy);
use File::Path qw(make_path);
use List::Util qw(sum0);
use Test::More;
use Pmon;
use Sources;

my $pmprint = "$build/pmprint";
$pmprint = "$ENV{PWD}/$pmprint" if $pmprint !~ m{^/};
my $dir = "$scratch/data";
make_path($dir);

my @kinds = qw(summary funcs inlines files lines listing hist hist:scaled
    hist:log uncovered insns blocks edges cfg calls);
my $all = 'func,line,block,edge,insn,call';
my $prog = abs_path(compile('data.c', '-O1', '-pthread'));

# Run pmon; it must end in this way, having said nothing.
sub
pmon
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($options, $argv, %opt) = @_;
	my $run = run([$pmon, @$options, '--', @$argv], %opt);

	is(ended($run), $opt{status} // 'status 0', "@$options: it ends")
	    or diag($run->{err});
	return $run;
}

# What pmprint prints.
sub
pmprint
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $run = run([$pmprint, @_]);

	is(ended($run) . $run->{err}, 'status 0', "pmprint @_");
	return $run->{out};
}

# A report without what it says of one run or of pmon's own memory.
sub
plain
{
	my @lines = split /\n/, unhurried($_[0]);

	# How it ended, for how long, with how many traps: may take two lines.
	if (($lines[0] // '') =~ /^Counts of/) {
		shift @lines while @lines > 1 && $lines[1] ne '';
	}
	shift @lines;
	return join "\n", grep { !/ bytes per block/ } @lines;
}

sub
funcs_of
{
	my ($text) = @_;

	return funcs_read(spew("$scratch/funcs", $text));
}

# The calls of some functions in these files.
sub
calls_are
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($files, $expected, $what) = @_;
	my $got = funcs_of(pmprint('--report=funcs', @$files));

	is_deeply({ map { $_ => $got->{$_} } keys %$expected }, $expected,
	    $what);
}

# Every report of a run of its own, and of the data file of another.
sub
agrees
{
	my ($name, $argv, %opt) = @_;
	my @object = $opt{object} ? "--object=$opt{object}" : ();
	my $file = "$dir/$name.out";

	pmon(['-d', $file, '-u', $all, @object], $argv, %opt);
	for my $kind (@kinds) {
		pmon([@object, "--report=$kind:$dir/report"], $argv, %opt);
		my $text = slurp("$dir/report");
		cmp_ok(length $text, '>', 30, "$name: $kind") or next;
		is(plain(pmprint("--report=$kind", $file)), plain($text),
		    "$name: $kind of the data file");
	}
	return $file;
}

# All reports of one run, and of its data file.
sub
agrees_at_once
{
	my ($name, $argv, %opt) = @_;
	my $file = "$dir/$name.out";
	my @wants = (@kinds, 'placement');
	my @options = ('-u', $all, @{$opt{options} // []});

	pmon(['-d', $file, @options, map {
		"--report=$_:$dir/" . tr/:/-/r } @wants], $argv, %opt);
	for my $kind (@wants) {
		is(plain(pmprint('-u', $all, "--report=$kind", $file)),
		    plain(slurp("$dir/" . $kind =~ tr/:/-/r)),
		    "$name: $kind of the same run");
	}
	return $file;
}

# Programs of our own.
my $work = { work => 20, odd => 10, even => 10, choose => 20, never => 0 };
{
	my $file = agrees('own', [$prog, 'w20']);

	calls_are([$file], $work, 'calls as often as it says');
	# Where the indirect call in work goes takes a trap, if it is asked for.
	for my $units ([], ['-u', $all]) {
		my $asked = @$units ? 'asked for' : 'not asked for';

		pmon(['-d', "$dir/calls.out", @$units,
			"--report=sites:$dir/sites"], [$prog, 'w20']);
		my $calls = pmprint('--report=calls', "$dir/calls.out");
		like($calls, qr/^ +20 .* choose$/m, "targets $asked: direct calls");
		is(() = $calls =~ /^ +20 .* \?\ \(indirect\)$/mg,
		    @$units ? 0 : 1, '  indirect ones');
		is(() = slurp("$dir/sites") =~ / work\+/g, @$units ? 1 : 0,
		    '  traps');
	}
	agrees_at_once('stripped', [do {
		system('strip', '-o', "$dir/stripped", $prog) == 0 or die;
		"$dir/stripped"
	    }, 'w20']);
	agrees_at_once('every', [$prog, 'w20'],
	    options => ['--placement=every', '--eager']);
	agrees_at_once('vertex', [$prog, 'w20'],
	    options => ['--placement=vertex']);
}

# A selection, when counting and when printing.
{
	my $file = "$dir/some.out";

	for my $some ('--func=cho*', '--line=data.c:30-60', '--file=data.c') {
		my @wants = qw(summary listing funcs insns calls);

		pmon(['-d', $file, '-u', $all, $some,
			map { "--report=$_:$dir/$_" } @wants], [$prog, 'w5']);
		is(plain(pmprint('-u', $all, $some, "--report=$_", $file)),
		    plain(slurp("$dir/$_")), "$some: $_") for @wants;
	}
	pmon(['-d', $file], [$prog, 'w5']);
	my $got = funcs_of(pmprint('--func=cho*', '-r', 'funcs', $file));
	is_deeply($got, { choose => 5 }, 'of all that was counted one');

	# Only what was counted is known.
	pmon(['-d', $file, '-u', 'func'], [$prog, 'w5']);
	calls_are([$file], { work => 5, choose => 5, never => 0 },
	    'functions alone');
	unlike(pmprint('-r', 'summary', $file), qr/ lines$/m,
	    'no lines where none were asked for');
}

# Two runs merged are one that does both.
{
	my @files = map { "$dir/$_.out" } qw(half other both);

	pmon(['-d', $files[0]], [$prog, 'w10']);
	pmon(['-d', $files[1]], [$prog, 't7']);
	pmon(['-d', $files[2], '--object=' . $prog],
	    ['sh', '-c', "$prog w10; $prog t7"]);
	for my $kind (@kinds) {
		is(plain(pmprint("--report=$kind", @files[0, 1])),
		    plain(pmprint("--report=$kind", $files[2])),
		    "$kind of two halves");
	}
	pmprint("--merge=$dir/merged.out", @files[1, 0]);
	calls_are(["$dir/merged.out"], { work => 17, even => 9, odd => 8 },
	    'merged into a file');
	like(pmprint('-r', 'funcs', @files[0, 1]), qr/^Functions of 2 runs/,
	    'which says so');
	like(pmprint('--diff', @files[0, 1]), qr/^ +-3 +10 +7 .* work|work/m,
	    'and compared');
}

# Processes and threads by themselves.
{
	my $file = "$dir/parts.out";
	my $argv = [$prog, 'w3', 'f4', 't5', 'e6', 'w7'];

	for my $what (qw(process thread)) {
		pmon(['-d', $file, "--separate=$what"], $argv);
		my $text = pmprint('--parts', '-r', 'funcs', $file);
		my @parts = split /^(?=Functions of )/m, $text;
		my @counts = map { funcs_of($_)->{work} } @parts;

		is(scalar @parts, $what eq 'process' ? 3 : 4,
		    "$what: so many of them");
		# Of its path there may be little left.
		like($parts[0], qr/^Functions of .*\b$what \d+.*, \//,
		    "$what: is named");
		is($counts[0], $what eq 'process' ? 8 : 3, 'the first');
		is($counts[1], 4, 'its child');
		is($counts[-1], 6 + 7, 'one that executed the program again');
		is(sum0(@counts), 25, 'all of them');
		calls_are([$file], { work => 25 }, 'added up');

		my ($list) = pmprint($file) =~
		    /^ +EXECUTED +START.*\n((?:.+\n)+)/m;
		my @rows = $list =~ /^ +(\d+) /mg;
		is(scalar @rows, scalar @parts, "$what: are listed");
		# What is saved together is what all have.
		pmon(['-d', "$dir/whole.out"], $argv);
		is(plain(pmprint("--report=$_", $file)),
		    plain(pmprint("--report=$_", "$dir/whole.out")),
		    "$what: $_ of all together") for qw(insns edges calls);
	}
}

# Killed in the middle: frames are left.
{
	my $file = "$dir/killed.out";
	my $run = pmon(['-d', $file], [$prog, 'w9', 'k5'],
	    status => 'status 137');

	calls_are([$file], { work => 9, deep => 6, never => 0 },
	    'a program that is killed');
	like(pmprint($file), qr/killed by signal 9/, 'which is said');
	agrees_at_once('killed', [$prog, 'w9', 'k5'], status => 'status 137');
}

# A stack that cannot be walked, so that instructions behind calls are not
# known though their blocks may be; and a program where no stack can be, whose
# blocks end at calls.
{
	my $doubt = abs_path(compile('walks.c', '-O2'));
	my $bare = abs_path(compile('stops.c', '-O1', '-g', '-pthread',
	    qw(-fomit-frame-pointer -fno-asynchronous-unwind-tables
	    -fno-unwind-tables)));

	for my $how (qw(optimal every)) {
		agrees_at_once("doubt-$how", [$doubt, 'j', 8],
		    options => ["--placement=$how"]);
		agrees_at_once("bare-$how", [$bare, 'jumps', 8],
		    options => ["--placement=$how"]);
	}
}

# A snapshot, while the program waits; and pmon killed: the file stays.
{
	my $file = "$dir/snapshot.out";
	my $start = sub {
		my $run = start([$pmon, '-d', $file, '--save-every=0', '--',
			$prog, @_]);

		ok(wait_for(sub { slurp("$run->{base}.out") =~ /ready/ }),
		    'it waits');
		return $run;
	};
	my $run = $start->('w4', 'p0');

	ok(!-e $file, 'no file yet');
	kill USR1 => $run->{pid};
	ok(wait_for(sub { -e $file }), 'SIGUSR1 makes one');
	calls_are([$file], { work => 4, main => 1 }, 'of what was so far');
	like(pmprint($file), qr/still running/, 'which is said');
	my $before = slurp($file);
	kill KILL => $run->{pid};
	is(ended(finish($run)), 'signal 9', 'pmon is killed');
	is(slurp($file), $before, 'the file stays');
	is(join(' ', glob "$file*"), $file, 'and none beside it');

	$run = $start->('w5', 'p0');
	kill TERM => $run->{pid};
	is(ended(finish($run)), 'status 143', 'pmon is interrupted');
	calls_are([$file], { work => 5 }, 'and replaces it');
}

# Attached for a while.
{
	my $file = "$dir/attached.out";
	my $run = start([$prog, 'w4', 'p0']);

	ok(wait_for(sub { slurp("$run->{base}.out") =~ /ready/ }), 'it waits');
	my $attached = run([$pmon, '-d', $file, '--duration=0.1', '-p',
		$run->{pid}]);
	is(ended($attached) . $attached->{err}, 'status 0', 'attached');
	calls_are([$file], { work => 0, main => 0 }, 'nothing ran meanwhile');
	like(pmprint($file), qr/detached/, 'detached');
	kill KILL => $run->{pid};
	finish($run);
}

# Names of files.
{
	my @here = (dir => $dir);
	my $run = pmon(['-d'], [$prog, 'w1'], @here);

	ok(-s "$dir/pmon.out", '-d --: pmon.out');
	like(run([$pmprint], @here)->{out}, qr/work/, 'which pmprint reads');
	pmon(['--data=a%%-%p-%x.out'], [$prog, 'w1'], @here);
	my ($name) = glob "$dir/a%-*-%x.out";
	like($name // 'none', qr/a%-\d+-%x\.out$/, '%p, %% and %');
	copy($prog, "$dir/copy");
	my $text = slurp("$dir/copy");
	$run = run([$pmon, '-d', "$dir/copy", 'true']);
	is(ended($run), 'status 125', 'not instead of a program');
	is($run->{err}, "pmon: $dir/copy: not a data file: pmon does not " .
	    "replace it\n", 'the message');
	ok(slurp("$dir/copy") eq $text, 'which stays as it is');
	$run = run([$pmon, '-d', "$scratch/none/x", '--', $prog, 'k0']);
	is(ended($run) . $run->{err}, 'status 125' .
	    "pmon: $scratch/none/x: No such file or directory\n",
	    'a file that cannot be: the program is not run');
	$run = run([$pmon, '-d', '/dev/full', '--', $prog, 'w1']);
	is(ended($run) . $run->{err}, 'status 125' .
	    "pmon: /dev/full: No space left on device\n", 'a full disk');
	# The old file stays, and nothing else is left there.
	run([$pmon, '--object=*', '-d', "$dir/large", '--', $prog, 'w1']);
	spew("$dir/small", '');
	$run = run(['sh', '-c', 'trap "" XFSZ; ulimit -f 1; exec "$@"', 'sh',
	    $pmon =~ s/pmon$/pmprint/r, "--merge=$dir/small", "$dir/large"]);
	is(ended($run) . $run->{err}, 'status 125' .
	    "pmprint: $dir/small: File too large\n", 'no room in the middle');
	is(join(' ', map { s{.*/}{}r . ' ' . -s } glob("$dir/small*"),
	    glob("$dir/.small*")), 'small 0', 'and the file is as it was');
	$run = run([$pmon, '--data=', $prog]);
	is($run->{err}, "pmon: --data: the file name is empty\n", 'no name');
}

# A program that is not the one that ran, or is gone.
{
	my $file = "$dir/gone.out";

	copy($prog, "$dir/gone");
	chmod 0755, "$dir/gone";
	pmon(['-d', $file], ["$dir/gone", 'w2']);
	unlink "$dir/gone";
	my $run = run([$pmprint, '-r', 'funcs', $file]);
	is(ended($run), 'status 125', 'it is gone');
	like($run->{err}, qr/^pmprint: \S+gone: No such file or directory/,
	    'which is said');
	like(pmprint('--executed', $file), qr/ 2  work$/m,
	    'what needs no program');
	copy(abs_path(compile('data.c', '-O0', '-pthread')), "$dir/gone");
	chmod 0755, "$dir/gone";
	$run = run([$pmprint, '-r', 'listing', $file]);
	like($run->{err}, qr/^pmprint: \S+: rebuilt since the run/,
	    'it was built anew');
	is($run->{out}, '', 'and nothing is shown');

	# Others in the file are shown, and it is said that this one is not.
	pmon(['-d', "$dir/here.out"], [abs_path(compile('ids.c'))],
	    status => 'status 8');
	$run = run([$pmprint, '-r', 'funcs', $file, "$dir/here.out"]);
	is(ended($run), 'status 0', 'one of two');
	like($run->{err}, qr/^pmprint: \S+: rebuilt since .*; left out$/,
	    'the other is said to be left out');
	is(funcs_of($run->{out})->{work}, 10, 'and is');

	# Weights of another build are not used, which is said.
	$run = run([$pmon, "--weights=$file", '--', "$dir/gone", 'w2']);
	like($run->{err} =~ s/\s+/ /gr,
	    qr/not used to place the counters of \S+gone/,
	    'weights of another build');
}

# Exact weights: fewer increments, the same counts.
{
	my ($file, @wants) = ("$dir/weights.out", qw(funcs insns edges calls));
	my @increments;

	pmon(['-d', $file, '-u', $all, "--report=placement:$dir/guess",
		map { "--report=$_:$dir/$_" } @wants], [$prog, 'w30']);
	pmon(["--weights=$file", '-u', $all, "--report=placement:$dir/exact",
		map { "--report=$_:$dir/$_-exact" } @wants], [$prog, 'w30']);
	for (qw(guess exact)) {
		slurp("$dir/$_") =~ /^ +\d+ +\d+ +\d+ +\d+ +(\d+) .*\(all\)$/m;
		push @increments, $1 // 0;
	}
	cmp_ok($increments[1], '<=', $increments[0],
	    "increments with exact weights: $increments[1]");
	cmp_ok($increments[1], '>', 0, 'some');
	is(slurp("$dir/$_-exact"), slurp("$dir/$_"), "the same $_") for @wants;
	my $run = run([$pmon, "--weights=$scratch/none", $prog]);
	is($run->{err}, "pmon: $scratch/none: No such file or directory\n",
	    'weights that are not there');
}

# Libraries, too.
{
	my $file = "$dir/libraries.out";

	pmon(['-d', $file, '--object=*', '-u', 'func,call',
		"--report=calls:$dir/calls"], [$prog, 'w6', 't3']);
	is(plain(pmprint('-u', 'func,call', '-r', 'calls', $file)),
	    plain(slurp("$dir/calls")), 'calls into libraries');
	like(pmprint($file), qr/^ +\d+ .*libc\.so/m, 'the C library is in it');
	my $libc = pmprint('--object=libc.so*', '-r', 'funcs', $file);
	like($libc, qr/^ +1 +.*pthread_create/m, 'one library');
	unlike($libc, qr/  choose$/m, 'alone');
}

# Real programs.
SKIP: {
	my $from = source_build('lua', '-O2', '-g');
	skip "lua: $Sources::reason", 1 if !$from;
	my $script = spew("$scratch/script.lua", <<'END');
local t = {}
for i = 1, 40 do t[i] = i * 7919 % 41 end
table.sort(t)
print(#t, pcall(function() error("x") end))
print(string.format("%d %s", 3, "abc"), ("abc"):rep(3):gsub("b", "x"))
END
	agrees_at_once('lua', ["$from/lua", $script]);
}
SKIP: {
	my $from = source_build('bzip2', '-O2', '-g');
	skip "bzip2: $Sources::reason", 1 if !$from;
	my $text = spew("$scratch/text", join '', map { "line $_\n" } 1 .. 50);
	agrees_at_once('bzip2', ["$from/bzip2", '-1', '-c'],
	    in_file => $text);
}

done_testing;
