# Counts against callgrind's, which executes every instruction itself.  How
# often each function was called: how often the instruction at its entry ran,
# less the jumps to it from the same function.  How often each instruction
# ran, and each branch was taken.  Programs with symbols, built here, and
# Debian's own stripped ones.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Benchmarks;
use Counts;
use Pmon;
use Sources;

my $dir = "$scratch/callgrind";
mkdir $dir or die;

# Callgrind gives the program some variables more than it has itself, and in
# another order, and programs hash their environment: let it be the same.
# Slots of the linker's stubs are filled at the start, as threads may race.
my @base = ('HOME=/nonexistent', 'LC_ALL=C', 'LD_BIND_NOW=1', "PATH=$ENV{PATH}",
    'PYTHONHASHSEED=0', 'PYTHONDONTWRITEBYTECODE=1', 'TZ=UTC',
    'GIT_CONFIG_NOSYSTEM=1', 'GIT_PAGER=cat');
# Python hashes addresses, and has a shorter way to compare numbers below
# 2**30, which the thread's number, an address, is under valgrind only.
push @base, 'LD_PRELOAD=' .
    abs_path(compile('steady.c', '-O2', '-shared', '-fPIC'));
my @valgrind = ('env', '-i', @base, 'valgrind', '--tool=callgrind',
    '--trace-children=no', '--skip-plt=no', "--log-file=$dir/log");
my @same = split /\0/, run([@valgrind,
    "--callgrind-out-file=$dir/env.cg", '/usr/bin/env', '-0'])->{out};
plan skip_all => 'valgrind does not run here' unless @same;

# Callgrind's file: for the object, at each address, how often the
# instruction ran (ir), how often it was called (calls) or jumped to (jumped),
# and from where in the object control was sent there (from: { address =>
# times }).
sub
callgrind_read
{
	my ($file, $object) = @_;
	my (%ir, %calls, %jumped, %from, $here, $callee_here, $call, $jump);

	open my $in, '<', $file or die "$file: $!";
	local $_;
	while (<$in>) {
		if (/^0x(\w+) \d+ ?(\d*)/) {
			if (my $sent = $jump || $call) {
				$from{hex $sent->[1]}{hex $1} += $sent->[0]
				    if $here;
				undef $_ for $jump, $call;
			} elsif ($here) {
				$ir{hex $1} += $2;
			}
		} elsif (/^ob=(.*)/) {
			$here = $1 eq $object;
		} elsif (/^cob=(.*)/) {
			$callee_here = $1 eq $object;
		} elsif (/^calls=(\d+) 0x(\w+)/) {
			$calls{hex $2} += $1 if $callee_here // $here;
			$call = $callee_here // $here ? [$1, $2] : [0, 0];
			undef $callee_here;
		} elsif (/^jump=(\d+) 0x(\w+)/ || /^jcnd=(\d+)\/\d+ 0x(\w+)/) {
			$jumped{hex $2} += $1 if $here;
			$jump = [$1, $2];
		}
	}
	return { ir => \%ir, calls => \%calls, jumped => \%jumped,
	    from => \%from };
}

# Functions by what binutils say: names { name => { address => 1 } } from the
# symbol tables, and parts, [from, to, function's address] of the code they
# are made of, from the unwind table; the parts called X.cold belong to X.
# Without names, what begins in the middle of a frame, with something pushed,
# is such a part.  Text is the range of .text, code is what is there.
sub
functions_read
{
	my ($program) = @_;
	my (%names, %cold, @parts);

	for (map { split /\n/, run(['nm', $_, '--defined-only', $program])
	    ->{out} } '-a', '-D') {
		next unless /^(\w+) [tTwWiV] ([^@]+)/;
		$names{$2}{hex $1} = 1;
	}
	for my $name (grep { /\.cold$/ } keys %names) {
		my @hot = keys %{$names{$name =~ s/\.cold$//r} // {}};
		$cold{$_} = $hot[0] for keys %{$names{$name}};
	}
	my $frames = run(['readelf', '--wide', '--debug-dump=frames',
	    $program])->{out};
	while ($frames =~ /FDE .*pc=(\w+)\.\.(\w+)\n(?:.*augm.*\n)?(.*)/gi) {
		my ($lo, $hi) = (hex $1, hex $2);

		$cold{$lo} //= -1 if $3 =~ /DW_CFA_(?:def_cfa|offset)/;
		push @parts, [$lo, $hi, $cold{$lo} // $lo];
	}
	my ($lo, $offset, $size) = map { hex } run(['readelf', '--wide', '-S',
	    $program])->{out} =~ /\] \.text +PROGBITS +(\w+) (\w+) (\w+)/
	    or die "$program: .text?";
	return { names => \%names, cold => \%cold,
	    text => [$lo, $lo + $size],
	    code => substr(slurp($program), $offset, $size),
	    parts => [sort { $a->[0] <=> $b->[0] } @parts] };
}

sub
in_text
{
	my ($functions, $addr) = @_;

	return $addr >= $functions->{text}[0] && $addr < $functions->{text}[1];
}

# The address of the function that this address is in, or -1.
sub
function_at
{
	my ($functions, $addr) = @_;
	my $parts = $functions->{parts};
	my ($lo, $hi) = (0, scalar @$parts);

	while ($lo < $hi) {
		my $mid = int(($lo + $hi) / 2);

		if ($parts->[$mid][0] <= $addr) {
			$lo = $mid + 1;
		} else {
			$hi = $mid;
		}
	}
	return -1 if $lo == 0 || $parts->[$lo - 1][1] <= $addr;
	return $parts->[$lo - 1][2];
}

# Is the instruction of .text at this address a call?  Callgrind takes a jump
# to the beginning of a function for one.
sub
is_call
{
	my ($functions, $addr) = @_;
	my $bytes = substr $functions->{code},
	    $addr - $functions->{text}[0], 8;

	return $bytes =~ /^[\x3e\x40-\x4f\x66\x67\xf2]*
	    (?:\xe8|\xff[\x10-\x1f\x50-\x5f\x90-\x9f\xd0-\xdf])/x;
}

# According to callgrind, how often the function's first instruction ran, and
# how often control jumped there from within the function.
sub
entered
{
	my ($cg, $functions, $addr) = @_;
	my $jumps = 0;
	my $from = $cg->{from}{$addr} // {};

	for (keys %$from) {
		$jumps += $from->{$_} if function_at($functions, $_) == $addr &&
		    !is_call($functions, $_);
	}
	return ($cg->{ir}{$addr} // 0, $jumps);
}

# Run the program under pmon: the run, with funcs.
sub
called
{
	my ($options, $argv, %opt) = @_;

	unlink "$dir/funcs";
	my $run = run(['env', '-i', @same, $pmon, '--units=func',
	    '--follow=none', '--no-demangle', '--exact',
	    "--report=funcs:$dir/funcs", @$options, '--', @$argv], %opt);
	$run->{funcs} = funcs_read("$dir/funcs");
	return $run;
}

# Run the program under both and compare.  Options: in_file, patches, least (so
# many functions must have been called), by_kernel (functions the kernel calls =>
# how often), units (to be counted), everywhere (all that is counted and derived
# is compared with counters everywhere, too).
sub
compare
{
	my ($what, $argv, %opt) = @_;
	my $program = abs_path($argv->[0]);
	# Valgrind keeps the last signal for itself and says it is ignored.
	%opt = (before => sub { $SIG{RTMAX} = 'IGNORE' }, %opt);
	my $functions = functions_read($program);
	# Python looks at its files' times, and who reads one first changes
	# the time of access it was installed with.
	run(['env', '-i', @same, @$argv], %opt);
	my $cg_run = run([@valgrind, '--dump-instr=yes', '--collect-jumps=yes',
	    '--compress-strings=no', '--compress-pos=no',
	    "--callgrind-out-file=$dir/cg", @$argv], %opt);
	my $cg = callgrind_read("$dir/cg", $program);

	for my $patch (@{$opt{patches} // ['auto']}) {
		my $run = called(["--patch=$patch"], $argv, %opt);
		my $label = "$what, $patch";

		same($cg_run, $run, $label);
		my %bad = agree($label, $cg, $functions, $run->{funcs}, %opt);
		is(scalar keys %bad, 0, "$label: calls of " .
		    keys(%{$run->{funcs}}) . ' functions')
		    or diag map { "$_\n" } (sort values %bad);
	}
	my $run = everything([], $argv, kinds => $opt{everywhere} ? undef :
	    [qw(insns edges)], %opt);
	same($cg_run, $run, "$what, everything");
	instructions($what, $cg, $functions, $run->{counts});
	return unless $opt{everywhere};
	my $all = everything(['--placement=every', $slow ?
	    '--patch=slot' : ()], $argv, %opt);
	is_deeply([counts_differ($all->{counts}, $run->{counts})], [],
	    "$what: as everywhere");
}

# Count everything.
sub
everything
{
	my ($options, $argv, %opt) = @_;

	return counted(['--follow=none', @$options], $argv, %opt,
	    via => ['env', '-i', @same]);
}

# Does the count of every instruction of .text agree, and how often each
# branch was taken?  A repeated string instruction is for callgrind one that
# jumps to itself.  Nothing is left out but what is in no function: what the
# compiler's crtstuff.c has no unwind tables for, when stripped.
sub
instructions
{
	my ($what, $cg, $functions, $counts) = @_;
	my (%sent, %known, @bad, $repeated);
	my %n = (insn => 0, taken => 0, unknown => 0);

	for my $to (keys %{$cg->{from}}) {
		$sent{$_}{$to} += $cg->{from}{$to}{$_}
		    for keys %{$cg->{from}{$to}};
	}
	for (sort keys %$counts) {
		my ($kind, $addr) = /^(insn|taken) .* ([0-9a-f]+)$/ or next;
		my ($here, $is) = (hex $addr, 0);
		my $branch = exists $counts->{s/^insn/taken/r};

		next unless in_text($functions, $here);
		$known{$here} = 1;
		if ($kind eq 'taken') {
			$is += $_ for values %{$sent{$here} // {}};
		} else {
			my $again = $branch ? 0 : $sent{$here}{$here} // 0;

			$is = ($cg->{ir}{$here} // 0) - $again;
			$repeated += $again;
		}
		$n{$kind}++;
		$n{unknown}++ if $counts->{$_} eq '?';
		push @bad, "$_: pmon $counts->{$_}, callgrind $is"
		    if $counts->{$_} ne '?' && $counts->{$_} ne $is;
	}
	push @bad, sprintf('%x: callgrind only', $_) for grep {
	    $cg->{ir}{$_} && !$known{$_} && in_text($functions, $_) &&
	    function_at($functions, $_) != -1 } keys %{$cg->{ir}};
	cmp_ok($n{taken}, '>', 5, "$what: branches are compared");
	is(scalar @bad, 0, "$what: counts of $n{insn} instructions and " .
	    "$n{taken} branches") or diag map { "$_\n" } splice @bad, 0, 30;
	is($n{unknown}, 0, "$what: none is unknown");
	diag "$what: $n{insn} instructions, $n{taken} branches, " .
	    ($repeated // 0) . ' repetitions';
}

# Are pmon's counts of all functions callgrind's, and are no functions left
# out?  The functions whose counts are not: { name => how they differ }.
sub
agree
{
	my ($label, $cg, $functions, $funcs, %opt) = @_;
	my (%bad, @odd, %known, $called);

	for my $name (sort keys %$funcs) {
		my ($one) = $name =~ /^(\S+)/;
		my @addrs = $one =~ /^func_([0-9a-f]+)$/ ? hex $1 :
		    keys %{$functions->{names}{$one} // {}};
		my ($count, $sent) = (0, $opt{by_kernel}{$one} // 0);

		for my $addr (@addrs) {
			my ($ran, $jumps) = entered($cg, $functions, $addr);
			$known{$addr} = 1;
			$count += $ran - $jumps;
			$sent += ($cg->{calls}{$addr} // 0) +
			    ($cg->{jumped}{$addr} // 0) - $jumps;
		}
		$called++ if $funcs->{$name};
		# Callgrind has what is in other sections under no object.
		next if @addrs && !grep { in_text($functions, $_) } @addrs;
		push @odd, "$one: entered $count times, sent there $sent times"
		    if $count != $sent;
		next if @addrs && $count eq $funcs->{$name};
		$bad{$one} = sprintf '%s (%s): pmon %s, callgrind %d', $name,
		    join(',', map { sprintf '%x', $_ } @addrs),
		    $funcs->{$name}, $count;
	}
	is(scalar @odd, 0, "$label: callgrind agrees with itself")
	    or diag map { "$_\n" } splice @odd, 0, 30;
	cmp_ok($called // 0, '>=', $opt{least}, "$label: of which many ran");
	my @missing = grep { $cg->{ir}{$_} && !$known{$_} &&
	    !$functions->{cold}{$_} } map { $_->[0] } @{$functions->{parts}};
	is(join(' ', map { sprintf '%x', $_ } @missing), '',
	    "$label: functions that ran and are not reported");
	return %bad;
}

sub
text
{
	my ($size) = @_;
	my ($state, $text) = (1, '');
	my @words = qw(counts are exact on every thread and in every process
	    followed whatever the patch says);

	while (length $text < $size) {
		$state = ($state * 1103515245 + 12345) & 0x7fffffff;
		$text .= $words[($state >> 16) % @words] .
		    ($state >> 12 & 15 ? ' ' : "\n");
	}
	return $text;
}

# The same of a program of bench/programs.  With PMON_BENCHMARKS=full it does
# all that it does there, which takes minutes; or else little, for a count of
# everything to be compared as well.
my $full = ($ENV{PMON_BENCHMARKS} // '') eq 'full';

sub
benchmark
{
	my ($benchmark) = @_;
	my ($name, $what) = ($benchmark->{name}, "benchmark $benchmark->{name}");
	my $program = $benchmark->{builder}->($name, $cc);
	my @arguments = map { -e ? abs_path($_) : $_ }
	    @{$benchmark->{arguments}};
	my %opt = (in_file => abs_path($benchmark->{input}));

	SKIP: {
		skip $Sources::reason, 1 unless $program;
		my $argv = [abs_path($program), @arguments];
		# Where indirect calls go is seen by traps.
		compare($what, $argv, %opt, least => 1,
		    $full ? (units => 'func,edge,insn') : (everywhere => 1));
	}
}

sub
built
{
	my ($name, $what, $arguments, %opt) = @_;
	my $from = source_optimised($name);

	SKIP: {
		skip $Sources::reason, 1 unless $from;
		compare($what, ["$from/$name", @$arguments], %opt);
	}
}

# Debian's own program, stripped; it may be missing.
sub
stripped
{
	my ($program, $what, $arguments, %opt) = @_;

	SKIP: {
		skip "no $program here", 1 unless -x $program;
		compare($what, [$program, @$arguments], %opt);
	}
}

# A small repository with a fixed history.
sub
repository
{
	my $repo = "$dir/repo";
	my @git = ('env', '-i', @base, 'GIT_AUTHOR_DATE=@1000000000 +0000',
	    'GIT_COMMITTER_DATE=@1000000000 +0000', 'git', '-c',
	    'user.name=A', '-c', 'user.email=a@b', '-c', 'gc.auto=0', '-C',
	    $repo);

	mkdir $repo;
	run([@git, 'init', '-q']);
	for my $i (1 .. 6) {
		spew("$repo/a", text(300 * $i));
		spew("$repo/b$i", "$i\n");
		run([@git, 'add', '.']);
		my $made = run([@git, 'commit', '-q', '-m', "change $i"]);
		return undef if $made->{status};
	}
	return $repo;
}

my @all = qw(step slot emulate trap auto);
my @some = $slow ? @all : qw(trap auto);
compare('C++ exceptions', [abs_path(compile('except.cc', '-O2')), 20],
    patches => \@all, least => 35);
compare('C++ exceptions and cleanups',
    [abs_path(compile('throw.cc', '-O0', '-w', '-pthread')), 'busy'],
    least => 10);
compare('threads', [abs_path(compile('threads.c', '-O2', '-pthread')),
    qw(hammer 4 50)], least => 8);
stripped('/usr/bin/gzip', 'gzip', ['-9c'], in_file => spew("$dir/zip",
    text(20000)), least => 15, everywhere => 1);
built('bzip2', 'bzip2', ['-c'], in_file => spew("$dir/text", text($slow ? 30000 : 10000)),
    patches => \@some, least => 30, everywhere => 1);
built('lua', 'lua', [abs_path('tests/prog/work.lua'), $slow ? 6 : 2], least => 300,
    patches => \@some, everywhere => 1);
built('sqlite3', 'sqlite3', [':memory:'], least => 500,
    in_file => abs_path('tests/prog/work.sql'));

# To configure gzip takes half a minute, and the compiler ten seconds for
# regex.  What is compared of gzip, bzip2 and lua is compared above; and regex is
# templates of C++ as map is.
benchmark($_) for grep { $slow || $full ||
    $_->{name} !~ /^(?:bzip2|gzip|lua|regex)$/ } benchmarks(!$full);

stripped('/usr/bin/bash', 'bash', ['--norc', abs_path('tests/prog/work.sh'),
    3], least => 300, by_kernel => { trap_handler => 1 });
if ($slow) {
	# Of half a million instructions and more.
	my $repo = -x '/usr/bin/git' && repository();
	stripped('/usr/bin/git', 'git', ['-C', $repo, qw(log -p --stat)],
	    least => 500);
	stripped('/usr/bin/python3', 'python3', ['-S',
	    abs_path('tests/prog/work.py'), 1], least => 1000);
}

done_testing;
