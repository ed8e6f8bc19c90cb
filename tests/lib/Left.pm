# What a process that was attached to has, seen from outside, so that before
# and after can be compared: memory, open files, text, signals, processors.
package Left;

use strict;
use warnings;
no warnings 'portable';
use Exporter qw(import);
use Pmon qw(slurp);

our @EXPORT = qw(process_state process_size text_changes);

# Executable pages that differ from the file they are mapped from: "FILE: N
# bytes".  Those of no file are in the maps.
sub
text_changes
{
	my ($pid) = @_;
	my @changes;

	open my $mem, '<:raw', "/proc/$pid/mem" or return "no memory: $!";
	for (split /\n/, slurp("/proc/$pid/maps")) {
		my ($lo, $hi, $offset, $path) =
		    m{^(\w+)-(\w+) ..x. (\w+) \S+ \d+ +(/.*)} or next;
		my ($size, $now, $file) = (hex($hi) - hex($lo), '', '');
		my $in;
		open $in, "<:raw", "/proc/$pid/map_files/$lo-$hi" or
		    open $in, "<:raw", $path or next;
		sysseek $in, hex $offset, 0;
		sysread $in, $file, $size;
		sysseek $mem, hex $lo, 0;
		sysread $mem, $now, $size;
		# Behind the file's end there are zeros.
		my $diff = substr($now, 0, length $file) ^ $file;
		my $n = $diff =~ tr/\0//c;
		push @changes, "$path: $n bytes" if $n;
	}
	return join '; ', @changes;
}

# What the program itself changes is left out: its heap and stacks.
sub
process_state
{
	my ($pid, @without) = @_;
	my %state = (
		maps => join("\n", grep { !/ (?:rw-p|---p) .* 0 *$/ &&
		    !/\[heap\]|\[stack\]/ } split /\n/,
		    slurp("/proc/$pid/maps")),
		files => join(' ', map { (readlink($_) // '') =~
		    s/^/$_ -> /r } sort glob "/proc/$pid/fd/*"),
		text => text_changes($pid),
	);

	for my $task (glob "/proc/$pid/task/*") {
		my $status = slurp("$task/status");

		for my $field (qw(SigBlk SigIgn SigCgt Cpus_allowed
		    TracerPid)) {
			$state{"$task $field"} =
			    $status =~ /^$field:\s*(\S+)/m ? $1 : '';
		}
	}
	for my $key (keys %state) {
		delete $state{$key} if grep { $key =~ / $_$/ } @without;
	}
	return \%state;
}

# Megabytes of address space.
sub
process_size
{
	my ($pid) = @_;

	return slurp("/proc/$pid/status") =~ /^VmSize:\s*(\d+)/m ?
	    $1 / 1024 : 0;
}

1;
