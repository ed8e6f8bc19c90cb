# A process has its system calls dispatched to itself while pmon attaches and
# lets go: the calls that pmon makes in it are not (PTRACE_SET_SYSCALL_USER_
# DISPATCH_CONFIG, Linux 6.4).
use strict;
use warnings;
use lib 'tests/lib';
use POSIX ();
use Test::More;
use Pmon;
use Target;

my $prog = compile('dispatched.c', '-O1');
my ($major, $minor) = (POSIX::uname())[2] =~ /^(\d+)\.(\d+)/;

plan skip_all => 'the kernel is older than Linux 6.4'
    if $major * 1000 + $minor < 6004;
plan skip_all => 'the kernel dispatches no system calls to processes'
    if run([$prog], in => 'q')->{status} == 77;

for my $options (['--units=func,block'], ['--patch=trap', '--units=func'],
    ['--no-traps']) {
	my $what = "@$options";
	my $target = Target->new($prog);

	is($target->ask('.'), 'ok', "$what: it runs");
	for my $n (1 .. 3) {
		my $run = monitor_start([@$options, '-p', $target->{pid}], []);

		ok(wait_for(sub { return run([$pmon, '--query',
		    $target->{pid}])->{status} == 0; }),
		    "$what: pmon counts, $n");
		is($target->ask('.'), 'ok', "$what: it goes on, $n");
		kill 'INT', $run->{pid};
		is(ended(monitor_finish($run)), 'status 0', "$what: pmon, $n");
		is($target->ask('.'), 'ok', "$what: it goes on alone, $n");
	}
	is($target->finish('q'), 'status 0', "$what: it ends");
}

done_testing;
