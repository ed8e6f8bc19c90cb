# Children that are made with CLONE_UNTRACED run, and are counted, like any
# other, and their makers find the arguments of their calls as they were.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Target;

my $program = compile('untraced.c', '-O1');
my $untraced = '800000';

# The counts are those of children that may be traced.
for my $options ([], ['--patch=trap'], ['--units=func', '--patch=step'],
    ['--units=func', '--object=*']) {
	my $alone = run([$program, $untraced]);
	my $other = monitor($options, [$program, '0']);
	my $run = monitor($options, [$program, $untraced]);

	same($alone, $run, "@$options");
	counts_are($run, { work => 8, body => 2 },
	    "@$options");
	my @blocked = ($program, $untraced, 'blocked');
	same(run(\@blocked), monitor($options, \@blocked),
	    "@$options: with SIGTRAP blocked");
	my %mine = map { $_ => $run->{funcs}{$_} } grep {
		exists $other->{funcs}{$_} } qw(main work body end clone_here
		clone_as clone_by);
	counts_are($other, \%mine, "@$options: as when traced");
}
# In a stripped program calls of unknown numbers matter only where they may be
# syscall(2)'s, so it makes no others.  clone is known by .eh_frame alone, and
# its entry there ends in front of the system call.
my $stripped = compile('untraced.c', '-O1', '-static', '-s', '-DNAMELESS');
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

# pmon attaches while the program waits in a vfork, and so stops at the end of
# that.
my $vforked = compile('vforked.c', '-O1');
for my $options (['--units=func'], []) {
	pipe my $in, my $to or die;
	my $program = start([$vforked], before => sub {
		close $to;
		open STDIN, '<&', $in or die;
	});
	close $in;
	# The child waits in read, the program in the kernel.
	my $child;
	wait_for(sub { ($child) = children_of($program->{pid});
	    $child && slurp("/proc/$child/syscall") =~ /^0 / });
	my $run = monitor_start([@$options, '-p', $program->{pid}], []);
	wait_for(sub { slurp("/proc/$program->{pid}/status") =~
	    /^TracerPid:\s+$run->{pid}$/m || has_ended($run->{pid}) });
	syswrite $to, 'x';
	$program = finish($program);
	is($program->{out}, "100\n" . "300\n" x 5,
	    "@$options: attached within a vfork");
	is(ended($program), 'status 0', 'it ends well');
	$run = monitor_finish($run);
	is(ended($run), 'status 0', 'and so does pmon');
	counts_are($run, { work => 6, later => 5 }, 'all is counted');
	unlike($run->{report}, qr/the\s+process\s+was\s+stopped/,
	    'in relocated functions');
}

# Without breakpoints nothing tells pmon of such children.  They count where all
# do, at the same time, and also when the thread that made them has ended.
my $hidden = compile('hidden.c', '-O1', '-pthread');
for my $options (['--units=func'], ['--units=block,func'], []) {
	my $what = "without traps @$options";
	my $target = Target->new($hidden);

	is($target->answer, 'ready', "$what: the program is ready");
	my $run = monitor_start(['--no-traps', @$options, '-p', $target->{pid}],
	    []);
	ok(wait_for(sub { $target->planted('step') }), "$what: planted");
	is($target->ask(''), 'done', "$what: the children end well");
	is($target->finish(''), 'status 21', "$what: and so does the program");
	$run = monitor_finish($run);
	is(ended($run) . $run->{err}, 'status 0', "$what: and pmon");
	counts_are($run, { step => 8_000_000, steps => 8 },
	    "$what: all are counted");
}

done_testing();
