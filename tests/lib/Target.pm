# A process that runs beside the test, to be attached to: commands go to its
# standard input, answers come from its standard output.
package Target;

use strict;
use warnings;
no warnings 'portable';
use IO::Select;
use IPC::Open2;
use Pmon qw(slurp wait_for);

sub
new
{
	my ($class, @argv) = @_;
	my $self = bless { argv => \@argv }, $class;

	$self->{pid} = open2($self->{out}, $self->{in}, @argv);
	return $self;
}

# The next line it prints, or undef when there is none for long.
sub
answer
{
	my ($self) = @_;
	my $select = IO::Select->new($self->{out});

	until (($self->{buffer} // '') =~ /\n/) {
		my $n = $select->can_read(60) ? sysread $self->{out},
		    $self->{buffer}, 4096, length($self->{buffer} // '') : 0;
		return undef unless $n;
	}
	$self->{buffer} =~ s/^(.*)\n//;
	return $1;
}

sub
tell
{
	my ($self, $line) = @_;

	local $SIG{PIPE} = 'IGNORE';
	syswrite $self->{in}, "$line\n";
	return;
}

sub
ask
{
	my ($self, $line) = @_;

	$self->tell($line);
	return $self->answer // 'no answer';
}

# A field of /proc/PID/status.
sub
status
{
	my ($self, $field) = @_;

	return slurp("/proc/$self->{pid}/status") =~ /^$field:\s*(\S+)/m ?
	    $1 : '';
}

# Is there a trap at the beginning of this function of its program?
sub
planted
{
	my ($self, $function) = @_;
	my $program = readlink("/proc/$self->{pid}/exe") // return 0;

	$program =~ s/ \(deleted\)$//;
	my $offset = $self->{offsets}{$function} //= do {
		my ($addr) = qx(nm $self->{argv}[0]) =~
		    /^(\w+) [tT] \Q$function\E$/m or die "$function?";
		my $type = qx(readelf -h $self->{argv}[0]);

		$type =~ /Type:\s+DYN/ ? [hex $addr, 1] : [hex $addr, 0];
	};
	my ($addr, $relative) = @$offset;
	my ($base) = slurp("/proc/$self->{pid}/maps") =~
	    /^(\w+)-\w+ .*\Q$program\E/m or return 0;
	$addr += hex $base if $relative;
	open my $mem, '<:raw', "/proc/$self->{pid}/mem" or return 0;
	# endbr64 is passed over.
	sysseek $mem, $addr, 0;
	sysread $mem, my $bytes, 5;
	return ($bytes // '') =~ /^(?:\xf3\x0f\x1e\xfa)?\xcc/;
}

# Its end: how.
sub
finish
{
	my ($self, $command) = @_;

	$self->tell($command) if defined $command;
	close $self->{in};
	my $status;
	wait_for(sub {
		return 1 if waitpid($self->{pid}, 1) == $self->{pid} &&
		    defined($status = $?);
		return 0;
	}, 60) or return $self->kill;
	delete $self->{pid};
	return $status & 127 ? 'signal ' . ($status & 127) :
	    'status ' . ($status >> 8);
}

sub
kill
{
	my ($self) = @_;
	my $pid = delete $self->{pid} or return 'ended before';

	kill CONT => $pid;
	kill KILL => $pid;
	waitpid $pid, 0;
	return 'killed';
}

sub
DESTROY
{
	my ($self) = @_;

	local $?;
	$self->kill if $self->{pid};
}

1;
