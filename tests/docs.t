# What the documents say is so: commands print what is shown, files that are
# named are there, and the change that they describe can be made.  That reports
# are specified is looked at by man.t.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Test::More;

my $pmon = abs_path($ENV{PMON} // 'build/pmon');
my $build = abs_path($ENV{PMON_BUILD} // 'build');
my $cc = $ENV{CC} || 'cc';
my $change = 'doc/first-change.md';
my @documents = ('README.md', 'CONTRIBUTING.md', glob 'doc/*.md doc/*/*.md');

sub
text
{
	my ($file) = @_;

	open my $in, '<', $file or die "$file: $!";
	local $/;
	return scalar <$in>;
}

# The examples of a document: indented blocks with "$ command", each followed
# by what it prints.  A line "..." stands for any lines.
sub
examples
{
	my ($text) = @_;
	my @examples;

	for my $block ($text =~ /^((?: {4}.*\n|\n)+)/mg) {
		next unless $block =~ /^ {4}\$ /m;
		for (split /\n/, $block) {
			s/^ {4}//;
			if (s/^\$ //) {
				push @examples, [$_, ''];
			} elsif (@examples) {
				$examples[-1][1] .= "$_\n";
			}
		}
	}
	return @examples;
}

# The command with the programs under test, and what it monitors and its data
# files elsewhere: reports shorten long paths.
my $dir = tempdir(CLEANUP => 1);
mkdir "$dir/demo" or die "$dir/demo: $!";
copy("$build/demo/shell", "$dir/demo/shell") &&
    chmod 0755, "$dir/demo/shell" or die "$dir/demo/shell: $!";

sub
command_here
{
	my ($command) = @_;

	$command =~ s{(?<!\S)build/pmon(?!\S)}{$pmon};
	$command =~ s{(?<!\S)build/demo/}{$dir/demo/}g;
	$command =~ s{(?<!\S)build/}{$build/}g;
	$command =~ s{\b(?=\w+\.pmon\b)}{$dir/}g;
	return $command;
}

# What is shown of what a command prints.
sub
shown_is
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($printed, $shown, $what) = @_;
	my $pattern = join '', map { $_ eq '...' ?
	    '(?:.*\n)*' : quotemeta($_) . "\n" }
	    split /\n/, $shown =~ s/\n+\z/\n/r;

	return like($printed =~ s{\n+\z}{\n}r, qr/\A$pattern\z/, $what);
}

SKIP: {
	skip 'clang has functions begin on other lines', 1
	    if qx($cc --version) =~ /clang/;
	my $n = 0;

	for my $file (grep { $_ ne $change } @documents) {
		for my $example (examples(text($file))) {
			my ($command, $shown) = @$example;
			my $printed = join '',
			    map { s{\Q$dir\E/demo/}{build/demo/}gr }
			    qx(${\ command_here($command)} 2>&1);
			shown_is($printed, $shown, "$file: $command");
			$n++;
		}
	}
	cmp_ok($n, '>=', 4, 'and there are examples');
}

# The change that a document describes, made in a copy of the tree, which needs
# to build only what changes where it is built.  Nothing of this test's
# surroundings goes there.
{
	my $text = text($change);
	my @patches = $text =~ /^```diff\n(.*?)^```$/msg;
	my $tree = "$dir/tree";
	my @files = grep { -f } split /\n/, qx(git ls-files);
	local %ENV = (%ENV, CC => $cc);

	delete @ENV{grep { /^PMON|^MAKE|^[A-Z]*FLAGS$/ } keys %ENV};
	# Most of the tree is compiled again, to be run for a moment.
	$ENV{CFLAGS} = '-O0';
	push @files, split /\n/,
	    qx(find build -name '*.[oad]' -o -path '*/gen/*' -type f)
	    if $build eq (abs_path('build') // '');
	mkdir $tree;
	open my $copy, '|-', "tar c -T - | tar x -C $tree" or die $!;
	print $copy map { "$_\n" } @files;
	close $copy;
	is($?, 0, 'a copy of the tree');
	open my $patch, '|-', "cd $tree && git apply -" or die $!;
	print $patch @patches;
	close $patch;
	is($?, 0, 'the patches apply');
	for my $example (examples($text)) {
		my ($command, $shown) = @$example;
		my $printed = qx(cd $tree && { $command; } 2>&1);

		is($?, 0, "$change: $command: status");
		shown_is($printed, $shown, "$change: $command");
	}
}

# Files that documents and comments name.
my $folder = qr{(?:util|arch|symtab|flow|relocate|program|probe|host|monitor
    |report|print|tests|bench|tools|doc|man|demo)}x;
my @sources = grep { -f } split /\n/,
    qx(git ls-files '*.[ch]' '*.md' Makefile tools tests man);
my %base = map { m{([^/]+)\z} => 1 } split /\n/, qx(git ls-files);
for my $file (@sources) {
	# Names that only a check sees, and a change that is not made.
	next if $file =~ m{^(?:tests/layers\.t|\Q$change\E)$};
	my %missing;

	for (text($file) =~ m{(?<![\w/.-])($folder/[\w/-]+\.(?:[cht]|md|pm))\b}g) {
		$missing{$_} = 1 unless -e || m{/NAME\.};
	}
	# Of a file that a document has named already, or `NAME.c`.
	for ($file =~ /\.md$/ ? text($file) =~ /`(\w+\.[cht])`/g : ()) {
		$missing{$_} = 1 unless $base{$_} || /^NAME\./;
	}
	is(join(' ', sort keys %missing), '', "$file names files that exist")
	    if %missing;
}
pass('files that are named exist');

# Every operation of probes is documented.
{
	my ($ops) = text('arch/fragment.h') =~ /^enum probe_op \{\n(.*?)^\};/ms;
	my $theory = text('doc/theory/relocation.md');

	ok($ops && $ops =~ /^\tPROBE_\w+,/m, 'there are operations');
	is(join(' ', grep { $theory !~ /`\Q$_\E`/ } $ops =~ /^\t(PROBE_\w+)/mg),
	    '', 'and doc/theory/relocation.md has all of them');
}

# Each decision has a number of its own, a date, a context and a choice.
my %decisions;
for my $file (glob 'doc/decisions/*') {
	my ($number) = $file =~ m{/(\d{4})-[a-z0-9-]+\.md\z};

	ok($number && !$decisions{$number}++, "$file has a number of its own");
	like(text($file), qr/\A# .*\n\nDecided on \d{4}-\d\d-\d\d\b
	    .*^\#\#[ ]Context\n.*^\#\#[ ](?:Choice|Choices)\n/msx,
	    "$file has a date, a context and a choice");
}

# NEWS begins with the version, and each version has the day of its release.
my $dated = qr/pmon (\d+\.\d+) \((?:not released|\d{4}-\d\d-\d\d)\)/;
my ($version) = text('NEWS') =~ /\A$dated\n/;
ok($version, 'NEWS begins with a version and a date');
is(join(', ', grep { !/\A$dated\z/ } text('NEWS') =~ /^(pmon \d\S*.*)$/mg), '',
    'each version in NEWS has a date');
like(qx($pmon --version), qr/\Apmon \Q$version\E\n/, 'which pmon has');
like(qx($build/pmprint --version), qr/\Apmprint \Q$version\E\n/,
    'and pmprint');

done_testing;
