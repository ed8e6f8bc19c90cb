# Work for Perl: strings, hashes, regular expressions, sorting, calls.
use strict;
use warnings;

my $n = shift // 10;
my (%count, $state, $total);

sub
word
{
	my ($value) = @_;

	return join '', map { chr(97 + ($value >> $_) % 26) } 0 .. 3 + $value % 4;
}

$state = 1;
for (1 .. $n * 1000) {
	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	$count{word($state >> 16)}++;
}
my @words = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
my $text = join ' ', @words;
$total = () = $text =~ /\b[aeiou]\w*?([a-m])\w?\b/g;
$text =~ s/(\w)(\w)/$2$1/g;
printf "%d %s %d\n", scalar @words, substr($text, 0, 20), $total;
