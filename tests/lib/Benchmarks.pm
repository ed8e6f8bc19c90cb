# The programs of bench/programs: how each is built, and what it is given to do,
# for a measurement or in short.  Owns the binaries in build/bench/.
package Benchmarks;

use strict;
use warnings;
use Exporter qw(import);
use File::Path qw(make_path);
use Pmon;
use Sources;

our @EXPORT = qw(benchmarks);

my $dir = "$build/bench";

# bench/NAME.c or .cc, built by a compiler with flags.
sub
own_build
{
	my ($name, $compiler, @flags) = @_;
	my ($source) = glob "bench/$name.c*";
	my $path = "$dir/" . join '-', $name, map { s/\W//gr } $compiler, @flags;
	my %plus = (gcc => 'g++', clang => 'clang++');
	my @command = $source =~ /\.cc$/ ? $plus{$compiler} //
	    ($ENV{CXX} || 'c++') : split ' ', $compiler;

	system(@command, qw(-O2 -g), @flags, '-o', $path, $source) == 0
	    or die "cannot compile $source\n";
	return $path;
}

# The same of a Debian source.
sub
debian_build
{
	my ($name, $compiler, @flags) = @_;
	my $usual = $cc;

	$cc = $compiler;
	my $path = source_build($name, '-O2', '-g', @flags);
	$cc = $usual;
	warn "$name: $Sources::reason\n" unless $path;
	return $path && "$path/$name";
}

# Letters with the look of words, the same each time.
sub
words
{
	my ($n) = @_;
	my ($path, $state, $words) = ("$dir/words-$n", 1, '');

	return $path if -s $path && -s _ == $n;
	for (1 .. $n) {
		$state = ($state * 1103515245 + 12345) & 0x7fffffff;
		$words .= ('a' .. 'x', ' ', "\n")[($state >> 16) % 26];
	}
	return spew($path, $words);
}

# Of each its name, builder->(name, compiler, flags), the input and arguments,
# and what is short.
sub
benchmarks
{
	my ($short) = @_;
	my @all = (
		[ 'bzip2', \&debian_build, [18_000_000, '-c'],
		    [3_000, '-c'] ],
		[ 'gzip', \&debian_build, [36_000_000, '-9c'],
		    [5_000, '-9c'] ],
		[ 'lua', \&debian_build, [0, 'tests/prog/work.lua', 32],
		    [0, 'tests/prog/work.lua', 1] ],
		[ 'fib', \&own_build, [0, 43], [0, 18] ],
		[ 'sort', \&own_build, [0, 3], [0, 2, 1000] ],
		[ 'calls', \&own_build, [0, 700], [0, 2, 100] ],
		[ 'map', \&own_build, [0, 2500000, 1000], [0, 1000, 100] ],
	);

	make_path($dir);
	return map {
		my ($name, $builder, @given) = @$_;
		my ($words, @arguments) = @{$given[$short ? 1 : 0]};

		{ name => $name, builder => $builder,
		    input => $words ? words($words) : '/dev/null',
		    arguments => \@arguments };
	} @all;
}

1;
