# System calls that the kernel never restarts go on after what a program would
# not notice without pmon: a signal that it ignores, and a pause.  They wait for
# the rest of their timeout, and each is counted once.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $prog = compile('waits.c', qw(-O2 -pthread));
my $alone = run([$prog, 'ignored'])->{out};
my $calls = () = $alone =~ /^(?!completed)/mg;

unlike($alone, qr/early|arguments|stack|timeout$/m, 'alone');
like($alone, qr/^epoll_wait 0$/m, 'it waits');
for my $how ('ignored', 'hits') {
	for my $options (['--patch=step'], ['--patch=trap'], ['--patch=slot'],
	    []) {
		my $run = monitor(['--units=func,insn', '--placement=every',
		    '--func=call_make', '--func=hit', @$options,
		    "--report=csv:$scratch/csv"], [$prog, $how]);
		my $what = "$how, @$options";
		my $places = places_read("$scratch/csv", 'call_make');

		is(ended($run), 'status 0', "$what: it ends");
		is($run->{out}, $alone, '  and waits as it does alone');
		is_deeply([grep { $_ != $calls } values %$places], [],
		    '  and its calls are counted once');
	}
}
my $continued = "continued 0\n" x 3;
is(run([$prog, 'continued'])->{out}, $continued, 'continued, alone');
is(monitor([], [$prog, 'continued'])->{out}, $continued, 'continued');
is(run([$prog, 'stopped'])->{out}, "stopped: 4\n", 'stopped, alone');
is(monitor([], [$prog, 'stopped'])->{out}, "stopped: 4\n", 'stopped');

done_testing;
