# Children that are made with CLONE_UNTRACED run, and are counted, like any
# other, and their makers find the arguments of their calls as they were.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $program = compile('untraced.c', '-O1');
my $untraced = '800000';

# The counts are those of children that may be traced.
for my $options ([], ['--patch=trap'], ['--units=func', '--patch=step'],
    ['--units=func', '--object=*']) {
	my $alone = run([$program, $untraced]);
	my $other = monitor($options, [$program, '0']);
	my $run = monitor($options, [$program, $untraced]);

	same($alone, $run, "@$options");
	counts_are($run, { work => 6, body => 2 },
	    "@$options");
	my @blocked = ($program, $untraced, 'blocked');
	same(run(\@blocked), monitor($options, \@blocked),
	    "@$options: with SIGTRAP blocked");
	my %mine = map { $_ => $run->{funcs}{$_} } grep {
		exists $other->{funcs}{$_} } qw(main work body end clone_here);
	counts_are($other, \%mine, "@$options: as when traced");
}
# In a stripped program clone is known by .eh_frame alone, and its entry there
# ends in front of the system call.
my $stripped = compile('untraced.c', '-O1', '-static', '-s');
for my $options ([], ['--units=func', '--patch=trap']) {
	my $run = monitor($options, [$stripped, $untraced]);

	same(run([$stripped, $untraced]), $run, "stripped @$options");
	counts_are(monitor($options, [$stripped, '0']), $run->{funcs},
	    "stripped @$options: as when traced");
}
same(run([$program, $untraced]), monitor(['--once'],
	[$program, $untraced]), 'once');
same(run([$program, $untraced]), monitor(['--follow=none'],
	[$program, $untraced]), 'not followed');

done_testing();
