# Signal handlers that change the context that they return to: control goes
# elsewhere, or comes back later by a return.  No count is wrong, and none is
# unknown, but for code that nothing is known to lead to.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

# How often these instructions begin, as the source says: of 80 calls of f 10
# are interrupted, and 5 of these have the argument 5.
my %alone = (f => 80, f_fault => 80, f_behind => 80, f_first => 80,
    f_second => 80, f_after => 0, f_fix => 5, f_inside => 5, f_return => 80,
    h => 10, h_inside => 5);
my %not_behind = (f_behind => 70, f_first => 70, f_second => 70, f_fix => 0,
    f_inside => 0);
my @cases = (
	['middle back', f_fault => 90],
	['middle beyond'],
	['middle skip'],
	['middle out', %not_behind, f_return => 70],
	['middle fix', %not_behind, f_fix => 10, f_inside => 10],
	['middle other', %not_behind, f_return => 70, h_inside => 15],
	['first back', f_first => 90],
	['first out', f_second => 70, f_fix => 0, f_inside => 0,
	    f_return => 70],
	['first inside', f_second => 70, f_fix => 0, f_inside => 10],
	['sent back', f_after => 10],
	['sent out', f_fix => 0, f_inside => 0, f_return => 70],
);
my $program = compile('diverts.c', '-O1');
my %at = map { /^0*(\w+) \w (\w+)$/ ? ($2 => $1) : () } `nm $program`;

for my $case (@cases) {
	my ($mode, %here) = @$case;
	my %expected = (%alone, %here);

	for my $way (['--patch=auto'], ['--patch=trap'],
	    ['--placement=vertex'], ['--placement=every']) {
		next if !$slow && $way->[0] eq '--placement=vertex' &&
		    $mode ne 'middle back';
		my $run = counted([@$way, '--func=[fgh]'],
		    [$program, split / /, $mode]);
		my $what = "$mode, @$way";
		my %counts = %{$run->{counts}};

		is(ended($run), 'status 0', "$what: it goes on");
		is_deeply({ map { $_ => $counts{"insn - $at{$_}"} }
		    keys %expected }, \%expected, "$what: instructions");
		is($counts{'func f'}, 80, "$what: calls");
		is_deeply(counts_unknown(\%counts), {}, "$what: all are known");
	}
}

# Handlers that go on behind an instruction that stops: what nothing was known
# to lead to is unknown then, and no count is wrong.
{
	my $strays = compile('strays.c', '-O1', '-w');
	my %began = (ud => 6, ud_behind => 6, halt => 12, halt_behind => 12,
	    one => 6, one_behind => 6, jumps => 6, deep => 6, deep_end => 6,
	    deep_behind => 6, some => 6, some_loop => 24, some_join => 24,
	    some_end => 6, main => 1, main_behind => 1, skip => 19);
	my @funcs = qw(ud halt one jumps deep some main skip);
	my %label = map { /^0*(\w+) \w (\w+)$/ ? ($2 => $1) : () } `nm $strays`;

	for my $way (['--patch=auto'], ['--patch=trap'],
	    ['--placement=vertex'], ['--placement=every'],
	    ['--func=main'], ['--func=some', '--patch=trap'], ['--once']) {
		my %counts = %{counted($way, [$strays])->{counts}};
		my %once = map { $_ => 1 } $way->[0] eq '--once' ?
		    keys %began : ();
		my %expected = map { $_ => $once{$_} // $began{$_} } keys %began;
		my %insns = map { $_ => $counts{"insn - $label{$_}"} // '?' }
		    keys %began;
		my %calls = map { $_ => $counts{"func $_"} // '?' } @funcs;

		for (keys %began) {
			$expected{$_} = '?' if $insns{$_} eq '?';
		}
		is_deeply(\%insns, \%expected, "strays, @$way: instructions");
		is_deeply([grep { $calls{$_} ne '?' &&
		    $calls{$_} != ($once{$_} // $began{$_}) } @funcs], [],
		    "strays, @$way: calls");
		next if grep { /func/ } @$way;
		is($calls{$_}, $began{$_}, "  calls of $_")
		    for %once ? () : qw(ud halt one jumps skip),
		    "@$way" =~ /auto|every/ ? qw(deep some main) : ();
		is($insns{$_}, '?', "  unknown: $_")
		    for qw(ud_behind halt_behind one_behind main_behind);
	}
}

done_testing();
