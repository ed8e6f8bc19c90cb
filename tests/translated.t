# Code of Valgrind's that runs in its translation, where breakpoints would be
# the client's: it stays as it is, and what is beside it is counted.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my @program = (compile('translated.c', '-O1', '-static', '-no-pie'));

for my $patch (@patches) {
	for my $units ('func', 'func,edge,insn') {
		my $run = monitor(["--units=$units", "--patch=$patch",
			'--eager'], \@program);

		# 1 + 2 + 2 * 0, ... 1 + 2 + 2 * 99.
		is(ended($run) . $run->{out}, "status 010200 4 intact\n",
		    "$patch, $units");
		counts_are($run, { near_before => 100, near_behind => 100,
			main => 1 }, "$patch, $units");
		like($run->{report} =~ s/\s+/ /gr, qr{:\ \d+\ bytes\ of\ code
		    \ are\ not\ counted:\ Valgrind\ has\ its\ client}x,
		    '  the report says so');
	}
}

done_testing;
