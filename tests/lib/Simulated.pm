# What the tests of simulated CPUs share: counts of instructions as pmon
# reports them, and as the simulator's own trace has them.
package Simulated;

use strict;
use warnings;
use Exporter qw(import);
use Test::More;
use Pmon;

our @EXPORT = qw(counts_of insns_read trace_counts counts_equal
    shell_sort bishop_test called_so_far data_test loop_test qemu_tests
    children_tests children_gone killed_test);

# By this the processes that this test started are known from others.
$ENV{PMON_TEST} = $$;

mkdir "$scratch/runtime", 0700;
$ENV{XDG_RUNTIME_DIR} = "$scratch/runtime";

# A report of instructions: address => how often it ran.
sub
insns_read
{
	my ($text) = @_;
	my %n;

	while ($text =~ /^ +(\d+|#####|\?) +([0-9a-f]+):  /mg) {
		$n{hex $2} = $1 eq '#####' ? 0 : $1;
	}
	return \%n;
}

# Run a program under pmon; its counts are in {insns}, lines in {lines}.
sub
counts_of
{
	my ($options, $argv, %opt) = @_;
	my $run = monitor(['--units=func,line,edge,insn',
	    "--report=insns:$scratch/insns", @$options], $argv, %opt);

	$run->{insns} = insns_read(slurp("$scratch/insns"));
	unlink "$scratch/insns";
	return $run;
}

# Qemu's option to run instructions one by one: renamed in 8.1.
sub
step_option
{
	my ($qemu) = @_;

	return `$qemu -help` =~ /-one-insn-per-tb/ ? '-one-insn-per-tb' :
	    '-singlestep';
}

# How often qemu says that it ran the instruction at each address.
sub
trace_counts
{
	my ($qemu, $argv) = @_;
	my $log = "$scratch/trace";
	my $run = run(['/usr/bin/env', $qemu, step_option($qemu), '-d',
	    'exec,nochain', '-D', $log, @$argv]);
	my %n;

	open my $in, '<', $log or die "$log: $!";
	while (<$in>) {
		$n{hex $1}++ if m{^Trace .*?\[[0-9a-f]+/([0-9a-f]+)/};
	}
	unlink $log;
	$run->{insns} = \%n;
	return $run;
}

# Every instruction that ran, or that pmon knows, has the same count.
sub
counts_equal
{
	my ($got, $truth, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @wrong;

	for my $addr (sort { $a <=> $b } keys %{{%$got, %$truth}}) {
		my ($n, $true) = ($got->{$addr} // 'none', $truth->{$addr} // 0);

		push @wrong, sprintf '%x: %s, not %s', $addr, $n, $true
		    if $n ne $true;
	}
	ok(!@wrong && keys %$truth > 20, $name) or
	    diag join "\n", @wrong[0 .. ($#wrong < 9 ? $#wrong : 9)];
}

# How often the parts of a Shell sort run, for numbers to be sorted: what is
# counted of the outer, the middle and the inner loop's test, and of its body.
sub
shell_sort
{
	my @v = @_;
	my ($outer, $middle, $inner, $body) = (1, 0, 0, 0);

	for (my $gap = int(@v / 2); $gap > 0; $gap = int($gap / 2)) {
		$outer++;
		$middle++;
		for my $i ($gap .. $#v) {
			$middle++;
			my $j = $i - $gap;

			$inner++;
			while ($j >= 0 && $v[$j] > $v[$j + $gap]) {
				@v[$j, $j + $gap] = @v[$j + $gap, $j];
				$body++;
				$inner++;
				$j -= $gap;
			}
		}
	}
	return ($outer, $middle, $inner, $body);
}

# Bishop's sample, run with 4.2BSD's random numbers (tests/m68k/random.c) as he
# did, against what he printed: "Profiling under UNIX by Patching", the listing
# by CTRACE 1.3.  His counts of loops are of their first parts, which is where
# his compiler had the line begin; pmon counts each round in addition.
sub
bishop_test
{
	my ($program, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($main, $n, $once, $gaps, $insertions, $swaps) =
	    (1, 100, 1, 6, 503, 386);
	my %counts = (4 => $main, 9 => $once + $n, 10 => $n, 12 => $once,
	    13 => $once, 17 => $once, 20 => $once + $gaps,
	    21 => $gaps + $insertions, 22 => $insertions + $swaps,
	    23 => $swaps, 24 => $swaps, 25 => $swaps, 28 => $once);
	my @source = split /\n/, slurp('demo/shell.c') =~ s/\t/        /gr;
	my $run = run([$pmon, '--file=shell.c', "--report=listing:$scratch/l",
	    $program]);
	my @rows = slurp("$scratch/l") =~ /^\S*shell\.c +(\d+ .*)$/mg;

	is_deeply([map { s/ +/ /gr } @rows], [map {
		my $text = "$_ " . ($counts{$_} // '') . ":  $source[$_ - 1]";

		$text =~ s/ +/ /g;
		$text =~ s/ $//r } 1 .. @source], "$name: Bishop's listing")
	    or diag join "\n", @rows;
}

# What a data file has is what the run had: the same reports, all known.
sub
data_test
{
	my ($argv, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @reports = qw(listing funcs blocks edges insns calls);
	my $units = '--units=func,line,block,edge,insn,call';
	my $file = "$scratch/$name.out";

	run([$pmon, $units, "--data=$file", '--report=' . join(',',
	    map { "$_:$scratch/$_" } @reports), @$argv]);
	for my $report (@reports) {
		my $run = run(["$build/pmprint", $units, "--report=$report",
		    $file]);

		ok($run->{out} eq slurp("$scratch/$report"),
		    "$name: $report of the data file");
		unlike($run->{out}, qr/^ +\? /m, '  all is known');
	}
}

# Has pmon come so far that ^C is for it and the program?
sub
catches_int
{
	my ($pid) = @_;

	return slurp("/proc/$pid/status") =~ /^SigCgt:\s+([0-9a-f]+)/m &&
	    hex(substr $1, -1) & 2;
}

# How often pmon has seen the function called so far.
sub
called_so_far
{
	my ($started, $function) = @_;
	my $asked = run([$pmon, '--query=funcs', $started->{pid}]);

	spew("$scratch/funcs", $asked->{out});
	return funcs_read("$scratch/funcs")->{$function} // 0;
}

# A loop without end is ended by a time, and by ^C when it has begun.
sub
loop_test
{
	my ($argv, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $run = monitor(['--duration=0.2'], $argv);

	is($run->{status}, 128 + 15, "$name: a loop is ended");
	my $started = monitor_start(["--units=func,line,edge,insn",
	    "--report=insns:$scratch/insns"], $argv);

	ok(wait_for(sub { called_so_far($started, 'main') }),
	    "$name: it has begun");
	kill INT => $started->{pid};
	$run = monitor_finish($started);
	like($run->{report}, qr/Counts of/, "$name: ^C: the report comes");
	is($run->{funcs}{main}, 1, "$name: and it has been counted");
	unlike(slurp("$scratch/insns"), qr/^ +\? /m, "$name: all of it");
	unlink "$scratch/insns";
}

# Crashes, signals and endless loops.
sub
ends_test
{
	my ($qemu, $name) = @_;
	my $program = "tests/m68k/many-O0.$name";

	for my $case (['-crash', 11], ['-raise', 15]) {
		my ($arg, $signal) = @$case;
		my $every = counts_of(['--placement=every'], [$program, $arg]);
		my $run = counts_of([], [$program, $arg]);

		is($run->{status}, 128 + $signal, "$name $arg: its status");
		counts_equal($run->{insns},
		    trace_counts($qemu, [$program, $arg])->{insns},
		    "$name $arg: counts against the trace");
		is_deeply($run->{insns}, $every->{insns},
		    "$name $arg: no count is lost");
	}
	loop_test([$program, '-loop'], $name);
	killed_test([$program, '-loop'], $name);
	children_gone("$name: no simulator is left", $program);
}

# Forks, threads and execs of a program of the C library.  Its children go
# their own way; it is counted as if there were none.
sub
children_tests
{
	my ($qemu, $compiler) = @_;

	if (system("command -v $compiler >$scratch/version 2>&1")) {
		note("no forks, threads, execs: $compiler is not installed");
		return;
	}
	my $program = "$scratch/children";

	system($compiler, '-g', '-O1', '-static', '-pthread', '-o', $program,
	    'tests/prog/children.c') == 0 or die "$compiler failed";
	for my $args (['fork', 3], ['system'], ['exec']) {
		my $alone = run(['/usr/bin/env', $qemu, $program, @$args]);
		my $every = counts_of(['--file=children.c',
		    '--placement=every'], [$program, @$args]);

		same($alone, $every, "$qemu, @$args, every");
		# What a child does is not counted, before an exec once.
		is($every->{funcs}{work}, $args->[0] eq 'exec' ? 1 : 2,
		    '  calls');
		is($every->{funcs}{fork_one}, $args->[1] // 0, '  forks');
		for my $options (['--patch=step'], []) {
			my $run = counts_of(['--file=children.c', @$options],
			    [$program, @$args]);

			same($alone, $run, "$qemu, @$args @$options");
			is_deeply($run->{insns}, $every->{insns},
			    '  counts');
		}
	}
	my @threads = ($program, 'threads', 4);
	my $alone = run(['/usr/bin/env', $qemu, @threads]);

	for my $options (['--patch=step'], []) {
		my $run = counts_of(['--file=children.c', @$options],
		    \@threads);

		same($alone, $run, "$qemu, threads @$options");
		is_deeply([grep { $_ ne '?' } values %{$run->{funcs}}], [],
		    '  nothing is known');
		like($run->{report} =~ s/\s+/ /gr, qr/program started threads/,
		    '  and why');
	}
	children_gone("$qemu: no child is left", $program);
}

# The fixtures of one CPU: against each other, the simulator's trace and
# arithmetic.
sub
qemu_tests
{
	my ($qemu, @names) = @_;
	my $turn = 0;

	if (system("$qemu --version >$scratch/version 2>&1")) {
		plan(skip_all => "$qemu is not installed (qemu-user)");
	}
	for my $name (@names) {
		for my $source ('shell-O0', 'shell-O2', 'many-O0', 'many-O2') {
			my $argv = ["tests/m68k/$source.$name",
			    $source =~ /many/ ? 'demo/shell.c' : ()];
			my $truth = trace_counts($qemu, $argv);

			my @ways = (['--patch=step'], ['--eager'],
			    ['--patch=slot'], ['--placement=every']);

			# By turns two of them.
			@ways = @ways[$turn % 2, 2 + $turn % 2], $turn++
			    unless $slow;
			for my $options (@ways, []) {
				my $run = counts_of($options, $argv);
				my $what = "$source.$name @$options";

				same($run, $truth, $what);
				counts_equal($run->{insns}, $truth->{insns},
				    "$what: against the trace");
			}
		}
		bishop_test("tests/m68k/shell-O0.$name", $name);
		data_test(["tests/m68k/many-O2.$name", 'demo/shell.c'], $name);
		ends_test($qemu, $name);
	}
	my $run = run([$pmon, "tests/m68k/shell-O0.$names[0]"],
	    env => { PATH => '/nowhere' });

	is($run->{status}, 125, 'without a simulator');
	like($run->{err}, qr/install the package qemu-user/, '  and why');
}

# pmon is killed in the middle: the simulator does not go on without it.
sub
killed_test
{
	my ($argv, $name) = @_;
	my $started = monitor_start([], $argv);

	wait_for(sub { catches_int($started->{pid}) });
	my @children = children_of($started->{pid});
	kill KILL => $started->{pid};
	my $run = monitor_finish($started);

	is($run->{signal}, 9, "$name: pmon is killed");
	ok(@children > 0, '  which had a simulator');
	ok(wait_for(sub { !grep { -e "/proc/$_/cmdline" &&
	    length slurp("/proc/$_/cmdline") } @children }),
	    '  that is gone then');
}

# No process is left that was started for this one and whose command line has
# this in it.
sub
children_gone
{
	my ($name, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @left = grep {
		-e "$_/cmdline" && slurp("$_/cmdline") =~ /\Q$what/ &&
		    slurp("$_/environ") =~ /(?:^|\0)PMON_TEST=$$\0/
	} glob '/proc/[0-9]*';

	is("@left", '', $name);
}

1;
