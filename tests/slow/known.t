# Every count that pmon claims to know of real programs, in whatever way it
# places and plants its counters, is that of a counter per block and breakpoints
# alone.  Their stacks can partly not be walked, and not all of their jumps are
# resolved.  Programs that count differently whenever they run (zsh by the
# clock) tell nothing, so it is seen first that they count the same twice.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use Test::More;
use Pmon;

my $dir = tempdir(CLEANUP => 1);
my $awk = 'BEGIN { for (i = 0; i < 50; i++) s = s i; print length(s) }';
my $shell = 'x=1; for i in 1 2 3; do x=$((x * 2)); done; echo $x';
my @programs = (
	['busybox', 'echo', 'hi'],
	['busybox', 'awk', $awk],
	['busybox', 'sh', '-c', $shell],
	['sash', '-c', 'echo hi'],
	['bash-static', '--norc', '-c', $shell],
	['gforth', '-e', ': f 5 0 do i . loop ; f bye'],
	[musl()],
	['perl', '-e', 'my %h; $h{$_ % 7} .= $_ for 1 .. 40; eval { die };'],
	['lua', '-e', 'local t = {} for i = 1, 40 do t[i % 7] = i end ' .
	    'local c = coroutine.wrap(function() error(1) end) pcall(c)'],
	['sqlite3', ':memory:', 'create table t(a); insert into t values (1);'],
);

# A static program of a C library that has no unwind tables.
sub
musl
{
	my $path = "$dir/musl";

	return -x '/usr/bin/musl-gcc' && !system('musl-gcc', '-O2', '-static',
	    '-o', $path, 'tests/prog/walks.c') ? ($path, 'e', 3) :
	    ('musl-gcc');
}

# lua makes its hashes by the clock.
my $clock = compile(spew("$dir/clock.c", <<'END'), '-shared', '-fPIC');
#include <time.h>

time_t
time(time_t *t)
{
	if (t)
		*t = 1000000000;
	return 1000000000;
}
END

# At the same addresses, and with the same process numbers: bash prints its own,
# and a digit more is a round more.
my @alike = ('unshare', $> ? '-r' : (), qw(-p -f --mount-proc setarch -R));
my @truth = qw(--placement=every --patch=trap);
# Of programs for which the unwinder's tables tell of little code: how many
# counts may be unknown, of jumps through tables where several lead to one block:
# printf has many in a row, and each jump gets the cases of those behind.
my %unknown = (busybox => 700);
my @ways = ([], ['--patch=trap'], ['--placement=vertex']);

# From what is counted to its count, '' if that is not known.
sub
counts
{
	my ($options, $path, @args) = @_;
	my $file = "$dir/counts.csv";
	my $run = run(['env', '-i', 'PERL_HASH_SEED=0', 'HOME=/',
	    "LD_PRELOAD=$clock", @alike, $pmon, '--no-config',
	    "--object=$path", '--units=func,block,edge,insn', @$options,
	    "--report=csv:$file", '--', $path, @args]);
	my %counts;

	die "@$options $path: $run->{err}" if ended($run) ne 'status 0';
	for my $line (split /\r\n/, slurp($file)) {
		my ($what, $n) = $line =~
		    /^(.*),(\d*),(?:"(?:[^"]|"")*"|[^,"]*)$/ or next;
		$counts{$what} = $n;
	}
	unlink $file;
	die "@$options $path: nothing is counted: $run->{err}" if !%counts;
	return \%counts;
}

# What is known in both, but not the same.
sub
differ
{
	my ($a, $b) = @_;

	return [ grep { exists $b->{$_} && $a->{$_} ne '' && $b->{$_} ne '' &&
	    $a->{$_} != $b->{$_} } sort keys %$a ];
}

plan skip_all => 'no namespace of processes, or no setarch'
    if system("@alike true 2>/dev/null");
for my $program (@programs) {
	my ($name, @args) = @$program;
	my ($path) = grep { -x } $name =~ m{/} ? $name :
	    map { "$_/$name" } split /:/, $ENV{PATH};

	SKIP: {
		skip "$name is not installed", 1 if !$path;
		$path = abs_path($path);
		my $truth = counts(\@truth, $path, @args);
		my $again = counts(\@truth, $path, @args);
		skip "$name does not count the same twice", 1 if @{differ($truth, $again)};
		for my $way (@ways) {
			my $counts = counts($way, $path, @args);
			my $wrong = differ($counts, $truth);

			is(@$wrong, 0, "@$program @$way") or
			    diag(join "\n", map { "$_: $counts->{$_}, not " .
			    $truth->{$_} } @$wrong[0 .. ($#$wrong < 9 ?
			    $#$wrong : 9)]);
			cmp_ok(scalar(grep { $_ eq '' } values %$counts), '<=',
			    $unknown{$name}, 'most are known')
			    if defined $unknown{$name};
			diag(sprintf '%s %s: %d of %d unknown', $name, "@$way",
			    scalar(grep { $_ eq '' } values %$counts),
			    scalar keys %$counts);
		}
	}
}
done_testing();
