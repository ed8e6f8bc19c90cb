# Functions with a jump whose targets are not known, of which calls alone are
# counted: they are entered by a jump, not a trap, until control comes to one of
# the bytes that this overwrites; the counts and the program's output are always
# as with traps.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Left;
use Pmon;
use Target;

$ENV{HOME} = '/';

my $rounds = 10;
my @sources = ('entries.c', 'entries_asm.S');
# The second has its springboards above its text, as there is no room below.
my %programs = map { $_ => compile(\@sources, '-O1', $_, '-pthread') }
    qw(-pie -no-pie);
my @names =
    qw(quiet at_1 at_2 at_3 at_4 itself forked marked hidden again);
# What is done; where control comes to the middle of an entry's jump before
# each function is called $rounds times; further calls of each, and of one.
my @cases = (
	['c', []], ['1c', ['at_1']], ['2c', ['at_2']], ['3c', ['at_3']],
	['4c', ['at_4']], ['hc', ['hidden']], ['mc', ['marked']],
	['ac', [], 0, { again => 1 }],
	['ic', ['itself'], 0, { itself => 1 }], ['fc', ['forked'], 1],
	['sc', [], 1], ['cuc', [], $rounds, { quiet => 1 }],
	['cbc', [], $rounds, { quiet => 1 }], ['tc', [], 2 * $rounds],
	['xc', [], $rounds],
	['1234hmifsc', [@names[1 .. 8]], 2, { itself => 1 }],
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

# How often each is called if it is called $more times more than twice $rounds.
sub
calls
{
	my ($more, $own) = @_;

	return { map {
		$_ => 2 * $rounds + ($more // 0) + ($own->{$_} // 0)
	} @names };
}

for my $case (@cases) {
	my ($acts, $entered, $more, $own) = @$case;

	for my $kind (sort keys %programs) {
		my @argv = ($programs{$kind}, $rounds, $acts);
		my $alone = run(\@argv);

		is(ended($alone), 'status 0', "$kind $acts: runs alone");
		for my $patch (qw(auto trap)) {
			my $sites = "$scratch/sites";
			my $run = monitor(['--units=func', "--patch=$patch",
				"--report=sites:$sites"], \@argv);

			same($alone, $run, "$kind $acts, $patch");
			counts_are($run, calls($more, $own),
			    "$kind $acts, $patch");
			next if $patch eq 'trap';
			is_deeply([sort keys %{traps($sites)}],
			    [sort @$entered], "$kind $acts: traps only where " .
			    "control came to a jump's middle");
		}
	}
}

# In a library, too, also if it comes and goes.
{
	my $library = compile(['entries_asm.S'], qw(-shared -fPIC));
	my $linked = compile(['entries.c', $library], qw(-O1 -fPIC -pthread));
	my @argv = ($linked, $rounds, '1234hmifsc');
	my $alone = run(\@argv);
	my $run = monitor(['--units=func', '--object=*entries_asm*'], \@argv);

	same($alone, $run, 'library');
	counts_are($run, calls(2, { itself => 1 }), 'library');

	my $loaded = compile(['entries_lib.S'], qw(-shared -fPIC));
	@argv = ($programs{-pie}, $rounds, 'l', $loaded);
	$alone = run(\@argv);
	for my $patch (qw(auto trap)) {
		$run = monitor(['--units=func', "--patch=$patch",
			'--object=*entries_lib*'], \@argv);
		same($alone, $run, "library that is unloaded, $patch");
		counts_are($run, { unloaded => 6 * $rounds },
		    "library that is unloaded, $patch");
	}
}

# A task is at a springboard when a signal comes.  No handler sees that, and if
# the signal ends the program the call has not begun.
my $spring = abs_path(compile('spring_at.c', qw(-O2 -shared -fPIC)));
for my $kind (sort keys %programs) {
	# A handler, which calls each function; none; none can be.
	for my $case ([10, 'status 0', 1], [12, 'signal 12', 0],
	    [9, 'signal 9', 0]) {
		my ($signal, $end, $handled) = @$case;
		my $run = monitor(['--units=func'],
		    [$programs{$kind}, $rounds, 'cu'],
		    env => { LD_PRELOAD => $spring, PMON_SPRING => $signal });
		my $what = "$kind, signal $signal at a springboard";

		is($run->{status} > 128 ? 'signal ' . ($run->{status} - 128) :
		    ended($run), $end, "$what: how it ends");
		counts_are($run, calls($handled, { quiet => $handled }), $what);
		like($run->{out}, qr/^caught at quiet \+ 0, called by main$/m,
		    "$what: where the handler sees it") if $handled;
	}
}

# Killed at any moment when control has come to a jump's middle.
my $kill = abs_path(compile('kill_at.c', qw(-O2 -shared -fPIC)));
for my $case (['-pie', 2], ['-no-pie', 4]) {
	my ($kind, $byte) = @$case;
	my %ends;

	for my $n (1 .. 8) {
		my $run = monitor(['--units=func'],
		    [$programs{$kind}, $rounds, "cw$byte"],
		    env => { LD_PRELOAD => $kill, PMON_KILL_AT => $n,
		    PMON_KILL_FROM => '/proc/self/fd/1' });

		$ends{$run->{status}}++;
		counts_are($run, calls(), "$kind, byte $byte: killed at $n");
	}
	ok($ends{137}, "$kind: it is killed");
}

# Attached to, and left, before or after control has come to their middle, or
# when a task is at a springboard.
for my $case (['-pie', ''], ['-pie', '1234hmif'], ['-no-pie', '1234hmif'],
    ['-pie', 'cu'], ['-no-pie', 'cu']) {
	my ($kind, $act) = @$case;
	my $target = Target->new($programs{$kind}, $rounds,
	    "w${act}w1234hmifc");
	my $leaves = $act =~ /u/;
	my ($before, $run);

	is($target->answer, 'waits', "attached, $kind '$act': waits");
	$before = process_state($target->{pid});
	$run = monitor_start(['--units=func', '-p', $target->{pid}], [],
	    $leaves ? (env => { LD_PRELOAD => $spring, PMON_SPRING => 0 }) :
	    ());
	ok(wait_for(sub { $target->planted('at_4') }), 'a patch is there');
	$target->tell('');
	like($target->answer, qr/^child: \d+$/, 'the child') if $act =~ /f/;
	if ($leaves) {
		$run = monitor_finish($run);
		counts_are($run, { map { $_ => $rounds } @names },
		    'it is left at a springboard');
	}
	is($target->answer, 'waits', 'it goes on');
	if (!$leaves) {
		kill INT => $run->{pid};
		$run = monitor_finish($run);
	}
	is(ended($run), 'status 0', 'pmon ends');
	is_deeply(process_state($target->{pid}), $before, 'all is as before');
	$target->tell('');
	like($target->answer, qr/^child: /, 'the child, without pmon');
	like($target->answer, qr/^stored \d+$/, 'goes on');
	is($target->finish, 'status 0', 'ends well');
}

done_testing;
