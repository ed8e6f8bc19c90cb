# Calls and lines of programs whose counts follow from arithmetic, for every
# patch and every kind of executable.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $rounds = 6;
my %calls = (
	main => 1, outer => $rounds, middle => 3 * $rounds,
	leaf => 15 * $rounds, fib => 177 * $rounds, even => 4 * $rounds,
	odd => 4 * $rounds, add => 2 * $rounds, sub => $rounds, never => 0,
	(map { $_ => $rounds } qw(ret_only adjacent loop_self head_is_entry
	    self_is_entry flags_first stack_segment syscall_first call_first
	    jump_first jump_memory_first call_memory_first rip_first lea_first
	    jrcxz_first lock_first push_first red_zone cmp_first adc_first
	    sse_first leave_first prefix_first cpuid_first tail_first
	    tail_second tail_third)),
	table_to_end => 3 * $rounds, at_the_end => 2 * $rounds,
	rep_first => 2 * $rounds, four => 2 * $rounds, five => 2 * $rounds,
);
my %asm = %{annotated('tests/prog/calls_asm.S', R => $rounds)};
my %c = %{annotated('tests/prog/calls.c', R => $rounds)};

ok(keys %asm > 130 && keys %c > 10, 'lines are annotated');

my %kinds = (
	'-O0' => [qw(-O0)],
	'-O2' => [qw(-O2)],
	'no PIE' => [qw(-O0 -no-pie)],
	'static' => [qw(-O2 -static)],
	'static PIE' => [qw(-O0 -static-pie)],
	'DWARF 4' => [qw(-O0 -gdwarf-4)],
	'compressed' => [qw(-O0 -gz=zlib)],
	'lazy PLT' => ['-O2', '-Wl,-z,lazy'],
	'two text segments' => ['-O2', '-Wl,--section-start=.fini=0x2600000'],
);
for my $kind (sort keys %kinds) {
	my @flags = @{$kinds{$kind}};
	my $program = compile(['calls.c', 'calls_asm.S'], @flags);
	my $alone = run([$program, $rounds]);

	is($alone->{status}, 7, "$kind: runs alone");
	for my $patch (@patches) {
		my $run = monitor(["--patch=$patch"], [$program, $rounds]);
		my $what = "$kind, $patch";

		same($alone, $run, $what);
		counts_are($run, \%calls, $what);
		lines_are($run, 'calls_asm.S', \%asm, "$what, assembly");
		lines_are($run, 'calls.c', \%c, "$what, C")
		    if grep { /^-O0/ } @flags;
	}
}

# Fewer units are counted alike.
my $program = compile(['calls.c', 'calls_asm.S'], '-O0');
for my $patch (@patches) {
	my $run = monitor(["--patch=$patch", '--units=func'],
	    [$program, $rounds]);
	counts_are($run, \%calls, "$patch, functions only");

	$run = monitor(["--patch=$patch", '--func=fib', '--func=od*'],
	    [$program, $rounds]);
	is_deeply($run->{funcs}, { fib => 177 * $rounds, odd => 4 * $rounds },
	    "$patch, two functions only");

	my ($line) = grep { $asm{$_} == $rounds * 10 &&
	    ($asm{$_ + 1} // 0) == $rounds * 10 } sort keys %asm;
	$run = monitor(["--patch=$patch", '--units=line',
	    "--line=calls_asm.S:$line-" . ($line + 1)], [$program, $rounds]);
	is_deeply($run->{lines}{'calls_asm.S'},
	    { $line => $rounds * 10, $line + 1 => $rounds * 10 },
	    "$patch, two lines only");
}

# Calls of a function that loops to where it begins are counted in its copy:
# traps would be as many as the loop has rounds.
monitor(['--units=func', "--report=sites:$scratch/sites"], [$program, $rounds]);
my $sites = slurp("$scratch/sites");
unlike($sites, qr/ $_\b/, "$_: no trap")
    for qw(head_is_entry self_is_entry table_to_end at_the_end);
like($sites, qr/ tail_third\b/, 'but where there is no room for a jump');

done_testing;
