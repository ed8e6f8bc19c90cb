# Programs whose symbols or DWARF would take for ever to read, or all memory.
# What is more than the file has reason for is left out, and the report says
# what; the rest is counted.  A signal ends pmon also while it reads.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $dir = "$scratch/bombs";
mkdir $dir or die;
system('python3', 'tests/lib/bombs.py', $dir) == 0 or die;

# Under limits of processor time and memory, which the load of the machine does
# not change: each takes a second or two, and took minutes, or gigabytes.  The
# sanitizers' memory cannot be limited.
my $asan = slurp($pmon) =~ /__asan_init/;
my $limits = $asan ? 'ulimit -t 300' : 'ulimit -t 60; ulimit -v 4000000';

sub
bomb
{
	my ($name, $lower, @options) = @_;
	my $most = $lower && !$asan ? $lower : $limits;
	my $run;

	@options = ('-u', 'func,line,inline') if !@options;
	$run = run(['sh', '-c', "$most; exec \"\$@\"", 'sh', $pmon,
		'--no-config', @options, '-r', 'summary',
		'-o', "$scratch/report", '--', "$dir/$name"]);

	is(ended($run) . $run->{err}, 'status 7', "$name: it runs");
	return slurp("$scratch/report") =~ s/\s+/ /gr;
}

my %refused = (
	same => 'names of symbols (.strtab)',
	suffixes => 'names of symbols (.strtab)',
	cold => 'names of symbols (.strtab)',
	blocks => 'entries (.debug_info)',
	inlined => 'entries (.debug_info)',
	namespaces => 'entries (.debug_info)',
	names => 'names in DWARF (.debug_str)',
	abbreviations => 'abbreviations (.debug_abbrev)',
	ranges => 'ranges (.debug_ranges, .debug_rnglists)',
	tables => 'line tables (.debug_line)',
);
sub
said
{
	my ($report, $what, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok(index($report, $what), '>', 0, "  $name is said") or
	    diag $report;
}

for my $name (sort keys %refused) {
	my $file = "$dir/$name";
	my $size = -s $file;
	my $most = ($name =~ /ranges|tables/ ? 4 : 16) *
	    ($size < 1 << 20 ? 1 << 20 : $size);

	said(bomb($name), "$file: pmon did not read its $refused{$name} " .
	    "to the end: they take more than $most bytes, and the file has " .
	    $size,
	    'what is left out');
}
said(bomb('link'), "debug file not used: $dir/huge.debug: pmon does not " .
    'compute its checksum: the file has 1099511627776 bytes, and the limit ' .
    'is 2147483648',
    'a debug file that is not used');
said(bomb('rows'), "$dir/rows: 1995904 rows of .debug_line are left out: " .
    'pmon uses only the last 4096 rows at one address',
    'how many rows are not');
unlike(bomb('units'), qr/left out|not read|ignored/, '  nothing is left out');
# Graphs: a gigabyte, and 14 s; and 27 s.  Sequences: 6 s.
for (['jumps', 'ulimit -v 500000'], ['middles', 'ulimit -t 10'],
    ['sequences', 'ulimit -t 3']) {
	unlike(bomb(@$_, '--eager', '-u', 'edge'), qr/left out|not read/,
	    '  nothing is left out');
}
my $run = run([$pmon, '--no-config', "$dir/sections"]);
is($run->{status} . $run->{err},
    "125pmon: $dir/sections: damaged: its sections overlap\n", 'sections');

# ---- signals

my $raise = compile('raise_at.c', '-shared', '-fPIC');
my $program = compile(spew("$scratch/says.c", <<'END'));
#include <stdio.h>
int main(void) { return puts("ran") < 0; }
END
my %early = (BEGIN => 'not read to the end', END => 'not analysed to the end');
for my $when (sort keys %early) {
	for my $how ([], ['--eager']) {
		# The first file is the program, before it is started.
		$run = run([$pmon, '--no-config', @$how, '-o',
			"$scratch/report", '--', $program], env => {
			LD_PRELOAD => $raise, "PMON_RAISE_$when" => 2 });
		is(ended($run) . $run->{out}, 'status 143',
		    "$when @$how: the program gets the signal at once");
		said(slurp("$scratch/report") =~ s/\s+/ /gr, "not counted: " .
		    "$program: $early{$when}, because pmon was told to stop",
		    'why nothing was counted');
	}
}

done_testing;
