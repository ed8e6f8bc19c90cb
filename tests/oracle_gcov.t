# Counts of lines and branches, compiled without optimisation, against gcov's,
# which has the compiler count.  A program of all kinds of statements, whose
# source says where both differ and by what; and programs from Debian's
# sources, where differences must be of kinds that are recognised by rule: of
# lines those that the manual names, of branches those between a language's
# and a machine's.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Basename qw(basename);
use JSON::PP qw(decode_json);
use Test::More;
use Counts;
use Pmon;
use Sources;

my $dir = "$scratch/gcov";
mkdir $dir or die;

# gcov's counts of what ran from these objects: file => { line => count }, of
# functions: file => { first line => calls }, and of branches, file => { line
# => [how often each way was gone] }.
sub
gcov
{
	my ($where, @notes) = @_;
	my (%count, %calls, %branches);

	for (@notes) {
		my $run = run(['gcov', '-b', '-c', '-t', '--json-format', $_],
		    dir => $where);
		for my $file (@{decode_json($run->{out})->{files}}) {
			my $name = basename($file->{file});
			for my $line (@{$file->{lines}}) {
				my $number = $line->{line_number};

				$count{$name}{$number} += $line->{count};
				push @{$branches{$name}{$number}},
				    map { $_->{count} } @{$line->{branches}};
			}
			$calls{$name}{$_->{start_line}} +=
			    $_->{execution_count} for @{$file->{functions}};
		}
	}
	return (\%count, \%calls, \%branches);
}

# The text of the lines of a file, without comments and strings.
sub
text_of
{
	my $text = slurp($_[0]);

	my $quoted = qr{"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'};

	$text =~ s{($quoted)|(/\*.*?\*/|//[^\n]*)}
	    {defined $1 ? '""' : $2 =~ tr/\n//cdr}gse;
	return ('', split /\n/, $text);
}

# The line of each address, from the line table, in order: [address, line,
# file].
sub
rows
{
	my ($program) = @_;
	my @rows;

	for (split /\n/, run(['readelf', '--wide', '--debug-dump=decodedline',
	    $program])->{out}) {
		next unless /^(\S+\.[ch])\s+(\d+|-)\s+0x(\w+)/;
		push @rows, [hex $3, $2, basename($1)];
	}
	return sort { $a->[0] <=> $b->[0] } @rows;
}

# What the machine code says of lines, file => { line => ... }: there is code
# that begins a statement (code), a piece of code that is but a jump (jumps), a
# jump by the parity flag, as when floating-point numbers are compared
# (parity); and of each address the row it belongs to (at).
sub
code_of
{
	my ($program) = @_;
	my @rows = rows($program);
	my (%row_at, %code, %jumps, %parity, $last, %line_at);

	$row_at{$_->[0]} = $_ for @rows;
	$code{$_->[2]}{$_->[1]} = 1 for @rows;
	for (split /\n/, run(['objdump', '-d', '--no-show-raw-insn',
	    $program])->{out}) {
		next unless /^ *(\w+):\s+(\S+)(?: +(\w+) <)?/;
		my ($addr, $what, $to) = (hex $1, $2, $3);
		my $new = $row_at{$addr};

		$last = $new if $new;
		next unless $last;
		$line_at{$addr} = $last;
		next unless $what =~ /^j/ && defined $to;
		$parity{$last->[2]}{$last->[1]} = 1 if $what =~ /^jn?p$/;
		$jumps{$last->[2]}{$last->[1]} = 1 if $new && $what eq 'jmp';
	}
	return { code => \%code, jumps => \%jumps, parity => \%parity,
	    at => \%line_at };
}

# Is the line part of a statement that is on several lines?
sub
is_spread
{
	my ($text, $line) = @_;
	my $before = $line - 1;

	$before-- while $before > 0 && $text->[$before] =~ /^\s*(#.*)?$/;
	return $text->[$line] !~ /[;{}:]\s*\\?\s*$/ ||
	    $text->[$before] !~ /[;{}:]\s*\\?\s*$/;
}

# What kind of difference is this?  Undef if it is none that the manual names.
# Where only one of both has the line: function (gcov has the line of its
# name, pmon the one with the brace), end (of a function or a block), label,
# no code (there is none in the line table).  Where counts differ: spread, and
# jump: the line only jumps and shares its code with others that
# go to the same place, or a jump that belongs to others is ascribed to it.
sub
kind
{
	my ($gcov, $pmon, $calls, $file, $line, $text, $code) = @_;
	my ($g, $p) = ($gcov->{$line}, $pmon->{$line});
	my $here = $text->[$line] // '';

	if (!defined $g) {
		return 'end' if $here =~ /^\s*\}/;
		return 'function' if $here =~ /^\s*\{|\{\s*$/ &&
		    grep { !defined $pmon->{$_} && (($gcov->{$_} // -1) == $p ||
			($calls->{$_} // -1) == $p) } $line - 16 .. $line - 1;
		return undef;
	}
	if (!defined $p) {
		return undef if $code->{code}{$file}{$line};
		return 'label'
		    if $here =~ /^\s*(?:(?:vm)?case\b.*|\}?\s*\w+\s*):/;
		return 'function' if grep { ($pmon->{$_} // -1) == $g &&
		    !defined $gcov->{$_} && $text->[$_] =~ /^\s*\{|\{\s*$/
		    } $line + 1 .. $line + 16;
		return 'no code';
	}
	return 'function' if ($calls->{$line} // -1) == $p;
	return 'jump' if $here =~ /^\s*(?:\w+:)?\s*
	    (?:return\s*;|break\s*;|continue\s*;|goto\s\w+\s*;|for
	    \s*\(;;\)\s*\{)\s*$/x;
	return 'jump' if $p > $g && $code->{jumps}{$file}{$line};
	return 'spread' if is_spread($text, $line);
	return undef;
}

# Of each file: lines alike, and how many of each kind are not.
sub
table
{
	my ($name, $files) = @_;

	diag "$name:";
	for my $file (sort keys %$files) {
		my %kinds = %{$files->{$file}};
		my $same = delete $kinds{same} // 0;

		diag sprintf '  %-16s %6d alike  %s', $file, $same, join ', ',
		    map { "$_ $kinds{$_}" } sort keys %kinds;
	}
}

# Compare all lines of all files; the differences: kind => [lines]; and of each
# file how many of each.
sub
differences
{
	my ($gcov, $pmon, $calls, $code, $where) = @_;
	my (%found, %files, $same);

	for my $file (sort keys %$gcov) {
		next unless -e "$where/$file";
		my @text = text_of("$where/$file");
		my %lines = (%{$gcov->{$file}}, %{$pmon->{$file} // {}});

		for my $line (sort { $a <=> $b } keys %lines) {
			my $g = $gcov->{$file}{$line} // '-';
			my $p = $pmon->{$file}{$line} // '-';

			if ($g eq $p) {
				$same++;
				$files{$file}{same}++;
				next;
			}
			my $kind = kind($gcov->{$file}, $pmon->{$file},
			    $calls->{$file}, $file, $line, \@text, $code)
			    // 'other';
			$files{$file}{$kind}++;
			push @{$found{$kind}}, "$file:$line: gcov $g, " .
			    "pmon $p: $text[$line]";
		}
	}
	$found{same} = $same // 0;
	return (\%found, \%files);
}

# Does the list have all of another, each as often?
sub
has_all
{
	my ($all, $some) = @_;
	my %left;

	$left{$_}++ for @$all;
	return !grep { !$left{$_}-- } @$some;
}

# The lines of the statement that this line is part of.
sub
statement
{
	my ($text, $line) = @_;
	my ($lo, $hi) = ($line, $line);

	$lo-- while $lo > 1 && $text->[$lo - 1] !~ /[;{}:]\s*\\?\s*$/;
	$hi++ while $hi < $#$text && $text->[$hi] !~ /[;{}]\s*\\?\s*$/;
	return $lo .. $hi;
}

# What kind of difference between branches is this?  Those of a switch are
# comparisons and a jump by a table (switch); macros of <stdarg.h> hide theirs
# from gcov (hidden); comparing floating-point numbers takes two jumps
# (parity); gcov has branches on what cannot be, after calls that do not return
# and in "(void)(a || b)", for which there is no code (needless); and the lines
# that those of a statement on several lines are ascribed to (spread).
sub
branches_kind
{
	my ($g, $p, $file, $line, $text, $code) = @_;
	my $here = $text->[$line] // '';
	my @gcov = @{$g->{$line} // []};
	my @pmon = @{$p->{$line} // []};

	return 'never run' if !@pmon && !grep { $_ } @gcov;
	return 'switch' if $here =~ /\bswitch\b|\bvmdispatch\b|\bdefault\b/;
	return 'hidden' if !@gcov && $here =~ /\bva_\w+|\.\.\.\s*\)/;
	return 'parity' if $code->{parity}{$file}{$line} &&
	    has_all(\@pmon, [grep { $_ } @gcov]);
	return 'needless' if @pmon && has_all(\@gcov, \@pmon);
	my @lines = statement($text, $line);
	@gcov = map { @{$g->{$_} // []} } @lines;
	@pmon = map { @{$p->{$_} // []} } @lines;
	return 'spread' if @lines > 1 && (has_all(\@gcov, \@pmon) ||
	    has_all(\@pmon, [grep { $_ } @gcov]));
	return undef;
}

# Compare the branches of all lines; the differences: kind => [lines].
sub
branches_differ
{
	my ($gcov, $counts, $code, $where) = @_;
	my (%pmon, %found);

	for (keys %$counts) {
		my ($addr) = /^(?:taken|fall|table) - (\w+)/ or next;
		my $row = $code->{at}{hex $addr} or next;

		push @{$pmon{$row->[2]}{$row->[1]}}, $counts->{$_};
	}
	for my $file (sort keys %$gcov) {
		next unless -e "$where/$file";
		my ($g, $p) = ($gcov->{$file}, $pmon{$file} // {});
		my @text = text_of("$where/$file");
		my %lines = (%$g, %$p);

		for my $line (sort { $a <=> $b } keys %lines) {
			my ($one, $two) = map { join ' ',
			    sort { $a <=> $b } @{$_->{$line} // []} } $g, $p;
			next if "$one$two" eq '';
			my $kind = $one eq $two ? 'same' : branches_kind($g,
			    $p, $file, $line, \@text, $code) // 'other';
			push @{$found{$kind}}, "$file:$line: gcov $one, " .
			    "pmon $two: $text[$line]";
		}
	}
	return \%found;
}

# The program of all statements.
sub
statements
{
	my $source = abs_path('tests/prog/lang.c');
	my $alone = run(['sh', '-c', "cd $dir && $cc -w -g -O0 --coverage " .
	    "-o lang $source && ./lang"]);
	my ($note) = glob "$dir/*.gcda";

	plan skip_all => "$cc --coverage does not work here: $alone->{err}"
	    unless $note;
	is($alone->{status}, 4, 'the program itself finds no fault');
	my ($gcov, $calls) = map { $_->{'lang.c'} } gcov($dir, $note);
	my $program = compile('lang.c', '-w', '-O0');
	my $code = code_of($program);
	my @text = text_of($source);
	my @marked = ('', split /\n/, slurp($source));

	cmp_ok(scalar(grep { $_ } values %$gcov), '>', 180,
	    'gcov has counts of many lines');
	for my $patch (@patches) {
		my $run = monitor(["--patch=$patch"], [$program]);
		my $pmon = $run->{lines}{'lang.c'};
		my %seen;

		same($alone, $run, $patch);
		for my $line (1 .. $#marked) {
			my ($g, $p) = ($gcov->{$line}, $pmon->{$line});
			my ($case, $count) = $marked[$line] =~
			    m{/\* (\w+) pmon: (\d+) \*/};
			my $kind = ($g // '-') eq ($p // '-') ? 'same' :
			    kind($gcov, $pmon, $calls, 'lang.c', $line,
				\@text, $code) // 'other';

			$seen{$kind}++ if defined $g || defined $p;
			if ($case) {
				is("$kind $p", "$case $count",
				    "$patch, line $line: as marked");
			} elsif ($kind =~ /^(?:spread|jump|other)$/) {
				fail("$patch, line $line: gcov " .
				    ($g // '-') . ', pmon ' . ($p // '-') .
				    ": $text[$line]");
			}
		}
		is($seen{function}, 2 * 19,
		    "$patch: functions' names and braces");
		diag "$patch: ", join ', ', map { "$_ $seen{$_}" }
		    sort keys %seen;
	}
}

# A real program.
sub
program
{
	my ($name, $arguments, %opt) = @_;
	my $counting = source_build($name, '-O0', '-g', '--coverage');
	my $plain = $counting && source_build($name, '-O0', '-g');

	SKIP: {
		skip $Sources::reason, 1 unless $plain;
		unlink glob "$counting/*.gcda";
		# Both see the same name, which they may well hash.
		symlink "$counting/$name", "$dir/$name";
		my $alone = run(["$dir/$name", @$arguments], %opt);
		unlink "$dir/$name";
		symlink "$plain/$name", "$dir/$name";
		my ($gcov, $calls, $branches) = gcov($counting,
		    glob "$counting/*.gcda");
		my $run = monitor(['--units=line'],
		    ["$dir/$name", @$arguments], %opt);
		my ($source) = map { s{/[^/]*$}{}r } run(['sh', '-c',
		    "readelf --debug-dump=info $plain/$name | " .
		    "grep -m1 -o '/[^ ]*/$opt{main}'"])->{out} =~ /(\S+)/;

		same($alone, $run, $name);
		my $code = code_of("$plain/$name");
		my ($found, $files) = differences($gcov, $run->{lines},
		    $calls, $code, $source);
		my $same = delete $found->{same};
		my @other = @{delete $found->{other} // []};

		table("$name: $same lines the same", $files);
		for my $kind (sort keys %$found) {
			diag "$name: $kind " . @{$found->{$kind}};
			next unless $kind =~ /spread|jump/;
			diag "  $_" for @{$found->{$kind}};
		}
		cmp_ok($same, '>', $opt{least}, "$name: lines counted alike");
		is(scalar @other, 0, "$name: no differences of other kinds")
		    or diag map { "  $_\n" } @other;
		$run = counted(['--units=edge'], ["$dir/$name", @$arguments],
		    %opt);
		$found = branches_differ($branches, $run->{counts}, $code,
		    $source);
		diag "$name: branches of lines: ", join ', ', map {
		    "$_ " . @{$found->{$_}} } sort keys %$found;
		cmp_ok(scalar @{$found->{same}}, '>', $opt{least} / 8,
		    "$name: branches counted alike");
		is(scalar @{$found->{other} // []}, 0,
		    "$name: no differences of branches of other kinds")
		    or diag map { "  $_\n" } @{$found->{other}};
	}
}

# Text without long repetitions, which are slow to sort.
my ($state, $words) = (1, '');
for (1 .. 1500) {
	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	$words .= ('a' .. 'x', ' ', "\n")[($state >> 16) % 26];
}
my $text = spew("$dir/text", $words);

statements();
program('bzip2', ['-c', '-1'], in_file => $text, least => 1500,
    main => 'bzip2.c');
program('lua', ['tests/prog/work.lua', 1], least => 6000, main => 'lua.c');
program('gzip', ['-c'], in_file => $text, least => 500, main => 'gzip.c')
    if $slow;

done_testing;
