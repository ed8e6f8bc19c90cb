# Reports of code on real programs: what they say agrees with each other, with
# callgrind, and with what a program must do.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Path qw(make_path);
use List::Util qw(sum0);
use Test::More;
use Pmon;
use Sources;

my $dir = "$scratch/reports";
make_path($dir);
my @kinds = qw(summary funcs files lines insns blocks edges calls placement);

# Run a program; the text of each report.  Options: units, in_file, placement.
sub
reports
{
	my ($argv, $units, %opt) = @_;
	my %text;
	my @wants = map { "$_:$dir/$_" } @kinds, 'cfg';
	my $run = run([$pmon, '--exact', "--units=$units",
		@{$opt{options} // []}, '--report=' . join(',', @wants),
		'--', @$argv], %opt,
	    env => { COLUMNS => 80 });

	is(ended($run), 'status ' . ($opt{status} // 0),
	    "@$argv[0]: it ends") or diag($run->{err});
	$text{$_} = slurp("$dir/$_") for @kinds, 'cfg';
	unlink glob "$dir/*";
	return \%text;
}

# The rows of funcs: [executed, calls, instructions, never, name].
sub
funcs
{
	my ($text) = @_;
	my ($column) = map { length $1 } $text =~ /^( +EXECUTED .*)FUNCTION$/m;

	return map { [/^ *(\d+|\?|-) +(\d+|\?|-) +(\d+|-) +(\d+|-) /,
		substr $_, $column] } grep { /^ *(\d|\?|-).* \d+ +\d+  / }
	    split /\n/, $text =~ s/.*FUNCTION\n//sr;
}

# The rows of insns by function: name => [[address, count, text], ...].
sub
insns
{
	my ($text) = @_;
	my (%insns, $name);

	for (split /\n/, $text =~ s/.*?\n\n//sr) {
		if (/^ +(\d+|\?|#####)  +([0-9a-f]+):  (.*)/) {
			push @{$insns{$name}}, [hex $2,
			    $1 eq '#####' ? 0 : $1, $3];
		} elsif (/^(\S.*?)(?:  |$)/) {
			$name = $1;
		}
	}
	return \%insns;
}

# The rows of calls: [caller, count, address, callee].
sub
calls
{
	my ($text) = @_;
	my ($name, $column, @calls);

	for (split /\n/, $text =~ s/.*?\n\n//sr) {
		if (/^( +TIMES .*)CALLS$/) {
			$column = length $1;
		} elsif (/^ +(\d+|\?)  +([0-9a-f]+)  /) {
			push @calls, [$name, $1, hex $2,
			    substr($_, $column)];
		} elsif (/^(\S.*?)(?:  |$)/) {
			$name = $1;
		}
	}
	return @calls;
}

# What all reports of one run must agree on.
sub
agree
{
	my ($what, $text) = @_;
	my @funcs = funcs($text->{funcs});
	my $insns = insns($text->{insns});
	my @insns = map { @$_ } values %$insns;
	my ($head) = $text->{funcs} =~ /^  (\d+) instructions executed/m;
	my ($file) = $text->{files} =~ /^ *(\d+) .* \(all\)$/m;
	my @lines = $text->{lines} =~ /^\S+ +\d+ +(?:\d+|#####) +(\d+) +\d+:/mg;
	my ($rest) = $text->{lines} =~
	    /^Outside the lines above: (\d+) executed/m;
	my ($counted, $run, $never) = $text->{summary} =~
	    /^ *(\d+) +(\d+) +[\d.]+ % +(\d+) +0  instructions$/m;

	cmp_ok($head, '>', 0, "$what: instructions were executed");
	is(sum0(map { $_->[0] } @funcs), $head, "$what: sum over functions");
	is(sum0(map { $_->[1] } @insns), $head, "$what: sum over instructions");
	is($file, $head, "$what: sum over files");
	is(sum0(@lines) + ($rest // 0), $head, "$what: sum over lines");
	is(scalar @insns, $counted, "$what: instructions");
	is(scalar(grep { !$_->[1] } @insns), $never, "$what: never executed");
	is(sum0(map { $_->[3] } @funcs), $never, "$what: ... by function");

	# The summary has the first of the program's own functions.
	my @own = grep { $_->[4] !~ /^(?:_init|_fini|_start|frame_dummy|
	    (?:de)?register_tm_clones|__do_global_dtors_aux)$/x } @funcs;
	my ($busy) = $text->{summary} =~
	    /^Functions that executed most instructions:\n.*\n((?:.+\n)+)/m;
	my @first = map { [$_->[0], int($_->[0] * 1000 / $head) / 10, $_->[1],
	    int $_->[0] / $_->[1]] } grep { $_->[0] && $_->[1] =~ /^[1-9]/ }
	    @own[0 .. (@own < 20 ? $#own : 19)];
	# Those without calls have "-".
	my @rows = map { [map { 0 + $_ } (split ' ')[0 .. 3]] }
	    grep { !/ - / } split /\n/, $busy;
	is_deeply(\@rows, \@first, "$what: functions of the summary");

	# Blocks: those of the placement, the files and their own report.
	my @blocks = $text->{blocks} =~ /^ +(\d+) +[0-9a-f]+ +\d+(?:  |$)/mg;
	my ($bbe, $bb) = $text->{files} =~
	    /^ *\d+ +\d+ +\d+ +(\d+) +(\d+) +\d+  \(all\)$/m;
	my @never = $text->{blocks} =~ /^  never run: (\d+) block/mg;

	is(sum0(@blocks), $bbe, "$what: block executions");
	is(@blocks + sum0(@never), $bb, "$what: blocks");
	my ($every) = $text->{placement} =~
	    /^ *\d+ +\d+ +\d+ +\d+ +\d+ +(\d+) +\S+  \(all\)$/m;
	is($every, $bbe, "$what: what a counter on every block would count");

	# Every call of a function comes from outside or a call site.
	my %calls;
	my @calls = calls($text->{calls});
	$calls{$_->[3] =~ s/ \((?:in|tail).*//r} += $_->[1] for @calls;
	my @wrong = grep { $_->[1] ne '-' &&
	    ($calls{$_->[4]} // 0) > $_->[1] } @funcs;
	is(scalar @wrong, 0, "$what: no function has more callers than calls")
	    or diag("$wrong[0][4]: $wrong[0][1]");
	is($text->{calls} =~ /^  (\d+) calls from/m && $1,
	    sum0(map { $_->[1] } @calls), "$what: calls");

	# A graph's nodes are the blocks.
	my $nodes = () = $text->{cfg} =~ /^\t\t"[\d.]+" \[label="\w+-\w+\\l/mg;
	is($nodes, $bb, "$what: blocks drawn");
	return { funcs => \@funcs, calls => \@calls, insns => $insns };
}

# callgrind's file: instructions executed by function, and calls as
# {caller}{callee}, of one object.  A function that is called by itself has
# several names, f'2.
sub
callgrind
{
	my ($argv, %opt) = @_;
	my (%ir, %calls, %names, $here, $there, $fn, $cfn, $call);
	my $file = "$dir/callgrind";

	run(['valgrind', '--tool=callgrind', '--compress-strings=no',
	    '--compress-pos=no',
	    '--dump-instr=yes', '--skip-plt=no', "--callgrind-out-file=$file",
	    "--log-file=$dir/log", @$argv], %opt);
	open my $in, '<', $file or return;
	local $_;
	while (<$in>) {
		if (/^ob=(.*)/) {
			$here = $1 eq $argv->[0];
		} elsif (/^fn=(.*?)(?:'\d+)?$/) {
			$fn = $1;
			undef $there;
		} elsif (/^cob=(.*)/) {
			$there = $1 eq $argv->[0];
		} elsif (/^cfn=(.*?)(?:'\d+)?$/) {
			$cfn = $1;
		} elsif (/^calls=(\d+)/) {
			$calls{$fn}{$cfn} += $1 if $here && ($there // 1);
			undef $there;
			$call = 1;
		} elsif (/^0x\w+ \d+ ?(\d*)/) {
			$ir{$fn} += $1 if $here && !$call;
			$call = 0;
		}
	}
	unlink glob "$dir/*";
	return { ir => \%ir, calls => \%calls };
}

# Functions with instructions that callgrind counts once for each round (rep)
# are left out.
sub
compare
{
	my ($what, $found, $argv, %opt) = @_;
	my $other = callgrind($argv, %opt);

	SKIP: {
		skip 'no valgrind here', 1 unless $other && %{$other->{ir}};
		my (%mine, %theirs);
		for my $func (@{$found->{funcs}}) {
			my $name = $func->[4];
			next if grep { $_->[2] =~ /^rep/ }
			    @{$found->{insns}{$name} // []};
			next if !exists $other->{ir}{$name};
			$mine{$name} = $func->[0];
			$theirs{$name} = $other->{ir}{$name};
		}
		is_deeply(\%mine, \%theirs, "$what: callgrind's instructions");
		cmp_ok(scalar keys %mine, '>=', $opt{least},
		    "$what: functions were compared");
		my (%calls, %calls_there);
		for (@{$found->{calls}}) {
			my ($caller, $n, undef, $callee) = @$_;
			# How it is called may have been cut off.
			$callee =~ s/ \((?:indirect|tail|\.\.\.).*//;
			$calls{"$caller > $callee"} += $n
			    if exists $mine{$caller} && exists $mine{$callee};
		}
		for my $caller (grep { exists $mine{$_} }
		    keys %{$other->{calls}}) {
			$calls_there{"$caller > $_"} =
			    $other->{calls}{$caller}{$_}
			    for grep { exists $mine{$_} }
			    keys %{$other->{calls}{$caller}};
		}
		is_deeply(\%calls, \%calls_there, "$what: callgrind's calls");
	}
}

# ---- a program whose counts are known

my $all = 'func,line,block,edge,insn,call';
my $n = 48;
for my $flags ('-O0', '-O2') {
	my $program = abs_path(compile('reports.c', $flags));
	my $text = reports([$program, $n], $all);
	my $found = agree("known, $flags", $text);

	compare("known, $flags", $found, [$program, $n], least => 4);
	my %calls;
	$calls{"$_->[0] > $_->[3]"} += $_->[1]
	    for grep { $_->[0] =~ /^(?:main|twice)$/ && $_->[3] !~ /@/ }
	    @{$found->{calls}};
	is_deeply(\%calls, { 'main > pick' => $n, 'twice > leaf' => $n / 2,
	    'main > leaf (indirect)' => $n * 3 / 4,
	    'main > twice (indirect)' => $n / 4 }, "known, $flags: calls");
	my ($pick) = $text->{edges} =~ /^pick  [^\n]*\n(.*?)^$/ms;
	my @cases = $pick =~ /^ +[0-9a-f]+ +(\d+) +12\.5(?:  |$)/mg;
	is_deeply(\@cases, [($n / 8) x 8], "known, $flags: jump table")
	    or diag($pick);
	my @long = grep { length > 80 } map { split /\n/ }
	    @$text{grep { !/^(?:funcs|files|lines|cfg)$/ } keys %$text};
	is("@long", '', "known, $flags: 80 columns");
	next if $flags ne '-O0';

	# The test is the head of a for, the body that of a do.
	my ($main) = $text->{edges} =~ /^main  [^\n]*\n(.*?)^$/ms;
	my ($rounds, $body) = ($n + 1, 3 * $n);
	my ($most, $few) = ($n * 3 / 4, $n / 4);
	like($main, qr/^ +\w+ +1 +$rounds +$rounds\.0  \S+:53$/m,
	    'the for loop');
	like($main, qr/^ +\w+ +$n +$body +3\.0  \S+:61$/m, 'the do loop');
	like($main, qr/^ +\w+ +\w+ +$most +$few +75\.0  \S+:57$/m, 'the if');
	like($text->{edges}, qr/^idle  .*\n  never run: /m, 'never called');
}

# A jump that leaves the function, by a table.
for my $placement (qw(optimal vertex every)) {
	my $program = compile('leaves.S');
	my $run = run([$pmon, "--placement=$placement", '--report=' .
		"funcs:$dir/funcs,insns:$dir/insns,calls:$dir/calls",
		'--units=func,insn,call', $program]);
	my %funcs = map { $_->[4] => "@$_[0, 1]" }
	    funcs(slurp("$dir/funcs"));
	my @calls = grep { $_->[0] eq 'f' } calls(slurp("$dir/calls"));

	# 2 instructions each time, 5 more by the table, 2 in each case.
	is($funcs{f}, (40 * 2 + 20 * 5 + 30 * 2) . ' 40',
	    "leaves, $placement: f");
	is($funcs{g}, '20 10', "leaves, $placement: g");
	is("@{$calls[0]}[1, 3]", '10 g (indirect tail call)',
	    "leaves, $placement: the call");
}

# ---- programs from source

my @text = map { "line $_ of a text to be compressed\n" } 1 .. 12;
my $lua = 'local t = {} for i = 1, 60 do t[i] = i * 37 % 60 end ' .
    'table.sort(t) local s = "" for i, v in ipairs(t) do s = s .. v end ' .
    'print(#s, s:find("1011"), select("#", table.unpack(t)))';
my $input = spew("$scratch/text", join '', @text);
for (['bzip2', ['-c'], in_file => $input, least => 20],
    ['lua', ['-e', $lua], least => 100]) {
	my ($name, $arguments, %opt) = @$_;
	my $from = source_build($name, '-O2', '-g');

	SKIP: {
		skip $Sources::reason, 1 unless $from;
		my @argv = ("$from/$name", @$arguments);
		my $text = reports(\@argv, $all, %opt);
		my $found = agree($name, $text);

		compare($name, $found, \@argv, %opt);
		my ($ratio) = $text->{placement} =~ /(\S+)  \(all\)$/m;
		cmp_ok($ratio, '>', 1, "$name: counters are saved");
	}
}

# ---- the same without being asked for units, and drawn

my $program = compile('reports.c', '-O0');
for my $kind (@kinds[1 .. $#kinds]) {
	my $run = run([$pmon, "--report=$kind:$dir/x", $program, $n]);

	is(ended($run), 'status 0', "$kind alone: it ends");
	like(slurp("$dir/x"), qr/\bmain\b|reports\.c/,
	    "$kind alone: counts what it needs");
}
SKIP: {
	skip 'no graphviz here', 3 unless grep { -x "$_/dot" }
	    split /:/, $ENV{PATH};
	run([$pmon, "--report=cfg:$dir/x.dot", '--func=main', '--func=pick',
	    $program, $n]);
	my $svg = run(['dot', '-Tsvg', "$dir/x.dot"]);
	is(ended($svg), 'status 0', 'dot reads the graph');
	is($svg->{err}, '', 'and has nothing to say');
	my $clusters = () = $svg->{out} =~ /class="cluster"/g;
	is($clusters, 2, 'each function is a cluster');
}

# ---- several objects, of names shorter than the heading

my @objects = map {
	my $path = "$dir/$_";

	system($cc, '-g', '-o', $path, spew("$path.c", <<"END")) == 0 or die;
#include <unistd.h>
int main(int argc, char **argv)
{
	return argc > 1 ? execl(argv[1], argv[1], (char *)0) : 0;
}
END
	$path;
} 'a', 'b';
run([$pmon, '--units=func,insn', "--report=funcs:$dir/work", '--', @objects]);
run([$pmon, '--units=func', "--report=funcs:$dir/funcs", '--', @objects]);
for ('funcs', 'work') {
	my ($head, @rows) = grep { /OBJECT|main/ } split /\n/, slurp("$dir/$_");

	like($head, qr/ OBJECT  DECLARED AT  FUNCTION$/, "$_: the heading");
	is(join(' ', sort map { substr($_, index($head, 'OBJECT'), 7) =~
		/^(\S+) / } @rows), 'a b', 'and objects under it');
}

# ---- -c: of the summary only the functions, -f: as is usual

my $brief_of = compile('reports.c', '-O1');
my $brief = run([$pmon, '-f', '-c', '--', $brief_of, 80]);
my $whole = run([$pmon, '--units=func,insn', '--', $brief_of, 80]);
my $busy = qr/^(Functions that executed most instructions:\n(?:.+\n)+)/m;
is(ended($brief), 'status 0', 'a short summary');
is(($brief->{err} =~ $busy)[0], ($whole->{err} =~ $busy)[0],
    'has the functions of the long one');
is($brief->{err} =~ s/$busy//r =~ s/\d+\.\d\d s/TIME/r =~ s/\n+\z/\n/r,
    "Counts of $brief_of 80\n  exited with status 0; TIME, " .
    ($whole->{err} =~ /(1 process, .*)/)[0] . "\n", 'and nothing else');
my $both = run([$pmon, '-c', '-r', 'summary,lines', '--', $brief_of, 80]);
like($both->{err}, qr/^Functions that executed most.*reports\.c +\d+ /ms,
    'beside other reports');

done_testing;
