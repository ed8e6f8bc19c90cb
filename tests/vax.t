# VAX programs, on SIMH.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Simulated;

plan(skip_all => 'vax780 is not installed (simh)')
    if system('command -v vax780 >/dev/null');

# Bishop's cycle, counting inside the machine, and each placement.
for my $argv (['shell.O0'], ['shell.O2'], ['signals.O0', 's'],
    ['signals.O2', 'T'], ['lang.O2']) {
	my @argv = ("tests/vax/$argv->[0]", @$argv[1 .. $#$argv]);
	# Events are slow: of the sort they are one program's.
	my @step = $slow || $argv->[0] ne 'shell.O2' ? '--patch=step' : ();
	my $every = counts_of(['--placement=every', @step], \@argv);

	ok(!grep({ $_ eq '?' } values %{$every->{insns}}),
	    "@$argv: everything is counted");
	for my $options ([], @step ? ([@step], ['--placement=every']) : ()) {
		my $run = counts_of($options, \@argv);

		is($run->{out}, $every->{out}, "@$argv @$options: output");
		is($run->{status}, $every->{status}, '  and status');
		counts_equal($run->{insns}, $every->{insns},
		    "@$argv @$options: counts");
	}
}

# A death loses no count: what comes before it, and the call it was in.
for my $case (['s', 11, 'an access violation'], ['i', 4, 'HALT'],
    ['o', 4, 'a reserved operand']) {
	my ($arg, $signal, $what) = @$case;

	for my $options ([], ['--patch=step'], ['--placement=every']) {
		my $run = counts_of($options, ['tests/vax/signals.O0', $arg]);

		is($run->{status}, 128 + $signal, "$what @$options: status");
		is_deeply([@{$run->{funcs}}{qw(main run count)}], [1, 1, 0],
		    '  and calls');
	}
}

# bzip2's library, four thousand lines that are not pmon's own, compressing
# and expanding: counted inside the machine on optimal places and on every
# block; and with events, which are slower, a function of many loops.
my @bzip = ('tests/vax/bzip.O2', 'tests/vax/src/stdlib.h');
my $bzip = counts_of(['--placement=every'], \@bzip);

like($bzip->{out}, qr/^\d+ \d+\nsame\n$/, 'bzip2: output');
ok(!grep({ $_ eq '?' } values %{$bzip->{insns}}), '  all is counted');
counts_equal(counts_of([], \@bzip)->{insns}, $bzip->{insns},
    '  counts on optimal places');
my $some = counts_of(['--patch=step', '--func=BZ2_hbMakeCodeLengths'],
    \@bzip)->{insns};

counts_equal($some, {map { $_ => $bzip->{insns}{$_} } keys %$some},
    '  and with events');

bishop_test('tests/vax/bishop.O0', 'VAX');
data_test(['tests/vax/lang.O2'], 'VAX');

# Sources named from the root, of the compiler's library, and from here.
monitor(["--report=cobertura:$scratch/xml"], ['tests/vax/lang.O2']);
my $xml = slurp("$scratch/xml");

is_deeply([sort $xml =~ /filename="([^"]+)"/g],
    [qw(tests/vax/src/lang.c tests/vax/src/lib.c
    tmp/vax/src/gcc-12.2.0/libgcc/libgcc2.c)], 'cobertura: files');
is_deeply([$xml =~ m{<source>(.*?)</source>}g], ['/', '.'],
    '  and where they are');

# The program's numbers are those of its own generator.
my $seed = 12345;
my @v = map { $seed = ($seed * 1103515245 + 12345) & 0xffffffff;
	$seed >> 16 & 0x7fff } 1 .. 100;
my ($outer, $middle, $inner, $body) = shell_sort(@v);
my $run = counts_of([], ['tests/vax/shell.O0']);
my $lines = $run->{lines}{'shell.c'};

is($lines->{19}, $outer, 'the outer loop');
is($lines->{20}, $middle, 'the middle loop');
is($lines->{$_}, $body, "line $_ of the inner loop") for 23 .. 25;
is($run->{funcs}{rnd}, 100, 'calls');

loop_test(['tests/vax/signals.O0', 'l'], 'VAX');
killed_test(['tests/vax/signals.O0', 'l'], 'VAX');
children_gone('no simulator is left', 'vax780');

$run = run([$pmon, 'tests/vax/shell.O0'], env => { PATH => '/nowhere' });
is($run->{status}, 125, 'without a simulator');
like($run->{err}, qr/install the package simh/, '  and why');

done_testing;
