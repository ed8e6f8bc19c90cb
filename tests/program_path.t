# --program-path: pmprint finds the program of a data file when it was rebuilt,
# moved or removed, and never takes another file for it.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use POSIX qw(mkfifo);
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
my $was = "$scratch/was";	# where the program and the library ran
my $dir = "$scratch/dir";	# for --program-path=DIR
my @kinds = qw(summary funcs files listing insns edges);
my @command = ($cc, '-g', '-O1', '-Wl,--build-id');

my $source = spew("$scratch/prog.c", <<'END');
#include <stdio.h>
int library(int);
__attribute__((noinline)) static int
work(int n)
{
	return n * BUILD + library(n);
}
int
main(void)
{
	for (int i = 0; i < 5; i++)
		printf("%d\n", work(i));
	return 0;
}
END
my $library_source = spew("$scratch/library.c", <<'END');
int
library(int n)
{
	return n < 3 ? n : -n;
}
END

# Build the library, and the program, which differs from that of another number.
sub
build_in
{
	my ($to, $number, @flags) = @_;

	make_path($to);
	system(@command, @flags, '-shared', '-fPIC', "-DBUILD=$number",
	    '-o', "$to/library.so", $library_source) == 0 or die;
	system(@command, @flags, "-DBUILD=$number", '-o', "$to/prog", $source,
	    '-Wl,-rpath,$ORIGIN', "$to/library.so") == 0 or die;
}

sub
count
{
	my ($data, @options) = @_;
	my $run = run([$pmon, '-q', '-d', $data, '-u', 'func,line,edge,insn',
		'--object=prog', '--object=library.so', @options, '--',
		"$was/prog"]);

	is(ended($run), 'status 0', "$data is made") or diag($run->{err});
	return $data;
}

sub
id_of
{
	my ($file) = @_;

	return qx(readelf -n $file 2>/dev/null) =~ /Build ID: (\w+)/ ? $1 : '';
}

# All reports, and what pmprint said.
sub
reports
{
	my ($data, @paths) = @_;
	my $run = run([$pmprint, (map { "--program-path=$_" } @paths),
		'-r', join(',', @kinds), $data]);

	return $run->{err} . "status $run->{status}\n$run->{out}";
}

# With these --program-path the reports are those made when all was in place.
sub
finds
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($what, $data, $expect, @paths) = @_;

	is(reports($data, @paths), $expect, $what);
}

# Only the program is looked for; this is said, and nothing else.
sub
fails
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($what, $data, $expect, @paths) = @_;
	my $run = run([$pmprint, (map { "--program-path=$_" } @paths),
		'--object=prog', '-r', 'funcs', $data]);

	is(ended($run) . $run->{out}, 'status 125', "$what: status 125");
	like($run->{err}, qr/\Apmprint: $expect\n\z/, $what);
}

sub
tree_path
{
	my ($root, $id, $ending) = @_;

	make_path("$root/.build-id/" . substr $id, 0, 2);
	return "$root/.build-id/" . substr($id, 0, 2) . '/' . substr($id, 2) .
	    ($ending // '');
}

sub
place
{
	my ($from, $to) = @_;

	copy($from, $to) or die "$to: $!";
	chmod 0755, $to;
}

build_in($was, 3);
my $data = count("$scratch/data");
my $id = id_of("$was/prog");
my $library_id = id_of("$was/library.so");
my $expect = reports($data);
like($expect, qr/\Astatus 0\n(?=.*^ +40 +5 .* work$)(?=.* library$)/ms,
    'reports of what is in place');
my $system = "build-id $id in /usr/lib/debug";

# ---- moved

rename $was, "$scratch/moved" or die;
fails('nothing is there', $data,
    "\Q$was/prog: No such file or directory; looked for $system");
finds('moved directory', $data, $expect, "$was=$scratch/moved");
finds('slashes at the ends', $data, $expect, "$was//=$scratch/moved/");
finds('a directory above', $data, $expect, "$scratch/none=/none",
    "$scratch=$scratch/none", "$was=$scratch/moved");
finds('single files', $data, $expect, "$was/prog=$scratch/moved/prog",
    "$was/library.so=$scratch/moved/library.so");
finds('a directory to look in', $data, $expect, "$scratch/none",
    "$scratch/moved");
fails('a part of a name', $data, "\Q$was/prog: No such file or directory; " .
    "looked for $system", substr($was, 0, -1) . "=$scratch/move");
fails('not there, either', $data, "\Q$was/prog: No such file or directory; " .
    "looked for $scratch/none/prog, $dir/prog, build-id $id in $dir, " .
    '/usr/lib/debug', "$was=$scratch/none", $dir);
like(reports($data, "$was/prog=$scratch/moved/prog"),
    qr/\A\Qpmprint: $was\E\/library\.so: No such file [^\n]*; left out\n/,
    'the library alone is left out');
my $run = run([$pmprint, "--program-path=$scratch/moved", $data]);
unlike($run->{out}, qr/^Note: /m, '--runs: nothing to note');
$run = run([$pmprint, $data]);
like($run->{out} =~ s/\s+/ /gr, qr/Note: \Q$was\E\/prog: .*looked for build/,
    '--runs: what is missing is noted');

# A name stays what it was in exports, too.
for my $kind (qw(json csv callgrind)) {
	$run = run([$pmprint, "-r$kind", "--program-path=$scratch/moved",
		$data]);
	like($run->{out}, qr/\Q$was\E\/prog/, "$kind names the program");
	unlike($run->{out}, qr/\Q$scratch\E\/moved/, '... as it was');
}

# ---- built anew

build_in($was, 4);
my $new_id = id_of("$was/prog");
my $rebuilt = "$was/prog: rebuilt since the run: its build-id is $new_id, " .
    "not $id";
fails('another build', $data, "\Q$rebuilt; looked for $system");
finds('the old build was kept', $data, $expect, "$scratch/moved");
finds('... and is found first', $data, $expect, "$was=$scratch/moved");
make_path($dir);
place("$was/prog", "$dir/prog");
fails('one more of the other build', $data, "\Q$rebuilt; $dir/prog: rebuilt " .
    "since the run: its build-id is $new_id, not $id; looked for $dir/prog, " .
    "build-id $id in $dir, /usr/lib/debug", $dir);
finds('the next directory has it', $data, $expect, $dir, "$scratch/moved");

# Runs of both builds: each is reported from its own.
my $later = count("$scratch/later");
for my $kind (qw(summary funcs listing callgrind json pprof),
    "html:$scratch/page") {
	$run = run([$pmprint, "-r$kind", "--program-path=$scratch/moved",
		$data, $later]);
	is(ended($run) . $run->{err}, 'status 0', "$kind of two builds");
}
$run = run([$pmprint, '-rfuncs', "--program-path=$scratch/moved", $data,
	$later]);
is(scalar(() = $run->{out} =~ /^ +5 .* work$/mg), 2, 'work is in both');
$run = run([$pmprint, '--diff', "-rhtml:$scratch/page",
	"--program-path=$scratch/moved", $data, $later]);
is(ended($run) . $run->{err}, 'status 0', 'two builds compared');

# ---- without a build-id: by contents

remove_tree($was, $dir);
build_in($was, 3, '-Wl,--build-id=none');
my $plain = count("$scratch/plain");
my $plain_expect = reports($plain);
rename $was, "$scratch/plain-moved" or die;
fails('no build-id, gone', $plain, "\Q$was/prog: No such file or directory");
finds('no build-id, moved', $plain, $plain_expect,
    "$was=$scratch/plain-moved");
finds('no build-id, in a directory', $plain, $plain_expect,
    "$scratch/plain-moved");
build_in($dir, 4, '-Wl,--build-id=none');
fails('no build-id, another build', $plain, "\Q$was/prog: No such file or " .
    "directory; $dir/prog: rebuilt since the run; looked for $dir/prog", $dir);
fails('one with a build-id', $plain, "\Q$scratch/moved/prog: rebuilt since " .
    "the run; $was/prog: No such file or directory; looked for " .
    "$scratch/moved/prog", "$was=$scratch/moved");

# ---- by build-id

for my $ending ('', '.debug') {
	remove_tree($dir);
	symlink "$scratch/moved/prog", tree_path($dir, $id, $ending) or die;
	place("$scratch/moved/library.so",
	    tree_path($dir, $library_id, $ending));
	finds("a tree of build-ids, names with '$ending'", $data, $expect,
	    $dir);
}

# A stripped program beside its debug file, as -dbg packages are unpacked.
remove_tree($dir);
for (['prog', $id], ['library.so', $library_id]) {
	my ($name, $of) = @$_;
	my @to = (tree_path($dir, $of), tree_path($dir, $of, '.debug'));

	system('strip', '-o', $to[0], "$scratch/moved/$name") == 0 or die;
	system('objcopy', '--only-keep-debug', "$scratch/moved/$name",
	    $to[1]) == 0 or die;
}
finds('stripped, with debug files', $data, $expect, $dir);
my $debug = tree_path($dir, $id, '.debug');
rename tree_path($dir, $id), "$dir/stripped" or die;

# A debug file lacks the code.
my $first = "$was/prog: No such file or directory; ";
my $last = "; looked for $dir/prog, build-id $id in $dir, /usr/lib/debug";
my $no_code = 'has no code (a separate debug file?)';
fails('a debug file only', $data, "\Q$first$debug: $no_code$last", $dir);
my $bytes = slurp($debug);
my $whole = slurp("$scratch/moved/prog");
my $headers = 56 * unpack 'x56 v', $whole;
substr $bytes, 64, $headers, substr $whole, 64, $headers;
spew($debug, $bytes . "\0" x length $whole);
fails('... as eu-strip makes them', $data, "\Q$first$debug: $no_code$last",
    $dir);

# Stripped ones are good for what needs no symbols.
unlink $debug;
rename "$dir/stripped", tree_path($dir, $id) or die;
$run = run([$pmprint, '-q', '--object=prog', "--program-path=$dir",
	'-rsummary', $data]);
is(ended($run) . $run->{err}, 'status 0', 'stripped, without debug files');

# A debug file beside a moved program.
make_path("$scratch/linked");
system("cd $scratch/linked && objcopy --only-keep-debug ../moved/prog " .
    'prog.dbg && strip -o prog ../moved/prog && ' .
    'objcopy --add-gnu-debuglink=prog.dbg prog') == 0 or die;
copy("$scratch/moved/library.so", "$scratch/linked/library.so") or die;
finds('a debug link', $data, $expect, "$was=$scratch/linked");

# From a server of debuginfod, whose protocol may be that of files.
SKIP: {
	skip 'no libdebuginfod here', 3
	    unless qx(PATH=\$PATH:/sbin ldconfig -p) =~ /\blibdebuginfod\.so\.1\b/;
	my $server = abs_path($scratch) . '/server';

	for (['prog', $id], ['library.so', $library_id]) {
		my ($name, $of) = @$_;
		my $at = "$server/buildid/$of";

		make_path($at);
		system('strip', '-o', "$at/executable", "$scratch/moved/$name")
		    == 0 or die;
		system('objcopy', '--only-keep-debug', "$scratch/moved/$name",
		    "$at/debuginfo") == 0 or die;
	}
	make_path("$scratch/cache");
	local $ENV{DEBUGINFOD_CACHE_PATH} = abs_path("$scratch/cache");
	local $ENV{DEBUGINFOD_URLS} = '';
	fails('no server is named', $data,
	    "\Q$was/prog: No such file or directory; looked for $system");
	$ENV{DEBUGINFOD_URLS} = "file://$server/none";
	fails('a server that does not have it', $data,
	    "\Q$was/prog: No such file or directory; looked for $system, " .
	    'debuginfod');
	remove_tree("$scratch/cache");
	make_path("$scratch/cache");
	$ENV{DEBUGINFOD_URLS} = "file://$server";
	finds('a server that has it', $data, $expect);
}

# The system's own directory has executables, too.
SKIP: {
	my @own = ('unshare', $> ? '-rm' : '-m', 'sh', '-c');
	my $mount = "mount --bind $dir /usr/lib/debug";

	copy("$scratch/moved/prog", tree_path($dir, $id)) or die;
	copy("$scratch/moved/library.so", tree_path($dir, $library_id)) or die;
	skip 'nothing may be mounted', 1 if run([@own, $mount])->{status};
	$run = run([@own, "$mount && exec \"\$@\"", 'sh', $pmprint, '-r',
		join(',', @kinds), $data]);
	is("$run->{err}status $run->{status}\n$run->{out}", $expect,
	    'executables in /usr/lib/debug');
}

# ---- files that are no programs

remove_tree($dir);
make_path($dir);
my @bad = (
	['truncated', sub { spew($_[0], substr $whole, 0, 3000) },
	    qr/truncated: its section headers are [^;]*/],
	['its beginning', sub { spew($_[0], substr $whole, 0, 20) },
	    qr/truncated: its ELF header is [^;]*/],
	['empty', sub { spew($_[0], '') }, qr/empty file/],
	['a text', sub { spew($_[0], "hello\n") }, qr/not an ELF file/],
	['another machine', sub { spew($_[0], substr($whole, 0, 18) . "\3\0" .
		substr $whole, 20) }, qr/pmon does not support its CPU[^;]*/],
	['a FIFO', sub { mkfifo($_[0], 0644) or die }, qr/not a regular file/],
	['a directory', sub { make_path($_[0]) }, qr/not a regular file/],
	['a device', sub { symlink '/dev/zero', $_[0] or die },
	    qr/not a regular file/],
);
for (@bad) {
	my ($what, $make, $said) = @$_;

	for my $path ("$dir/prog", tree_path($dir, $id)) {
		$make->($path);
		fails($what, $data, qr/\Q$first$path\E: $said\Q$last\E/, $dir);
		finds("$what: the next one is used", $data, $expect, $dir,
		    "$scratch/moved");
		remove_tree($path);
	}
}
for (['itself', sub { symlink $_[0], $_[0] or die }],
    ['nothing', sub { symlink "$scratch/none", $_[0] or die }]) {
	my ($what, $make) = @$_;

	$make->("$dir/prog");
	fails("a link to $what", $data, "\Q" . ($first =~ s/; \z//r) . $last,
	    $dir);
	unlink "$dir/prog";
}

# The file is damaged, but its build-id is right.
my ($section) = qx(readelf -SW $scratch/moved/prog) =~
    /\.debug_info +\S+ +\S+ +(\S+)/;
my $damaged = $whole;
substr $damaged, hex($section) + 20, 40, "\xff" x 40;
spew("$dir/prog", $damaged);
$run = run([$pmprint, '--object=prog', "--program-path=$dir", '-rfuncs,lines',
	$data]);
is(ended($run), 'status 0', 'damaged DWARF: the rest is shown');

# ---- wrong options

for ('', '=', '=x') {
	$run = run([$pmprint, "--program-path=$_", $data]);
	is(ended($run) . $run->{err}, 'status 125pmprint: --program-path: ' .
	    "\"$_\" is neither OLD=NEW nor a directory\n", "'$_' is refused");
}

done_testing;
