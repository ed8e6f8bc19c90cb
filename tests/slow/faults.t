# The kernel refuses pmon something, once, or for good if it is no request of
# ptrace(2): from each place in pmon that makes such a call, the first, the second
# and the last of the calls that a run makes from there.  Bytes that it writes
# are refused for good, too, or all bytes from one write on.  PMON_FAULTS=each:
# each call there is.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Faults;
use Pmon;

my ($EIO, $ESRCH) = (5, 3);
my $each = ($ENV{PMON_FAULTS} // '') eq 'each';

# The numbers of the calls from one place that fail.
sub
chosen
{
	my ($calls) = @_;
	my %chosen = map { $_ => 1 } 1, 2, $calls;

	return grep { $_ <= $calls } $each ? 1 .. $calls :
	    sort { $a <=> $b } keys %chosen;
}

# All faults of this kind: what was not as it should be.
sub
sweep
{
	my ($mode, $options, $call, $places, @errors) = @_;
	my ($n, @bad) = 0;

	for my $place (sort keys %$places) {
		for my $error (@errors) {
			for my $at (chosen($places->{$place})) {
				my $fault = "$call\@$place:$at:$error";
				my $why = faulted($mode, $options, $fault);

				$n++;
				push @bad, "$fault: $why" if $why;
			}
		}
	}
	is_deeply(\@bad, [], "$mode @$options: $n times $call fails");
}

# Bytes are refused for good, of as many writes as there are.
sub
sweep_text
{
	my ($mode, $options, $writes) = @_;
	my $n = 0;

	for my $error ($EIO, "$EIO:ever", 'half') {
		my @at = grep { $each || $_ % 5 == $n % 5 } 1 .. $writes;
		my @bad = map {
			my $fault = "text:$_:$error";
			my $why = faulted($mode, $options, $fault);
			$why ? "$fault: $why" : ();
		} @at;

		is_deeply(\@bad, [], "$mode @$options: text is refused with " .
		    "$error, " . @at . ' times');
		$n++;
	}
}

my @chosen = split ' ', $ENV{PMON_FAULT_MODES} //
    'calls signals threads forks exec threadexec serve family';
for my $mode (@chosen) {
	for my $options ([], ['--patch=trap'], ['--patch=step'],
	    ['--placement=every'],
	    # Only what is attached to.
	    $mode =~ /serve|family/ ? ['--no-traps',
	    '--units=func,line,block,edge,insn'] : ()) {
		my $places = fault_places($mode, $options);

		my $writes = 0;

		$writes += $_ for values %{$places->{pwrite}};
		sweep_text($mode, $options, $writes);
		for my $call (sort keys %$places) {
			sweep($mode, $options, $call, $places->{$call}, $EIO,
			    $call eq 'ptrace' ? $ESRCH : "$EIO:again");
		}
	}
}

done_testing();
