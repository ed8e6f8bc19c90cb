# The programs of bench/programs: how each is built, and what it is given to do,
# for a measurement or in short.  Owns the binaries in build/bench/.
package Benchmarks;

use strict;
use warnings;
use Exporter qw(import);
use File::Path qw(make_path);
use Pmon;
use Sources;

our @EXPORT = qw(benchmarks benchmarks_installed);

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

# A program of the system's, of which there is one build.
sub
installed
{
	my ($path, $compiler, @flags) = @_;

	return if $compiler ne 'gcc' || @flags;
	warn "there is no $path here\n" unless -x $path;
	return -x $path ? $path : undef;
}

# Numbers in JSON.
sub
numbers
{
	my ($n) = @_;

	return spew("$dir/numbers-$n", '[' . join(',', map { "{\"a\":$_,\"b\":" .
	    "[\"" . $_ % 97 . '",' . $_ * 7 % 1009 . ']}' } 1 .. $n) . ']');
}

# Statements for sqlite3.
sub
statements
{
	my ($n) = @_;

	return spew("$dir/statements-$n", "create table t(a, b);\n" .
	    "with recursive n(i) as (select 1 union all select i + 1 from n " .
	    "where i < $n) insert into t select i * 7919 % 10007, 'x' || i " .
	    "from n;\ncreate index u on t(a);\nselect count(*), sum(length(b)) " .
	    "from t join (select distinct a % 100 as c from t) on a % 1000 = c;\n" .
	    "select a, count(*) from t group by a order by 2 desc, 1 limit 3;\n");
}

# Programs of the system's: as benchmarks, not in short.
sub
benchmarks_installed
{
	my @all = (
		[ '/usr/bin/xz', words(4_000_000), '-6c', '-T1' ],
		[ '/usr/bin/jq', numbers(200_000),
		    '[.[] | select(.a % 3 == 0) | .b[1] + (.b[0] | tonumber)] ' .
		    '| add' ],
		[ '/usr/bin/sqlite3', statements(300_000) ],
		[ '/usr/bin/perl', '/dev/null', 'bench/work.pl', 1000 ],
		[ '/usr/bin/python3', '/dev/null', 'tests/prog/work.py', 30 ],
		[ '/usr/bin/tclsh8.6', '/dev/null', 'bench/work.tcl', 30 ],
		[ '/usr/lib/llvm-14/bin/clang', '/dev/null', '-O2', '-c', '-o',
		    "$dir/map.o", 'bench/map.cc' ],
	);

	return map {
		my ($path, $input, @arguments) = @$_;

		{ name => $path =~ s{.*/}{}r, input => $input,
		    builder => sub { installed($path, @_[1 .. $#_]) },
		    arguments => \@arguments };
	} @all;
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
		[ 'regex', \&own_build, [0, 600000], [0, 20] ],
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
