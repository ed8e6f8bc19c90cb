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

# How often the call's block and the function were counted.
sub
counts
{
	my ($file) = @_;
	my (%counts, $base);

	for (split /\n/, slurp($file)) {
		my ($kind, undef, $name, $addr, undef, undef, undef, $n) =
		    split /,/;

		next if ($name // '') ne '"again"';
		$base = hex $addr if $kind eq 'func';
		$counts{sprintf '%s %x', $kind, hex($addr) - $base} = $n;
	}
	return join ', ', map { "$_: $counts{$_}" } sort keys %counts;
}

# Each dot ends a read, and another begins.  With epoll_wait the newline behind
# a dot ends two calls more: that wait, and no read by way of the function.
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
		# Two bytes a dot, and q ends the program.
		is(counts("$scratch/csv"), 'block 0: 40, block a: 40, ' .
		    'block d: 40, func 0: 40', "$what: counts");
	}
}

done_testing;
