# Lines of the system's and the compiler's files: reports leave them out unless
# they are asked for, or the user has chosen files, or there are no others.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(getcwd);
use Test::More;
use Pmon;

my $program = compile('foreign.cc', '-O0');

# One report of a run, and what else pmon wrote.
sub
report
{
	my ($kind, $made, @options) = @_;
	my $run = run([$pmon, @options, "--report=$kind:$scratch/report", '--',
		$made]);

	return (slurp("$scratch/report"), $run);
}

# Counted and run, of the summary's row of lines; and how many were left out.
sub
lines_of
{
	my ($summary) = @_;
	my ($all, $ran) = $summary =~ /^ +(\d+) +(\d+) .*  lines$/m;
	my ($left) = $summary =~ /without (\d+) lines? of \d+ system files?, which/;

	return ($all, $ran, $left // 0);
}

# Of foreign.cc: 12 lines with code, 3 of them in never().
my ($own) = report('summary', $program);
my ($all, $ran, $left) = lines_of($own);
is("$all $ran", '12 9', 'the summary has the lines of the program');
cmp_ok($left, '>', 100, '... and says how many it leaves out');
like($own, qr/^   *\d+ .*std::/m, 'functions are there, whoever declared them');
unlike($own, qr/^ +1  .*_start$/m, 'but not those that every program has');

# The three lines of doubled() are one entry; main has a line that ran as often.
my ($hot) = $own =~ /^Lines run most:\n.*\n((?:.+\n)+)/m;
is(scalar(() = $hot =~ /^ +20  /mg), 2, 'an entry for each function and count');
like($hot, qr/^ +20  \S*foreign\.cc:[67] .*\(and 2 more lines\)$/m,
    '... says how many lines are alike');

my ($whole) = report('summary', $program, '--system-headers');
is((lines_of($whole))[0], $all + $left, '--system-headers has them all');
is((lines_of($whole))[2], 0, 'and leaves none out');

# The text of own files is listed in full, of others what is near code.
my ($listing) = report('listing', $program);
my $text = () = slurp('tests/prog/foreign.cc') =~ /\n/g;
my @listed = $listing =~ /^(\S+) +\d+ .*:/mg;
is(scalar @listed, $text, 'the listing has the lines of the file');
is(scalar(grep { $_ !~ /foreign\.cc$/ } @listed), 0, '... of no other file');
like($listing, qr/without \d+ lines/, '... and says so');
($listing) = report('listing', $program, '--system-headers');
my (%code, %other);
while ($listing =~ /^(\S+) +(\d+) +(\d+|#####)?:/mg) {
	my $of = defined $3 ? \%code : \%other;

	push @{$of->{$1}}, $2 unless $1 =~ /foreign\.cc$/;
}
my @far;
for my $file (keys %other) {
	for my $line (@{$other{$file}}) {
		push @far, "$file:$line" unless
		    grep { abs($_ - $line) <= 3 } @{$code{$file}};
	}
}
cmp_ok(scalar keys %other, '>', 3, 'headers are listed when asked for');
is("@far", '', '... no farther than three lines from code');

my ($uncovered) = report('uncovered', $program);
like($uncovered, qr/^  3 of 12 lines with code$/m, 'lines never run');
my ($files) = report('files', $program);
is(join(' ', $files =~ /\d  (\S*foreign\.cc|\(system files)/g),
    'tests/prog/foreign.cc (system files', 'files: one row for the others');
my ($lcov) = report('lcov', $program);
is(join(' ', $lcov =~ /^SF:.*?([^\/\n]+)$/mg), 'foreign.cc', 'lcov');
# And the first lines of the functions, to which no code belongs.
like($lcov, qr/^LF:15\nLH:11$/m, '... with its lines');
($lcov) = report('lcov', $program, '--system-headers');
cmp_ok(scalar(() = $lcov =~ /^SF:/mg), '>', 3, '... and all files if asked');
my ($csv) = report('csv', $program);
my %files = map { $_ => 1 } $csv =~ /^line,[^,]*,[^,]*,[^,]*,"?([^,"]*)"?,/mg;
is(join(' ', map { s{.*/}{}r } keys %files), 'foreign.cc', 'csv');

# 9 of 12.
for my $under ([74, 0], [76, 124]) {
	my $run = run([$pmon, "--fail-under=$under->[0]", '-o',
		"$scratch/report", '--', $program]);

	is(ended($run), "status $under->[1]", "--fail-under=$under->[0]");
}

# Whoever names files gets them.
my ($chosen) = report('summary', $program, '--file=*/stl_map.h');
cmp_ok((lines_of($chosen))[0], '>', 3, '--file chooses a header');
is((lines_of($chosen))[2], 0, 'nothing is left out then');

# --exclude-path leaves out what it matches, even if it is chosen otherwise.
my @without = ('--system-headers', '--exclude-path=/usr/*');
my ($rest) = report('summary', $program, @without);
is(join(' ', (lines_of($rest))[0, 1]), '12 9', '--exclude-path: what is left');
like($rest, qr/^  without $left lines of \d+ files, which --exclude-path leaves out$/m,
    '... and what is not');
($lcov) = report('lcov', $program, @without);
is(join(' ', $lcov =~ /^SF:.*?([^\/\n]+)$/mg), 'foreign.cc', '... lcov');
($files) = report('files', $program, @without);
is(join(' ', $files =~ /\d  (\S*foreign\.cc|\((?!all|of no).*\))$/mg),
    'tests/prog/foreign.cc (files of --exclude-path)', '... files');
($listing) = report('listing', $program, @without);
is(join(' ', grep { !/foreign\.cc$/ } $listing =~ /^(\S+) +\d+ .*:/mg), '',
    '... listing');
($uncovered) = report('uncovered', $program, '--exclude-path=prog/foreign.cc');
like($uncovered, qr/^No lines were counted/m, 'the last components match');
($uncovered) = report('uncovered', $program, '--exclude-path=foreign',
    '--exclude-path=foreign.c');
like($uncovered, qr/^  3 of 12 lines with code$/m, '... but no parts of them');
($uncovered) = report('uncovered', $program, '--file=foreign.cc',
    '--file=*/stl_map.h', '--exclude-path=stl_map.h');
like($uncovered, qr/^  3 of 12 lines with code$/m, 'of chosen files, too');
for my $case (['--exclude-path=', '--exclude-path: the pattern is empty'],
    ['--exclude-path=foreign.cc', '--fail-under: no lines were counted']) {
	my $run = run([$pmon, $case->[0], '--system-headers',
		'--exclude-path=/usr/*', '--fail-under=1', '-o',
		"$scratch/report", '--', $program]);

	is(ended($run) . $run->{err}, "status 125pmon: $case->[1]\n",
	    $case->[0]);
}

# The data file has all: pmprint chooses anew.
run([$pmon, "--data=$scratch/data", '--', $program]);
for my $case ([12], [$all + $left, '--system-headers'], [12, @without]) {
	my ($lines, @options) = @$case;
	my $run = run(["$build/pmprint", '--report=summary', @options,
		"$scratch/data"]);

	is((lines_of($run->{out}))[0], $lines, "pmprint @options");
}

# A program that has no other files, and one in /usr/src.
for my $case (['/usr/lib/x', 0], ['/usr/src/x', 1]) {
	my ($where, $leaves) = @$case;
	my $moved = compile('foreign.cc', '-O0',
	    '-ffile-prefix-map=' . getcwd() . "=$where",
	    "-ffile-prefix-map=tests=$where/tests");
	my ($summary) = report('summary', $moved);
	my @lines = lines_of($summary);

	is($lines[2] > 0 ? 1 : 0, $leaves, "$where: whether lines are left out");
	is($lines[0], $leaves ? 12 : $all + $left, "$where: how many there are");
}
done_testing();
