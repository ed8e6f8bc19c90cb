# Where reports go: a file is replaced in whole or stays as it was, whatever is
# in the way; what is no file is written to; and nobody is led to write to what
# is not meant.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Copy qw(copy);
use POSIX qw(mkfifo);
use Test::More;
use Pmon;

my $dir = "$scratch/output";
mkdir $dir or die;
chmod 0755, $scratch, $dir;
my $pmprint = "$build/pmprint";
my $program = spew("$dir/program.c", <<'END');
#include <stdio.h>
int main(void)
{
	return puts("done") < 0;
}
END
$program = abs_path(compile($program, '-O0'));
# Programs as others may run them, from where they may look.
my $pmon_copy = "$dir/pmon";
copy($pmon, $pmon_copy) && chmod 0755, $pmon_copy or die;
copy($program, "$dir/program") && chmod 0755, "$dir/program" or die;
my $nobody = 65534;

sub
old
{
	my ($file, $mode) = @_;

	return spew($file, 'old' x 1000, $mode // 0644);
}

# What the file has: the whole report, the old text, or something else.
sub
has
{
	my ($file) = @_;
	my $text = slurp($file);

	return 'old' if $text eq 'old' x 1000;
	return 'whole' if $text =~ /\Awhat,object.*^func,[^\n]*"main".*\n\z/ms;
	return length $text ? 'part' : 'nothing';
}

sub
leftovers
{
	return join ' ', grep { /tmp$/ } map { glob "$_/*" } @_;
}

# Options that write a report to a file.
sub
ways
{
	my ($file) = @_;

	return (['--report=csv', '-o', $file], ["--report=csv:$file"]);
}

sub
written
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($what, $argv, $file, $expected, %opt) = @_;
	my $run = run([@$argv], %opt);

	is($run->{out}, "done\n", "$what: the program runs");
	is($run->{status}, $expected eq 'whole' ? 0 : 125,
	    "$what: status") or diag $run->{err};
	is($run->{err} =~ s/: [^:]*\n\z//r, $expected eq 'whole' ? '' :
	    "pmon: $file", "$what: what is said");
	is(has($file), $expected, "$what: the file");
	is(leftovers($dir, "$dir/closed"), '', "$what: nothing is left beside");
	return $run;
}

# ---- files

my $file = "$dir/file";
for (ways($file)) {
	my @argv = ($pmon, @$_, $program);

	unlink $file;
	written("@$_[0]: a new file", \@argv, $file, 'whole');
	old($file, 0640);
	written("@$_[0]: an old one", \@argv, $file, 'whole');
	is((stat $file)[2] & 0777, 0640, 'its mode stays');

	symlink 'file', "$dir/link";
	old($file);
	written("@$_[0]: a link", [$pmon, (map { s/file$/link/r } @$_),
		$program], "$dir/link", 'whole');
	ok(-l "$dir/link", 'it stays one');
	is(has($file), 'whole', 'and leads to the report');
	unlink $file;
	written("@$_[0]: one that leads nowhere", [$pmon,
		(map { s/file$/link/r } @$_), $program], "$dir/link", 'whole');
	ok(-l "$dir/link" && -f $file, 'makes the file');
	unlink "$dir/link";
}

# ---- where there is no room

# A limit of 512 bytes to a file, as a full disk is, but of any file system.
my @limited = ('sh', '-c', 'ulimit -f 1; exec "$@"', 'sh', $pmon);
for (ways($file)) {
	old($file);
	my $run = written("@$_[0]: no room", [@limited, @$_, $program], $file,
	    'old');
	like($run->{err}, qr/: File too large\n\z/, 'it says why');
	unlink $file;
	run([@limited, @$_, $program]);
	ok(!-e $file, "@$_[0]: nothing where nothing was");
}
run([$pmon, '--report=html:' . "$dir/page", $program]);
my $index = slurp("$dir/page/data/index.js");
my $run = run([@limited, "--report=html:$dir/page", $program]);
is("$run->{status} $run->{out}", "125 done\n", 'a page: no room');
like($run->{err}, qr/\Apmon: \Q$dir\E\/page[^\n]*: File too large\n\z/,
    'a page: it says where and why');
is(slurp("$dir/page/data/index.js"), $index, 'a page: the old one stays');
is(leftovers($dir), '', 'a page: nothing is left beside');
$run = run([$pmon, '-o', '/dev/full', $program]);
is("$run->{status} $run->{out}", "125 done\n", 'a full device');
is($run->{err}, "pmon: /dev/full: No space left on device\n", 'it is named');
run([$pmon, '-d', "$dir/data", '--', $program]);
for my $to (['-o', '/dev/full'], ['-o', "$dir/none/report"]) {
	my ($name, $why) = ($to->[1], $to->[1] eq '/dev/full' ?
	    'No space left on device' : 'No such file or directory');

	$run = run([$pmprint, @$to, '--report=csv', "$dir/data"]);
	is("$run->{status} $run->{out}", '125 ', "pmprint -o $name");
	is($run->{err}, "pmprint: $name: $why\n", 'it is named');
}
$run = run(['sh', '-c', "'$pmprint' --report=csv '$dir/data' >/dev/full"]);
is("$run->{status} $run->{err}", '125 pmprint: standard output: No space ' .
    "left on device\n", 'and so is standard output');
unlink "$dir/data" or die;

# A file system that is full, in a name space of its own.
SKIP: {
	mkdir "$dir/small" or die;
	my $mount = "mount -t tmpfs -o size=8k none $dir/small &&";
	my @own = ('unshare', $> ? '-rm' : '-m', 'sh', '-c');
	skip 'no file system may be mounted', 8
	    if run([@own, "$mount true"])->{status};
	for (ways("$dir/small/file")) {
		$run = run([@own, "$mount echo old >$dir/small/file;" .
			'"$@"; echo $?; cat ' . "$dir/small/*", 'sh', $pmon,
			@$_, $program]);
		is($run->{out}, "done\n125\nold\n",
		    "@$_[0]: a full file system");
		is($run->{err}, "pmon: $dir/small/file: No space left on " .
		    "device\n", 'it says so');
		# A name that cannot be replaced, as something is mounted there.
		$run = run([@own, "$mount echo old >$dir/small/file; " .
			"touch $dir/there;" .
			"mount --bind $dir/small/file $dir/there;" .
			'"$@"; echo $?;' . "cat $dir/there", 'sh', $pmon,
			(map { s/small\/file/there/r } @$_), $program]);
		is($run->{out}, "done\n125\nold\n", "@$_[0]: and through a " .
		    'mount of a file');
		is(leftovers($dir), '', 'nothing is left beside');
	}
}

# ---- what is no file

$run = run(['sh', '-c', 'echo before; "$@"; echo after', 'sh', $pmon,
	'--report=csv', '-o', '/dev/stdout', $program]);
like($run->{out}, qr/\Abefore\ndone\nwhat,.*\nafter\n\z/s,
    'standard output, with what the program writes there');
$run = run(['sh', '-c', 'exec "$@" 7>&1', 'sh', $pmon, '--report=csv', '-o',
	'/dev/fd/7', $program]);
like($run->{out}, qr/\Adone\nwhat,/, 'an open file');
mkfifo("$dir/fifo", 0600) or die;
$run = run(['sh', '-c', "cat $dir/fifo & \"\$@\" >/dev/null; wait", 'sh',
	$pmon, '--report=csv', '-o', "$dir/fifo", $program]);
like($run->{out}, qr/\Awhat,.*\n\z/s, 'a FIFO');
ok(-p "$dir/fifo", 'which stays one');
$run = run([$pmon, '-o', $dir, $program]);
is("$run->{status} $run->{out}", '125 ', 'a directory: nothing is run');
$run = run([$pmon, '-o', "$dir/none/file", $program]);
is("$run->{status} $run->{out}", '125 ', 'in no directory: nothing is run');
is($run->{err}, "pmon: $dir/none/file: No such file or directory\n",
    'it says so');
SKIP: {
	my $shared = "/dev/shm/pmon-test-$$";

	skip 'nothing can be written in /dev/shm', 5 if !-w '/dev/shm';
	written('memory', [$pmon, '--report=csv', '-o', $shared, $program],
	    $shared, 'whole');
	unlink $shared;
}

# ---- other people's

SKIP: {
	skip 'needs root', 32 if $>;
	my @as = ('setpriv', "--reuid=$nobody", "--regid=$nobody",
	    '--clear-groups');
	skip 'no setpriv that works', 32 if run([@as, 'true'])->{status};

	old($file);
	chown $nobody, $nobody, $file;
	written('a file of another', [$pmon, '--report=csv', '-o', $file,
		$program], $file, 'whole');
	is((stat $file)[4], $nobody, 'stays that');

	mkdir "$dir/closed", 0755 or die;
	for (ways("$dir/closed/file")) {
		my @argv = (@as, $pmon_copy, @$_, "$dir/program");
		my $inner = old("$dir/closed/file");
		my $inode = (stat $inner)[1];

		$run = run([@argv]);
		is("$run->{status} $run->{out}" . has($inner), '125 old',
		    "@$_[0]: a file that may not be written");
		chmod 0666, $inner;
		written("@$_[0]: a file in a directory that may not be",
		    [@argv], $inner, 'whole');
		is(join(' ', (stat $inner)[1, 4]), "$inode 0", 'is the same');
		old($inner, 0666);
		written('and without room', [@limited[0 .. 3], @argv], $inner,
		    'old');
	}

	# As /tmp is.
	mkdir "$dir/open", 0700 or die;
	chmod 01777, "$dir/open";
	for (ways("$dir/open/report")) {
		my $victim = old("$dir/victim");

		symlink $victim, "$dir/open/report";
		run(['chown', '-h', $nobody, "$dir/open/report"]);
		$run = run([$pmon, @$_, $program]);
		is("$run->{status} $run->{out}", '125 ',
		    "@$_[0]: a stranger's link: nothing is run");
		is($run->{err}, "pmon: $dir/open/report: refused: a link of " .
		    "another user in a world-writable directory\n",
		    'it says so');
		is(has($victim), 'old', 'and leads nowhere');
		unlink "$dir/open/report";
		symlink $victim, "$dir/open/report";
		$run = run([$pmon, @$_, $program]);
		is("$run->{status} $run->{out}" . has($victim),
		    "0 done\nwhole", "one's own does");
		unlink "$dir/open/report";
	}
}

# ---- signals cut no report short; a second one that stops pmon does

for ([USR1 => 'ALRM', 'IO'], ['INT'], ['TERM'], ['TERM', 'INT']) {
	my @signals = @$_;
	my $cut = "@signals" eq 'TERM INT';
	pipe my $from, my $to or die;
	my $pid = fork // die;

	if (!$pid) {
		close $from;
		open STDOUT, '>', '/dev/null' or die;
		open STDERR, '>&', $to or die;
		# More than a pipe takes.
		exec $pmon, '--no-config', '--object=*', '--report=funcs,edges',
		    '--', compile('faulted.c', '-O1', '-pthread'), 'calls';
	}
	close $to;
	ok(wait_for(sub { slurp("/proc/$pid/syscall") =~ /^1 0x/ }),
	    'pmon waits until its report is read');
	for (@signals) {
		kill $_ => $pid;
		# It has been taken, or waits until the report is written.
		wait_for(sub {
			has_ended($pid) ||
			    (slurp("/proc/$pid/syscall") !~ /^running/ &&
			    (/USR1|ALRM|IO/ || slurp("/proc/$pid/status") =~
			    /^ShdPnd:\s*0+$/m));
		});
	}
	my $report = do { local $/; <$from> };
	waitpid $pid, 0;
	is($? & 127, $cut ? POSIX::SIGINT : 0, "@signals: " .
	    ($cut ? 'ends pmon' : 'it writes all of it'));
	is($?, 0, "@signals: status 0") or diag(substr $report, -200)
	    if !$cut;
}

done_testing;
