# make demo's listing of Bishop's sample: the counts follow from the program,
# computed here by a copy of it that counts for itself.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);

my $pmon = $ENV{PMON} // 'build/pmon';
my $build = $ENV{PMON_BUILD} // 'build';
my $cc = $ENV{CC} || 'cc';
my $dir = tempdir(CLEANUP => 1);

# How often each line is entered.  A for statement's parts are one line: it
# is entered from above, and again after each execution of its body.
my $copy = <<'END';
#include <stdio.h>
#include <stdlib.h>
enum { MAX = 100 };
int main(void)
{
	int v[MAX], n = MAX, i, j, gap, temp;
	long count[33] = { 0 };

	count[9] = count[13] = 1;
	for (i = 0; i < n; i++) {
		v[i] = random();
		count[10]++;
		count[9]++;
	}
	count[12] = count[20] = count[28] = 1;
	for (gap = n / 2; gap > 0; gap /= 2) {
		count[21]++;
		for (i = gap; i < n; i++) {
			count[22]++;
			for (j = i - gap; j >= 0 && v[j] > v[j + gap];
			    j -= gap) {
				temp = v[j];
				v[j] = v[j + gap];
				v[j + gap] = temp;
				count[23]++;
				count[24]++;
				count[25]++;
				count[22]++;
			}
			count[21]++;
		}
		count[20]++;
	}
	for (i = 0; i < 33; i++)
		if (count[i])
			printf("%d %ld\n", i, count[i]);
	return 0;
}
END
open my $out, '>', "$dir/copy.c" or die $!;
print $out $copy;
close $out;
is(system("$cc -o $dir/copy $dir/copy.c"), 0, 'the copy compiles');
my %expected = map { split } qx($dir/copy);
# A function begins at its brace for gcc, at its name for clang.
$expected{$_} = 1 for qx($cc --version) =~ /clang/ ? (3, 16) : (4, 17);

# These do not depend on the random numbers.
is($expected{9}, 101, 'the first loop is entered 101 times');
is($expected{10}, 100, 'its body 100 times');
is($expected{20}, 7, 'gaps of 50, 25, 12, 6, 3, 1, and the end');
is($expected{21}, 6 + 50 + 75 + 88 + 94 + 97 + 99, 'insertions, and ends');

is(system("$pmon --report=listing:$dir/listing $build/demo/shell " .
    ">$dir/out 2>&1") >> 8, 0, 'the demo runs under pmon');
is(-s "$dir/out", 0, 'and prints nothing');

my @source = do { open my $in, '<', 'demo/shell.c' or die $!; <$in> };
my (%listed, $lines);
open my $in, '<', "$dir/listing" or die $!;
while (<$in>) {
	next unless /shell\.c\s+(\d+)\s+(?:(\S+):)?(?:\s(.*))?$/;
	my ($line, $count, $text) = ($1, $2, $3 // '');

	$listed{$line} = $count if defined $count;
	$lines++;
	s/\s+//g for $text, my $original = $source[$line - 1];
	is($text, $original, "line $line: its text")
	    if $line == 10 || $line == 22;
}
is($lines, scalar @source, 'every line of the source is listed');
for my $line (sort { $a <=> $b } keys %expected) {
	is($listed{$line}, $expected{$line}, "line $line: its count");
}
delete @listed{keys %expected};
is_deeply(\%listed, {}, 'and no other line has a count');

done_testing;
