# Text that the program moves, by mremap(2), with pmon's patches in it: it runs
# as in the file, its functions are not known, and all else is counted.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $program = compile('moved.c', '-O1', '-pthread');

for my $how ([], ['handles'], ['blocks'], ['threads']) {
	my @argv = ($program, @$how);
	my $alone = run(\@argv);

	for my $options (['--units=func'], ['--units=func,edge'],
	    ['--units=func', '--patch=trap'], ['--placement=every']) {
		my $what = "@$how @$options";
		my $run = monitor($options, \@argv);

		same($alone, $run, $what);
		counts_are($run, { stays => 20, behind => 10, main => 1,
		    handler => 0, map { $_ => '?' } qw(first second never) },
		    $what);
		like($run->{report},
		    qr/the\s+program\s+moves\s+code\s+of\s+4\s+KB,/,
		    "$what: the report tells");
	}
}
done_testing;
