# Coverage of test suites: a limit that fails, files that never clobber each
# other, many of them merged, and what changed between two.
use strict;
use warnings;
use lib 'tests/lib';
use File::Path qw(make_path);
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
my $dir = "$scratch/coverage";
make_path($dir);

# Seven lines with code; without an argument line 8 runs, else 5 and 6.
my $source = spew("$dir/branch.c", <<'EOF');
#include <stdio.h>
int main(int argc, char **argv)
{
	if (argc > 1) {
		puts("one");
		puts("two");
	} else {
		puts("none");
	}
	return argc > 2;
}
EOF
my $prog = "$dir/branch";
system($cc, '-g', '-O0', '-o', $prog, $source) == 0 or die;

# Exit status and messages of a command.
sub
said
{
	my $run = run([@_]);

	return ($run->{late} || $run->{signal} ? ended($run) : $run->{status},
	    $run->{err},
	    $run->{out});
}

# ---- the limit: 5 of 7 lines are 71.428... %

my ($status, $err) = said($pmon, '-o', '/dev/null', '--fail-under=80',
    $prog);
is($status, 124, 'under the limit: status 124');
is($err, "pmon: 71.42 % of the lines ran (5 of 7; 0 not known), " .
    "less than 80 %\n", 'and one line says so');
for (['71.428', 0], ['71.429', 124], ['100', 124], ['0', 0]) {
	($status) = said($pmon, '-o', '/dev/null', "--fail-under=$_->[0]",
	    $prog);
	is($status, $_->[1], "--fail-under=$_->[0]: status $_->[1]");
}
($status) = said($pmon, '-o', '/dev/null', '--fail-under=100', $prog, 1, 2);
is($status, 1, 'a program that failed keeps its status');
($status) = said($pmon, '-u', 'func', '-o', '/dev/null', '--fail-under=80',
    $prog);
is($status, 124, 'lines are counted even if they are not a unit');
($status, $err) = said($pmon, '-o', '/dev/null', '--fail-under=1', 'true');
is("$status $err", "125 pmon: --fail-under: no lines were counted\n",
    'no lines at all: an error');
for ('101', '100.001', '', '-1', '1.2345', 'x', '5x', '.') {
	($status, $err) = said($pmon, "--fail-under=$_", 'touch',
	    "$dir/touched");
	is($status, 125, "--fail-under=$_ is refused");
}
ok(!-e "$dir/touched", 'before anything runs');

# ---- names of files

for ([$prog], [$prog, 'x']) {
	($status, $err) = said($pmon, '-d', "$dir/" . @$_, '--', @$_);
	is("$status$err", '0', "saved: @$_");
}
($status, $err) = said($pmprint, '--fail-under=80', "$dir/1");
is($status, 124, 'pmprint has the limit, too');
like($err, qr/^pmprint: 71\.42 % .*\n\z/, 'with its message');
my ($all, $all_err, $out) = said($pmprint, '--fail-under=100', "$dir/1",
    "$dir/2");
is("$all$all_err$out", '0', 'both together ran all lines');
($status) = said($pmprint, '--fail-under=100', '--parts', "$dir/1");
is($status, 125, 'not of parts');

mkdir "$dir/names";
my $run = run([$pmon, '-d', '%n-%p.pmon', '--', $prog],
    dir => "$dir/names");
is(scalar(() = glob "$dir/names/branch-[0-9]*.pmon"), 1,
    '%n and %p: program and process');
run([$pmon, '-d', 'rank%r-100%%', '--', $prog], dir => "$dir/names",
    env => { PMI_RANK => 'no', SLURM_PROCID => 12 });
ok(-s "$dir/names/rank12-100%", '%r: the rank, and %%');
$run = run([$pmon, '-d', 'rank%r', '--', 'touch', 'touched'],
    dir => "$dir/names");
is($run->{status}, 125, '%r without a rank is refused');
ok(!-e "$dir/names/touched", 'and nothing run');

# One process counted several times, some at once: no file is lost.
my $process = start([$prog =~ s/branch$/none/r, ()], before => sub {
	exec 'sleep', 100 });
my $pid = $process->{pid};
ok(wait_for(sub { (readlink "/proc/$pid/exe" // '') =~ /sleep|coreutils/ }),
    'something to attach to');
for (1 .. 3) {
	$run = run([$pmon, '-d', "$dir/names/at-%p", '-p', $pid,
		'--duration=0.05']);
	is(ended($run), 'status 0', "attached, time $_") or diag($run->{err});
}
kill KILL => $pid;
finish($process);
is_deeply([sort map { s{.*/}{}r } glob "$dir/names/at-*"],
    ["at-$pid", "at-$pid-2", "at-$pid-3"], 'with %p no file is replaced');
my @at = glob "$dir/names/at-*";
like((said($pmprint, @at))[2], qr/Run of.*Run of.*Run of/s,
    'three runs are there');

mkdir "$dir/many";
my @started = map { start([$pmon, '-d', "$dir/many/%p.pmon", '--', $prog,
    $_ % 2 ? 'x' : ()]) } 1 .. 20;
is(join(' ', map { finish($_)->{status} } @started), join(' ', (0) x 20),
    '20 at once');
my @many = glob "$dir/many/*.pmon";
is(scalar @many, 20, 'make 20 files');
my ($merged) = said($pmprint, "--merge=$dir/all", @many);
is($merged, 0, 'they are merged');
is((said($pmprint, '--report=listing', "$dir/all"))[2],
    (said($pmprint, '--report=listing', reverse @many))[2],
    'in any order to the same');
$out = (said($pmprint, '--report=listing', "$dir/all"))[2];
my $lines = lines_read(spew("$dir/listing", $out))->{'branch.c'};
is("$lines->{4} $lines->{5}", '20 10', 'a line that each ran, and half did');
($status, $err) = said($pmprint, "--merge=$dir/twice", @many, $many[3]);
is($status, 125, 'no run twice');
like($err, qr/^pmprint: \Q$many[3]\E: a run of .* is in two files/, 'and which it is');

# ---- what changed

($status, $err, $out) = said($pmprint, '--diff', '--report=uncovered',
    "$dir/1", "$dir/2");
is("$status$err", '0', '--diff --report=uncovered');
like($out, qr/^ +first +7 +5 +0  71\.42 %\n +second +7 +6 +0  85\.71 %$/m,
    'how many lines ran');
like($out, qr/only in the first file:\n\S*branch\.c:8 +main\n\n/,
    'which no longer do');
like($out, qr/only in the second file:\n\S*branch\.c:5-6 +main\n\n/,
    'and which do now');
like($out,
    qr/^ +1 lines ran only in the first file\n +2 lines .*second file\n\z/m,
    'and their numbers');
$out = (said($pmprint, '--diff', '--report=uncovered', ("$dir/1") x 2))[2];
unlike($out, qr/only/, 'a file and itself: nothing');
for my $args (['--report=lines'], ['--report=uncovered:x'], ['--parts'],
    ['--fail-under=3'], ['--report=uncovered,lines']) {
	($status) = said($pmprint, '--diff', @$args, "$dir/1", "$dir/2");
	is($status, 125, "--diff @$args is refused");
}

done_testing;
