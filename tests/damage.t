# Programs that make memory of pmon's in their own address space unusable: they
# go on as they do alone, and what they have lost of their counts is not known.
# tests/prog/damage.c knows how often it calls its functions.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

$ENV{HOME} = '/';

my $plain = compile('damage.c', '-O2', '-pthread');
my $may_have_changed = "a fault in pmon's memory may have changed what the " .
    'process does with signal 11';
my @said = (qr/the program changed the counters/,
    qr/pmon had to give up the relocated function/);

# What the program does to the memory, and what becomes of the counts: they are
# known, or not, for a reason that @said has.
my %counters = (
	none => 'known',
	blocked => 'known',
	ignored => 'known',
	read => 'known',
	key => 'known',
	drop => 'known',
	guard => 'known',
	wipe => 'known',
	# Something else may have been there meanwhile.
	unmap => 0,
	page => 0,
	move => 0,
	fork => 0,
	# Something else is there.
	reserve => 0,
	over => 0,
	copy => 0,
);
my %code = (
	(map { $_ => 'known' }
	    qw(none blocked ignored read key drop guard wipe unmap page move
		fork)),
	# Something else is there.
	(map { $_ => 1 } qw(reserve over fill part)),
);

# The runs of a program that does this to the memory; known: of its counts.
sub
damaged
{
	my ($options, $program, $known, $what, $how, $rounds, $threads) = @_;
	my @args = ($what, $how, $rounds // 1, $threads // 1);
	my $name = "@$options @args";
	my $alone = run([$program, @args]);
	my $run = monitor(['--func=work', '--func=peek', @$options],
	    [$program, @args]);
	my $works = $args[2] + 2 + $args[2] * ($args[3] - 1) +
	    ($how =~ /^(?:fork|wipe|blocked|ignored)$/ ? $args[2] : 0);
	(my $report = $run->{report}) =~ s/\s+/ /g;

	$report =~ s/Note: \S+: compiled with .*? as written //;
	# A thread that leaves its handler has the signal blocked.  If another
	# faults at that moment, nobody knows for which of them the kernel has
	# unblocked it, and pmon says so.
	$report =~ s/Note: process \d+: $may_have_changed //
	    if $args[3] > 1;

	is(ended($run), 'status 0', "$name: it lives");
	is($run->{out}, $alone->{out}, '  and does what it does alone');
	if ($known eq 'known') {
		counts_are($run, { work => 1000 * $works,
			peek => $args[2] + 1 }, '  known');
		unlike($report, qr/Note:/, '  not a word');
	} else {
		counts_are($run, { work => '?', peek => '?' }, '  unknown');
		like($report, $said[$known], '  why');
		like($report, qr/Note:/, '  said');
	}
	return $run;
}

for my $units ('func', 'edge,func') {
	damaged(["--units=$units"], $plain, $counters{$_}, 'counters', $_)
	    for sort keys %counters;
	damaged(["--units=$units"], $plain, $code{$_}, 'code', $_)
	    for sort keys %code;
}
damaged(['--placement=every', '--units=insn,func'], $plain, $code{$_}, 'code',
    $_) for qw(none unmap part over);

# Slots.
damaged(['--patch=trap', '--units=block,func'], $plain, 'known', 'code', $_)
    for qw(none blocked ignored unmap page drop over reserve fill part);

# Counters that all threads share.
SKIP: {
	skip 'gs is of x86-64', 1 if qx(uname -m) !~ /x86_64/;
	my $shared = compile('damage.c', '-O2', '-pthread', '-mfsgsbase',
	    '-DGS');

	damaged(['--units=func'], $shared, $counters{$_}, 'counters', $_)
	    for sort keys %counters;
	damaged(['--units=func'], $shared, 0, 'counters', 'reserve', 5, 4);
	damaged(['--units=func'], $shared, $code{$_}, 'code', $_)
	    for qw(none over);
}

# Several threads at once.  What is dropped of code that another thread executes
# is not to be had in time, so that is not tried.
for (qw(none read unmap reserve)) {
	damaged(['--units=func'], $plain, $counters{$_}, 'counters', $_, 20, 4);
}
damaged(['--units=edge,func'], $plain, $code{$_}, 'code', $_,
    $slow && $_ eq 'unmap' ? 200 : 20, 4)
    for qw(none unmap over);

# A register that a probe has saved in a page that is gone.
damaged(['--placement=every', '--units=block,func', '--func=carries'], $plain,
    0, 'counters', 'gone', 20);

# Again and again: each time costs one stop, until pmon has had enough.
{
	my $run = damaged(["--report=sites:$scratch/sites"], $plain, 'known',
	    'counters', 'none', 50);

	like(slurp("$scratch/sites"),
	    qr/^ +50 .* fault, the program has changed pmon's memory$/m,
	    'a stop for each time');
}
damaged(['--units=func'], $plain, 0, 'counters', 'none', 1100);
damaged(['--units=func'], $plain, 1, 'code', 'none', 1100);

done_testing;
