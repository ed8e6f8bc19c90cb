# Functions with a jump whose targets are not known, of which calls alone are
# counted: they are entered by a jump, not a trap, until control comes to one of
# the bytes that this overwrites; the counts and the program's output are always
# as with traps.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Left;
use Pmon;
use Target;

$ENV{HOME} = '/';

my $rounds = 10;
my @sources = ('entries.c', 'entries_asm.S');
my $program = compile(\@sources, '-O1');
my @names = qw(quiet at_1 at_2 at_3 at_4 itself forked hidden);
# What is done; where control comes to the middle of an entry's jump before
# each function is called $rounds times; further calls of each, and of one.
my @cases = (
	['c', []], ['1c', ['at_1']], ['2c', ['at_2']], ['3c', ['at_3']],
	['4c', ['at_4']], ['hc', ['hidden']],
	['ic', ['itself'], 0, { itself => 1 }], ['fc', ['forked'], 1],
	['sc', [], 1], ['1234hifsc', [@names[1 .. 7]], 2, { itself => 1 }],
);

# How often functions ran into traps: name => times.
sub
traps
{
	my ($file) = @_;
	my $text = slurp($file);
	my %hits;

	$hits{$2} += $1
	    while $text =~ /^ +(\d+) +[\da-f]+  (\w+) +\S.*$/mg;
	return { map { $_ => $hits{$_} } grep { $hits{$_} } @names };
}

for my $case (@cases) {
	my ($acts, $entered, $more, $own) = @$case;
	my @argv = ($program, $rounds, $acts);
	my $alone = run(\@argv);
	my %calls = map {
		$_ => 2 * $rounds + ($more // 0) + ($own->{$_} // 0)
	} @names;

	is(ended($alone), 'status 0', "$acts: runs alone");
	for my $patch (qw(auto trap)) {
		my $sites = "$scratch/sites";
		my $run = monitor(['--units=func', "--patch=$patch",
			"--report=sites:$sites"], \@argv);

		same($alone, $run, "$acts, $patch");
		counts_are($run, \%calls, "$acts, $patch");
		next if $patch eq 'trap';
		my $traps = traps($sites);
		is_deeply([sort keys %$traps], [sort @$entered],
		    "$acts: traps only where control came to a jump's middle");
	}
}

# In a library, too.
{
	my $library = compile(['entries_asm.S'], qw(-shared -fPIC));
	my $linked = compile(['entries.c', $library], qw(-O1 -fPIC));
	my @argv = ($linked, $rounds, '1234hifsc');
	my $alone = run(\@argv);
	my $run = monitor(['--units=func', '--object=*entries_asm*'], \@argv);

	same($alone, $run, 'library');
	counts_are($run, { map { $_ => 2 * $rounds + 2 + ($_ eq 'itself') }
		@names }, 'library');
}

# Attached to, and left, before or after control has come to their middle.
for my $act ('', '1234hif') {
	my $target = Target->new($program, $rounds, "w${act}w1234hifc");
	my ($before, $run);

	is($target->answer, 'waits', "attached, '$act': waits");
	$before = process_state($target->{pid});
	$run = monitor_start(['--units=func', '-p', $target->{pid}], []);
	ok(wait_for(sub { $target->planted('at_4') }), 'a patch is there');
	$target->tell('');
	like($target->answer, qr/^child: \d+$/, 'the child') if $act =~ /f/;
	is($target->answer, 'waits', 'it goes on');
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'pmon ends');
	is_deeply(process_state($target->{pid}), $before, 'all is as before');
	$target->tell('');
	like($target->answer, qr/^child: /, 'the child, without pmon');
	like($target->answer, qr/^stored \d+$/, 'goes on');
	is($target->finish, 'status 0', 'ends well');
}

done_testing;
