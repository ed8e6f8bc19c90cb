# A process that is attached to in a system call makes the call again.  That call
# began before counting did, so it is not counted, even where its instruction has
# a trap.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Target;

my $program = compile('resumed.c', '-O1');

# A dot comes with a newline, and each of the two bytes ends one call: a read, or
# a wait for the byte.
for my $way ('read', 'epoll') {
	my $nr = $way eq 'read' ? 0 : 232;

	for my $options (map { ["--patch=$_"], ["--patch=$_",
	    '--placement=every'] } 'auto', 'trap', 'step', 'slot') {
		my $what = "$way, @$options";
		my $target = Target->new($program, $way);

		is($target->answer, 'ready', "$what: it is ready");
		ok(wait_for(sub {
			return slurp("/proc/$target->{pid}/syscall") =~
			    /^$nr 0x/;
		}), "$what: it waits");
		my $run = monitor_start(['--units=func,block',
		    "--report=csv:$scratch/csv", @$options,
		    '-p', $target->{pid}], []);
		ok(wait_for(sub { return $target->planted('again'); }),
		    "$what: pmon counts");
		is($target->ask('.'), $_, "$what: answer $_") for 1 .. 20;
		is($target->finish('q'), 'status 0', "$what: it ends");
		$run = monitor_finish($run);
		is(ended($run), 'status 0', "$what: pmon's status");
		is(complaints($run), '', "$what: complaints");
		# Of 20 dots; q ends the last call, and the program.
		is_deeply(places_read("$scratch/csv", 'again'), {
			'func 0' => 40, 'block 0' => 40, 'block a' => 40,
			'block d' => 40,
		}, "$what: counts");
	}
}

done_testing;
