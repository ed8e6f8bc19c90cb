# Names of functions and of source files that begin with any byte there is, as
# a hostile program may have them.  No report lets them end a line, be a field
# of their own, be a formula, or tell a terminal something; and what others
# read of the reports has each function, whose name says how often it is
# called.
use strict;
use warnings;
use lib 'tests/lib';
use JSON::PP qw(decode_json);
use Test::More;
use PageData;
use Pmon;

my $dir = "$scratch/names";
mkdir $dir or die;
my %expected = map { sprintf('%03d', $_) => $_ } 1 .. 255;

# A function a byte, in a file of its own and with an inlined one in it.  In
# names Q is put where the byte goes.
sub
program
{
	my $c = "volatile int n;\n";

	for (sort keys %expected) {
		$c .= <<"END";
#line 1 "/q/Q${_}s"
static inline __attribute__((always_inline)) void Q${_}i(void) { n++; }
#line 2
void Q${_}f(void) { Q${_}i(); }
END
	}
	$c .= qq(#line 1 "/q/main"\nint main(void) {\n);
	$c .= "for (int i = 0; i < $expected{$_}; i++) Q${_}f();\n"
	    for sort keys %expected;
	# Its build-id ends like a name.
	my $elf = slurp(compile(spew("$dir/named.c", "$c}\n"), '-O0',
		'-Wl,--build-id=0x' . '00123f' x 6));
	# No file's name has a slash.
	$elf =~ s{Q(\d{3})([fis])}{
		($1 == 47 && $2 eq 's' ? 'Q' : chr $1) . "$1$2"}ge;
	return spew("$dir/named", $elf, 0755);
}

# What a run says, but that gcovr would not read a file of that name.
sub
said
{
	my ($run) = @_;

	return $run->{err} =~
	    s/^\S+: \S+\/gcov-json: gcovr reads only files .*\n//r;
}

my $program = program();
my @text = qw(summary listing hist uncovered funcs inlines files lines insns
    blocks edges cfg calls placement sites);
my @exports = qw(lcov cobertura gcov-json callgrind bolt autofdo pprof drcov
    folded json csv);
my $run = run([$pmon, '-d', "$dir/data", '--no-config',
	'--units=func,line,inline,block,edge,insn,call',
	"--report=html:$dir/html," .
	join(',', map { "$_:$dir/$_" } @text, @exports), '--', $program]);
is(ended($run) . said($run), 'status 0', 'a program with odd names');

# Nothing but printed characters of UTF-8 and ends of lines: no C0, no C1, no
# ends of lines that only some readers know, nothing that turns the direction
# of writing.
sub
harmless
{
	my ($text, $what, $end) = @_;
	my %bad;

	ok(utf8::decode($text), "$what: is UTF-8");
	$text =~ s/$end//g if $end;
	for my $class (qr/[\x00-\x09\x0b-\x1f\x7f-\x9f\x{fffe}\x{ffff}]/,
	    qr/[\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]/) {
		$bad{sprintf 'U+%04X', ord $1} = 1 while $text =~ /($class)/g;
	}
	is(join(' ', sort keys %bad), '', "$what: does nothing to a terminal");
}

harmless(slurp("$dir/$_"), $_)
    for @text[0 .. 10], @text[12 .. 14], qw(lcov cobertura callgrind bolt
    autofdo folded);
harmless(slurp("$dir/cfg"), 'cfg', qr/\t/);
# JSON has it as it is, and terminals ignore it.
harmless(slurp("$dir/json"), 'json', qr/\x7f/);
harmless(slurp("$dir/csv"), 'csv', qr/\r\n/);
harmless(slurp("$dir/drcov") =~ s/\nBB Table.*/\n/sr, 'drcov');
harmless(join("\n", map { page_data($_) } glob "$dir/html/data/*.js"), 'html');

# Of pairs of a name and a count: the counts by number.
sub
counts_by_name
{
	my ($what, @pairs) = @_;
	my %counts;

	while (my ($name, $count) = splice @pairs, 0, 2) {
		$counts{$1} += $count if $name =~ /(\d{3})f/;
	}
	is_deeply(\%counts, \%expected, "$what: all functions' calls");
}

sub
missing
{
	my ($tool) = @_;

	return !grep { -x "$_/$tool" } split /:/, $ENV{PATH};
}

# ---- lcov

my $info = slurp("$dir/lcov");
counts_by_name('lcov', map { /^FNDA:(\d+),(.+)/ ? ($2, $1) : () }
    split /\n/, $info);
is(scalar(() = $info =~ /^SF:.+$/mg), 256, 'lcov: a record for each file');
is(scalar(() = $info =~ /^end_of_record$/mg), 256, 'and an end');
unlike($info, qr/^(?!TN:$|SF:|FN:|FNDA:|FN[FH]:|BR|DA:\d+,\d+$|L[FH]:|end_)/m,
    'lcov: and no line of another kind');
# LCOV 2 reads no sources that are not there, but makes some up if it is asked to.
my @missing = qx(genhtml --help) =~ /(--synthesize-missing)/;
$run = run([qw(genhtml --ignore-errors source -q -o genhtml), @missing, 'lcov'],
    dir => $dir, limit => 120);
is(ended($run), 'status 0', 'genhtml reads it') or diag $run->{err};

# ---- CSV

spew("$dir/read.py", <<'END');
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline='', encoding='utf-8')))
print(set(map(len, rows)))
print([c for r in rows for c in r if c and c[0] in '=+-@\t\r\n'])
for r in rows:
    if r[0] == 'func':
        print(r[2] + '\n' + r[7])
END
my $csv = slurp("$dir/csv");
$run = run(['env', 'PYTHONIOENCODING=utf-8', 'python3', "$dir/read.py",
	"$dir/csv"]);
is(ended($run) . $run->{err}, 'status 0', "Python's csv reads it");
my @rows = split /\n/, $run->{out};
is(shift @rows, '{9}', 'csv: nine fields in each row');
is(shift @rows, '[]', 'csv: no field is a formula');
counts_by_name('csv', @rows);
unlike($csv, qr/^(?!(?:what|line|func|inline|block|edge|insn|call),.*\r$)./m,
    'csv: a line is a row');
like($csv, qr/"'=061f"/, 'csv: an apostrophe before a formula');

# ---- JSON, our own and gcov's

counts_by_name('json', map { ($_->{name}, $_->{calls}) }
    grep { defined $_->{name} }
    @{decode_json(slurp("$dir/json"))->{functions}});
system("gzip -dc $dir/gcov-json >$dir/gcov") == 0 or die;
counts_by_name('gcov-json', map { ($_->{name}, $_->{execution_count}) }
    map { @{$_->{functions}} } @{decode_json(slurp("$dir/gcov"))->{files}});

# ---- Cobertura

$run = run([qw(xmllint --nonet --noout --dtdvalid
	tests/formats/coverage-04.dtd), "$dir/cobertura"]);
is(ended($run), 'status 0', 'cobertura: valid') or diag $run->{err};
# Each line is entered from above, and again from what is inlined there.
my %hits = slurp("$dir/cobertura") =~
    /<method name="[^"]*?(\d{3})f".*?hits="(\d+)"/sg;
is_deeply(\%hits, { map { $_ => 2 * $expected{$_} } keys %expected },
    'cobertura: all functions');

# ---- callgrind

my (%name, %called, $callee);
for (split /\n/, slurp("$dir/callgrind")) {
	$name{$1} = $2 if /^c?fn=\((\d+)\) (.*)/;
	$callee = $1 if /^cfn=\((\d+)\)/;
	$called{$callee} += $1 if /^calls=(\d+) /;
}
counts_by_name('callgrind', map { ($name{$_}, $called{$_}) } keys %called);
$run = run(['callgrind_annotate', '--threshold=100', "$dir/callgrind"]);
is(ended($run) . $run->{err}, 'status 0', 'callgrind_annotate reads it');
my %annotated = map { $_ => 1 } $run->{out} =~ /(\d{3})f \[/g;
is_deeply([sort keys %annotated], [sort keys %expected],
    'and has all functions');

# ---- BOLT

my @fdata = split /\n/, slurp("$dir/bolt");
my $word = qr/(?:[^ \\]|\\.)+/;
my @wrong = grep { !/^[0-2]\ $word\ [0-9a-f]+\ [0-2]\ $word\ [0-9a-f]+
    \ 0\ \d+$/x } @fdata;
is("@wrong", '', 'bolt: each line is a branch');
counts_by_name('bolt', map { / ($word) 0 0 (\d+)$/ ? ($1, $2) : () } @fdata);

# ---- LLVM's samples

counts_by_name('autofdo', slurp("$dir/autofdo") =~ /^(\S+):\d+:(\d+)$/mg);
SKIP: {
	skip 'no llvm-profdata-19 here', 2 if missing('llvm-profdata-19');
	$run = run([qw(llvm-profdata-19 show --sample), "$dir/autofdo"]);
	is(ended($run) . $run->{err}, 'status 0', 'llvm-profdata reads it');
	counts_by_name('llvm-profdata',
	    $run->{out} =~ /^Function: (.*): \d+, (\d+), \d+ sampled/mg);
}

# ---- the others

my %folded = map { /^(?:.*;)?([^;]*) \d+$/ ? ($1 => 1) : () }
    split /\n/, slurp("$dir/folded");
is(scalar(grep { /\d{3}f/ } keys %folded), 255, 'folded: all functions');
my ($modules, $table) = slurp("$dir/drcov") =~
    /count (\d+)\nColumns.*\n((?:[ \d]+,.*\n)+)BB Table/;
is(scalar(() = ($table // '') =~ /\n/g), $modules, 'drcov: a module a line');
SKIP: {
	skip 'no dot here', 1 if missing('dot');
	$run = run(['dot', '-Tcanon', "$dir/cfg"]);
	is(ended($run), 'status 0', 'dot reads graphs') or diag $run->{err};
}
my @values = decode_json(page_data("$dir/html/data/index.js"));
my $functions = 0;
while (@values) {
	my $value = shift @values;

	push @values, ref $value eq 'HASH' ? values %$value : @$value
	    if ref $value;
	$functions++ if ($value // '') =~ /^.{1,8}\d{3}f$/;
}
is($functions, 255, 'html: all functions');
SKIP: {
	skip 'no protoc here', 2 if missing('protoc');
	system("gzip -dc $dir/pprof >$dir/profile") == 0 or die;
	$run = run([qw(protoc --decode=pprof.Profile -Ireport/export pprof.proto)],
	    in_file => "$dir/profile");
	my @table = $run->{out} =~ /^string_table: "(.*)"$/mg;
	my @named = grep { /\d{3}f$/ } map { $table[$_] }
	    $run->{out} =~ /^function \{\n(?:  .*\n)*?  name: (\d+)$/mg;
	is(scalar @named, 255, 'pprof: all functions');
	# Bytes from 128 on are shown in octal, too.
	is(scalar(grep { /^\\(?:[01]\d\d|[abefnrtv])/ && !/^\\(?:20|2[1-7])/ }
	    @named), 0, 'pprof: does nothing to a terminal');
}

# ---- the same of a data file, and what is said of a file with such a name

my $pmprint = $pmon =~ s/pmon$/pmprint/r;
mkdir "$dir/again" or die;
$run = run([$pmprint, '--report=' .
	join(',', map { "$_:$dir/again/$_" } @text, @exports), "$dir/data"]);
is(ended($run) . said($run), 'status 0', 'pmprint of its data file');
# What varies is the time, and what only a run knows.
sub
lasting
{
	my ($text) = @_;

	return $text =~ s/timestamp="\d+"|"seconds":[\d.]+//gr;
}
ok(lasting(slurp("$dir/again/$_")) eq lasting(slurp("$dir/$_")),
    "the same $_") for grep { !/summary|placement|sites|pprof/ }
    @text, @exports;
for ([$pmon, "$dir/\x1b[2J\nnot\x9b"], [$pmprint, "$dir/\x1b[2J\nnot\x9b"]) {
	$run = run($_);
	isnt(ended($run), 'status 0', 'no file of an odd name');
	harmless($run->{err}, 'the message');
	is(scalar(() = $run->{err} =~ /\n/g), 1, 'it is one line');
}

done_testing;
