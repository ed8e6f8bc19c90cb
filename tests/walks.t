# Stacks that cannot be walked: counts of a program that knows them, where no
# table tells of its code, so that calls are counted behind from the first; and
# where all but one function has a table, so that it is found out in mid-run.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;
use Target;

my @untabled = qw(-fomit-frame-pointer -fno-asynchronous-unwind-tables
    -fno-unwind-tables -fno-exceptions);
my $source = 'tests/prog/walks.c';
my $depth = 5;
my %ends = (e => 'status 0', j => 'status 0', f => 'status 0',
    k => 'status 137');

# Its line rows, but no table: also not that of a debugger.
sub
program
{
	my (@flags) = @_;
	my $path = compile('walks.c', @flags);

	system('objcopy', '--remove-section=.debug_frame', $path,
	    "$path.bare") == 0 or die 'objcopy failed';
	return "$path.bare";
}

sub
lines_of
{
	my ($how) = @_;

	return annotated($source, DEPTH => $depth,
	    ODD => (grep { $_ & 1 } 0 .. $depth) + 0,
	    TWO => (grep { ($_ & 3) == 2 } 0 .. $depth) + 0,
	    LATE => $how eq 'f' ? 2 : 0,
	    BACK => $how eq 'f' ? 2 * ($depth + 1) : 0,
	    map { uc $_ => $_ eq $how ? 1 : 0 } keys %ends);
}

# The lines of the function late.
sub
late_lines
{
	my @text = split /\n/, slurp($source);
	my ($from) = grep { $text[$_] eq 'late(int n)' } 0 .. $#text;
	my ($to) = grep { $_ > $from && $text[$_] eq '}' } 0 .. $#text;

	return grep { $_ > $from && $_ <= $to } keys %{lines_of('f')};
}

my @ways = ([], ['--patch=trap'], ['--placement=vertex'],
    ['--placement=every'], ['--placement=every', '--patch=trap']);

my %programs = map { ("@$_" => program(@untabled, @$_)) }
    ['-O0'], ['-O2'], ['-O1', '-static'];

# The program has a table, but ends in a library that has none.
SKIP: {
	local $Pmon::cc = 'musl-gcc';

	skip 'no musl-gcc', 1 if system 'command -v musl-gcc >/dev/null';
	$programs{'-O1, musl'} = compile('walks.c', '-O1');
}

for my $flags (sort keys %programs) {
	for my $how (sort keys %ends) {
		for my $way (@ways) {
			my $what = "$flags @$way $how";
			my $run = monitor($way, [$programs{$flags}, $how,
			    $depth]);

			is(ended($run), $ends{$how}, "$what: how it ends");
			lines_are($run, $source, lines_of($how), $what);
			unlike($run->{report}, qr/could\s+not\s+be\s+walked/,
			    "$what: all is known");
		}
	}
}

# Every count there is, in the ways that derive most and least.
{
	my $argv = [program(@untabled, '-O2'), 'f', $depth];
	my $truth = counted($ways[4], $argv)->{counts};
	my $counts = counted([], $argv)->{counts};

	is(join("\n", counts_differ($counts, $truth)), '', 'as counted all');
	is(scalar(grep { $_ eq '?' } values %$counts), 0, 'none is unknown');
}

# Functions first entered when a stack has been lost are known.
{
	my $program = compile('walks.c', '-O0');
	my $run = monitor([], [$program, 'f', $depth]);
	my $expected = lines_of('f');
	my $lines = $run->{lines}{'walks.c'};

	like($run->{report}, qr/walked\s+past\s+through\s+in/,
	    'a stack is lost');
	lines_are($run, $source, { map { $_ => $expected->{$_} } late_lines() },
	    'what came later is known');
	is_deeply([grep { $lines->{$_} ne '?' &&
	    $lines->{$_} != $expected->{$_} } keys %$expected], [],
	    'no other is wrong');
	ok((grep { $lines->{$_} eq '?' } keys %$expected), 'some are unknown');
}
# Stacks are switched in all ways that are found: what is said to be known is
# right, also where it could not be computed what is passed over.
my %switches = (
	mov => 'mov %rsp, (%rdi); mov %rsi, %rsp',
	lea => 'mov %rsp, (%rdi); lea (%rsi), %rsp',
	far => 'mov %rsp, (%rdi); lea -8(%rsi), %rsp; lea 8(%rsp), %rsp',
	exchange => 'mov %rsp, (%rdi); xchg %rsi, %rsp',
	jump => 'mov %rsp, (%rdi); mov %rsi, %rsp; jmp 1f; 1:',
	branch => 'mov %rsp, (%rdi); mov %rsi, %rsp; test %rdi, %rdi; ' .
	    'jz 1f; nop; 1:',
);
for my $switch (sort keys %switches) {
	my $argv = [compile('coroutines.c', '-O1',
		"-DSWITCH=\"$switches{$switch}\"")];
	my $truth = counted($ways[4], $argv)->{counts};

	for my $way ([], ['--patch=trap']) {
		my $counts = counted($way, $argv)->{counts};

		is(join("\n", counts_differ($counts, $truth)), '',
		    "switched by $switch @$way");
	}
}

# The stack of a coroutine ends at the return address 0 that it was made with,
# also where its first function has jumped to another (-O2), in a fork's child,
# and if pmon finds the switch, but nothing on the stack that was left.
%ends = (e => 'status 0', k => 'status 137', f => 'status 0', b => 'status 0');
for my $flags (['-O0'], ['-O2', '-static']) {
	my $program = compile('fiber.c', @$flags);
	my $source = 'tests/prog/fiber.c';

	for my $how (sort keys %ends) {
		my $expected = annotated($source, DEPTH => 3,
		    map { uc $_ => $_ eq $how ? 1 : 0 } keys %ends);

		for my $way ([], ['--patch=trap']) {
			my $what = "a coroutine, @$flags @$way $how";
			my $run = monitor($way, [$program, $how]);

			is(ended($run), $ends{$how}, "$what: how it ends");
			lines_are($run, $source, $expected, $what);
			unlike($run->{report}, qr/could\s+not\s+be\s+walked/,
			    "$what: all is known");
		}
	}
}

# Where calls are counted behind from the first, no stack switch needs a hook,
# whatever leaves which frames; an exec does.
my $stacks = qr/stack switched|unwinder/;

for my $flags (['-O0'], ['-O2', '-static']) {
	my $program = compile('leave.c', @untabled, @$flags, '-w', '-pthread');

	for my $leave (qw(longjmp loop raise swapcontext link escape exec
	    forks cancel)) {
		my $argv = [$program, $leave];
		my @of = ('--func=t_*', '--func=main');
		my $truth = counted([@{$ways[4]}, @of], $argv)->{counts};

		for my $way ([], ['--patch=trap']) {
			my $what = "@$flags @$way left by $leave";
			my $sites = "$scratch/sites";
			my $run = counted([@$way, @of,
				"--report=sites:$sites"], $argv);

			is(join("\n", counts_differ($run->{counts}, $truth)),
			    '', "$what: as counted all");
			is_deeply(counts_unknown($run->{counts}), {},
			    "$what: all is known");
			unlike(slurp($sites), $stacks, "$what: no hook");
			like(slurp($sites), qr/execute another program/,
			    "$what: a hook") if $leave eq 'exec';
		}
	}
}

# Counts of libraries that have tables are derived, and need hooks in the
# program, too.
{
	my $argv = [compile('sorts.c', @untabled, '-O1')];
	my @of = ('--object=*', '--func=*sort*', '--func=order');
	my $truth = counted([@{$ways[4]}, @of], $argv)->{counts};
	my $run = counted([@of, "--report=sites:$scratch/sites"], $argv);

	is(ended($run), 'status 0', 'a library that is left');
	is(join("\n", counts_differ($run->{counts}, $truth)), '',
	    'a library that is left: as counted all');
	ok((grep { /sort/ && $truth->{$_} ne '?' && $truth->{$_} } keys %$truth),
	    'it is counted');
	like(slurp("$scratch/sites"), $stacks, 'by hooks');

	# Where the switch leads to is no call's, but a label.
	$truth = counted($ways[4], $argv)->{counts};
	$run = counted(["--report=sites:$scratch/sites"], $argv);
	is(join("\n", counts_differ($run->{counts}, $truth)), '',
	    'to a label: as counted all');
	is($run->{counts}{'func sort'}, 5, 'to a label');
	unlike(slurp("$scratch/sites"), $stacks, 'without hooks');
}

# Coroutines that have begun when pmon attaches; the run.
sub
come_back
{
	my ($way, @flags) = @_;
	my $target = Target->new(compile('coroutines.c', '-O0', @flags), 3);

	is($target->answer, 'ready', 'they have begun');
	my $run = monitor_start([@$way, '-p', $target->{pid}], []);
	ok(wait_for(sub { return $target->planted('body') }), 'pmon attaches');
	$target->tell('');
	$run = monitor_finish($run);
	is($target->finish, 'status 0', "@$way @flags: how it ends");
	return $run;
}

# A process that is attached to may come back to frames that nobody has seen:
# then a program without the need has hooks, too.  If that stack cannot be
# walked, what is there is not known.
for my $way (@ways[0, 1, 4]) {
	my $source = 'tests/prog/coroutines.c';
	my $expected = annotated($source);
	my $run = come_back($way, '-DCONTEXTS');

	lines_are($run, $source, $expected, "@$way: older frames");
	for my $flags ([], \@untabled) {
		my $lines = come_back($way, @$flags)->{lines}{'coroutines.c'};

		is_deeply([grep { ($lines->{$_} // 0) ne '?' &&
		    ($lines->{$_} // 0) != $expected->{$_} }
		    sort keys %$expected], [], 'none is wrong');
		ok((grep { $_ ne '?' && $_ } values %$lines), 'some are known');
	}
}
done_testing();
