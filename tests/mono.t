# Mono reads the code that it has compiled ahead, and aborts if a call is not as
# it has made it: such a library is not counted, and the report says so.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $calls = 100;
my $library = compile('ahead.c', qw(-O1 -fPIC -shared));
my $program = compile('ahead.c', '-O1', '-fPIE', '-pie',
    '-DMAIN', '-Wl,--no-as-needed', $library,
    "-Wl,-rpath,$build/prog");
my @argv = ($program, $calls);
my $alone = run(\@argv);

for my $patch (@patches) {
	for my $units ('func', 'func,edge') {
		my ($csv, $report) = ("$scratch/csv", "$scratch/report");
		my $what = "$patch, $units";
		my $run = monitor(["--units=$units", "--patch=$patch",
			'--object=*ahead*', "--report=csv:$csv,summary:$report"],
		    \@argv);

		same($alone, $run, $what);
		is(places_read($csv, 'main')->{'func 0'}, 1, "$what: main");
		is_deeply(places_read($csv, 'ahead'), {},
		    "$what: no function of the library");
		like(slurp($report) =~ s/\s+/ /gr,
		    qr/compiled ahead by Mono, which reads this code: its func/,
		    "$what: the report says so");
	}
}

done_testing();
