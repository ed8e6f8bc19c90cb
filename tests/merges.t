# Many data files merged, in one process and in several.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
my $program = compile('numbers.c', '-O0');
my $n = 50;	# of which three processes have a share that is worth them
my @files = map { "$scratch/data$_" } 1 .. $n;

for (@files) {
	run([$pmon, "--data=$_", '--', $program]);
}

sub
merged
{
	my (@args) = @_;
	my $run = run([$pmprint, "--merge=$scratch/all", @args]);

	return ($run->{status}, $run->{err},
	    -e "$scratch/all" ? slurp("$scratch/all") : '');
}

sub
fresh
{
	unlink "$scratch/all";
	return merged(@_);
}

my ($status, $err, $one) = fresh('-j1', @files);
is($status, 0, 'merged in one process') or diag($err);
for my $jobs (2, 3, 100) {
	is_deeply([fresh("-j$jobs", @files)], [0, '', $one],
	    "the same in $jobs");
}
is_deeply([fresh(@files)], [0, '', $one], '... and in as many as there are');
isnt((fresh(@files[1 .. $n - 1]))[2], $one, 'each file counts');
is_deeply([fresh('-j3', reverse @files)], [0, '', $one], 'in any order');

# A file at fault, in each process's share.
my $damaged = "$scratch/damaged";
open my $out, '>', $damaged or die;
print $out substr slurp($files[0]), 0, 100;
close $out or die;
for my $at (0, $n / 2, $n) {
	my @some = @files;

	splice @some, $at, 0, $damaged;
	for my $jobs (1, 3) {
		is_deeply([fresh("-j$jobs", @some)],
		    [125, "pmprint: $damaged: truncated\n", ''],
		    "-j$jobs: the file at $at is damaged");
		is_deeply([fresh("-j$jobs", '--skip-damaged', @some)],
		    [0, "pmprint: $damaged: truncated; left out\n", $one],
		    '... and left out');
	}
}
# Two of them: the first is named, and both are if they are left out.
my @two = ("$scratch/nothing", @files, $damaged);
my $nothing = "$scratch/nothing: No such file or directory";
for my $jobs (1, 3) {
	is_deeply([fresh("-j$jobs", @two)], [125, "pmprint: $nothing\n", ''],
	    "-j$jobs: two are damaged");
	is_deeply([fresh("-j$jobs", '--skip-damaged', @two)], [0,
	    "pmprint: $nothing; left out\npmprint: $damaged: truncated; " .
	    "left out\n", $one], '... and left out');
	is_deeply([fresh("-j$jobs", @files, $files[3])], [125,
	    "pmprint: $files[3]: a run of $program is in two files\n", ''],
	    '... one is there twice');
	is_deeply([fresh("-j$jobs", '--skip-damaged', @files, $files[3])], [0,
	    "pmprint: $files[3]: a run of $program is in two files; " .
	    "left out\n", $one], '... and left out once');
	is_deeply([fresh("-j$jobs", '--skip-damaged', ($damaged) x 40)], [125,
	    ("pmprint: $damaged: truncated; left out\n" x 40) .
	    "pmprint: none of the files can be read\n", ''],
	    '... none is sound');
	is_deeply([fresh("-j$jobs", '--skip-damaged', @files,
	    ($damaged) x 40)], [0,
	    "pmprint: $damaged: truncated; left out\n" x 40, $one],
	    '... none of a share is');
}
# Pipes can be read only once.
{
	my $pipes = join ' ', map { "<(cat $_)" } @files;
	my $merge = "$pmprint -j3 --skip-damaged --merge=$scratch/all";

	unlink "$scratch/all";
	my $run = run(['bash', '-c', "$merge $pipes $files[3]"]);
	is($run->{err}, "pmprint: $files[3]: a run of $program is in two " .
	    "files; left out\n", 'pipes, and a file that is there twice');
	ok(slurp("$scratch/all") eq $one, '... all are merged');
}
is((fresh('-j0', @files))[1],
    "pmprint: --jobs: 0 is out of range (1 to 1024)\n", '-j0');
done_testing();
