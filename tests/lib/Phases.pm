# tests/prog/phases.c under pmon: it does what it is told a letter at a time,
# and answers with a byte when that is done, so that each count is known.
# One at a time.
package Phases;

use strict;
use warnings;
use Exporter qw(import);
use IO::Handle;
use Pmon;

our @EXPORT = qw(begin end hang_up order phases);

my ($to, $from, $server, $prog);

# The program.
sub
phases
{
	return $prog //= compile('phases.c', '-O0', '-pthread');
}

# Start pmon with these options, and the program, until that is ready.
sub
begin
{
	my (@options) = @_;
	my ($in, $out);

	pipe $in, $to or die;
	pipe $from, $out or die;
	$to->autoflush;
	$server = monitor_start(\@options, [phases()], before => sub {
		close $to;
		close $from;
		open STDIN, '<&', $in or die;
		open STDOUT, '>&', $out or die;
	});
	close $in;
	close $out;
	order('x');
	return $server;
}

# Have the program do something, and wait until it is done.
sub
order
{
	for (split //, $_[0]) {
		syswrite $to, $_;
		sysread($from, my $byte, 1) or die "no answer: " .
		    slurp("$server->{base}.err");
	}
}

# Have it end, when it has read all.
sub
hang_up
{
	close $to;
	1 while sysread $from, my $bytes, 100;
}

sub
end
{
	hang_up();
	return monitor_finish($server);
}

1;
