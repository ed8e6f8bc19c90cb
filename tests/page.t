# The page to be browsed, in a headless Chromium: it shows the counts that the
# text reports have, sorts and searches, needs no mouse, says nothing on the
# console, is safe from names and text that look like markup, and replaces
# nothing that is not a page.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Path qw(make_path);
use IO::Socket::INET;
use Test::More;
use Time::HiRes qw(time);
use JSON::PP qw(decode_json);
use Browser;
use PageData;
use Pmon;

my $dir = abs_path($scratch) . '/page';
make_path($dir);

# ---- the directory: needs no browser

my $prog = compile('reports.c', '-O1');
my $page = "$dir/first";
my @texts = map { "$_:$dir/$_" } qw(listing funcs edges lines);
my $run = run([$pmon, '--units=func,line,block,edge,insn,call',
	"--report=html:$page," . join(',', @texts), '--', $prog, 80]);

is(ended($run), 'status 0', 'a page is made') or diag($run->{err});
is($run->{err}, '', 'and nothing said');
ok(-s "$page/index.html" && -s "$page/data/index.js", 'it is there');

sub
refused
{
	my ($where, $why, $what) = @_;
	my $out = "$dir/ran";
	my $run = run([$pmon, "--report=html:$where", '--', 'touch', $out]);

	is(ended($run), 'status 125', "$what: refused");
	like($run->{err}, qr/^pmon: .*$why.*\n\z/, 'with the reason');
	ok(!-e $out, 'before the program is run');
}

make_path("$dir/mine");
spew("$dir/mine/precious", 'mine');
refused("$dir/mine", 'files that are not part of a pmon page',
    'a directory with other files');
is(slurp("$dir/mine/precious"), 'mine', 'which are still there');
spew("$page/data/precious", 'mine');
refused($page, 'files that are not part of a pmon page',
    'a page with other files');
unlink "$page/data/precious";
spew("$dir/file", 'mine');
refused("$dir/file", 'Not a directory', 'a file');
refused("$dir/none/page", 'No such file', 'a directory that is not there');
refused('.', 'current directory', 'the current directory');
$run = run([$pmon, '--report=html', '--', $prog]);
like($run->{err}, qr/html needs a directory/, 'a directory is needed');
$run = run([$pmon, "--report=html:$dir/two,funcs:$dir/two", '--', $prog]);
like($run->{err}, qr/several reports cannot go to/, 'of its own');

run([$pmon, '-d', "$dir/data", '--', $prog]);
$run = run([($ENV{PMON_BUILD} // 'build') . '/pmprint',
	"--report=html:$dir/two,funcs:$dir/two", "$dir/data"]);
like($run->{err}, qr/several reports cannot go to/, 'also with pmprint');
unlink "$dir/data";

# Held, or another directory could get its number.
opendir my $old, $page or die "$page: $!\n";
my $inode = (stat $page)[1];
make_path("$dir/empty");
for my $where ($page, "$page/", "$dir/empty") {
	$run = run([$pmon, "--report=html:$where", '--', $prog, 80]);
	is(ended($run), 'status 0', 'a page, or nothing, is replaced') or
	    diag($run->{err});
}
isnt((stat $page)[1], $inode, 'by a new one');
is_deeply([grep { !m{/(?:first|empty|mine|file|listing|funcs|edges|lines)$} }
	glob "$dir/*"], [], 'nothing is left behind');

# Branches at lines whose instructions all count as those of other lines, too.
$run = run([$pmon, "--report=html:$page,edges:$dir/edges2", '--',
	compile('lang.c', '-O2'), 3]);
is($run->{err}, '', 'optimised code');
my @inlined = sort map { s/ +/ /gr } slurp("$dir/edges2") =~
    /^ *([0-9a-f]+ +[0-9a-f]+ +\d+ +\d+) .*:\d+$/mg;
s/^(\S+) \S+/$1/ for @inlined;
my @written = map { my $data = decode_json(page_data($_));
	map { map { "@$_[1 .. 3]" } @{$_->[5] // []} } @{$data->{lines}} }
    glob "$page/data/f*.js";
is_deeply([sort @written], \@inlined, 'has the branches of the report');
ok(@inlined > 20, 'of which there are many');
run([$pmon, "--report=html:$page", '--', $prog, 80]);
unlink "$dir/edges2";

SKIP: {
my $lacking = Browser::lacking();

skip $lacking, 1 if $lacking;

# ---- the counts are those of the text reports

# The port that the driver gets first is in use with IPv4.
my $held = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or
    die "a port to hold: $!\n";
make_path("$dir/bin");
spew("$dir/bin/chromedriver", <<"END", 0755);
#!/bin/sh
PATH='$ENV{PATH}'
test -e $dir/held && exec chromedriver "\$@"
exec chromedriver --port=${\$held->sockport} 2>$dir/held
END
my $browser = do {
	local $ENV{PATH} = "$dir/bin:$ENV{PATH}";
	Browser->new;
};
like(slurp("$dir/held"), qr/Address already in use/,
    'the driver is started again where its port is in use');

# All rows of the only list on the page: what is in its columns.
sub
list
{
	$browser->run('let more; while ((more = [...document' .
	    '.querySelectorAll("main button")].find((b) => !b.hidden && ' .
	    'b.textContent.startsWith("Show more")))) more.click();');
	return @{$browser->run('return [...document.querySelectorAll(' .
	    '"table.list tbody tr")].map((r) => [...r.cells].map(' .
	    '(c) => c.textContent))')};
}

$browser->show("$page/index.html", '/funcs');
# The report of functions has no stubs, and no inlined functions.
my %calls = map { $_->[0] => $_->[2] }
    grep { $_->[0] !~ /\@plt$|^code at | \(inlined\)$/ } list();
my $funcs = funcs_read("$dir/funcs", aliases => 1);

is(scalar keys %calls, 0 + keys %$funcs, 'all functions are listed');
is_deeply([map { "$_ $calls{$_}" } qw(main pick leaf twice idle)],
    [map { "$_ $funcs->{$_}" } qw(main pick leaf twice idle)],
    'their calls are those of the report');
is($calls{pick}, 80, 'and what they must be');

my ($number) = $browser->run('return [...document.querySelectorAll(' .
    '"a")].find((a) => a.textContent.includes("reports.c:")).hash');
my ($file) = $number =~ m{/file/(\d+)};

# The counts of the lines shown: line => [count, executed].
sub
lines
{
	return @{$browser->run(<<'END')};
return [...document.querySelectorAll(".line")]
	.filter((l) => l.querySelector(".count").textContent)
	.map((l) => [l.querySelector(".no").textContent,
		l.querySelector(".count").textContent,
		l.querySelector(".work")?.textContent]);
END
}

$browser->show("$page/index.html", "/file/$file");
my $listing = lines_read("$dir/listing")->{'reports.c'};
my %shown = map { $_->[0] => $_->[1] } lines();

is_deeply(\%shown, $listing, 'lines have the counts of the listing');
my %executed = slurp("$dir/lines") =~
    /^\S*reports\.c +(\d+) +(?:\d+|\?|#####) +(\d+|\?) +[1-9]\d*:/mg;
is_deeply({ map { $_->[2] eq '' ? () : ($_->[0] => $_->[2]) } lines() },
    \%executed, 'and the instructions executed');
my @text = split /\n/, slurp('tests/prog/reports.c');
for (@text) {
	1 while s/^([^\t]*)\t/$1 . ' ' x (8 - length($1) % 8)/e;
}
is_deeply([$browser->texts('.line code')], \@text, 'and their text');

# Every branch of the report, by its address: taken, not taken.
my %branches = slurp("$dir/edges") =~
    /^ *([0-9a-f]+) +[0-9a-f]+ +(\d+ +\d+) .*reports\.c:/mg;
s/ +/ / for values %branches;
$browser->run('for (const b of document.querySelectorAll("button.count")) ' .
    'b.click(); return new Promise((r) => setTimeout(r, 500))');
my %seen = map { /^Branch at (\S+): taken (\d+), not taken (\d+)/ ?
    ($1 => "$2 $3") : () } $browser->texts('.detail p');
is_deeply(\%seen, \%branches, 'branches have the counts of the report');
ok(keys %seen > 3, 'of which there are some');

# ---- the graph of a function is that of the report for graphviz

$run = run([$pmon, '--func=main', "--report=html:$page,cfg:$dir/cfg," .
	"insns:$dir/insns", '--', $prog, 80]);
$browser->show("$page/index.html", '/func/0');
my $dot = slurp("$dir/cfg");
my @ways = sort $dot =~ /-> .*label="(\d+)"/g;
my @nodes = sort $dot =~ /label="([0-9a-f]+)-[0-9a-f]+\\l/g;
is_deeply([sort $browser->texts(".flow .label")], \@ways,
    'edges have the counts of the report');
is_deeply([sort grep { /^[0-9a-f]+$/ } map { ($_->[0]) } @{$browser->run(
    'return [...document.querySelectorAll(".flow .node")].map((n) => ' .
    '[...n.querySelectorAll("text")].map((t) => t.textContent))')}], \@nodes,
    'blocks are where they are there');
my @widths = @{$browser->run('return [...document.querySelectorAll(' .
    '".flow .edge")].map((e) => [Number(e.textContent), Number(' .
    'e.querySelector("path").getAttribute("stroke-width"))])')};
my ($thin, $thick) = (sort { $a->[0] <=> $b->[0] } @widths)[0, -1];
cmp_ok($thick->[1], '>', $thin->[1] + 2, 'and are the wider the higher');
my $nodes = 'return document.querySelectorAll(".flow .node").length';
my $before = $browser->run($nodes);
$browser->run('document.querySelector("main input[type=checkbox]").click(); ' .
    'return new Promise((r) => setTimeout(r, 500))');
cmp_ok($browser->run($nodes), '<', $before,
    'blocks that never ran can be left out');

my @insns = map { s/#####/0/r } slurp("$dir/insns") =~
    /^ *((?:\d+|#####)  +[0-9a-f]+):/mg;
s/ +/ / for @insns;
is_deeply([map { join ' ', @$_[0, 1] } @{$browser->run('return [...document' .
    '.querySelectorAll("table.insns.wide tr:has(td)")].map((r) => [...r.cells]' .
    '.map((c) => c.textContent))')}], \@insns,
    'instructions have the counts of the report');

# Recursion, a loop of one block: what leads to itself is in the drawing, too.
$run = run([$pmon, "--report=html:$page", '--', compile('lang.c', '-O0'), 3]);
$browser->show("$page/index.html", '/funcs');
my $fib = $browser->run('return [...document.querySelectorAll("td a")]' .
    '.find((a) => a.textContent === "fib").hash');
$browser->show("$page/index.html", $fib =~ s/^#//r);
is_deeply($browser->run(<<'END'), [], 'nothing is drawn outside');
return [...document.querySelectorAll(".graph svg")].flatMap((svg) => {
	const { width, height } = svg.viewBox.baseVal;
	return [...svg.querySelectorAll(".edge, .node")].map((g) => {
		const box = g.getBBox();
		return [g.textContent, box.x, box.y, box.x + box.width - width,
			box.y + box.height - height];
	}).filter(([, ...out]) => out[0] < -1 || out[1] < -1 || out[2] > 1 ||
		out[3] > 1);
});
END
is($browser->run('return document.querySelector(".node.here text:last-child")' .
    '.textContent'), $browser->run('return [...document.querySelectorAll(' .
    '"section .columns > div:first-child tbody td:last-child")].reduce(' .
    '(n, c) => n + Number(c.textContent), 0)'),
    'the callers of a recursive function add up to its calls');

$run = run([$pmon, '--units=func,inline', "--report=html:$page," .
	"inlines:$dir/inlines", '--', compile('lang.c', '-O2'), 3]);
$browser->show("$page/index.html", '/funcs');
is_deeply({ map { $_->[0] =~ /^(.*) \(inlined\)$/ ? ($1 => $_->[-1]) : () }
	list() }, funcs_read("$dir/inlines"),
    'inlined functions have those of theirs');

# ---- calls, by the report of them

$run = run([$pmon, "--report=html:$page,calls:$dir/calls", '--', $prog, 80]);
my (%times, $caller, $column);
for (split /\n/, slurp("$dir/calls")) {
	$column = length $1 if /^( +TIMES .*)CALLS$/;
	if (my ($n) = /^ +(\d+)  +[0-9a-f]+  /) {
		my $callee = substr $_, $column;
		my $how = $callee =~ s/ \((.*)\)$// ? $1 : '';

		$times{"$caller, $callee, $how"} += $n;
	} elsif (/^(\S.*?)(?:  |$)/) {
		$caller = $1;
	}
}
$browser->show("$page/index.html", '/calls');
is_deeply({ map { (join(', ', @$_[0 .. 2]), $_->[3]) } list() }, \%times,
    'calls have the counts of the report');
is($times{'twice, leaf, '}, 40, 'and what they must be');
$browser->show("$page/index.html", '/funcs');
my $leaf = $browser->run('return [...document.querySelectorAll("td a")]' .
    '.find((a) => a.textContent === "leaf").hash');
$browser->show("$page/index.html", $leaf =~ s/^#//r);
is_deeply([sort map { $_->[0] } list()], [sort map { /^(\w+), leaf,/ ? $1 :
	() } keys %times], 'a function has its callers');
ok((grep { $_ eq 'leaf100' } $browser->texts('.graph .node.here')),
    'and a drawing of them');
# Edges across several rows have bends, and the count is not on all of them.
cmp_ok($browser->run(<<'END'), '<', 3, 'counts stand on their edges');
const ids = [...Array(9).keys()];
const edges = ids.flatMap((from) => ids.filter((to) => to > from &&
	(to === from + 1 || from === 0 || to === 8)).map((to) =>
	({ from, to, count: 1000 })));
return graph_make(ids.map((id) => ({ id, rows: [`node ${id}`], count: 1 })),
	edges, { across: true, label: "made" }).then((drawing) => {
		document.body.append(drawing);
		const texts = drawing.querySelectorAll(".label");

		return Math.max(...[...drawing.querySelectorAll(".edge path")]
			.map((path, i) => {
				const x = +texts[i].getAttribute("x");
				const y = +texts[i].getAttribute("y") - 4;
				let nearest = Infinity;

				for (let s = 0; s < path.getTotalLength();
					s++) {
					const at = path.getPointAtLength(s);

					nearest = Math.min(nearest, Math.hypot(
						at.x - x, at.y - y));
				}
				return nearest;
			}));
	});
END

# ---- sorting and searching

run([$pmon, "--report=html:$page", '--', $prog, 80]);
$browser->show("$page/index.html", '/funcs');
my @order = map { $_->[-1] } list();
is_deeply(\@order, [sort { $b <=> $a } @order],
    'functions begin with those that executed most');
$browser->run('document.querySelector("th button").click()');
my @names = map { $_->[0] } list();
is_deeply(\@names, [sort @names], 'sorted by name when that is asked for');
is($browser->run('return document.querySelector("th").ariaSort'),
    'ascending', 'and says so');
$browser->run('document.querySelector("th button").click()');
is_deeply([map { $_->[0] } list()], [reverse sort @names], 'and backwards');
$browser->run('const s = document.querySelector("input[type=search]"); ' .
    's.value = "TWI"; s.dispatchEvent(new Event("input"))');
is_deeply([map { $_->[0] } list()], ['twice'], 'a search finds');
is(($browser->texts('[role=status]'))[0], '1 of ' . @names,
    'and says how many');

# ---- without a mouse

sub
press
{
	my ($key, $code) = @_;

	$browser->command('Input.dispatchKeyEvent', { type => $_,
		key => $key, code => $key, windowsVirtualKeyCode => $code,
		$key eq 'Enter' ? (text => "\r") : () })
	    for $key eq 'Enter' ? 'keyDown' : 'rawKeyDown', 'keyUp';
}

$browser->show("$page/index.html", '/');
is($browser->run('return document.querySelectorAll("header, nav, main, ' .
    'footer, h1").length'), 5, 'landmarks and one heading');
is($browser->run('return document.activeElement.id'), 'main',
    'a view that is opened has the focus');
press('Tab', 9);
is($browser->run('return document.activeElement.tagName'), 'BUTTON',
    'from where Tab goes on');
$browser->show("$page/index.html", "/file/$file");
$browser->run('document.querySelector(".source").focus()');
press('ArrowDown', 40) for 1, 2;
my $line = $browser->run('return document.activeElement.closest(".line")' .
    '?.id');
like($line // '', qr/^L\d+$/, 'arrows go from line to line');
press('Enter', 13);
$browser->run('return new Promise((r) => setTimeout(r, 300))');
is($browser->run('return document.querySelectorAll(".detail").length'), 1,
    'Enter shows the instructions of one');
press('Enter', 13);
is($browser->run('return document.querySelectorAll(".detail").length'), 0,
    'and hides them');

# ---- what changed: as the text of --diff, and as two listings

my $pmprint = ($ENV{PMON_BUILD} // 'build') . '/pmprint';
run([$pmon, '-d', "$dir/$_.pmon", '--', $prog, $_]) for 80, 160;
for my $n (80, 160) {
	$run = run([$pmprint, "--report=listing:$dir/listing$n",
		"$dir/$n.pmon"]);
	is(ended($run), 'status 0', "what $n rounds did") or diag($run->{err});
}
$run = run([$pmprint, '--diff', "--report=html:$page", "$dir/80.pmon",
	"$dir/160.pmon"]);
is(ended($run), 'status 0', 'a page of what changed') or diag($run->{err});
my $text = run([$pmprint, '--diff', '--top=1000', "$dir/80.pmon",
	"$dir/160.pmon"])->{out};
my %changed = map { /^ +([-+]\d+) +(\d+) +(\d+)  (\w\S*)$/ ?
	($4 => "$2 $3 $1") : () } split /\n/, $text;
$browser->show("$page/index.html", '/changes');
my %change = map { $_->[1] eq 'instructions' ? ($_->[0] =>
	join(' ', @$_[2 .. 4]) =~ s/\x{2212}/-/r) : () } list();
is_deeply(\%change, \%changed, 'functions as --diff has them');
like(($browser->texts('#banner'))[0], qr/Comparison.*reports\S* 160.*reports\S* 80/,
    'of which runs is said above all');
$browser->show("$page/index.html", "/file/$file");
my ($one, $two) = map { lines_read("$dir/listing$_")->{'reports.c'} } 80, 160;
my %delta = map { $_->[0] => $_->[1] =~ s/\x{2212}/-/r } @{$browser->run(
    'return [...document.querySelectorAll(".line:has(.delta)")].map((l) => ' .
    '[l.querySelector(".no").textContent, ' .
    'l.querySelector(".delta").textContent])')};
delete $delta{$_} for grep { $delta{$_} eq '' } keys %delta;
is_deeply(\%delta, { map { $two->{$_} == $one->{$_} ? () :
	($_ => sprintf '%+d', $two->{$_} - $one->{$_}) } keys %$two },
    'lines by the difference of two listings');
system('cp', $prog, "$dir/rebuilt") == 0 or die;
run([$pmon, '-d', "$dir/old.pmon", '--', "$dir/rebuilt", 80]);
system('cp', compile('reports.c', '-O2'), "$dir/rebuilt") == 0 or die;
run([$pmon, '-d', "$dir/new.pmon", '--', "$dir/rebuilt", 80]);
$run = run([$pmprint, '--diff', "--report=html:$page", "$dir/old.pmon",
	"$dir/new.pmon"]);
is(ended($run), 'status 0', 'a program built anew between');
like($run->{err}, qr/^pmprint: .*rebuilt since.*; left out\n\z/, 'is said');
$browser->show("$page/index.html", '/changes');
like(($browser->texts('.note'))[0], qr/no longer there/,
    'also on the page, which has no lines then');
ok(scalar(list()), 'but functions');
run([$pmon, "--report=html:$page", '--', $prog, 80]);

# ---- dark and narrow

my $colours = 'const s = getComputedStyle(document.documentElement); ' .
    'return s.backgroundColor + " " + s.color';
my $light = $browser->run($colours);
is_deeply([$browser->console], [], 'the console is silent');
undef $browser;
$browser = Browser->new(width => 400, dark => 1);
for my $hash ('/', '/files', '/funcs', '/func/0', "/file/$file") {
	$browser->show("$page/index.html", $hash);
	is($browser->run('return document.documentElement.scrollWidth'), 400,
	    "$hash fits 400 pixels");
}
is($browser->run($colours),
    join(' ', 'rgb(20, 23, 26)', 'rgb(228, 231, 234)'), 'dark if wanted');
isnt($browser->run($colours), $light, 'and else light');

# ---- hostile names and text

my $bad = '<img src=x onerror=document.title=1>';
my $name = "a'<b>&amp;.c";
spew("$dir/$name", <<"END");
/* </script><script>document.title=2</script> $bad \\u0041 \\" */
/* \xff\xfe \xe2\x80\xa8 \xe2\x80\xae \x1b[31m \x01 */
int main(void) {
	__asm__("call \\"$bad\\""); return 0; }
END
spew("$dir/bad.S", <<"END");
	.globl "$bad"
	.type "$bad", \@function
"$bad":
	ret
	.size "$bad", . - "$bad"
	.section .note.GNU-stack
END
system($cc, '-w', '-g', '-no-pie', '-o', "$dir/a'\"<u>&lt;", "$dir/$name",
    "$dir/bad.S") == 0 or die;
$run = run([$pmon, "--report=html:$page,listing:$dir/listing", '--',
	"$dir/a'\"<u>&lt;"]);
is(ended($run), 'status 0', 'a page with hostile names') or
    diag($run->{err});
$browser->show("$page/index.html", '/funcs');
my ($func) = grep { $_->[0] =~ /img/ } list();
is($func->[0], $bad, 'a name is shown as it is');
is($browser->run('return document.querySelectorAll("img, b, u, main script")' .
    '.length'), 0, 'and makes no elements');
$number = $browser->run('return [...document.querySelectorAll("a")]' .
    '.find((a) => a.textContent.includes("amp;.c"))?.hash');
like($number // '', qr{/file/\d+}, 'so is the name of a file');
$browser->show("$page/index.html", $number =~ s/^#//r);
my @code = $browser->texts('.line code');
is($code[0], "/* </script><script>document.title=2</script> $bad " .
    '\\u0041 \\" */', 'and text');
# U+2028, which ends lines for some, is not printed either.
is($code[1], "/* ?? ??? ??? ^[[31m ^A */", 'without control characters');
is($browser->run('return document.title'), "$name \x{2013} pmon",
    'no script of theirs is run');

# ---- no source, no symbols, C++

rename "$dir/$name", "$dir/gone";
$run = run([$pmon, "--report=html:$page", '--', "$dir/a'\"<u>&lt;"]);
$browser->show("$page/index.html", $number =~ s/^#//r);
like(($browser->texts('.note'))[0], qr/No such file/,
    'a file without its source says so');
ok(scalar(lines()), 'and has its counts');
system('cp', $prog, "$dir/stripped") == 0 &&
    system('strip', "$dir/stripped") == 0 or die;
$run = run([$pmon, "--report=html:$page", '--', "$dir/stripped", 80]);
$browser->show("$page/index.html", '/funcs');
ok((grep { $_->[0] =~ /^func_/ && $_->[-1] } list()),
    'a stripped program has functions');
my $cpp = compile('except.cc', '-O1');
$run = run([$pmon, "--report=html:$page", '--', $cpp]);
$browser->show("$page/index.html", '/funcs');
ok((grep { $_->[0] =~ /\w\(.*\)/ } list()), 'names of C++ are readable');

# ---- many files, many lines

my $n = 10_000;
spew("$page/data/index.js", 'pmon.put("index",{"version":"1","command":"x",' .
    '"outcome":"","time":"1 s","processes":1,"threads":1,"remarks":[],' .
    '"objects":["x"],"totals":[],"reasons":[],"files":[' .
    join(',', map { "[\"d/f$_.c\",\"/d/f$_.c\",100,50,0,$_,$_,9,9]" } 1 .. $n) .
    '],"inlines":[],' .
    '"funcs":[' . join(',', map { my $f = $_;
	map { "[\"func_${f}_$_\",0,$f,$_,$_,$f,9,0,3,0,-1]" } 1 .. 10 }
	0 .. $n - 1) . "]});\n");
spew("$page/data/f7.js", 'pmon.put("f7",{"text":"' .
    'x = y;\\n' x 250_000 . '","remark":null,"lines":[' .
    join(',', map { "[$_,$_,9,9,[]]" } 1 .. 250_000) . ']});');
for my $hash ('/files', '/funcs', '/file/7/200000') {
	my $start = time;

	$browser->show("$page/index.html", $hash);
	diag sprintf '%s of %d files in %.1f s', $hash, $n, time - $start;
}
ok($browser->run('return Boolean(document.getElementById("L200000"))'),
    'a line far down is there');
is_deeply([$browser->console], [], 'the console is silent');
}

done_testing;
