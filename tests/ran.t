# What is kept from run to run.  With lists of the functions that ran the next run
# has no stop at their first entry, its counts are the same, and no list can do
# harm.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Fcntl qw(S_IMODE);
use File::Basename qw(dirname);
use Test::More;
use Pmon;

my $cache = "$scratch/cache";
my $program = compile('lang.c', '-O1', '-w');
mkdir $cache or die;

# Run the program with the cache there: its counts, as text, and how often it
# was stopped for a first entry.
sub
counted
{
	my ($home, @options) = @_;
	my $base = "$scratch/counted";
	my $run = run([$pmon, '-q', @options,
		"--report=csv:$base.csv,sites:$base.sites", $program],
	    env => { XDG_CACHE_HOME => $home });

	is(ended($run), 'status 4', "@options: how it ends")
	    or diag($run->{err});
	is($run->{err}, '', "@options: nothing is said");
	my ($entries) = slurp("$base.sites") =~
	    /^ *(\d+) .*trap, first entry of a function$/m;
	return slurp("$base.csv"), $entries // 0;
}

# All that is kept, and the lists of functions among it.
sub
kept
{
	my @kept = glob "$cache/pmon/*";

	return @kept;
}

sub
lists
{
	return grep { !/\.(?:hooks|maps)$/ } kept();
}

# ---- the next run

for my $units ('func', 'func,line,block,edge,insn,call') {
	my ($counts, $entries) = counted('/dev/null', "--units=$units");

	cmp_ok($entries, '>', 2, "$units: first entries without a list");
	unlink lists();
	for my $round ('first', 'second', 'third') {
		my ($again, $left) = counted($cache, "--units=$units");

		is($again, $counts, "$units: counts of the $round run");
		is($left, $round eq 'first' ? $entries : 0,
		    "$units: first entries of the $round run");
	}
}
my @lists = lists();
is(@lists, 1, 'one program has one list');
is(S_IMODE((stat "$cache/pmon")[2]), 0700,
    "the directory is the user's alone");
is(S_IMODE((stat $lists[0])[2]), 0600, 'and so is the list');

# ---- what stays in a list

my $list = slurp($lists[0]);
counted($cache, '--func=main');
is(slurp($lists[0]), $list, 'functions that are not counted stay');
my ($main) = $list =~ /^([0-9a-f]+)$/m;
spew($lists[0], "pmon: functions that ran, 1\n" .
    join '', map { sprintf "%x\n", $_ } 1 .. 1000);
counted($cache, '--units=func');
is(slurp($lists[0]), $list, 'what is no function goes');

# ---- lists that are none

my ($counts) = counted('/dev/null', '--units=func,edge');
for (['empty', ''], ['of another kind', "pmon: something else\n$main\n"],
    ['not ascending', "pmon: functions that ran, 1\nffff\n1\nxyz\n"],
    ['binary', "pmon: functions that ran, 1\n\0\377" . "\1" x 10000],
    ['too long', "pmon: functions that ran, 1\n" . "1\n" x (1 << 21)]) {
	my ($what, $text) = @$_;

	spew($lists[0], $text);
	my ($again) = counted($cache, '--units=func,edge');
	is($again, $counts, "a list $what");
	is(slurp($lists[0]), $list, "a list $what is replaced");
}
unlink $lists[0];
symlink "$scratch/aim", $lists[0] or die;
spew("$scratch/aim", "kept\n");
is((counted($cache, '--units=func,edge'))[0], $counts, 'a link');
is(slurp("$scratch/aim"), "kept\n", 'what it leads to is not written');
ok(!-l $lists[0] && slurp($lists[0]) eq $list, 'the link is replaced');
unlink $lists[0];
system('mkfifo', $lists[0]) == 0 or die;
is((counted($cache, '--units=func,edge'))[0], $counts, 'a pipe');

# ---- a library that may set gs, which counters use

my $library = compile('far_gs.S', '-shared', '-nostdlib');
my $sets = compile('sets_gs.c', '-O1', '-Wl,--no-as-needed', $library,
    '-Wl,-rpath,' . dirname(abs_path($library)));
my %calls = map {
	my $run = run([$pmon, '-q', '--units=func,edge',
	    "--report=funcs:$scratch/funcs", $sets],
	    env => { XDG_CACHE_HOME => $cache });

	is(ended($run), 'status 0', "gs, $_ run: how it ends");
	($_ => funcs_read("$scratch/funcs")->{work});
} qw(first second third);
is_deeply(\%calls, { map { $_ => 8 } keys %calls },
    'a library that sets gs: calls');

# ---- where there is no list

unlink kept();
counted($cache, '--units=func', '--no-cache');
is(scalar kept(), 0, '--no-cache');
counted($cache, '--units=func', $_), is(scalar lists(), 0, $_)
    for '--patch=trap', '--once';
is(ended(run([$pmon, '-q', '-o', '/dev/null', 'sh', '-c', 'kill -SEGV $$'],
	    env => { XDG_CACHE_HOME => $cache })), 'status 139', 'SIGSEGV');
is(scalar lists(), 0, 'a program that crashes leaves none');
unlink kept();
chmod 0755, "$cache/pmon";
counted($cache, '--units=func');
is(scalar kept(), 0, 'a directory that others may read is not used');
SKIP: {
	skip 'only root can give files away', 4 if $>;
	chmod 0700, "$cache/pmon";
	chown 1, -1, "$cache/pmon";
	counted($cache, '--units=func');
	is(scalar kept(), 0, "nor is another user's");
	rmdir "$cache/pmon";
	chown 1, -1, $cache;
	counted($cache, '--units=func');
	ok(!-e "$cache/pmon", "nor is one made in another user's directory");
}

# ---- no more files than that

SKIP: {
	my $many = "$scratch/many";

	mkdir $_ or die for $many, "$many/pmon";
	chmod 0700, "$many/pmon";
	spew("$many/pmon/$_", '') for 1 .. 1024;
	utime 1000, 1000, "$many/pmon/300";
	counted($many, '--units=func');
	is(() = glob("$many/pmon/*"), 1024,
	    'there are 1,024 files at most');
	ok(!-e "$many/pmon/300", 'the one used least recently goes');
}
done_testing();
