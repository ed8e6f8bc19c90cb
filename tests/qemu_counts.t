# Counting inside qemu, by pmon's plugin, and by traps: the same counts, with
# signals, system calls that begin again, jumps out of handlers, text that the
# program changes, and children.  Where qemu loads no plugin, traps count.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Simulated;

my @reports = qw(insns edges calls blocks);

# The simulator that a run of pmon has started.
sub
simulator_of
{
	my ($started) = @_;

	return (grep { slurp("/proc/$_/cmdline") =~ /^qemu-/ }
	    children_of($started->{pid}))[0];
}

# Send so many SIGALRM to tests/prog/interrupted.c, each while it waits.
sub
alarms_send
{
	my ($started, $n) = @_;

	for my $sent (0 .. $n - 1) {
		my $pid;

		wait_for(sub {
			my $out = slurp("$started->{base}.out");
			my ($file) = $out =~ /^file (\d+)$/m or return 0;
			my $read = sprintf '0 0x%x ', $file;

			$pid = simulator_of($started) or return 0;
			return (() = $out =~ /^alarm$/mg) == $sent &&
			    slurp("/proc/$pid/syscall") =~ /^$read/;
		}) or return diag "it does not wait for alarm $sent";
		kill ALRM => $pid;
	}
}

# What pmon reports of a run, and its stops.
sub
reports
{
	my ($options, $argv, %opt) = @_;
	my $started = start([$pmon, '--units=func,line,block,edge,insn,call',
	    '--report=summary', (map { "--report=$_:$scratch/$_" } @reports),
	    '-o', "$scratch/summary", @$options, @$argv], %opt);
	alarms_send($started, $opt{alarms} // 0);
	my $run = finish($started);

	$run->{$_} = slurp("$scratch/$_") for @reports, 'summary';
	return $run;
}

sub
equal
{
	my ($options, $argv, $name, %opt) = @_;
	my ($inside, $traps) = map { reports([$_, '--eager', @$options],
	    $argv, %opt) } '--patch=auto', '--patch=trap';

	is($inside->{out}, $traps->{out}, "$name: what it writes");
	is($inside->{status}, $traps->{status}, '  how it ends');
	is($inside->{$_}, $traps->{$_}, "  its $_") for @reports;
	return $inside;
}

sub
stops_of
{
	return $_[0]{summary} =~ /([\d]+)\s+stops?/ ? $1 : undef;
}

for my $case (['qemu-m68k', 'm68k', 'm68k-linux-gnu-gcc'],
    ['qemu-aarch64', 'aarch64', 'aarch64-linux-gnu-gcc']) {
	my ($qemu, $name, $compiler) = @$case;

	if (system("$qemu --version >$scratch/version 2>&1")) {
		note("$name: $qemu is not installed (qemu-user)");
		next;
	}
	for my $options ([], ['--placement=every'], ['--placement=vertex']) {
		my $run = equal($options,
		    ["tests/m68k/many-O2.$name", 'demo/shell.c'],
		    "many-O2.$name @$options");

		is(stops_of($run), 1, '  without stops');
	}
	my $sites = run([$pmon, '--no-config', '--report=sites', '-o',
	    "$scratch/sites", "tests/m68k/many-O2.$name", 'demo/shell.c']);
	like(slurp("$scratch/sites"), qr/^  \d+ sites counted inside the /m,
	    "$name: sites are no traps");
	unlike(slurp("$scratch/sites"), qr/by a trap|WHY A TRAP/,
	    '  and are not listed as such');
	my $argv = ["tests/m68k/shell-O2.$name"];
	my $truth = trace_counts($qemu, $argv);
	my $run = reports([], $argv);

	counts_equal(insns_read($run->{insns}), $truth->{insns},
	    "$name: each instruction as qemu's own trace has it");

	# Qemu that refuses plugins, ignores them, or cannot load this one.
	my $bin = "$scratch/bin";
	my $real = qx(sh -c "command -v $qemu") =~ s/\n//r;
	my %refuses = (
	    option => 'case $* in *-plugin*) echo usage; echo no >&2; exit 1; esac',
	    ignored => 'for arg; do shift; case $arg in ' .
		'-plugin|*pmon-qemu*) ;; *) set -- "$@" "$arg"; esac; done',
	    api => 'for arg; do shift; case $arg in *pmon-qemu*) ' .
		'arg=/dev/null; esac; set -- "$@" "$arg"; done');

	mkdir $bin;
	for my $how (sort keys %refuses) {
		spew("$bin/$qemu", "#!/bin/sh\n$refuses{$how}\n" .
		    "exec $real \"\$@\"\n");
		chmod 0755, "$bin/$qemu";
		my $slow = reports(['--eager'], $argv,
		    env => { PATH => "$bin:$ENV{PATH}" });

		is($slow->{insns}, $run->{insns},
		    "$name, plugins refused ($how): the same counts");
		is($slow->{$_}, $run->{$_}, "  the same $_") for qw(out err);
		cmp_ok(stops_of($slow), '>', 100, '  by traps')
		    or diag($slow->{summary}, $slow->{err});
		like($slow->{summary} =~ s/\s+/ /gr,
		    qr/slow: \Q$qemu\E does not load pmon-qemu\.so/,
		    '  which the report says');
		unlink "$bin/$qemu";
	}
	if (system("command -v $compiler >$scratch/version 2>&1")) {
		note("$name: no signals: $compiler is not installed");
		next;
	}
	my $program = "$scratch/interrupted.$name";

	system($compiler, '-g', '-w', '-O1', '-static', '-o', $program,
	    'tests/prog/interrupted.c') == 0 or die "$compiler failed";
	for my $end ('none', 'leave', 'crash', 'raise') {
		my $run = equal(['--file=interrupted.c'], [$program, $end],
		    "$name, signals, $end", alarms => $end eq 'leave' ? 10 : 9);

		# Each read was begun once, whatever interrupted it.
		spew("$scratch/insns", $run->{insns});
		like($run->{edges}, qr/^wait_byte\ .*\ @{[
		    $end eq 'leave' ? 4 : 3]}\ calls$/mx, '  reads');
	}
	# A program that reads and changes its own text.
	my $own = "$scratch/own.$name";

	spew("$scratch/own.c", <<'END');
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline, aligned(64))) int
one(int n)
{
	return n + 1;
}

__attribute__((noinline, aligned(64))) int
two(int n)
{
	return n + 2;
}

int
main(void)
{
	unsigned sum = 0;
	char *page = (char *)((unsigned long)one & -4096ul);
	int n = 0;

	for (unsigned char *p = (void *)one; p < (unsigned char *)main; p++)
		sum = sum * 31 + *p;
	printf("%u\n", sum);
	for (int i = 0; i < 5; i++)
		n = one(n);
	mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy((void *)one, (void *)two, 16);
	__builtin___clear_cache((char *)one, (char *)one + 16);
	for (int i = 0; i < 5; i++)
		n = one(n);
	printf("%d\n", n);
	return 0;
}
END
	system($compiler, '-g', '-w', '-O1', '-static', '-o', $own,
	    "$scratch/own.c") == 0 or die "$compiler failed";
	my $alone = run(['/usr/bin/env', $qemu, $own]);

	$run = counts_of(['--file=own.c'], [$own]);
	is($run->{out}, $alone->{out}, "$name: it sees its own text");
	is($run->{funcs}{one}, 10, '  and is counted');

	# Killed by others, it has counted up to then.
	my $started = monitor_start(['--units=func,insn', '--placement=every',
	    "--report=insns:$scratch/insns"],
	    ["tests/m68k/many-O2.$name", '-loop']);

	# Also before its first instruction, when nothing is counted yet.
	ok(wait_for(sub { called_so_far($started, 'main') eq '1' }),
	    "$name: it loops");
	kill KILL => simulator_of($started);
	$run = monitor_finish($started);
	is($run->{status}, 128 + 9, '  and is killed');
	cmp_ok((sort { $b <=> $a } grep { $_ ne '?' }
	    values %{insns_read(slurp("$scratch/insns"))})[0] // 0, '>', 0,
	    '  its counts are there');
}
done_testing();
