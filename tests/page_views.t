# What the page shows of made-up data, whose numbers make the answers plain:
# drawings whose edges end at boxes, short names, colours, ...
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Path qw(make_path);
use Test::More;
use Browser;
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
	my ($index, %files) = @_;
	my %index = (version => '"1"', command => '"x"', outcome => '""',
	    time => '"1 s"', processes => 1, threads => 1, remarks => '[]',
	    objects => '["/d/x"]', totals => '[]', reasons => '[]',
	    inlines => '[]', calls => 0, compared => 0, %$index);

	spew("$page/data/index.js", 'pmon.put("index",{' . join(',',
	    map { "\"$_\":$index{$_}" } sort keys %index) . '});');
	spew("$page/data/$_.js", "pmon.put(\"$_\",$files{$_});")
	    for sort keys %files;
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

is_deeply([$browser->console], [], 'the console is silent');

done_testing;
