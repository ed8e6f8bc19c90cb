# pmprint: reports, merging and comparing of data files.  The files are written
# here, from man/pmon.out.5 alone.
use strict;
use warnings;
use lib 'tests/lib';
use Compress::Zlib qw(compress crc32);
use File::Path qw(make_path);
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
$pmprint = "$ENV{PWD}/$pmprint" if $pmprint !~ m{^/};

sub
uint
{
	my ($n) = @_;
	my $bytes = '';

	for (; $n > 127; $n >>= 7) {
		$bytes .= chr($n & 127 | 128);
	}
	return $bytes . chr $n;
}

sub
delta
{
	my ($to, $from) = @_;
	my $d = $to - $from;

	return uint($d < 0 ? -2 * $d - 1 : 2 * $d);
}

sub
string
{
	return "$_[0]\0";
}

sub
section
{
	my ($tag, $data) = @_;
	my $packed = compress($data);
	my $section = $tag . pack('Q<Q<', length $packed, length $data) .
	    $packed;

	return $section . pack 'V', crc32($section);
}

sub
frame
{
	my (%sections) = @_;
	my @tags = grep { length $sections{$_} } sort keys %sections;

	return "\x89PMON\r\n\x1a" . pack('V', 1) .
	    join('', map { section($_, $sections{$_}) } @tags) .
	    section('END ', uint(scalar @tags));
}

# A file of one run and one object.  Functions are two blocks in a line, of 2
# and 3 instructions and 8 bytes each, that ran $first and $second times: ROOT
# leads to the first, this to the second, both to EXIT.
sub
data_file
{
	my ($path, %opt) = @_;
	my ($end, $n, %sections) = (0, 0);

	$sections{RUNS} = uint(1) . pack('Q<', $opt{id}) .
	    uint(86400 * 10**9 * $opt{id}) . uint(1_230_000_000) . uint(1) .
	    uint(2) . uint(77) . string("./prog $opt{id}") .
	    string('exited with status 0') . string('0.2') . uint(1) .
	    string('This is a remark.');
	for my $func (@{$opt{funcs}}) {
		my ($addr, $name, $first, $second) = @$func;
		my $state = defined $first ? $first ? 1 : 0 : 2;

		$sections{FUNC} .= delta($addr, ($end + 15) & ~15) .
		    chr($state | 16) .
		    ($state == 2 ? string('a reason') : '') . uint(16) .
		    uint($state == 1 ? 2 : 0);
		$end = $addr + 16;
		$n++;
		$sections{NAME} .= string($name);
		if ($state != 1) {
			$sections{EDGE} .= "\0";
			next;
		}
		$sections{SIZE} .= uint(8) x 2;
		$sections{INSN} .= delta(2, 2) . delta(3, 2);
		$sections{GAPS} .= delta($addr, $addr) . uint(0);
		# ROOT: last, next, not.  0: taken to EXIT; not taken, next,
		# last.  1: last, to EXIT, always.
		$sections{EDGE} .= chr(1 + 1) . chr(1 + 2 * (1 + 3 * 2)) .
		    chr(1 + 1 + 2 * (0 + 3 * 3)) . chr(1 + 1 + 2 * (1 + 3 * 1));
		# All counted; flowing.  Free are ROOT's edge and the first's.
		$sections{STAT} .= uint(2 * (2 + 2) + 1);
		$sections{CNTS} .= delta($first, 0) .
		    delta($first - $second, 0);
	}
	my $id = $opt{build_id} // '';
	$sections{OBJS} = uint(1) . string($opt{object} // '/bin/nothing') .
	    uint(62) . chr(length($id) / 2) . pack('H*', $id) .
	    ($id ? '' : uint(1) . pack('V', 2)) . "\0" . uint(9) . uint($n);
	return spew($path, frame(%sections));
}

sub
pmprint
{
	return run([$pmprint, @_]);
}

sub
prints
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($args, $expect, $what) = @_;
	my $run = pmprint(@$args);

	is("$run->{status}$run->{err}", '0', "$what: status 0, no message");
	like($run->{out}, $_, $what) for ref $expect eq 'ARRAY' ? @$expect :
	    $expect;
	return $run->{out};
}

sub
refuses
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($args, $expect, $what) = @_;
	my $run = pmprint(@$args);

	is("$run->{status}$run->{out}", '125', "$what: status 125, no output");
	is($run->{err}, "pmprint: $expect\n", "$what: the message");
}

my @funcs = ([0x1000, 'one', 10, 4], [0x2000, '_Z3twoi', 6, 6],
    [0x3000, 'none', 0], [0x4000, 'lost', undef]);
my $a = data_file("$scratch/a", id => 1, funcs => \@funcs);
my $b = data_file("$scratch/b", id => 2,
    funcs => [@funcs[0, 1], [0x3000, 'none', 3, 3]]);

# Reports.
my $out = prints([$a], [
	qr/^Run of \.\/prog 1$/m,
	qr/1970-01-02 00:00:00 UTC, exited with status 0; 1\.23 s, 1 process,/,
	qr/2\s+threads,\s+77\s+traps,\s+pmon\s+0\.2/,
	qr/Note: This is a remark\./,
	qr/^ +4 +2 +1 +1  \/bin\/nothing$/m,
	qr/^ +32 +10  one$/m,
	qr/^ +30 +6  two\(int\)$/m,
	qr/^Note: \/bin\/nothing: No such file/m,
    ], 'runs');
unlike($out, qr/none|lost/, 'only what ran');
prints(['--executed', '--no-demangle', $a], [
	qr/^ +32 +10  one\n +30 +6  _Z3twoi\n +0 +0  none\n/m,
	qr/  none\n +\? +\?  lost \[a reason\]$/m,
    ], 'all functions');
prints(['--runs', '--executed', '--top=1', $a],
    qr/one\n(?!.*two\(int\)\n\nNote)/, 'two pages');

# Merging.
my $merged = "$scratch/merged";
is(prints(["--merge=$merged", $a, $b], qr/^$/, 'merging'), '',
    'prints no report');
my $ab = prints(['--executed', $merged], [
	qr/^ +64 +20  one$/m, qr/^ +15 +3  none$/m,
	qr/^ +\? +\?  lost \[a reason\]$/m,
    ], 'what was merged');
is(prints(['--executed', $b, $a], qr/one/, 'in the other order'), $ab,
    'is the same');
refuses([$merged, $a], "$a: a run of ./prog 1 is in two files",
    'a run that is in twice');

# Comparing.
prints(['--diff', $a, $b], [
	qr/^ +\+15 +0 +15  none$/m,
	qr/^ +\+3 +0 +3    block 0x3000$/m,
	qr/^ +1 functions changed$/m, qr/^ +2 functions unchanged$/m,
	qr/^ +1 functions only in the first file/m,
    ], 'what changed');
prints(['--diff', $a, $a], qr/^ +3 functions unchanged$/m, 'nothing changed');
refuses(['--diff', $a], '--diff compares two files, not 1', 'one file');
refuses(['--diff'], '--diff compares two files, not 0', 'no file');
refuses(['--diff', '-r', 'calls', $a, $b], '--diff cannot be used with ' .
    '--report', 'a report of differences');

# Names of files: the default, and the output.
chdir $scratch or die;
prints(['a', '--executed'], qr/one/, 'options may follow');
refuses([], 'pmon.out: No such file or directory', 'no pmon.out');
rename 'a', 'pmon.out' or die;
prints([], qr/one/, 'pmon.out');
is(prints(['-o', 'report', '--executed'], qr/^$/, '-o'), '',
    'prints nothing');
like(slurp('report'), qr/one/, 'but to the file');
refuses(['--merge=/dev/full'], '/dev/full: No space left on device',
    'a full disk');
refuses(['-o', '/dev/full'], '/dev/full: No space left on device',
    'a full disk for the report');
my $piped = qx('$pmprint' --merge=/dev/stdout | '$pmprint' /dev/stdin);
like($piped, qr/one/, 'through a pipe');
spew('text', "hello\n");
refuses(['text'], 'text: not a data file of pmon', 'a text');
# These have no end: only their beginning is read.
refuses(['/dev/zero'], '/dev/zero: not a data file of pmon', 'a device');
refuses(['--diff', '/dev/zero', 'pmon.out'],
    '/dev/zero: not a data file of pmon', 'a device to compare with');
like(pmprint('--report=novel')->{err},
    qr/^pmprint: --report: unknown report "novel"; choose from summary, listing,/,
    'an unknown report');
refuses(['--report=funcs'], '/bin/nothing: No such file or directory',
    'a report that needs the program');
refuses(['--parts'], '--parts needs --report', 'parts of nothing');
refuses(['--parts', '--runs', '-r', 'funcs'],
    '--parts can be used only with --report', 'parts and more');
refuses(['--parts', '-r', 'funcs:x'],
    '--parts: several reports cannot go to x', 'parts into one file');
refuses(['--bogus'], 'unknown option --bogus; try pmprint -h',
    'an unknown option');
refuses(['--merge='], '--merge: the file name is empty', 'no name');
like(pmprint('-V')->{out}, qr/^pmprint \d+\.\d+\nbuilt with libelf /, '-V');
like(pmprint('-h')->{out}, qr/^usage: pmprint/, '-h');

# A program built anew since is not looked at.
my $source = spew("$scratch/small.c", "int main(void) { return 0; }\n");
my @ids = map { $_ x 20 } qw(a1 b2);
sub
build_with
{
	my ($id) = @_;

	system($cc, '-o', "$scratch/small", "-Wl,--build-id=0x$id",
	    $source) == 0 or die;
}
build_with($ids[0]);
my $small = data_file('small.out', id => 3, object => "$scratch/small",
    build_id => $ids[0], funcs => [[0x1000, 'main', 1, 1]]);
unlike(prints([$small], qr/main/, 'the same program'), qr/^Note: \//m,
    'nothing to note');
build_with($ids[1]);
my $built = join '\s+', split / /,
    "rebuilt since the run: its build-id is $ids[1], not $ids[0]";
prints([$small], qr/$built/, 'a program built anew');

# What a hostile file says of its program leads to no file that the user has not
# named.  Each of these would be the right build.
sub
build_at
{
	my ($id, $path) = @_;

	build_with($id);
	make_path($path =~ s{/[^/]*$}{}r);
	rename "$scratch/small", $path or die;
}
sub
not_found
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($what, $id, $object, $names) = @_;
	my $file = data_file('hostile.out', id => 4, object => $object,
	    build_id => $id, funcs => [[0x1000, 'main', 1, 1]]);
	my $run = pmprint("--program-path=$scratch/trees", "--program-path=" .
	    "$scratch/old=$scratch/trees/new", '-r', 'funcs', $file);

	is($run->{status} . $run->{out}, 125, "$what: status 125");
	like($run->{err}, qr/^pmprint: [^\n]*$names\n\z/, $what);
	unlike($run->{err}, qr/[^\n -~]/, "$what: text only");
}
make_path("$scratch/trees/new");
my $looked = "; looked for [^;]*build-id $ids[0] in \Q$scratch\E/trees, " .
    '/usr/lib/debug';
build_at('a1', "$scratch/trees/.build-id/a1/.debug");
build_at('a1', "$scratch/trees/.build-id/a1.debug");
not_found('a build-id of one byte', 'a1', '/none/x',
    "/none/x: No such file or directory; looked for \Q$scratch\E/trees/x");
build_at($ids[0], "$scratch/trees/above");
build_at($ids[0], "$scratch/above");
for (['upwards', "$scratch/old/../above"],
    ['upwards at the end', "$scratch/old/x/.."], ['only upwards', '..'],
    ['no name', '/none/'], ['a point', '/none/.'], ['nothing', ''],
    ['escapes', "/none/\e[31m\n\r\x{9b}x"], ['long', '/x' x 2000],
    ['a long name', '/' . 'x' x 5000]) {
	not_found($_->[0], $ids[0], $_->[1], length $_->[1] > 1000 ? '' :
	    $looked);
}
is_deeply([sort map { s{.*/}{}r } glob "$scratch/trees/*"], [qw(above new)],
    'nothing was made');
# A build-id of any other length will do.
for my $id ('a1b2', 'c3' x 19, 'd4' x 64) {
	build_at($id, "$scratch/trees/.build-id/" . substr($id, 0, 2) . '/' .
	    substr $id, 2);
	my $file = data_file('any.out', id => 5, object => '/none/any',
	    build_id => $id, funcs => [[0x1000, 'main', 1, 1]]);
	unlike(prints(["--program-path=$scratch/trees", $file], qr/main/,
		length($id) / 2 . ' bytes'), qr/^Note: \//m, 'is found');
}

done_testing;
