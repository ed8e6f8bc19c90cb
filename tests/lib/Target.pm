# A process that runs beside the test, to be attached to: commands go to its
# standard input, answers come from its standard output.
package Target;

use strict;
use warnings;
no warnings 'portable';
use IO::Select;
use IPC::Open2;
use Pmon qw($limit $pmon ended monitor_finish monitor_start run slurp status_of
    wait_for);
use Test::More;

# Where functions are in programs, and their bytes there.
my (%offsets, %texts);

sub
new
{
	my ($class, @argv) = @_;
	my $self = bless { argv => \@argv }, $class;

	$self->{pid} = open2($self->{out}, $self->{in}, @argv);
	return $self;
}

# The next line it prints, or undef if there is none until the limit.
sub
answer
{
	my ($self) = @_;
	my $select = IO::Select->new($self->{out});

	until (($self->{buffer} // '') =~ /\n/) {
		my $n = $select->can_read($limit) ? sysread $self->{out},
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

	return status_of($self->{pid}, $field);
}

# Is there a trap in this function of its program?  One that is being run may
# have some elsewhere than at its beginning.
sub
planted
{
	my ($self, $function) = @_;
	my $program = readlink("/proc/$self->{pid}/exe") // return 0;

	$program =~ s/ \(deleted\)$//;
	my $offset = $offsets{$self->{argv}[0], $function} //= do {
		my ($addr, $size) = qx(nm -S $self->{argv}[0]) =~
		    /^(\w+) (\w+) [tT] \Q$function\E$/m or
		    die "$function?";
		my $type = qx(readelf -h $self->{argv}[0]);

		[hex $addr, hex $size, $type =~ /Type:\s+DYN/];
	};
	my ($addr, $size, $relative) = @$offset;
	my ($base) = slurp("/proc/$self->{pid}/maps") =~
	    /^(\w+)-\w+ .*\Q$program\E/m or return 0;
	$addr += hex $base if $relative;
	open my $mem, '<:raw', "/proc/$self->{pid}/mem" or return 0;
	sysseek $mem, $addr, 0;
	my $bytes;
	sysread $mem, $bytes, $size;
	my $text = $texts{$self->{argv}[0], $function} //=
	    slurp_text($self->{argv}[0], $function, $size);
	return length($bytes // '') && $bytes ne $text;
}

# A function's bytes in the file, by binutils.
sub
slurp_text
{
	my ($file, $function, $size) = @_;
	my $dump = qx(objdump -d --disassemble=$function -w --insn-width=16 $file);
	my $bytes = '';

	while ($dump =~ /^ +\w+:\t((?:\w\w )+)/mg) {
		$bytes .= pack 'H*', $1 =~ s/ //gr;
	}
	return substr $bytes, 0, $size;
}

# Wait until a pmon that attaches to it answers; whether one does.
sub
counted
{
	my ($self) = @_;

	return wait_for(sub {
		return run([$pmon, '--query', $self->{pid}])->{status} == 0;
	});
}

# pmon attaches to it with these options and lets it go, several times: it gives
# this answer to a dot before, meanwhile and behind, and ends well.
sub
attached
{
	my ($self, $answer, @options) = @_;
	my $what = "attached, @options";

	is($self->ask('.'), $answer, "$what: it runs");
	for my $n (1 .. 3) {
		my $run = monitor_start([@options, '-p', $self->{pid}], []);

		ok($self->counted, "$what: pmon counts, $n");
		is($self->ask('.'), $answer, "$what: it goes on, $n");
		kill 'INT', $run->{pid};
		is(ended(monitor_finish($run)), 'status 0', "$what: pmon, $n");
		is($self->ask('.'), $answer, "$what: it goes on alone, $n");
	}
	is($self->finish('q'), 'status 0', "$what: it ends");
	return;
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
	}) or return $self->kill;
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
