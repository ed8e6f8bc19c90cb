# pmon is killed while it attaches to a process: the process goes on as if there
# had been no pmon.  tests/slow/orphans.t kills pmon before all its requests;
# here before those of the first system call that it makes the process do.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Orphans;
use Pmon;

for my $case (['read', '--no-traps', 10 .. 24], ['sleep', '--no-traps', 21, 24],
    ['futex', '--no-traps', 21], ['suspend', '--no-traps', 21],
    ['epoll', '--no-traps', 12, 18, 21, 24, 40], ['spin', '--no-traps', 21],
    ['threads', '--no-traps', 21], ['read', '--units=func', 21]) {
	my ($mode, $option, @at) = @$case;
	my @bad = map {
		my $why = orphaned($mode, [$option], $_) //
		    'pmon was not killed';
		$why ? "$_: $why" : ();
	} @at;

	is_deeply(\@bad, [], "$mode, $option: pmon is killed, " . @at .
	    ' times');
}

# A signal interrupts a call that pmon has made the thread repeat.
is(interrupted('epoll', ['--no-traps'], 30), 'status 0, epoll -4, status 0',
    'a signal comes while pmon attaches');

is(orphaned('read', ['--no-traps'], 22, again => 1), '',
    'another pmon attaches behind one that was killed');

for my $units (qw(func edge)) {
	is(followed('read', ['--units=edge'], ["--units=$units"]),
	    'status 0, code in memory differs from the file',
	    "$units: another attaches behind one that was killed with traps");
}

done_testing();
