# A pause cuts no system call short: what waits until all of it is moved goes
# on after reports, also of a process that was attached to, and also if a pause
# comes as the rest is begun (tests/prog/enter_at.c).
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;

my $prog = compile('transfers.c', '-O1');
my $enter = abs_path(compile('enter_at.c', qw(-O2 -shared -fPIC)));
my $expected = substr '0123456789' x 104858, 0, 1 << 20;

# The children of a process that wait in a system call, by number.
sub
waiting
{
	my ($pid, @numbers) = @_;
	my ($nr) = slurp("/proc/$pid/syscall") =~ /^(\d+) /;

	return 1 if defined $nr && grep { $_ == $nr } @numbers;
	return grep { waiting($_, @numbers) } children_of($pid);
}

# Read what is in the pipe, or all that comes up to its end.
sub
drain
{
	my ($in, $most) = @_;
	my $text = '';

	while ($most > 0) {
		my $n = sysread $in, $text, $most > 65536 ? 65536 : $most,
		    length $text;
		last unless $n;
		$most -= $n;
	}
	return $text;
}

# The program runs with a pipe as its output; before each part of it is read
# the pipe is full, and pmon is asked for a report.  $attach is what pmon's
# environment has if pmon attaches to the program.
sub
moved
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($how, $attach, @options) = @_;
	my $what = join ' ', $how, $attach ? 'attached' : (), %{$attach // {}} ?
	    'paused as it enters the call' : (), @options;

	pipe my $in, my $out or die;
	my @pmon = ($pmon, @options, '-o', "$scratch/report");
	my $program = start([$attach ? () : (@pmon, '--'), $prog, $how],
	    before => sub { open STDOUT, '>&', $out or die });
	close $out;
	# The numbers of write, splice, sendfile.
	my $full = sub { waiting($program->{pid}, 1, 275, 40) ? 1 : 0 };
	my $gone = sub { slurp("/proc/$program->{pid}/stat") =~ /\) Z/ };
	my $fills = sub {
		my $seen = 0;

		wait_for(sub { $seen = $full->() || $gone->() && -1 });
		is($seen, 1, "$what: the pipe is full");
	};
	$fills->();
	my $monitor = $attach &&
	    start([@pmon, '-p', $program->{pid}], env => $attach);
	my $asked = $monitor ? $monitor->{pid} : $program->{pid};
	my $text = '';
	my $query = sub { run([$pmon, '--query', $asked])->{status} == 0 };
	# An attached process can be asked about from some moment on.
	ok(wait_for($query), "$what: a report");
	for (1 .. 3) {
		$text .= drain($in, 1 << 18);
		$fills->();
		ok($query->(), "$what: another");
	}
	$text .= drain($in, 1 << 20);
	is(ended(finish($program)), 'status 0', "$what: results");
	ok($text eq $expected, "$what: what is moved");
	is(ended(finish($monitor)), 'status 0', "$what: pmon") if $monitor;
	return;
}

for my $how (qw(write sendto sendfile splice)) {
	moved($how, undef);
	moved($how, undef, '--object=*', '--units=func');
	moved($how, undef, '--patch=trap');
	moved($how, {}, '--units=func');
}
moved($_, { LD_PRELOAD => $enter }, '--units=func') for qw(write sendto);

done_testing;
