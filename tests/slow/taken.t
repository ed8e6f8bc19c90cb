# Another thread's exec takes the id of a thread that runs for pmon's sake.  In one
# run of ten the thread is never stepped while the other is in its exec, and the
# program goes on for ever.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;

my $program = compile('detours.c', '-O1', '-pthread');
my $inject = abs_path(compile('detour_at.c', qw(-O2 -shared -fPIC)));

SKIP: {
	my $run = monitor(['--placement=every'], [$program, 'exec'],
	    env => { LD_PRELOAD => $inject, PMON_DETOUR => 'exec' });

	skip 'no userfaultfd(2) here', 3 if $run->{out} =~ /^no userfaultfd/;
	is(ended($run), 'status 0', 'exec instead of a step: how it ends');
	is($run->{out}, "SIGUSR2 is blocked, SIGALRM is blocked\n",
	    'with the mask of the thread that executes');
	is($run->{funcs}{done}, 1, 'it is counted');
}

done_testing();
