# Real programs of many languages behave under pmon as they do alone, whatever
# is counted, and counts that a program knows are right.  What it costs is
# bench/corpus's business.  Installs the programs.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Corpus;
use Pmon;

# For those that hang.
$limit = 1800;
my @ways = (['--units=func'], ['--units=func,edge'],
    ['--units=func', '--object=*']);

diag 'some programs cannot be installed' unless corpus_install();
# A few that were asked for by name, or all.
for my $program (corpus(split /,/, $ENV{PMON_CORPUS} // '')) {
	my ($name, $knows) = @$program{qw(name knows)};

	SKIP: {
		my $argv = corpus_begin($program) or
		    skip "$name is not here", 1;
		my %opt = (in => $program->{in});
		my $alone = run($argv, %opt);

		my $status = 'status ' . ($program->{status} // 0);

		is(ended($alone), $status, "$name alone");
		for my $way (@ways) {
			corpus_begin($program);
			my $run = monitor(['--no-config', @$way], $argv, %opt);

			is(ended($run), $status, "$name @$way: its status");
			is($run->{out}, $alone->{out}, 'and what it prints')
			    unless $program->{loose};
			counts_are($run, $knows, "$name @$way") if $knows;
		}
	}
}
done_testing;
