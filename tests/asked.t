# How often pmon asks the kernel about a program at each signal that the program
# handles.  Programs that get a signal each 100 us come to nothing else if that
# takes too long.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $sends = compile('sends.c', '-O1', '-Wno-unused-parameter');
my $count = compile('asked.c', '-O1', '-shared', '-fPIC');
my $file = "$scratch/asked";

# On one processor, so that pmon does not choose one, which depends on time.
sub
pin
{
	my ($first) = `taskset -pc $$` =~ /: (\d+)/;

	system "taskset -pc $first $$ >$scratch/taskset";
}

# All that pmon asked for while the program got n signals.
sub
asked
{
	my ($units, $mode, $n) = @_;
	my $what = "$units, $mode, $n signals";
	my $run = monitor(['--no-config', "--units=$units"],
	    [$sends, $mode, $n], before => \&pin,
	    env => { LD_PRELOAD => $count, PMON_ASKED => $file });

	is(ended($run), 'status 4', "$what: it ends");
	counts_are($run, { send => $n, on_signal => $n,
	    $mode eq 'w' ? (wait => $n) : () }, $what);
	my ($asked) = slurp($file) =~ /^(\d+)$/;
	unlink $file;
	return $asked // 0;
}

# Where the task is in a function's own code, the signal is the only stop: the
# registers are read, what the program does with signals is read, and which it
# blocks, the stop is seen not to be the task's last one, and the task goes on.
my %each = (func => 5);

# A task in a relocated function steps into its handler, and the handler's return
# is a trap.  At the step and at the trap the registers are read, the stop is
# seen not to be the last one, and the task goes on; what the step stopped for is
# asked, and whether SIGTRAP is blocked; the trap sets the pc.
$each{'func,block'} = 5 + 5 + 4;

# In sigsuspend (w) the signal is one that is blocked otherwise.
for my $units (sort keys %each) {
	for my $mode ('r', 'w') {
		is((asked($units, $mode, 300) - asked($units, $mode, 100)) / 200,
		    $each{$units}, "$units, $mode: for each signal");
	}
}

done_testing;
