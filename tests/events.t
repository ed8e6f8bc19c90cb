# Events: sums over elements of programs whose counts are known, their changes
# between runs, and limits of both.
use strict;
use warnings;
use lib 'tests/lib';
use JSON::PP;
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
my $source = 'tests/prog/events.S';
my ($rounds, $more) = (7, 9);
my @flags = qw(-nostdlib -static -no-pie);
my $program = compile('events.S', @flags, "-DROUNDS=$rounds");
my $longer = compile('events.S', @flags, "-DROUNDS=$more");

# How the classes of the set "mix" are named in an event.
my %mix = (insns => 'insns', loads => 'insns:load', stores => 'insns:store',
	branches => 'insns:branch', taken => 'insns:taken',
	jumps => 'insns:jump', calls => 'insns:call', returns => 'insns:return',
	indirect => 'insns:indirect', div => 'insns:div',
	float => 'insns:float', vector => 'insns:vector',
	atomic => 'insns:atomic', string => 'insns:string',
	syscalls => 'insns:syscall');

# What the program's comments add up to, in all or in one function.
sub
expected
{
	my ($rounds, $func) = @_;
	my %sums = map { $_ => 0 } values %mix;
	my $in = '';

	for (split /\n/, slurp($source) =~ s/#ifdef.*?#else//sr) {
		$in = $1 if /^(\w+):$/;
		next if defined $func && $func ne $in;
		my ($n, $classes) = /# ([\dR*]+):(.*)$/ or next;

		$n = eval $n =~ s/R/$rounds/r;
		$sums{insns} += $n;
		for (split ' ', $classes) {
			if (/^taken=(.*)/) {
				$sums{'insns:taken'} +=
				    eval $1 =~ s/R/$rounds/r;
			} else {
				exists $sums{"insns:$_"} or die $_;
				$sums{"insns:$_"} += $n;
			}
		}
	}
	return \%sums;
}

# A report of events: name => count, '?' if it is not known; and by function,
# name => [counts].
sub
events_read
{
	my ($text) = @_;
	my (%sums, %funcs, $in);

	for (split /\n/, $text) {
		$in = 1 if / FUNCTION$/;
		if (!$in && /^ +(\d+|\?) +(?:[<>]?[\d.]+ %|[?-] %)? *(\S+)/) {
			$sums{$2} = $1;
		} elsif ($in && /^ +((?:\d+ +)+) (\w+)$/) {
			$funcs{$2} = [split ' ', $1];
		}
	}
	return (\%sums, \%funcs);
}

# The events of a run, counted and reported with these options.
sub
events
{
	my ($options, $argv) = @_;
	my $run = run([$pmon, '--no-config', @$options, '--', @$argv]);

	is(ended($run), 'status 0', "@$options");
	return events_read($run->{err});
}

# ---- all classes, however they are counted

my $expected = expected($rounds);
my %named = map { $_ => $expected->{$mix{$_}} } keys %mix;

cmp_ok($expected->{$_}, '>', 0, "$_ there are") for values %mix;
for my $options (map({ ["--patch=$_"] } @patches), ['--placement=every'],
    ['--placement=vertex'], ['--units=func'], ['--stat'],
    ['--stat', '--object=events*']) {
	my ($sums, $funcs) = events(['--report=events', @$options], [$program]);

	is_deeply($sums, \%named, "the mix, @$options");
	is($funcs->{work}[0], expected($rounds, 'work')->{insns},
	    "a function's instructions, @$options");
}

my ($sums) = events(['--report=events'],
    [compile('events.S', @flags, "-DROUNDS=$rounds", '-DPOINTER')]);
is($sums->{$_}, '?', "not known behind a jump that leads anywhere: $_")
    for qw(insns branches);

# ---- two runs are the same

my @totals = map {
	my $run = run([$pmon, qw(--no-config --stat --deterministic),
		'/bin/echo', 'x']);

	(events_read($run->{err}))[0];
} 1 .. 2;
cmp_ok($totals[0]{insns}, '>', 10000, 'echo executes instructions');
is_deeply($totals[1], $totals[0], 'as many in the next run');
like(run([$pmon, qw(--no-config --deterministic -p 1)])->{err},
    qr/^pmon: --deterministic cannot be used with -p/, 'not with -p');
is(run([$pmon, qw(--no-config --deterministic -o /dev/null env)],
	env => { ZZ => 1, AA => 2, _ => 'x' })->{out} =~ s/^(?!AA|ZZ|_=).*\n//mgr,
    "AA=2\nZZ=1\n", 'the environment is in order');

# ---- blocks that control comes to in their middle only

my $comes = compile('comes.c', '-O1');
($sums) = events(['--event=insns@middle', '--event=func:middle'], [$comes]);
is_deeply($sums, { 'insns@middle' => 7 * 4, 'func:middle' => 0 },
    'instructions behind the middle');

# ---- the stubs through which a program calls libraries

# How it is linked, how often the stub of labs runs, and how often what fills
# slots at the first call: code behind the jump of a stub, and code in front of
# all stubs.  The slot of a function whose address is taken is filled at the
# start, unless addresses are fixed.
for ([['-Wl,-z,lazy'], 10, [1]], [['-Wl,-z,now'], 10, []],
    [['-fno-pie', '-no-pie', '-Wl,-z,lazy'], 13, [1, 2]],
    [['-fcf-protection', '-Wl,-z,lazy'], 10, [1]]) {
	my ($flags, $labs, $first) = @$_;
	my $stubs = compile('stubs.c', '-O1', '-fno-builtin', @$flags);
	my ($name, %runs, %codes) = '';

	is(ended(run([$pmon, qw(--no-config --exact --event=insns -r),
		"insns:$scratch/insns,sites:$scratch/sites", '-o',
		"$scratch/out", $stubs])), 'status 0', "@$flags");
	for (split /\n/, slurp("$scratch/insns")) {
		$name = $1 if /^(\S.*?)(?:  |$)/;
		$runs{$1}{$2 eq '#####' ? 0 : $2} = 1
		    if "$name $_" =~ /^(\w+\@plt|code at) .*?(\d+|#####)  +\w+:/;
	}
	is_deeply($runs{'labs@plt'}, { $labs => 1 }, "@$flags: one stub");
	is_deeply($runs{'llabs@plt'}, { 5 => 1 }, "@$flags: another");
	is_deeply([sort keys %{$runs{'code at'}}], $first,
	    "@$flags: code for the first call");
	unlike(slurp("$scratch/out"), qr/in no function/, "@$flags: all is there");
	unlike(slurp("$scratch/sites"), qr/^ +\d+ +\w+ +l?labs\@plt/m,
	    "@$flags: no traps");
}

# A file whose section headers have the stubs twice: in place of .fini's, too.
my $twice = slurp(compile('stubs.c', '-O1', '-fno-builtin', '-Wl,-z,lazy'));
my ($headers, $n, $strings) = unpack 'x40 Q< x12 S< S<', $twice;
my $names = unpack 'Q<', substr $twice, $headers + 64 * $strings + 24, 8;
my %header = map {
	my $at = $headers + 64 * $_;

	(unpack('Z*', substr $twice,
		$names + unpack 'L<', substr $twice, $at, 4) => $at);
} 0 .. $n - 1;
substr($twice, $header{'.fini'}, 64) = substr $twice, $header{'.plt'}, 64;
spew("$scratch/twice", $twice);
chmod 0700, "$scratch/twice";
($sums) = events(['--exact', '--event=insns'], ["$scratch/twice"]);
like($sums->{insns}, qr/^\d+$/, 'stubs that a file has twice are counted once');

# ---- sums, weights, names and places

sub
event_is
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($event, $expected) = @_;
	my ($sums) = events(["--event=$event"], [$program]);
	my $name = $event =~ s/^(\w+)=.*/$1/r;

	is_deeply($sums, { $name => $expected }, $event);
}

my ($work, $leaf) = map { expected($rounds, $_) } qw(work leaf);
my %line;
for (split /\n/, slurp($source)) {
	$line{$1} = 1 + keys %{$line{all}} if /^(\w+):\s/;
	$line{all}{1 + keys %{$line{all}}} = 1;
}
event_is('insns', $expected->{insns});
event_is('x=insns@work', $work->{insns});
event_is('insns:load@func:w*', $work->{'insns:load'});
event_is('insns:load@file:events.S', $expected->{'insns:load'});
event_is('insns@object:events-*', $expected->{insns});
event_is('3*insns:load+insns:store',
    3 * $expected->{'insns:load'} + $expected->{'insns:store'});
event_is('sum=func:work+2*func:leaf+1000*func:_start',
    $rounds + 2 * $rounds + 1000);
event_is('call:_start->work', $rounds);
event_is('call:work->leaf', $rounds);
event_is('call:work->work', 0);
event_is('call:*->!leaf', $rounds);
event_is('call:*->*', 2 * $rounds);
event_is('block:work', $rounds);
event_is('block:work+0x1', $rounds);
event_is('block:_start+0', 1);
event_is('edge:_start+0xc->_start+5', $rounds - 1);
event_is('edge:_start+12->_start+0xe', 1);
event_is("line:events.S:$line{inner}", 3 * $rounds);
event_is("line:events.S:$line{loop}\@file:events.S", $rounds);

# Calls of another object's functions: through slots, stubs, and pointers.
for my $flags ([], ['-fno-plt'], [qw(-fno-pie -no-pie)], ['-static']) {
	my $stubs = compile('stubs.c', '-O1', '-fno-builtin', @$flags);

	for (['call:main->labs', 13], ['call:main->llabs', 5],
	    ['call:main->*', 18], ['call:main->main', 0],
	    ['2*call:main->labs@file:stubs.c', 26]) {
		my ($event, $n) = @$_;
		my ($sums) = events(['--event', $event], [$stubs]);

		is_deeply($sums, { $event => $n }, "@$flags: $event");
	}
}

# ---- what is no event, and what names nothing

for (['insns:foo', 'unknown instructions "foo"; choose from load, store,'],
    ['foo', '"foo" is no event; choose from insns,'], ['x=', '"x=" counts noth'],
    ['insnsx', '"insnsx" is no event'], ['0*insns', 'a weight must be at least'],
    ['1000001*insns', 'a weight must be at least'], ['insns@', 'does not say wh'],
    ['line:x.c', '"line:x.c" is not line:FILE:NUMBER'],
    ['line:x.c:0', '"line:x.c:0" is not line:FILE:NUMBER'],
    ['call:main', '"call:main" is not call:FUNC->FUNC'],
    ['mix', 'two events are named "insns"'],
    ['edge:f', '"edge:f" is not edge:FUNC+OFFSET->FUNC+OFFSET'],
    ['func:', '"func:" lacks a function\'s name']) {
	my ($event, $message) = @$_;
	my $run = run([$pmon, '--no-config', $event eq 'mix' ?
		'--event=insns' : (), "--event=$event", $program]);

	is(ended($run), 'status 125', "$event: status");
	like($run->{err}, qr/^pmon: --event: .*\Q$message\E.*\n\z/, $event);
}
for ([qw(--func=leaf func:work)], ['--func=!leaf', 'call:leaf->work'],
    [qw(--func=leaf block:work)]) {
	my ($option, $event) = @$_;

	like(run([$pmon, '--no-config', $option, "--event=$event",
		    $program])->{err}, qr/did not count "\Q$event\E"/,
	    "$option leaves out $event");
}
for ('func:nosuch', 'block:work+0x2000', 'block:_start+1', 'line:events.S:1',
    'line:other.S:3', 'edge:work+1->work', 'call:nosuch->work') {
	my $run = run([$pmon, '--no-config', "--event=$_", $program]);

	is(ended($run), 'status 125', "$_: status");
	like($run->{err}, qr/^pmon: --event: pmon did not count "\Q$_\E"$/m,
	    "$_: message");
}
for ('insns@nosuch', 'insns@file:nosuch.c', 'insns@object:nosuch') {
	like(run([$pmon, '--no-config', "--event=$_", $program])->{err},
	    qr/^pmon: --event: pmon counted nothing at "\Q$_\E"$/m, $_);
}

($sums) = events_read(run([$pmon, '--no-config', '--event=func:work',
	'--event=none=func:work+func:nosuch', $program])->{err});
is_deeply($sums, { 'func:work' => $rounds, none => '?' },
    'the event with the name that is not there is not known');

# ---- data files

my ($before, $after, $few) = map { "$scratch/$_.out" } qw(before after few);

sub
printed
{
	return run([$pmprint, '--no-pager', @_]);
}

run([$pmon, '--no-config', '-d', $before, $program]);
run([$pmon, '--no-config', '-d', $after, $longer]);
run([$pmon, '--no-config', '-u', 'func', '-d', $few, $program]);
is_deeply((events_read(printed('-r', 'events', $before)->{out}))[0], \%named,
    'a data file has the same events');
my $run = printed('--event', 'insns', '--event', 'func:work', $few);
is_deeply((events_read($run->{out}))[0],
    { insns => '?', 'func:work' => $rounds },
    'instructions are not known where calls alone were counted');
like($run->{out}, qr/insns .*\n +\[units that it needs were not counted\]$/m,
    'which is said');
my $inlines = "$scratch/inlines.out";
run([$pmon, '--no-config', '-u', 'inline', '-d', $inlines, $program]);
for my $file ($few, $inlines) {
	for ('insns@leaf', 'block:leaf', 'call:work->leaf',
	    "line:events.S:$line{loop}") {
		like(printed('--event', $_, $file)->{out}, qr/^ +\? +\Q$_\E/m,
		    "$_ is not known");
	}
}

run([$pmon, '--no-config', '--stat', '-r', "csv:$scratch/x.csv",
	'-r', "json:$scratch/x.json", '-o', '/dev/null', $program]);
is_deeply({ slurp("$scratch/x.csv") =~ /^event,,"(\w+)",,,,,(\d+),\r$/mg },
    \%named, 'csv has them');
is_deeply({ map { $_->{name} => $_->{count} }
    @{decode_json(slurp("$scratch/x.json"))->{events}} }, \%named,
    'json has them');

# ---- changes

my %longer = %{expected($more)};
$run = printed('--diff', '--event', 'insns', '--event', 'func:work',
    '--event', 'insns:syscall', $before, $after);
is(ended($run), 'status 0', 'a change');
for (['insns', $expected->{insns}, $longer{insns}],
    ['func:work', $rounds, $more]) {
	my ($name, $old, $new) = @$_;
	my $share = sprintf '+%.2f%%', 100 * ($new - $old) / $old;

	like($run->{out}, qr/^\ +\+@{[$new - $old]}\ +\Q$share\E
		\ +$old\ +$new\ \ \Q$name\E$/mx,
	    "$name changed");
}
like($run->{out}, qr/^ +\+0 +0 +1 +1  insns:syscall$/m, 'nothing changed');
is(join(' ', $run->{out} =~ /^ +\+\d+ .*  (work|leaf|_start)$/mg),
    'work _start leaf', 'functions by how much they changed');
$run = printed('--diff', '--event', 'insns', $few, $after);
like($run->{out}, qr/^ +\? +\? +\? +$longer{insns}  insns/m,
    'not known before');
unlike($run->{out}, qr/ work$/m, 'so are functions');
my @parts = map {
	run([$pmon, '--no-config', "--func=$_", '-d', "$scratch/$_.out",
		$program]);
	"$scratch/$_.out";
} qw(work leaf);
$run = printed('--diff', '--event', 'func:work', '--event', 'func:leaf',
    '--event', 'func:_start', @parts);
like($run->{out}, qr/^ +-$rounds .* 0  func:work\n +\+(\d+) .* \1  func:leaf$/m,
    'functions that one file has');
like($run->{out}, qr/^ +\? .*  func:_start$/m, 'one that neither has');
is($run->{err}, qq(pmprint: --event: pmon did not count "func:_start"\n),
    'which is said');
my $once = "$scratch/once.out";
run([$pmon, '--no-config', '--once', '-d', $once, $program]);
like(printed('--diff', '--event', 'insns', $once, $after)->{err},
    qr/^pmprint: --report: events needs counts, but --once/, 'not of --once');

# ---- limits

my $rise = $longer{insns} - $expected->{insns};
my $percent = 100 * $rise / $expected->{insns};

for (["insns > +$rise", 0], ['insns > +' . ($rise - 1), 124],
    ["insns>$longer{insns}", 0], ['insns>' . ($longer{insns} - 1), 124],
    ["insns < +$rise", 0], ['insns < +' . ($rise + 1), 124],
    ['insns > +' . sprintf('%.3f', $percent + 0.001) . '%', 0],
    ['insns > +' . sprintf('%.3f', $percent - 0.001) . '%', 124],
    ['insns < -1%', 0], ['syscalls > +0', 0], ['syscalls < 2', 124]) {
	my ($limit, $status) = @$_;

	$run = printed('--diff', '--fail-if', $limit, $before, $after);
	is(ended($run), "status $status", "--diff, $limit");
	is($run->{err}, $status ? "pmprint: $limit: " . ($limit =~ /insns/ ?
		"insns went from $expected->{insns} to $longer{insns}\n" :
		"syscalls went from 1 to 1\n") : '', "--diff, $limit: message");
}
is(ended(printed('--diff', '--fail-if', 'insns < -1%', $after, $before)),
    'status 124', 'fewer than before');
for (["calls > @{[2 * $rounds]}", 0], ["calls < @{[2 * $rounds]}", 0],
    ["calls > @{[2 * $rounds - 1]}", 124], ["div < 100", 124]) {
	my ($limit, $status) = @$_;

	is(ended(run([$pmon, '--no-config', '--fail-if', $limit, $program])),
	    "status $status", "pmon, $limit");
	is(ended(printed('--fail-if', $limit, $before)), "status $status",
	    "pmprint, $limit");
}
for (['insns', 'is not EVENT > NUMBER'], ['insns > x', 'is not EVENT > NUMBER'],
    ['> 1', 'is not EVENT > NUMBER'], ['insns > 1%', 'is not EVENT > NUMBER'],
    ['insns > +1.2345%', 'is not EVENT >'], ['insns > 1.5', 'is not EVENT >'],
    ['insns > 99999999999999999999', 'is not EVENT > NUMBER'],
    ['insn > 1', 'no event is named "insn"'],
    ['insns > +1', '"insns > +1" needs two files: pmprint --diff']) {
	my ($limit, $message) = @$_;

	$run = run([$pmon, '--no-config', '--fail-if', $limit, $program]);
	is(ended($run), 'status 125', "$limit: status");
	like($run->{err}, qr/^pmon: --fail-if: .*\Q$message\E.*\n\z/, $limit);
}
$run = printed('--fail-if', 'insns > 1', $few);
is(ended($run), 'status 125', 'a limit of what is not known');
like($run->{err}, qr/^pmprint: --fail-if: insns is not known: units that/m,
    'which is said');
like(run([$pmon, '--once', '--event', 'insns', $program])->{err},
    qr/events needs counts, but --once/, 'not with --once');

done_testing;
