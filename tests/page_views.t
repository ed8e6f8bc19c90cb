# What the page shows of made-up data, whose numbers make the answers plain:
# drawings whose edges end at boxes, short names, colours, ...
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Path qw(make_path);
use Test::More;
use Browser;
use PageData;
use Pmon;

my $lacking = Browser::lacking();

plan skip_all => $lacking if $lacking;

my $dir = abs_path($scratch) . '/views';
my $page = "$dir/page";
make_path($dir);
my $run = run([$pmon, "--report=html:$page", '--', compile('reports.c', '-O1'),
	80]);
is(ended($run), 'status 0', 'a page') or diag($run->{err});
my $browser = Browser->new;

# A name of C++ that is 20 times as long as a short one.
my $template = 'std::pair<int, std::vector<' . 'std::pair<int, ' x 40 . 'int' .
    '>' x 42;
my $long = "void $template" . '::add<int>(' . "$template" . ' const&)';

# One file of a run: files, functions, inlined functions, calls as JSON.
sub
data_write
{
	page_data_write($page, @_);
}

# ---- drawings of calls: f0 calls all and itself, each calls the next and f0;
# f3 is called least, but executed most

my @funcs = map { "[\"f$_\",0,0,$_," . 10 * (9 - $_) . ',' .
	($_ == 3 ? 9000 : 90) . ',9,0,3,0,-1]' } 0 .. 8;
my @calls = ('[0,0,77]', map({ "[0,$_,123456]" } 1 .. 8),
    map({ "[$_," . ($_ + 1) . ',1000]' } 1 .. 7), '[8,0,5]');
data_write({ calls => 1, files => '[["f.c","/f.c",9,9,0,9,9,9,0]]',
	funcs => '[' . join(',', @funcs, "[\"$long\",0,0,9,1,10,9,0,3,0,-1]") .
	']' }, calls => '[' . join(',', @calls) . ']');

# What a drawing has wrong: ends of edges that are not on the border of a box;
# counts that lie on each other or on boxes.
my $faults = <<'END';
const svg = document.querySelector(".graph svg");
const boxes = [...svg.querySelectorAll(".node rect")].map((r) => r.getBBox());
const texts = [...svg.querySelectorAll(".label")].map((t) => [t.textContent,
	t.getBBox()]);
const border = (b, { x, y }) => {
	const dx = Math.max(b.x - x, x - b.x - b.width);
	const dy = Math.max(b.y - y, y - b.y - b.height);
	return dx < 1 && dy < 1 && (dx > -1 || dy > -1);
};
const meet = (a, b) => a.x < b.x + b.width - 1 && b.x < a.x + a.width - 1 &&
	a.y < b.y + b.height - 1 && b.y < a.y + a.height - 1;
const faults = [...svg.querySelectorAll(".edge path")].flatMap((path) =>
	[0, path.getTotalLength()].map((n) => path.getPointAtLength(n))
		.filter((at) => !boxes.some((b) => border(b, at)))
		.map((at) => `an edge ends at ${at.x},${at.y}`));
texts.forEach(([text, box], i) => {
	if (boxes.some((b) => meet(b, box)))
		faults.push(`${text} is on a box`);
	if (texts.some(([, b], k) => k > i && meet(b, box)))
		faults.push(`${text} is on another`);
});
return [svg.querySelectorAll(".edge").length, ...faults];
END
my $drawn = 'return new Promise((done) => { const look = () => document' .
    '.querySelector(".graph svg") ? done(true) : setTimeout(look, 20); ' .
    'look(); })';
for my $width (1280, 400) {
	$browser->command('Emulation.setDeviceMetricsOverride', {
		width => $width, height => 900, deviceScaleFactor => 1,
		mobile => JSON::PP::false });
	$browser->show("$page/index.html", '/calls');
	$browser->run($drawn);
	is_deeply($browser->run($faults), [0 + @calls],
	    "edges end at boxes, counts are free, at $width pixels");
}
$browser->command('Emulation.setDeviceMetricsOverride', { width => 1280,
	height => 900, deviceScaleFactor => 1, mobile => JSON::PP::false });
my %heat = map { @$_ } @{$browser->run('return [...document' .
    '.querySelectorAll(".node")].map((n) => [n.querySelector("text")' .
    '.textContent, Number(n.querySelector("rect").style' .
    '.getPropertyValue("--heat"))])')};
is((sort { $heat{$b} <=> $heat{$a} } keys %heat)[0], 'f3',
    'what executed most has most colour, not what was called most');
cmp_ok($heat{f1}, '<', 0.12, 'and a hundredth of it has little');

# ---- long names

$browser->show("$page/index.html", '/funcs');
my ($short) = grep { /^void/ } $browser->texts('td.name');
like($short, qr/^void std::pair<.*\x{2026}.*>::add<int>\(.*\x{2026}.*\)$/,
    'a long name is shown without what is in its inner brackets');
cmp_ok(length $short, '<', 100, 'on one line');
is($browser->run('return document.querySelector("td.name span")?.title'),
    $long, 'and has the whole as its tooltip');
$browser->run('const s = document.querySelector("input[type=search]"); ' .
    's.value = "vector"; s.dispatchEvent(new Event("input"))');
is_deeply([$browser->texts('td.name')], [$short],
    'which a search finds');
$browser->show("$page/index.html", '/func/9');
is(($browser->texts('h1'))[0], $short, 'a heading is short');
is(($browser->texts('.whole'))[0], $long, 'the whole is below it');
my $e = "\x{2026}";
for (['f(int)', 'f(int)'], ['bool operator<<(std::ostream&, int, char)',
	"bool operator<<($e)"], ['std::list<int, long>::operator->() const',
	"std::list<$e>::operator->() const"],
    ['a' x 40, 'a' x 15 . $e . 'a' x 16],
    ['>>>' x 20, '>' x 15 . $e . '>' x 16],
    ['bool operator>(std::vector<int>, std::vector<char>)',
	"bool operator>($e)"]) {
	my ($name, $short) = @$_;

	is($browser->run('return name_short(arguments[0], 32)', $name),
	    $short, "$name in 32 characters");
}

# ---- a source of 1000 lines: every tenth has code; 700 is the hottest, 300 is
# hot, 500 never ran, a second time it is 510

my @lines = map { my $n = { 700 => 1_000_000, 300 => 900_000 }->{$_} // 7;
	$n = 0 if $_ == 500 || $_ == 510;
	"[$_," . ($n ? 9 : 0) . ",$n,1,[0]]" } map { 10 * $_ } 1 .. 100;
data_write({ files => '[["f.c","/f.c",100,98,0,9,9,9,0]]',
	funcs => '[["f",0,0,1,1,9,9,0,3,0,-1]]' }, f0 => '{"text":"' .
	'x = y;\n' x 1000 . '","remark":null,"lines":[' . join(',', @lines) .
	']}');
$browser->show("$page/index.html", '/file/0');
my $where = <<'END';
const pane = document.querySelector(".source");
const head = document.querySelector(".gutter").getBoundingClientRect();
const seen = (line) => {
	const box = document.getElementById(line)?.getBoundingClientRect();
	return Boolean(box) && box.top >= head.bottom - 1 &&
		box.bottom <= pane.getBoundingClientRect().bottom;
};
END
ok($browser->run("$where return seen('L700')"),
    'a source opens at its hottest line');
is($browser->run('return location.hash'), '#/file/0', 'as the address says');
ok($browser->run("$where return Math.abs(head.top - " .
	'pane.getBoundingClientRect().top) < 2'),
    'the head of the columns stays');
is_deeply([$browser->texts('.gutter > *')],
    [qw(line count executed branches source)], 'and names them');
is($browser->run(<<'END'), 0, 'columns do not overlap');
return [...document.querySelectorAll(".line, .gutter")].filter((line) =>
	[...line.children].some((cell, i, cells) => i &&
		(cell.getBoundingClientRect().left + 0.1 <
			cells[i - 1].getBoundingClientRect().right ||
		cells[i - 1].scrollWidth > cells[i - 1].clientWidth + 1)))
	.length;
END
$browser->run('document.querySelector("#L710 .no").click()');
is($browser->run('return location.hash'), '#/file/0/710',
    'a click on a line is in the address');
$browser->run('document.querySelector("#L720 .count").click()');
is($browser->run('return location.hash'), '#/file/0/720',
    'and one on a count');

sub
key
{
	my ($key, $selector) = @_;

	$browser->run('(document.querySelector(arguments[1]) ?? document.body)' .
	    '.dispatchEvent(new KeyboardEvent("keydown", { key: arguments[0], ' .
	    'bubbles: true, cancelable: true }))', $key, $selector // 'body');
	return $browser->run('return location.hash') =~ s{.*/}{}r;
}

is_deeply([map { key($_) } qw(h h H n n N)], [300, 700, 300, 500, 510, 500],
    'keys lead to hot lines and to those that never ran');
is(key('n', 'input'), 500, 'but not while one types');
ok($browser->run("$where return seen('L500')"), 'and show them');
is_deeply($browser->run('const all = [...document.querySelectorAll(' .
    '".strip i")]; return [all.length, all.findIndex((i) => i.style' .
    '.getPropertyValue("--heat") === "1.00"), all.flatMap((i, n) => ' .
    'i.className ? [n] : [])]'), [200, 139, [99, 101]],
    'the map beside them has both, five lines to a slice');
key('?');
my @keys = $browser->texts('dialog kbd');
is_deeply([grep { my $key = $_; !grep { $_ eq $key } @keys } qw(h n / ?)], [],
    '? shows the keys');
$browser->run('document.querySelector("dialog button").click()');
$browser->show("$page/index.html", '/file/0/20');
ok($browser->run("$where return seen('L20')"), 'an address leads to its line');

# ---- syntax: class by class, text is as it was

my @code = ('#include "a.h" // "no"', "x = '\"' + 0x1f; /* if (1)", 'still */ if',
	's = "/*\\"" + 2;', '/**/ return <b>;', '/*', '//', '*/ for');
sub
source_write
{
	my ($name) = @_;

	data_write({ files => "[[\"$name\",\"/$name\",1,1,0,9,9,9,0]]",
	    funcs => '[]' }, f0 => JSON::PP->new->encode({ remark => undef,
	    text => join('', map { "$_\n" } @code), lines => [[1, 9]] }));
	$browser->show("$page/index.html", '/file/0');
	is_deeply([$browser->texts('.line code')], \@code, "the text of $name");
	return $browser->run('return [...document.querySelectorAll(' .
	    '".line code")].map((c) => [...c.querySelectorAll("span")].map(' .
	    '(s) => s.className[0] + ":" + s.textContent).join(" "))');
}

is_deeply(source_write('f.c'), ['d:#include s:"a.h" c:// "no"',
	"s:'\"' n:0x1f c:/* if (1)", 'c:still */ w:if', 's:"/*\\"" n:2',
	'c:/**/ w:return', 'c:/*', 'c://', 'c:*/ w:for'],
    'C has its colours');
is_deeply(source_write('f.adb'), [('') x @code], 'other languages have none');

# ---- where the work is: 3000 of 4000 instructions in /p/a/x/1.c, of which half
# ran; 900 and 100 in /p/b/2.c, of which all did

data_write({ totals => '[["functions",0,4,3,1,0],["lines",0,100,40,60,0]]',
	files => '[["1.c","/p/a/x/1.c",60,10,20,9,3000,20,10],' .
	'["2.c","/p/b/2.c",40,30,0,5,1000,20,0]]',
	funcs => '[["one",0,0,1,10,3000,20,10,3,0,-1],' .
	'["two",0,1,1,90,900,10,0,3,0,-1],["few",0,1,9,1,100,10,0,3,0,-1],' .
	'["none",0,1,9,0,0,10,10,3,3,-1]]',
	inlines => '[["small",0,1,3,777]]' });
$browser->show("$page/index.html", '/');
is(($browser->texts('.headline'))[0], '1 of 4 functions did 75.0 % of the ' .
    '4000 instructions executed. 75.0 % of the functions ran. 40.0 % of the ' .
    'lines ran. ', 'the overview says what there is');
my %map = map { $_->[0] => $_ } @{$browser->run('return [...document' .
    '.querySelectorAll(".treemap .leaf")].map((a) => { const r = ' .
    'a.querySelector("rect"); return [a.querySelector("text").textContent, ' .
    'r.getBBox().width * r.getBBox().height, Number(r.style' .
    '.getPropertyValue("--ran")), a.getAttribute("href")]; })')};
is_deeply([sort keys %map], [qw(few one two)],
    'the map has the functions that ran');
cmp_ok(abs($map{two}[1] / $map{few}[1] - 9), '<', 1e-3,
    'their areas go by their instructions');
cmp_ok($map{one}[1], '>', 2.5 * ($map{two}[1] + $map{few}[1]),
    'also those of files');
is_deeply([map { $map{$_}[2] } qw(one two)], [0.5, 1],
    'and their colours by what of them ran');
is($map{one}[3], '#/func/0', 'and they lead there');
is_deeply([sort grep { m{[./]} } $browser->texts('.treemap > text')],
    ['/p/', 'a/x/1.c', 'b/2.c'], 'in their files and directories');

sub
rows
{
	return [map { join ' ', @$_ } @{$browser->run('return [...document' .
	    '.querySelectorAll("table.list tbody tr")].map((r) => ' .
	    'arguments[0].map((i) => r.cells[i].textContent))', \@_)}];
}

$browser->show("$page/index.html", '/files');
is_deeply(rows(0 .. 5), ['/p/ 50.0 % 40 100 9 4000',
	'a/x/ 25.0 % 10 60 9 3000', '1.c 25.0 % 10 60 9 3000',
	'b/ 75.0 % 30 40 5 1000', '2.c 75.0 % 30 40 5 1000'],
    'directories have what is in their files together');
$browser->run('document.querySelectorAll("button.dir")[1].click()');
is_deeply(rows(0), ['/p/', 'a/x/', 'b/', '2.c'], 'and can be closed');
$browser->show("$page/index.html", '/funcs');
is_deeply(rows(0, 2, 4, 5, 6), ['one 10 300.0 75.0 % 3000',
	'two 90 10.0 22.5 % 900', 'few 1 100.0 2.5 % 100',
	"none 0 \x{2013} 0.0 % 0",
	"small (inlined) 777 \x{2013} \x{2013} \x{2013}"],
    'functions have their share, what a call costs, and inlined ones');

# ---- the address has what a list was asked for

my $hash = '/funcs?sort=Calls&order=up&search=t';
$browser->run('[...document.querySelectorAll("th button")].find((b) => ' .
    'b.textContent === "Calls").click()') for 1, 2;
$browser->run('const s = document.querySelector("input[type=search]"); ' .
    's.value = "t"; s.dispatchEvent(new Event("input"))');
is_deeply(rows(0), ['two'], 'a list that is sorted and searched');
is($browser->run('return location.hash'), "#$hash", 'says so in the address');
$browser->show("$page/index.html", $hash =~ s/=t$/=n/r);
is_deeply(rows(0), ['none', 'one', 'small (inlined)'],
    'which brings it again');

# ---- the flow graph of a loop that is entered 10 times and has 110 rounds

my @blocks = ('[0,1,10,0]', '[1,1,110,0]', '[2,1,100,0]', '[3,1,10,0]');
data_write({ files => '[["f.c","/f.c",4,4,0,110,230,4,0]]',
	funcs => '[["f",0,0,1,10,230,4,0,4,0,0]]' },
    f0 => '{"text":"int f()\n  while (<b>)\nround();\n}\n","remark":null,' .
	'"lines":[[1,10,10,1,[0]],[2,110,110,1,[0]],[3,100,100,1,[0]],' .
	'[4,10,10,1,[0]]]}', p0 => '{"0":{"blocks":[' . join(',', @blocks) .
	'],"insns":[["10",10,"push",0,1],["11",110,"je",0,2],' .
	'["12",100,"jmp",0,3],["13",10,"ret",0,4]],"edges":[[0,2,0,10],' .
	'[2,3,0,10],[3,4,1,100],[4,3,0,100],[3,5,0,10],[5,1,0,10]]}}');
$browser->show("$page/index.html", '/func/0');
$browser->run($drawn);
is_deeply($browser->run('return [...document.querySelectorAll(' .
    '".flow .node[data-block]")].map((n) => [...n.querySelectorAll("text")]' .
    '.map((t) => t.textContent).join("|"))'), ['10|f.c:1|int f()|10',
	'11|f.c:2|while (<b>)|loop: 11.0 rounds|110',
	'12|f.c:3|round();|100', '13|f.c:4|}|10'],
    'blocks have their source, loops their rounds');
is_deeply([$browser->texts('.flow .band')],
    ['a loop of 11.0 rounds on average'], 'and a band');
is(join(' ', $browser->texts('.flow .edge.hot title')), '10 10 100 100',
    'control went into the loop and round it most often');
is_deeply($browser->run('return [...document.querySelectorAll(".flow rect")]' .
    '.map((r) => r.style.getPropertyValue("--heat")).filter(Number)'),
    [map { sprintf '%.3f', 0.08 + 0.92 * $_ / 110 } 10, 110, 100, 10],
    'colours go by counts, from a little on');
is_deeply($browser->run('const lit = () => [...document.querySelectorAll(' .
    '".lit")].map((e) => e.dataset.block); const node = document' .
    '.querySelector(".flow .node[data-block=\"2\"] text"); const say = (what) => ' .
    'node.dispatchEvent(new PointerEvent(what, { bubbles: true })); ' .
    'say("pointerover"); const on = lit(); say("pointerout"); ' .
    'return [on, lit()]'), [['2', '2', '2'], []],
    'a block, its source and its instructions are marked together');
is_deeply($browser->run(<<'END'), [1, 0, 1, 1], 'a drawing is zoomed and moved');
const frame = document.querySelector(".flow .graph");
const svg = frame.querySelector("svg");
const width = () => Number(svg.getAttribute("width"));
const wheel = (ctrlKey) => {
	const before = width();
	frame.dispatchEvent(new WheelEvent("wheel", { deltaY: -1000, ctrlKey,
		bubbles: true, cancelable: true }));
	return Number(width() > before);
};
const still = wheel(false), zoomed = wheel(true);
frame.style.width = "200px";
frame.scrollLeft = 20;
const pointer = (type, x) => frame.dispatchEvent(new PointerEvent(type, {
	clientX: x, clientY: 9, buttons: 1, pointerType: "mouse" }));
pointer("pointerdown", 100);
pointer("pointermove", 70);
const moved = Number(frame.scrollLeft === 50);
const click = new MouseEvent("click", { bubbles: true, cancelable: true });
svg.dispatchEvent(click);
return [zoomed, still, moved, Number(click.defaultPrevented)];
END

# ---- large data files are compressed

my $text = join '', map { "int v$_ = 7 * $_; /* <\"\\\xc3\xa9> */\n" } 1 .. 5000;
spew("$dir/large.c", "${text}int main(void) { return 0; }\n");
system($cc, '-g', '-o', "$dir/large", "$dir/large.c") == 0 or die;
run([$pmon, "--report=html:$dir/packed", '--', "$dir/large"]);
cmp_ok(-s "$dir/packed/data/f0.js", '<', length($text) / 3,
    'a large source needs less room');
like(page_data("$dir/packed/data/f0.js"), qr/int v5000 = 7 \* 5000;/,
    'and is there');
$browser->show("$dir/packed/index.html", '/file/0/4999');
is(($browser->run('return document.querySelector("#L4999 code").textContent')),
    "int v4999 = 7 * 4999; /* <\"\\\x{e9}> */", 'also in the browser');

# ---- a comparison

my $empty = '"command":"","lines":1,"same":0,"unknown":0,"before":0,' .
    '"after":0,"rebuilt":0';
data_write({ compared => '""', files => '[["f.c","/f.c",9,9,0,9,9,9,0]]',
	funcs => '[["up",0,0,1,6,9,9,0,3,0,-1],["down",0,0,1,1,9,9,0,3,0,-1],' .
	'["new",0,0,1,1,9,9,0,3,0,-1]]' }, diff => "{$empty," .
	'"funcs":[[0,"up",1,4,6],[1,"down",1,8,1],[2,"new",1,0,1],' .
	'[-1,"gone",1,1,0]],"files":[[0,0,0,1,0]]}', d0 => '[[1,8]]',
	f0 => '{"text":"x\n","remark":null,"lines":[[1,9,9,1,[]]]}');
$browser->show("$page/index.html", '/changes');
ok($browser->run('return !document.getElementById("banner").hidden'),
    'a comparison is one even with an empty command');
my @change = @{$browser->run('return [...document.querySelector("table.list")' .
    '.tBodies[0].rows].map((r) => [0, 4, 5].map((i) => ' .
    'r.cells[i].textContent).join(" "))')};
is_deeply(\@change, ["down \x{2212}7 \x{2212}87.5 %", 'up +2 +50.0 %',
	'new +1 only now', "gone \x{2212}1 only before"],
    'it has changes in percent');
$browser->show("$page/index.html", '/func/0');
like(join(' ', $browser->texts('.figures div')), qr/Change\+2 \(\+50.0 %\)/,
    'also of one function');
$browser->show("$page/index.html", '/file/0');
is($browser->run('return document.querySelector(".line .delta").title'),
    'before: 8, +12.5 %', 'and of a line');

is_deeply([$browser->console], [], 'the console is silent');

done_testing;
