# The examples of the tutorial print what it says.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Copy qw(copy);
use Test::More;
use Pmon;

my $page = 'man/pmon-tutorial.7';

system('command -v mandoc >/dev/null') == 0
    or plan skip_all => 'mandoc is not installed';
my $dir = "$scratch/tutorial";
mkdir $dir or die;
copy('demo/shell.c', $dir) or die;

# The blocks of the page's examples, without what indents them.
my $text = qx(mandoc -T ascii $page) =~ s/.\x08//gr;
my @blocks = map { s/\A\n+//r } map { s/^ {8}//mgr } $text =~ /^((?: {8}.*\n|\n)+)/mg;
my ($program) = grep { /^#include/m } @blocks;

ok($program, 'there is a program') or BAIL_OUT('no program');
spew("$dir/words.c", $program);

# A pattern of what an example prints: "..." is any text, alone any lines.
sub
pattern
{
	my ($printed) = @_;
	my $pattern = join '', map {
		$_ eq '...' ? '(?:.*\n)*' :
		    join('.*', map { s/(?:\\ )+/ +/gr } map { quotemeta }
			split /\.\.\./, $_, -1) . '\n'
	} split /\n/, $printed;

	return qr/\A$pattern\n*\z/;
}

my $commands = 0;

for my $block (@blocks) {
	my @examples;

	next unless $block =~ /^\$ /;
	for (split /\n/, $block) {
		if (/^\$ (.*)/) {
			push @examples, [$1, ''];
		} elsif (@examples) {
			$examples[-1][1] .= "$_\n";
		}
	}
	for (@examples) {
		my ($command, $printed) = @$_;
		# The report comes behind what the program prints.
		my $run = run(['sh', '-c', "{ $command\n} 2>&1"], dir => $dir,
		    env => { PATH => abs_path($build) . ":$ENV{PATH}" });

		$printed =~ s/\n+\z/\n/;
		like($run->{out}, pattern($printed), $command);
		is($run->{status}, 0, '... it ends well');
		$commands++;
	}
}
cmp_ok($commands, '>', 15, 'there were examples');
done_testing();
