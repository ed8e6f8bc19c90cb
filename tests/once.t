# --once: whether something ran.  The full counts of the same program say what
# is to be expected: what is not 0 there is 1 here, of functions, lines, inlined
# functions, blocks and instructions.
use strict;
use warnings;
use lib 'tests/lib';
use JSON::PP qw(decode_json);
use Test::More;
use Phases;
use Pmon;

my $pmprint = "$build/pmprint";
my $units = '--units=func,line,inline,block,insn';

# What ran, as a hash of its own name: 1, 0 or undef.
sub
ran
{
	my ($file) = @_;
	my $all = decode_json(slurp($file));
	my %ran;
	my $put = sub {
		my ($name, $count) = @_;

		$ran{$name} = defined $count ? $count ? 1 : 0 : undef;
	};

	for my $file (@{$all->{files}}) {
		$put->("$file->{path}:$_->{line}", $_->{count})
		    for @{$file->{lines}};
	}
	for (@{$all->{inlines}}) {
		$put->("inline $_->{linkage} " . ($_->{line} // ''),
		    $_->{count});
	}
	for my $func (@{$all->{functions}}) {
		my $name = "$func->{object} $func->{addr}";

		$put->("call $name", $func->{calls}) if exists $func->{calls};
		for my $block (@{$func->{blocks}}) {
			next if $block->{padding};
			$put->("block $name $block->{addr}", $block->{count});
			$put->("insn $name $_->{addr}", $_->{count})
			    for @{$block->{insns}};
		}
	}
	return (\%ran, $all);
}

# Run a program under pmon for each set of options; what ran.
my $expected;
sub
compared
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($what, $argv, $full, @once) = @_;
	my $json = "$scratch/json";
	my $alone = run($argv);
	my ($ran, $all);

	run([$pmon, $units, @$full, "--report=json:$json", '--', @$argv]);
	($expected) = ran($json);
	for my $options (@once) {
		my $run = run([$pmon, '--once', $units, @$full, @$options,
			"--report=json:$json", '--', @$argv]);

		same($alone, $run, "$what @$options");
		($ran, $all) = ran($json);
		my %differ = map { $_ => [$expected->{$_}, $ran->{$_}] }
		    grep { ($expected->{$_} // '?') ne ($ran->{$_} // '?') }
		    grep { defined $expected->{$_} } keys %$expected;
		is_deeply(\%differ, {}, "$what @$options: what ran") or
		    diag(explain(\%differ));
	}
	cmp_ok(scalar(grep { defined && $_ } values %$expected), '>', 20,
	    "$what: something did");
	ok(scalar(grep { defined && !$_ } values %$expected),
	    "$what: and something did not");
	return $all;
}

my @each = map { ["--patch=$_"] } qw(trap step slot emulate);
compared('loops', [compile('shell.c' =~ s{^}{demo/}r, '-O2')], [], @each,
    ['--eager']);
compared('calls that do not return', [compile('except.cc', '-O1')], [], @each);
compared('threads', [compile('threads.c', '-O1', '-pthread'), 'hammer', 200],
    [], [], ['--patch=step']);
my $all = compared('processes', [compile('forks.c', '-O1', '-pthread'),
	'forks', 3], [], []);
ok($all->{objects}[0]{once}, 'and the JSON says that it is no more than that');
compared('signals', [compile('signals.c', '-O0'), 'traps', 20], [], [],
    ['--patch=step']);

# ---- each place once, whatever the number of threads and processes

my $source = spew("$scratch/many.c", <<'END');
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *arg)
{
	volatile long n = 0;

	for (long i = 0; i < 100000; i++)
		n += i & 1 ? i : -i;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	if (argc < 2) {
		work(NULL);
		return 0;
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 10; i++) {
		if (fork() == 0) {
			work(NULL);
			execl(argv[0], argv[0], (char *)NULL);
		}
		wait(NULL);
	}
	return 0;
}
END
my $many = "$scratch/many";
system($cc, '-O1', '-g', '-pthread', '-o', $many, $source) == 0 or die;
my $run = monitor(['--once'], [$many, 'x']);
my ($traps) = $run->{report} =~ /, (\d+) traps?$/m;
# 11 processes, four threads and 1.5 million rounds; 100 blocks or so.
cmp_ok($traps, '<', 200, 'each place stops the program once') or
    diag($run->{report});
my @text = split /\n/, slurp($source);
my @lines = grep { $text[$_ - 1] =~ /n \+=|work\(NULL\)|_join|wait\(/ }
    1 .. @text;
is(join(' ', map { $run->{lines}{'many.c'}{$_} } @lines), '1 1 1 1 1',
    'lines of all threads and processes ran');
like($run->{report}, qr/A\s+count\s+of\s+1\s+means/,
    'the report says so');

# ---- data files

my $branch = spew("$scratch/branch.c", <<'END');
#include <stdlib.h>
int main(int argc, char **argv)
{
	if (argc > 2)
		exit(argc); else
		argc++;
	if (argc > 2)
		argc--;
	return argc;
}
END
my $prog = "$scratch/branch";
system($cc, '-g', '-O0', '-o', $prog, $branch) == 0 or die;

sub
lines
{
	return lines_read(spew("$scratch/listing",
		run([$pmprint, '--report=listing', @_])->{out}))->{'branch.c'};
}

my %args = (none => [], one => [1], two => [1, 2]);
for (sort keys %args) {
	run([$pmon, '--once', '-d', "$scratch/$_", '--', $prog,
		@{$args{$_}}]);
}
my $lines = lines("$scratch/none");
is("$lines->{4} $lines->{5} $lines->{6} $lines->{8} $lines->{9}",
    '1 0 1 0 1', 'a data file has what ran');
$lines = lines(map { "$scratch/$_" } 'none', 'two');
is(join(' ', map { $_ ? 1 : 0 } @$lines{4, 5, 6, 8, 9}), '1 1 1 0 1',
    'and two have what ran in one of them');
$lines = lines(map { "$scratch/$_" } sort keys %args);
is(join(' ', map { $_ ? 1 : 0 } @$lines{4, 5, 6, 8, 9}), '1 1 1 1 1',
    'and three');
my $said = run([$pmprint, '--diff', '--report=uncovered', "$scratch/none",
	"$scratch/one"]);
like($said->{out}, qr/second file:\n\S*branch\.c:8 +main\n/,
    'what ran in one and not in the other');
like(run([$pmprint, '--report=csv', "$scratch/none"])->{out},
    qr/^"?line"?,.*,1,"or more"\r$/m, 'CSV says that it may be more');

# One that was counted, merged with one that was not.
run([$pmon, '-d', "$scratch/full", '--', $prog]);
like(run([$pmprint, "$scratch/full", "$scratch/two"])->{out},
    qr/A count of 1 means that the code ran/, 'with another that has counts');

# ---- coverage for other tools, and what needs counts

$run = run([$pmon, '--once', "--report=lcov:$scratch/info", '--', $prog]);
is(ended($run), 'status 2', 'lcov') or diag($run->{err});
like(slurp("$scratch/info"), qr/^DA:5,0\nDA:6,1\n/m, 'has the lines');
unlike(slurp("$scratch/info"), qr/^BRDA/m, 'and no branches');
for (['--report=callgrind:x'], ['--report=edges'], ['--units=edge'],
    ['--separate=thread'], ['--placement=every'], ['--no-traps', '-p', 1]) {
	$run = run([$pmon, '--once', @$_, $_->[-1] eq 1 ? () : $prog]);
	is($run->{status}, 125, "not with @$_");
	like($run->{err}, qr/^pmon: .*--once.*\n\z/, 'and it says why');
}
is(run([$pmprint, '--report=bolt', "$scratch/none"])->{status}, 125,
    'nor of what was saved');

# ---- phases: after a reset each place counts once again

sub
asked
{
	my ($server, @args) = @_;
	my $asked = run([$pmon, @args, $server->{pid}]);

	is(ended($asked) . $asked->{err}, 'status 0', "@args");
	return funcs_read(spew("$scratch/funcs", $asked->{out}));
}

mkdir "$scratch/runtime", 0700;
$ENV{XDG_RUNTIME_DIR} = "$scratch/runtime";
my $server = begin('--once');
my @names = qw(work leaf);
is(join(' ', @{asked($server, '--query=funcs')}{@names}), '0 0', 'at first');
order('aaa');
is(join(' ', @{asked($server, '--query=funcs')}{@names}), '1 1', 'called');
asked($server, '--reset');
is(join(' ', @{asked($server, '--query=funcs')}{@names}), '0 0', 'reset');
order('x');
is(join(' ', @{asked($server, '--query=funcs')}{@names}), '0 0',
    'not called since');
order('aaa');
is(join(' ', @{asked($server, '--query=funcs')}{@names}), '1 1',
    'called again');

asked($server, '--stop');
is(ended(end()), 'status 0', 'it ends');

done_testing;
