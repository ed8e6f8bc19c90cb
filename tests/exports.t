# What is written for other tools, read by these, and compared with what other
# tools count.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Copy qw(copy);
use JSON::PP qw(decode_json);
use List::Util qw(sum0);
use Test::More;
use Pmon;
use Sources;

my $dir = "$scratch/exports";
mkdir $dir or die;
my $source = abs_path('tests/prog/exports.c');
my $rounds = 100;

# Run the program; what was written as FORMAT, by the name of the format.
sub
exported
{
	my ($argv, $formats, @options) = @_;
	my $run = run([$pmon, @options, '--report=' .
		join(',', map { "$_:$dir/$_" } @$formats), '--', @$argv]);

	is(ended($run), 'status 0', "@$formats: it ends") or diag($run->{err});
	return map { slurp("$dir/$_") } @$formats;
}

# What a reader says of files in the directory.
sub
reader
{
	my ($what, @argv) = @_;
	my $run = run([@argv], dir => $dir);

	is(ended($run), 'status 0', "$what reads it") or
	    diag("@argv: $run->{out}$run->{err}");
	return $run->{out} . $run->{err};
}

# The program's counts by gcov, of its own instrumentation: functions, lines,
# and per line the counts of its branches, sorted.
sub
gcov
{
	my ($file) = @_;
	my %count = (funcs => {}, lines => {}, branches => {});

	system($cc, '-O0', '-g', '--coverage', '-o', "$dir/covered",
	    $file) == 0 or die;
	for (glob '*.gcno') {
		rename $_, "$dir/$_" or die;
	}
	run(["$dir/covered", $rounds], dir => $dir,
	    env => { GCOV_PREFIX => $dir, GCOV_PREFIX_STRIP => 99 });
	my ($notes) = glob "$dir/*.gcno";
	my $run = run(['gcov', '-b', '-t', '--json-format', $notes],
	    dir => $dir);
	for my $this (@{decode_json($run->{out})->{files}}) {
		$count{funcs}{$_->{name}} = $_->{execution_count}
		    for @{$this->{functions}};
		for (@{$this->{lines}}) {
			my $line = $_->{line_number};

			$count{lines}{$line} = $_->{count};
			$count{branches}{$line} = join ' ',
			    sort { $a <=> $b } map { $_->{count} }
			    @{$_->{branches}} if @{$_->{branches}};
		}
	}
	return \%count;
}

# Lines that have both counts: how many, and those that differ.
sub
lines_agree
{
	my ($got, $gcov, $what) = @_;
	my @both = grep { exists $got->{$_} } sort keys %$gcov;

	is_deeply({ map { $_ => $got->{$_} } @both },
	    { map { $_ => $gcov->{$_} } @both }, "$what: gcov's lines");
	cmp_ok(scalar @both, '>', 30, "$what: and there are some");
}

# The numbers of the source's lines that match.
sub
lines_with
{
	my ($pattern) = @_;
	my @text = split /\n/, slurp($source);

	return grep { $text[$_ - 1] =~ $pattern } 1 .. @text;
}

my $program = compile('exports.c', '-O0');
my $gcov = gcov($source);

# ---- lcov

# A tracefile: source file => { funcs, lines, branches }.
sub
tracefile
{
	my ($text) = @_;
	my (%files, $file);

	for (split /\n/, $text) {
		$file = $files{$1} = {} if /^SF:(.*)/;
		# The second is what lcov 2 writes.
		$file->{funcs}{$2} = $1 if /^FNDA:(\d+),(.*)/ ||
		    /^FNA:\d+,(\d+),(.*)/;
		$file->{starts}{$2} = $1 if /^FN:(\d+),(.*)/;
		$file->{lines}{$1} = $2 if /^DA:(\d+),(\d+)/;
		push @{$file->{ways}{$1}}, $2 if /^BRDA:(\d+),\d+,\d+,(.*)/;
	}
	for my $this (values %files) {
		my $ways = $this->{ways} // {};

		$this->{branches}{$_} = join ' ', sort { $a <=> $b }
		    map { $_ eq '-' ? 0 : $_ } @{$ways->{$_}}
		    for keys %$ways;
	}
	return \%files;
}

my ($info, $json) = exported([$program, $rounds], ['lcov', 'json']);
my $files = tracefile($info);
my $own = $files->{$source} // {};
is(join(' ', keys %$files), $source, 'lcov: one source file, by its path');
is_deeply($own->{funcs}, $gcov->{funcs}, "lcov: gcov's functions");
lines_agree($own->{lines}, $gcov->{lines}, 'lcov');
my @excluded = grep { !exists $own->{lines}{$_} } sort { $a <=> $b }
    keys %{$gcov->{lines}};
my @marked = lines_with(qr/EXCL_LINE|23456789|^\t\tabort\(\);$/);
is("@excluded", "@marked", 'lcov: no lines are missing but those excluded');
my ($br_line) = lines_with(qr/EXCL_BR_LINE/);
delete $gcov->{branches}{$_} for @excluded, $br_line;
# Before it jumps by a table the code asks whether it is the default.
my ($switch) = lines_with(qr/switch \(/);
my ($default) = lines_with(qr/default:/);
$gcov->{branches}{$switch} = join ' ', sort { $a <=> $b }
    split(/ /, $gcov->{branches}{$switch}),
    $gcov->{funcs}{kind} - $gcov->{lines}{$default};
is_deeply($own->{branches}, $gcov->{branches}, "lcov: gcov's branches");

my $said = reader('genhtml', qw(genhtml --branch-coverage -o html lcov));
my $hit = grep { $_ } values %{$own->{lines}};
my $all = keys %{$own->{lines}};
like($said, qr/lines\.*: [\d.]+% \($hit of $all lines\)/,
    'genhtml has the lines');
like($said, qr/functions\.*: [\d.]+% \(5 of 6 functions\)/,
    'and the functions');
like($said, qr/branches\.*: [\d.]+%/, 'and branches');
# Lcov 2 regrets that it is not told where functions end, which lcov 1 could not
# read.
$said =~ s/^Message summary:\n\s+1 warning message:\n\s+unsupported: 1\n//m;
$said =~ s/^genhtml: WARNING: \(unsupported\) Function begin\/end line .*\n//m;
$said =~ s/^\s+\(use "genhtml --ignore-errors unsupported.*\n//m;
unlike($said, qr/WARN|ERROR/i, 'and no complaint');
like(reader('lcov', qw(lcov --rc lcov_branch_coverage=1 -a lcov -a lcov -o
	twice)), qr/Writing data to twice/, 'lcov adds it to itself');
is((tracefile(slurp("$dir/twice"))->{$source} // {})->{funcs}{twice},
    2 * $own->{funcs}{twice}, 'which is twice as much');

# A path that was built elsewhere.
mkdir "$dir/moved" or die;
copy($source, "$dir/moved/exports.c") or die;
my $from = $source =~ s{/[^/]*$}{}r;
($info) = exported([$program, 5], ['lcov'], "--source-path=$from=$dir/moved");
is(join(' ', keys %{tracefile($info)}), "$dir/moved/exports.c",
    'lcov: --source-path names the file');

# Names that have a comma, and calls of a function that is only inlined.
($info) = exported([compile('names.cc', '-O1')], ['lcov']);
my ($names) = grep { /names\.cc$/ } keys %{tracefile($info)};
is_deeply({ map { s/ //gr => tracefile($info)->{$names}{funcs}{$_} }
    keys %{tracefile($info)->{$names}{funcs}} },
    { 'add<int;longint>' => 5, main => 1 }, 'lcov: a name without a comma');
reader('genhtml', qw(genhtml -o html2 lcov));

# ---- JSON

my $all_of = decode_json($json);
my ($file) = grep { $_->{path} eq $source } @{$all_of->{files}};
my %lines = map { $_->{line} => $_->{count} } @{$file->{lines}};
my %funcs = map { $_->{linkage} => $_ }
    grep { defined $_->{linkage} } @{$all_of->{functions}};
is("$all_of->{format} $all_of->{version}", 'pmon 1', 'json: what it is');
is($all_of->{objects}[0]{path}, abs_path($program), 'json: the object');
lines_agree(\%lines, $gcov->{lines}, 'json');
is_deeply({ map { $_ => $funcs{$_}{calls} } keys %{$gcov->{funcs}} },
    $gcov->{funcs}, "json: gcov's functions");
my %called;
for my $func (values %funcs) {
	my %sum;

	# What comes to a block over edges is how often it was entered.
	$sum{$_->{to}} += $_->{count}
	    for grep { exists $_->{to} } @{$func->{edges}};
	is_deeply([map { $sum{$_} // 0 } 0 .. $#{$func->{blocks}}],
	    [map { $_->{count} } @{$func->{blocks}}],
	    "json: edges into the blocks of $func->{linkage}")
	    if $gcov->{funcs}{$func->{linkage}};
	$called{$_->{name}} += $_->{count} for @{$func->{calls_made}};
}
is_deeply({ map { $_ => $called{$_} } qw(fact twice kind unlucky) },
    { map { $_ => $gcov->{funcs}{$_} } qw(fact twice kind unlucky) },
    'json: who calls a function, all together');

# ---- Cobertura

my ($xml) = exported([$program, $rounds], ['cobertura']);
my $dtd = abs_path('tests/formats/coverage-04.dtd');
unlike(reader('xmllint', qw(xmllint --nonet --noout --dtdvalid), $dtd,
    'cobertura'), qr/does not validate|validity/, 'and finds it valid');
my ($class) = $xml =~ m{</methods>(.*?)</class>}s;
my %hits = $class =~ /<line number="(\d+)" hits="(\d+)"/g;
is_deeply(\%hits, $own->{lines}, 'cobertura: the lines of lcov');
my %ways = $class =~ /<line number="(\d+)"[^>]* \(\d+\/(\d+)\)"/g;
is_deeply(\%ways, { map { $_ => scalar split / /, $own->{branches}{$_} }
    keys %{$own->{branches}} }, 'cobertura: the branches of lcov');
like($xml, qr/<source>\Q$from\E<.*filename="exports.c"/s,
    'cobertura: where the file is');
is(join(' ', sort $xml =~ /<method name="(\w+)"/g),
    join(' ', sort keys %{$gcov->{funcs}}), "cobertura: gcov's functions");

# ---- what gcov writes as JSON

# geninfo takes it as the answer of a gcov that it runs.
exported([$program, $rounds], ['gcov-json']);
spew("$dir/gcov", <<"END", 0755);
#!/bin/sh
case " \$* " in
*" --version "*|*" --help "*|*" -v "*|*" -h "*) exec gcov "\$@" ;;
esac
cp $dir/gcov-json covered.gcov.json.gz
END
reader('geninfo', qw(geninfo --rc lcov_branch_coverage=1 --gcov-tool),
    "$dir/gcov", '-o', "$dir/geninfo", $dir);
my $read = (tracefile(slurp("$dir/geninfo"))->{$source}) // {};
is_deeply($read->{$_}, $own->{$_}, "geninfo reads the same $_")
    for qw(lines funcs);
is_deeply($read->{branches}, $own->{branches}, 'and branches');
SKIP: {
	# gcovr before 8, as of older releases, does not read gcov's JSON.
	my $package = package_fetch('gcovr', 'forky') or
	    skip $Sources::reason, 5;
	local $ENV{PYTHONPATH} = "$package/usr/lib/python3/dist-packages";

	mkdir "$dir/gcovr";
	copy("$dir/gcov-json", "$dir/gcovr/exports.gcov.json.gz") or die;
	$said = reader('gcovr', qw(/usr/bin/python3 -m gcovr -g -k --txt -),
	    '-r', $from, "$dir/gcovr");
	like($said, qr/^exports\.c +$all +$hit /m, 'gcovr has the lines');
	reader('gcovr', qw(/usr/bin/python3 -m gcovr -g -k --lcov),
	    "$dir/gcovr.info", '-r', $from, "$dir/gcovr");
	($read) = values %{tracefile(slurp("$dir/gcovr.info"))};
	is_deeply($read->{$_}, $own->{$_}, "gcovr reads the same $_")
	    for qw(lines branches);
}

# ---- callgrind

# What a profile of callgrind's says: instructions by function, and calls of
# functions.
sub
profile
{
	my ($text) = @_;
	my (%name, %cost, %calls, $func, $callee);

	for (split /\n/, $text) {
		if (/^(c?)fn=\((\d+)\)(?: (.*))?/) {
			my ($called, $number, $text) = ($1, $2, $3);

			$name{$number} = $text =~ s/'\d+$//r if defined $text;
			$called ? ($callee = $name{$number}) :
			    ($func = $name{$number});
		} elsif (/^calls=(\d+)/) {
			$calls{$callee} += $1;
			$callee = undef;
		} elsif (/^(?:0x|\+|-|\*)\S* \S+ (\d+)$/) {
			$cost{$func} += $1;
		}
	}
	return (\%cost, \%calls);
}

# The same without the lines of inclusive costs.
sub
profile_of
{
	my ($text) = @_;

	my (undef, $calls) = profile($text);
	my ($cost) = profile($text =~ s/^(calls=.*)\n.*\n/$1\n/mgr);
	return ($cost, $calls);
}

my ($grind) = exported([$program, $rounds], ['callgrind']);
run(['valgrind', '--tool=callgrind', '--dump-instr=yes', '--skip-plt=no',
    "--callgrind-out-file=$dir/valgrind", $program, $rounds]);
my ($cost, $calls) = profile_of($grind);
my ($his_cost, $his_calls) = profile_of(slurp("$dir/valgrind"));
my @names = qw(fact twice kind unlucky main);
is_deeply({ map { $_ => $cost->{$_} } @names },
    { map { $_ => $his_cost->{$_} } @names },
    "callgrind: callgrind's instructions");
is_deeply({ map { $_ => $calls->{$_} } @names[0 .. 3] },
    { map { $_ => $his_calls->{$_} } @names[0 .. 3] },
    "callgrind: callgrind's calls");
$said = reader('callgrind_annotate', qw(callgrind_annotate --auto=yes
	--show-percs=no callgrind));
my $commas = $cost->{kind} =~ s/(?<=\d)(?=(\d{3})+$)/,/gr;
like($said, qr/^ *\Q$commas\E +\S*exports\.c:kind /m,
    'callgrind_annotate has the functions');
like($said, qr/^ *[\d,]+\s+switch \(/m, 'and the source');
unlike($said, qr/WARN|error|malformed/i, 'and no complaint');
like($grind, qr/^jcnd=\d+\/\d+ 0x\w+ \d+\n0x\w+ \d+$/m,
    'callgrind: conditional jumps');

# ---- BOLT

sub
missing
{
	my ($tool) = @_;

	return !grep { -x "$_/$tool" } split /:/, $ENV{PATH};
}

my $relocs = compile('exports.c', '-O0', '-Wl,--emit-relocs');
my $fast = compile('exports.c', '-O2', '-Wl,--emit-relocs');
my $output = run([$fast, $rounds])->{out};

my ($fdata) = exported([$relocs, $rounds], ['bolt']);
my %entered;
$entered{$1} += $2 while $fdata =~
    m{^.* [12] (\w+)(?:/1)? 0 0 (\d+)$}mg;
is_deeply({ map { $_ => $entered{$_} } qw(fact twice kind unlucky main) },
    { map { $_ => $gcov->{funcs}{$_} } qw(fact twice kind unlucky main) },
    "bolt: gcov's calls");
SKIP: {
	skip 'no llvm-bolt-19 here', 6 if missing('llvm-bolt-19');
	for ($relocs, $fast) {
		exported([$_, $rounds], ['bolt']);
		$said = reader('llvm-bolt', 'llvm-bolt-19', $_, '-o', 'bolted',
		    qw(-data=bolt -v=2 -reorder-blocks=ext-tsp
		    -reorder-functions=hfsort -split-functions));
		unlike($said, qr/possibly stale|match only|[1-9]\d* stale|
		    [1-9]\d*\ callsites\ with\ invalid/x,
		    'llvm-bolt finds nothing stale');
		my ($n) = $said =~ /(\d+) out of \d+ functions in the binary/;
		cmp_ok($n // 0, '>', 6, 'and that functions have profiles');
		is(run(["$dir/bolted", $rounds])->{out}, $output,
		    'what it makes does the same');
	}
}

# ---- LLVM's sample profiles

my ($samples) = exported([$program, $rounds], ['autofdo']);
my (%sampled, $func);
for (split /\n/, $samples) {
	$func = $1, $sampled{$1}{head} = $2 if /^(\w+):\d+:(\d+)$/;
	$sampled{$func}{$1} = $2 if /^ (\d+): (\d+)/;
}
# Lines that have no loop in them, at which all instructions run equally often
# or the first the most.
for my $name (qw(fact twice kind unlucky)) {
	my $start = $own->{starts}{$name};
	my %expected = (head => $gcov->{funcs}{$name});

	for (keys %{$sampled{$name}}) {
		next if /head/ || !exists $gcov->{lines}{$start + $_};
		$expected{$_} = $gcov->{lines}{$start + $_};
	}
	is_deeply({ map { $_ => $sampled{$name}{$_} } keys %expected },
	    \%expected, "autofdo: gcov's lines of $name");
	cmp_ok(scalar keys %expected, '>', 1, 'and there are some');
}
SKIP: {
	skip 'no clang-19 here', 6 if missing('clang-19');
	exported([$fast, $rounds], ['autofdo']);
	like(reader('llvm-profdata', qw(llvm-profdata-19 show --sample
	    autofdo)), qr/^Function: main: \d+, 1, /m,
	    'llvm-profdata has main');
	reader('clang', qw(clang-19 -O2 -g -fprofile-sample-use=autofdo -o),
	    'guided', $source);
	is(run(["$dir/guided", $rounds])->{out}, $output,
	    'what clang makes with it does the same');

	# Lines far from a function's beginning, and before it.
	system('clang-19', '-O0', '-g', '-o', "$dir/far", spew("$dir/far.c",
	    <<'END')) == 0 or die;
#line 1000 "far.c"
int main(int argc, char **argv)
{
#line 100000
	volatile int i = argc;
#line 990
	for (; i < 10;)
		i++;
	return 0;
}
END
	exported(["$dir/far"], ['autofdo']);
	my %counts = reader('llvm-profdata', qw(llvm-profdata-19 show --sample
	    autofdo)) =~ /^ +(\d+): (\d+)$/mg;
	is_deeply({ map { $_ => $counts{$_} } 99000 % 65536, 65536 - 10,
	    65536 - 9 }, { 99000 % 65536, 1, 65536 - 10, 10, 65536 - 9, 9 },
	    'lines far from a beginning, and before it');
}

# ---- pprof

# Instructions by function, innermost where it is inlined, of what protoc
# shows of a profile.
sub
pprof
{
	my ($text) = @_;
	my @strings = $text =~ /^string_table: "(.*)"$/mg;
	my (%name, %func, %sum);

	for ($text =~ /^function \{\n(.*?)^\}/msg) {
		my ($id, $name) = /^  id: (\d+)\n  name: (\d+)/;
		$name{$id} = $strings[$name];
	}
	for ($text =~ /^location \{\n(.*?)^\}/msg) {
		my ($id) = /^  id: (\d+)/;
		($func{$id}) = /function_id: (\d+)/;
	}
	for ($text =~ /^sample \{\n(.*?)^\}/msg) {
		my ($id, undef, $insns) = /: (\d+)/g;
		$sum{$name{$func{$id}}} += $insns;
	}
	return \%sum;
}

exported([$program, $rounds], ['pprof']);
SKIP: {
	skip 'no protoc here', 1 if missing('protoc');
	rename "$dir/pprof", "$dir/pprof.gz" or die;
	system('gzip', '-d', "$dir/pprof.gz") == 0 or die;
	my $schema = abs_path('report/export');
	my $decoded = run(['protoc', '--decode=pprof.Profile', "-I$schema",
		'pprof.proto'], in_file => "$dir/pprof");
	is(ended($decoded), 'status 0', 'protoc reads it');
	my $sums = pprof($decoded->{out});
	is_deeply({ map { $_ => $sums->{$_} } @names },
	    { map { $_ => $his_cost->{$_} } @names },
	    "pprof: callgrind's instructions");
}

# ---- drcov

# Read as its writer's documentation says: blocks that ran, by their addresses
# and sizes; and the other way round from the report of blocks.
my ($drcov, $json_blocks) = exported([$program, $rounds], ['drcov', 'json']);
my ($head, $packed) = $drcov =~ /^(.*?\nBB Table: \d+ bbs\n)(.*)$/s;
my %segments = map { /^ *(\d+), *\d+, (0x\w+),/ ? ($1 => hex $2) : () }
    split /\n/, $head;
my %ran;
like($head, qr/^DRCOV\ VERSION:\ 3\nDRCOV\ FLAVOR:\ drcov-64\n
    Module\ Table:\ version\ 5,\ count\ \d+\nColumns:\ id,/x,
    'drcov: how it begins');
for (unpack '(a8)*', $packed) {
	my ($start, $size, $module) = unpack 'VvV', "$_\0\0";

	$ran{sprintf '0x%x', $segments{$module} + $start} = $size;
}
my ($bbs) = $head =~ /BB Table: (\d+) bbs/;
is(8 * $bbs, length $packed, 'drcov: so many blocks as it says');
is_deeply(\%ran, { map { $_->{addr} => $_->{size} }
    grep { $_->{count} && !$_->{padding} } map { @{$_->{blocks} // []} }
    @{decode_json($json_blocks)->{functions}} },
    'drcov: the blocks that ran');

# ---- folded stacks

my ($stacks) = exported([$program, $rounds], ['folded']);
my %stack = map { /^(.*) (\d+)$/ ? ($1 => $2) : () } split /\n/, $stacks;
is($stack{"main;$_"}, $his_cost->{$_}, "folded: main alone calls $_")
    for qw(twice kind unlucky);
is($stack{'[several callers];fact'}, $his_cost->{fact},
    'folded: fact is called by itself, too');
ok(!(grep { !/^\S.* \d+$/ } split /\n/, $stacks), 'folded: as it should be');

# ---- CSV

my ($csv, $json_csv) = exported([$program, $rounds], ['csv', 'json']);
my %rows;
$rows{$1}{$2 // ''}{$3 // ''} = $4 while $csv =~
    /^(\w+),(?:"[^"]*")?,(?:"(\w+)")?,(?:0x\w+)?,
    (?:"[^"]*")?,(\d*),[^,]*,(\d+),\r$/mgx;
is_deeply($rows{line}{''}, { map { $_->{line} => $_->{count} }
    map { @{$_->{lines}} } @{decode_json($json_csv)->{files}} },
    'csv: the lines of JSON');
for (keys %{$gcov->{funcs}}) {
	is((values %{$rows{func}{$_} // {}})[0], $gcov->{funcs}{$_},
	    "csv: gcov's calls of $_");
}

# ---- paths below a project's directory

my $project = abs_path($dir) . '/project';
mkdir $_ or die for $project, "$project/src", "$project/.git", "$dir/other";
for (["$project/src/main.c", "int other(void);\nint main(void)\n" .
    "{ return other(); }\n"], ["$dir/other/other.c", "int other(void)\n" .
    "{ return 0; }\n"]) {
	open my $out, '>', $_->[0] or die;
	print $out $_->[1];
	close $out or die;
}
system($cc, '-g', '-O0', '-o', "$project/src/main", "$project/src/main.c",
    abs_path($dir) . '/other/other.c') == 0 or die;
my $outside = abs_path("$dir/other/other.c");
for my $root ('auto', '..', $project) {
	my $run = run([$pmon, "--source-root=$root",
	    '--report=lcov:a.info,cobertura:a.xml,gcov-json:a.gcov.json.gz',
	    './main'], dir => "$project/src");
	my $xml = slurp("$project/src/a.xml");

	is($run->{err}, '', "--source-root=$root");
	is_deeply([sort { $a cmp $b } slurp("$project/src/a.info") =~
	    /^SF:(.*)$/mg],
	    [$outside, 'src/main.c'], '... lcov');
	is_deeply([$xml =~ m{<source>(.*)</source>}g], [$project, '/'],
	    '... cobertura: the directories');
	is_deeply([sort $xml =~ / filename="(.*?)"/g],
	    [sort 'src/main.c', substr $outside, 1], '... and files');
	like(`gzip -dc $project/src/a.gcov.json.gz`, qr/"file": *"src\/main.c"/,
	    '... gcov-json');
}
{
	my $run = run([$pmon, '--source-root=/',
	    '--report=lcov:a.info,cobertura:a.xml', './main'],
	    dir => "$project/src");
	my $xml = slurp("$project/src/a.xml");
	my @below = sort map { substr $_, 1 } $outside, "$project/src/main.c";

	is($run->{err}, '', '--source-root=/');
	is_deeply([sort { $a cmp $b } slurp("$project/src/a.info") =~
	    /^SF:(.*)$/mg], \@below, '... lcov');
	is_deeply([$xml =~ m{<source>(.*)</source>}g], ['/'],
	    '... cobertura: the directory');
	is_deeply([sort $xml =~ / filename="(.*?)"/g], \@below, '... and files');
}
rmdir "$project/.git" or die;
for (['auto', 'no .git in the working directory or above'],
    ["$dir/nothing", "$dir/nothing: No such file or directory"]) {
	is(run([$pmon, "--source-root=$_->[0]", './main'],
	    dir => '/')->{err}, "pmon: --source-root: $_->[1]\n",
	    "--source-root=$_->[0] that is not there");
}
is(run([$pmon, '--report=gcov-json:a.json.gz', './main'],
    dir => "$project/src")->{err}, 'pmon: a.json.gz: gcovr reads only files ' .
    "whose names end in .gcov.json.gz\n", 'a name that gcovr does not read');

done_testing;
