# Real programs under pmon do what they do without it, and all ways of
# counting give the same counts: programs built from Debian's sources, and
# Debian's own stripped ones, alone and with their children.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Path qw(remove_tree);
use Test::More;
use Pmon;
use Sources;

my $dir = "$scratch/real";
mkdir $dir or die;
my @every = qw(step slot emulate trap auto);

# One of them, and what is usual; all where there is time.
sub
every_or
{
	my ($one) = @_;

	return patches => $slow ? \@every : [$one, 'auto'];
}

# What a program might hash or look at is the same in each run.
%ENV = (PATH => $ENV{PATH}, HOME => '/nonexistent', LC_ALL => 'C',
    PYTHONHASHSEED => 0, PYTHONDONTWRITEBYTECODE => 1, TZ => 'UTC',
    GIT_CONFIG_NOSYSTEM => 1,
    map { ("GIT_${_}_NAME" => 'A', "GIT_${_}_EMAIL" => 'a@b',
	"GIT_${_}_DATE" => '@1000000000 +0000') } qw(AUTHOR COMMITTER));
my @fixed = system('setarch -R true 2>/dev/null') == 0 ?
    ('setarch', '-R') : ();

# Run alone, then under pmon in each of these ways; compare all with the
# first.  Options: those of run, and patches, units, least (so many functions
# must have been called), moves (its counts are not the same in each run),
# varies (functions whose counts are not), prepare (run before each run).
sub
real
{
	my ($what, $argv, %opt) = @_;
	my ($prepare, $first) = ($opt{prepare} // sub {});

	$prepare->();
	my $alone = run([@fixed, @$argv], %opt);
	for my $patch (@{$opt{patches} // ['auto']}) {
		my $label = "$what, $patch";

		$prepare->();
		my $run = monitor(["--patch=$patch",
		    '--units=' . ($opt{units} // 'func')],
		    [@fixed, @$argv], %opt);
		same($alone, $run, $label);
		my @called = grep { $_ ne '0' } values %{$run->{funcs}};
		cmp_ok(scalar @called, '>=', $opt{least} // 1,
		    "$label: functions counted");
		is(scalar(grep { $_ eq '?' } @called), 0,
		    "$label: all counts are known");
		$first //= $run;
		next if $opt{moves};
		delete @{$run->{funcs}}{@{$opt{varies} // []}};
		is_deeply($run->{funcs}, $first->{funcs}, "$label: calls");
		is_deeply($run->{lines}, $first->{lines}, "$label: lines")
		    if $run->{lines};
	}
	return ($alone, $first);
}

# A program built from source.
sub
built
{
	my ($what, $name, $arguments, %opt) = @_;
	my $from = source_optimised($name);

	SKIP: {
		skip $Sources::reason, 1 unless $from;
		real($what, ["$from/$name", @$arguments], %opt);
	}
}

# Debian's own program, stripped; it may be missing.
sub
stripped
{
	my ($what, $program, $arguments, %opt) = @_;

	SKIP: {
		skip "no $program here", 1 unless -x $program;
		real($what, [$program, @$arguments], %opt);
	}
}

# Text without long repetitions, which are slow to sort.
my ($state, $words) = (1, '');
for (1 .. 20000) {
	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	$words .= ('a' .. 'x', ' ', "\n")[($state >> 16) % 26];
}
my $text = spew("$dir/text", $words);
my $short = spew("$dir/short", substr $words, 0, 1000);
my @both = (units => 'func,line', patches => [qw(slot auto)]);

real('C++ exceptions', [compile('except.cc', '-O2'), 20], patches => \@every,
    least => 35);
real('C++ exceptions, lines', [compile('except.cc', '-O2'), 20],
    @both, patches => \@every, least => 35);
built('bzip2', 'bzip2', ['-c'], in_file => $text, every_or('slot'),
    least => 25);
built('bzip2, failing', 'bzip2', ['-dc'], in_file => $text, least => 8);
built('bzip2, lines', 'bzip2', ['-c', '-1'], in_file => $short, @both,
    least => 25);
built('lua', 'lua', ['tests/prog/work.lua', 6], every_or('trap'),
    least => 300);
built('lua, lines', 'lua', ['tests/prog/work.lua', 3], @both, least => 300);
built('sqlite3', 'sqlite3', [':memory:'], least => 500,
    in_file => 'tests/prog/work.sql', patches => [qw(emulate auto)]);

sub
repository
{
	remove_tree("$dir/repo", "$dir/clone");
	mkdir "$dir/repo";
	system(qw(git -C), "$dir/repo", qw(init -q));
	spew("$dir/repo/file$_", "text $_\n" x 50) for 1 .. 9;
}

my @git = ('-C', "$dir/repo", '-c', 'gc.auto=0');
if (-x '/usr/bin/git') {
	stripped('git add', '/usr/bin/git', [@git, 'add', '-v', '.'],
	    prepare => \&repository, least => 300);
	stripped('git commit', '/usr/bin/git', [@git, qw(commit -m words)],
	    prepare => sub {
		repository();
		system('git', @git, 'add', '.');
	    }, least => 400);
	stripped('git log', '/usr/bin/git', [@git, qw(log -p --stat)],
	    every_or('emulate'), least => 400);
	stripped('git, a wrong command', '/usr/bin/git', [@git, 'lgo'],
	    least => 100);
	stripped('git clone, with its children', '/usr/bin/git', ['clone',
	    '--no-local', "$dir/repo", "$dir/clone"],
	    prepare => sub { remove_tree("$dir/clone") }, least => 400,
	    moves => 1);
}
# bash reads each digit of its parent's process id.
stripped('bash', '/usr/bin/bash',
    ['--norc', 'tests/prog/work.sh', $slow ? 4 : 1],
    every_or('step'), least => 300, varies => ['mbschr']);
stripped('bash, with its children', '/usr/bin/bash',
    ['--norc', 'tests/prog/family.sh'], patches => [qw(slot auto)],
    least => 300, moves => 1);
# Now and then Python makes one call more, also under the same patch, for a
# reason outside of it: check-slow compares its counts.
stripped('python3', '/usr/bin/python3', ['-S', 'tests/prog/work.py', 4],
    patches => [qw(slot auto)], least => 1000, moves => !$slow);
stripped('python3, with threads and children', '/usr/bin/python3',
    ['-S', 'tests/prog/family.py'], least => 1000, moves => 1);

done_testing;
