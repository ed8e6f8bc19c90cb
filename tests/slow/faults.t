# Every call of the kernel that pmon makes in a run fails once: requests of
# ptrace(2), reads and writes of memory, files and mappings.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Faults;

my ($EIO, $ESRCH) = (5, 3);
my @calls = qw(ptrace pread pwrite process_vm_readv process_vm_writev open
    fopen mmap);

for my $mode (qw(calls signals threads forks)) {
	for my $options ([], ['--patch=trap'], ['--patch=step'],
	    ['--placement=every']) {
		my $calls = fault_calls($mode, $options);

		for my $call (@calls) {
			for my $error ($EIO, $call eq 'ptrace' ? $ESRCH : ()) {
				my @bad = map {
					my $why = faulted($mode, $options,
					    "$call:$_:$error");
					$why ? "$call $_: $why" : ();
				} 1 .. $calls->{$call};

				is_deeply(\@bad, [], "$mode @$options: each of"
				    . " $calls->{$call} $call with $error");
			}
		}
	}
}

done_testing();
