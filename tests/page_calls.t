# What the page shows of who called whom, by made-up data whose numbers make the
# answers plain: the neighbourhood of one function, the icicle, and the
# instructions of inlined functions, here also those of a real program.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Path qw(make_path);
use JSON::PP qw(decode_json);
use Test::More;
use Browser;
use PageData;
use Pmon;

my $dir = abs_path($scratch) . '/calls';
my $page = "$dir/page";
make_path($dir);

# Per instruction of a function's code, the number of the inlined function.
sub
inlined
{
	my ($code) = @_;

	return map { my ($first, $size, $inlined) = @$_;
		map { $_ => $inlined } $first .. $first + $size - 1 }
	    @{$code->{inlines}};
}

# ---- inlined functions of a real program: what they executed is part of what
# the functions that they are in did

my $run = run([$pmon, '--top=1000', "--report=html:$page,summary:$dir/summary",
	'--', compile('lang.c', '-O2'), 3]);
is($run->{err} =~ s/^pmon: note: .*\n//r, '', 'a page');
my $index = decode_json(page_data("$page/data/index.js"));
my %codes = map { %{decode_json(page_data($_))} } glob "$page/data/p*.js";
my (%work, %known);
for my $code (@codes{sort keys %codes}) {
	my %of = inlined($code);

	for (grep { !$_->[3] } @{$code->{blocks}}) {
		my ($first, $size) = @$_;

		for my $i (grep { exists $of{$_} } $first .. $first + $size - 1) {
			$work{$of{$i}} += $code->{insns}[$i][1];
			$known{$of{$i}}++;
		}
	}
}
my @inlines = @{$index->{inlines}};
$index->{all} += $_->[5] // 0 for @{$index->{funcs}};
is_deeply([map { "@{$inlines[$_]}[0, 5, 6]" } sort keys %known],
    [map { "$inlines[$_][0] $work{$_} $known{$_}" } sort keys %known],
    'inlined functions executed what their instructions did');
my ($loops) = grep { $_->[0] eq 'loops' } @inlines;
cmp_ok($loops->[5] // 0, '>', 0, 'which is something');
is_deeply([sort map { s/ \(inlined\)$//r =~ s/ +/ /gr =~ s/^ //r } grep {
	/ \(inlined\)$/ } split /\n/, slurp("$dir/summary")],
    [sort map { sprintf '%s %.1f %s %s %s', $_->[5], int($_->[5] * 1000 /
	$index->{all}) / 10, $_->[4], $_->[4] ? int($_->[5] / $_->[4]) : '-',
	$_->[0] } grep { $_->[5] } @inlines], 'as the summary has them');
# As binutils' addr2line sees it: the innermost function at an address.
my ($id) = grep { $index->{funcs}[$_][0] eq 'main' } sort keys %codes;
my %at = inlined($codes{$id});
my ($addr, @addrs) = (0);
for (map { $_->[0] } @{$codes{$id}{insns}}) {
	# A number, unlike a string, is the distance from the one before.
	$addr = ($_ ^ $_) eq '0' ? $addr + $_ : hex;
	push @addrs, sprintf '%x', $addr;
}
my @names = grep { !/:/ } split /\n/,
    run(['addr2line', '-f', '-e', compile('lang.c', '-O2'), @addrs])->{out};
is(join(' ', map { defined $at{$_} ? $inlines[$at{$_}][0] : 'main' }
    0 .. $#addrs), join(' ', @names),
    'instructions are of the functions that addr2line names');

SKIP: {
my $lacking = Browser::lacking();

skip $lacking, 1 if $lacking;
my $browser = Browser->new;

# ---- the calls of 9 functions: main calls a and b; a calls c, b calls d; both
# call e; e calls f 6 times, and something outside; g is a signal handler, which
# calls h and f; h calls itself.

my @funcs = (main => 1, 100, a => 2, 200, b => 3, 300, c => 2, 50, d => 3, 50,
    e => 5, 100, f => 7, 70, g => 1, 30, h => 4, 100);
my @rows;

while (my ($name, $calls, $insns) = splice @funcs, 0, 3) {
	push @rows, "[\"$name\",0,0,1,$calls,$insns,9,0,3,0,-1]";
}
my @calls = ('[0,1,2]', '[0,2,3]', '[1,3,2]', '[2,4,3]', '[1,5,2]', '[2,5,3]',
    '[5,6,6]', '[5,"puts",5]', '[7,8,1]', '[8,8,3]', '[7,6,1]');
page_data_write($page, { calls => 1, files => '[["f.c","/f.c",0,0,0,9,9,9,0]]',
	funcs => '[' . join(',', @rows) . ']' },
    calls => '[' . join(',', @calls) . ']');

my $drawn = 'return new Promise((done) => { const look = () => document' .
    '.querySelector(".graph svg") ? done(true) : setTimeout(look, 20); ' .
    'look(); })';

# The functions in the drawing, the one that it is about in brackets.
sub
nodes
{
	$browser->run($drawn);
	return join ' ', sort map { $_->[1] ? "($_->[0])" : $_->[0] }
	    @{$browser->run('return [...document.querySelectorAll(' .
	    '".graph .node")].map((n) => [n.querySelector("text")' .
	    '.textContent, n.classList.contains("here")])')};
}

sub
show
{
	$browser->show("$page/index.html", @_);
}

show('/calls/5/1');
is(nodes(), '(e) a b f puts', 'one step: callers and callees');
show('/calls/5/2');
is(nodes(), '(e) a b f main puts',
    'two steps: their callers, not what else they call');
show('/calls/6/2');
is(nodes(), '(f) a b e g', 'from another');
is_deeply([map { join ' ', @$_ } @{$browser->run('return [...document' .
    '.querySelectorAll("table.list tbody tr")].map((r) => [...r.cells].map(' .
    '(c) => c.textContent))')}], ['e f 6', 'b e 3', 'a e 2', 'g f 1'],
    'with a list of these calls');
show('/calls/8/3');
is(nodes(), '(h) g', 'one that calls itself');
$browser->run('[...document.querySelectorAll(".graph a")].find((a) => ' .
    'a.textContent.startsWith("g")).dispatchEvent(new MouseEvent("click", ' .
    '{ bubbles: true, cancelable: true })); return new Promise((done) => ' .
    '{ const look = () => document.getElementById("main").dataset.view === ' .
    '"#/calls/7/3" ? done(true) : setTimeout(look, 20); look(); })');
is(nodes(), '(g) f h', 'a click moves to another');
$browser->run('document.body.dispatchEvent(new KeyboardEvent("keydown", ' .
    '{ key: "1", bubbles: true })); return 1');
is($browser->run('return location.hash'), '#/calls/7/1',
    'a key changes the steps');
show('/calls/0');
is(nodes(), '(main) a b', 'one step is usual');

# ---- the icicle: main 100 + a (200 + c 50) + b (300 + d 50) + e 100, as a and b
# call that; f 70 is called below main and by g; g 30 + h 100.

# name => [left, width] in thousandths, as far as it is drawn; those called in
# several ways with a star.
sub
boxes
{
	return { map { ($_->[0] => "$_->[1] $_->[2] $_->[3]") }
	    @{$browser->run(<<'END')} };
const whole = document.querySelector(".flame").viewBox.baseVal.width;
const part = (rect, name) => Math.round(1000 * rect.getAttribute(name) / whole);
return [...document.querySelectorAll(".flame .box")].map((box) => {
	const rect = box.querySelector("rect");
	const name = box.querySelector("title").textContent.split(":")[0];

	return [name + (box.classList.contains("several") ? "*" : ""),
		rect.getAttribute("y") / 20, part(rect, "x"),
		part(rect, "width")];
});
END
}

show('/flame');
is_deeply(boxes(), { all => '0 0 1000', main => '1 0 800', b => '2 0 350',
	a => '2 350 250', 'e*' => '2 600 100', d => '3 0 50', c => '3 350 50',
	g => '1 800 130', h => '2 800 100', f => '1 930 70' },
    'the icicle has functions below those through which all their calls came');
my @heats = @{$browser->run('return [...document.querySelectorAll(' .
    '".flame .box")].map((b) => [b.querySelector("title").textContent' .
    '.split(":")[0], b.querySelector("rect").style.getPropertyValue(' .
    '"--heat")])')};
is((sort { $b->[1] <=> $a->[1] } @heats)[0][0], 'b',
    'and colours by what they executed themselves');
like((grep { /^e:/ } $browser->texts('.flame title'))[0],
    qr/10\.0 % of .* below, 10\.0 % in itself; called in several ways, all below main$/,
    'a title says what is known');
$browser->run('[...document.querySelectorAll(".flame .box")].find((b) => ' .
    'b.textContent.startsWith("a:")).dispatchEvent(new MouseEvent("click", ' .
    '{ bubbles: true, cancelable: true })); return new Promise((done) => ' .
    '{ const look = () => document.getElementById("main").dataset.view === ' .
    '"#/flame/1" ? done(true) : setTimeout(look, 20); look(); })');
is_deeply(boxes(), { all => '0 0 1000', main => '1 0 1000', a => '2 0 1000',
	c => '3 0 200' }, 'a click zooms');
is_deeply([$browser->texts('td.name')], ['c'], 'with a list of what is below');

# ---- a library that calls its own functions by stubs: all 7 calls of "own" are
# accounted for, but only 2 of 9 of "other"

page_data_write($page, { calls => 1, files => '[["f.c","/f.c",0,0,0,9,9,9,0]]',
	funcs => '[["go",0,0,1,1,50,9,0,3,0,-1],["own",0,0,1,7,40,9,0,3,0,-1],' .
	'["own@plt",0,-1,0,null,5,1,0,1,0,-1],' .
	'["other",0,0,1,9,1,9,0,3,0,-1],' .
	'["other@plt",0,-1,0,null,4,1,0,1,0,-1]]' },
    calls => '[[0,1,2],[0,2,5],[2,"not recorded",5,"indirect"],[0,4,2],' .
	'[4,"not recorded",2,"indirect"]]');
show('/calls/0/2');
is(nodes(), '(go) not recorded other@plt own', 'stubs of functions that add up');
is(join(' ', grep { /^\d+$/ } $browser->texts('.graph .label')), '7 2 2',
    'are left out, with their counts');
show('/flame');
is((grep { /^own:/ } $browser->texts('.flame title'))[0] =~ s/.*; //r,
    'called by go only', 'so that the icicle has them where they belong');

# ---- inlined functions: "in" has two instructions of f, run 10 and 5 times

page_data_write($page, { files => '[["f.c","/f.c",2,2,0,9,9,9,0]]',
	inlines => '[["in",0,0,1,10,15,2,0]]',
	funcs => '[["f",0,0,1,10,30,3,0,2,0,0]]' },
    f0 => '{"text":"int in()\nint f()\n","remark":null,' .
	'"lines":[[1,10,15,2,[0]],[2,10,15,1,[0]]]}',
    p0 => '{"0":{"blocks":[[0,2,10,0],[2,1,5,0]],' .
	'"insns":[["10",10,"push",0,2],["11",10,"inc",0,1],' .
	'["12",5,"ret",0,1]],"edges":[[0,2,0,10],[2,3,0,5],[3,1,0,5]],' .
	'"inlines":[[1,2,0]]}}');
show('/funcs');
is_deeply([map { join ' ', @$_ } @{$browser->run('return [...document' .
    '.querySelectorAll("table.list tbody tr")].map((r) => [0, 2, 4, 5, 6]' .
    '.map((i) => r.cells[i].textContent))')}],
    ['f 10 3.0 100.0 % 30', 'in (inlined) 10 1.5 50.0 % 15'],
    'an inlined function has what its copies executed');
show('/func/0');
$browser->run($drawn);
is_deeply([map { join ' ', @$_ } @{$browser->run('return [...document' .
    '.querySelectorAll(".inlines tbody tr")].map((r) => [0, 2, 3, 4]' .
    '.map((i) => r.cells[i].textContent))')}], ['in 2 50.0 % 15'],
    'and the function that it is in says how much');
is(join('|', map { @$_ } @{$browser->run('return [...document' .
    '.querySelectorAll("table.insns.wide tr:has(td)")].map((r) => ' .
    '[r.cells[3].textContent])')}), '|in|in', 'also at its instructions');
is_deeply($browser->run('const row = document.querySelector(' .
    '".beside tbody tr"); row.firstChild.dispatchEvent(new PointerEvent(' .
    '"pointerover", { bubbles: true })); return [...document' .
    '.querySelectorAll(".flow .node.lit")].map((n) => n.dataset.block)'),
    ['0', '1'], 'a line of its source marks its blocks');

is_deeply([$browser->console], [], 'the console is silent');
}

done_testing;
