# Calls of pmon's own that fail: the program does not notice, no count is wrong.
# tests/slow/faults.t has each call fail, this what is worst: while it starts
# the program, and at its first traps.
use strict;
use warnings;
use lib 'tests/lib';
use POSIX ();
use Test::More;
use Faults;
use Ledger;
use Pmon;

my ($EIO, $ESRCH) = (5, 3);

sub
sweep
{
	my ($mode, $options, $call, $error, @at) = @_;

	# Of many every other.
	@at = @at[grep { $_ % 2 == 0 } 0 .. $#at] if !$slow && @at > 20;
	my @bad = map {
		my $why = faulted($mode, $options, "$call:$_:$error");
		$why ? "$call $_: $why" : ();
	} @at;

	is_deeply(\@bad, [], "$mode @$options: $call fails with $error, " .
	    @at . ' times');
}

sweep('calls', [], 'ptrace', $ESRCH, 1 .. 48);
sweep('calls', ['--patch=trap'], 'ptrace', $ESRCH, 30 .. 60);
sweep('signals', ['--patch=step'], 'ptrace', $EIO, 60 .. 70);
sweep('calls', [], 'pread', $EIO, 1 .. 30);
sweep('calls', [], 'pwrite', $EIO, 1 .. 10);
# Text that is never written, or only from some time on; each of its pages, and
# all slots, are refused then.  The functions are not counted, and run.
sweep('calls', ['--patch=trap'], 'text', $EIO, 1 .. 24);
sweep('calls', ['--patch=trap'], 'text', "$EIO:ever", 1 .. 24);
sweep('calls', [], 'text', $EIO, 15 .. 24);
sweep('calls', [], 'text', "$EIO:ever", 40 .. 90);
sweep('calls', [], 'text', 'half', 15 .. 24);
# A trap that cannot be lifted for a step, or not be put back behind that.
sweep('signals', ['--patch=step'], 'text', $EIO, 64 .. 72);
sweep('signals', ['--patch=step'], 'text', "$EIO:ever", 66 .. 70);
# The first of two programs makes an indirect call that the second counts.
sweep('exec', [], 'text', $EIO, 17 .. 21);
sweep('exec', ['--patch=trap'], 'text', $EIO, 1 .. 5);
# A forked child's text, or its parent's, is refused: what leads into a relocated
# function that one of them has not got goes out of both.
sweep('forks', ['--placement=every'], 'text', $EIO, 90 .. 99);
sweep('forks', ['--placement=every'], 'text', "$EIO:ever", 72 .. 80);
# A relocated function is lost, or its jump stays, where another program needs a
# hook at its entry.
sweep('family', ['--patch=auto'], 'text', $EIO, 43, 45, 97, 104);
# Of a library's code, too, in which longjmp switches stacks.
sweep('serve', ['--units=edge', '--patch=trap'], 'pread', $EIO, 22 .. 30);
# A process of which /proc says nothing has not ended.
sweep('serve', [], 'fopen', "$EIO:again", 1 .. 12);

# ---- traps that cannot be removed, until pmon is told to try again

sweep('serve', ['--patch=trap'], 'text', "$EIO:ever", 38 .. 42);
{
	my ($end, $alone) = kept_at(['--patch=trap'], "text:40:$EIO:ever");

	like($end->{err}, qr/^pmon:\ note:\ process\ \d+:\ the\ kernel\ refuses\ to
	    \ remove\ breakpoints,\ so\ pmon\ stays\ until\ the\ process\ ends;
	    \ another\ signal\ to\ pmon\ tries\ again\n\z/x,
	    'pmon says that it stays');
	is($end->{status}, 0, 'and ends when it can');
	is($end->{out}, $alone->{out}, 'the process lives on');
}

# ---- a child is killed while pmon looks where it begins: it never came

killed_at($_, 'children', ['--placement=every'], 1)
    for grep { $slow || $_ % 3 == 0 } 160 .. 200;

# ---- pmon is killed before it traces the program, which then must not run

{
	pipe my $from, my $to or die;
	my $pid = fork // die;
	if (!$pid) {
		open STDOUT, '>&', $to or die;
		my $env = fault_env('ptrace:1:die');
		@ENV{keys %$env} = values %$env;
		exec($pmon, '--no-config', '--', '/bin/echo', 'alone') or
		    POSIX::_exit(1);
	}
	close $to;
	waitpid $pid, 0;
	is($? & 127, 9, 'pmon is killed');
	# To the end of what it left behind.
	is(join('', <$from>), '', 'its program does not run');
}

done_testing();
