# pmprint --by: a column for each label, which is a part of the files' names.
use strict;
use warnings;
use lib 'tests/lib';
use File::Copy qw(copy);
use Test::More;
use Pmon;

my $source = spew("$scratch/count.c", <<'END');
#include <stdlib.h>
__attribute__((noinline)) void
work(int n)
{
	while (n--)
		__asm__ volatile ("nop");
}
int
main(int argc, char **argv)
{
	work(atoi(argv[1]));
	return 0;
}
END
system($cc, '-O0', '-o', "$scratch/count", $source) == 0 or die;
my %rounds = ('a2.1' => 10, 'a2.2' => 20, 'a10.1' => 300, 'b.1' => 0);
for my $name (sort keys %rounds) {
	my $run = run([$pmon, '-d', "$scratch/$name.pmon", '--',
		"$scratch/count", $rounds{$name}]);

	is(ended($run), 'status 0', "$name is made") or diag($run->{err});
}
my @files = map { "$scratch/$_.pmon" } sort keys %rounds;

# What "work" executed in these files, as --executed has it.
sub
executed
{
	my $run = run(["$build/pmprint", '--executed', '--func=work', @_]);

	return $run->{out} =~ /^ *(\d+) +\d+ +work$/m ? $1 : diag($run->{out});
}

sub
by
{
	return run(["$build/pmprint", @_]);
}

my %of = map { my $label = $_;
	($label => executed(grep { m{/$label\.} } @files)) } qw(a2 a10 b);
my $run = by('--by=*.*.pmon', '--func=work', @files);
is(ended($run) . $run->{err}, 'status 0', 'columns by the first *');
is($run->{out} =~ s/ +/ /gr, "Functions: instructions executed\n\n" .
    " ALL a2 a10 b OBJECT FUNCTION\n " . executed(@files) .
    " $of{a2} $of{a10} $of{b} count work\n",
    'have what the files of each label have together');
cmp_ok($of{a10}, '>', $of{a2}, 'which differs');
$run = by("--by=$scratch/a*.pmon", '--func=work', grep { m{/a} } @files);
like($run->{out}, qr/^ +ALL +2\.1 +2\.2 +10\.1  OBJECT/m,
    'a label may be all but a few letters, of a whole path');
$run = by('--by=*.*.pmon', @files);
like($run->{out}, qr/ work\n.* main\n/s, 'all functions, the hottest first');
is((sort { $b <=> $a } $run->{out} =~ /^ *(\d+)  /mg)[0],
    ($run->{out} =~ /^ *(\d+)  /m)[0], '... indeed');

sub
fails
{
	my ($what, $message, @args) = @_;
	my $run = by(@args);

	is("$run->{status} $run->{out}$run->{err}", "125 pmprint: $message\n",
	    $what);
}

fails('a file without a label', "$files[-1]: does not match --by=a*.pmon",
    '--by=a*.pmon', @files);
fails('nothing that stands for it', '--by: "a" has no *, which stands for ' .
    'the label of a file', '--by=a', @files);
fails('with reports', '--by cannot be used with --report', '--by=*',
    '--report=funcs', @files);
fails('nothing chosen', '--by: nothing was executed in the functions that ' .
    '--func and --object choose', '--by=*', '--func=none', @files);
copy($files[0], "$scratch/c.1.pmon") or die;
fails('a run in two columns', '--by: a run is in files of two columns',
    '--by=*.*.pmon', @files, "$scratch/c.1.pmon");

done_testing;
