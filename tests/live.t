# pmon --live on a terminal of 80 columns and 24 lines.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use IO::Select;
use Test::More;
use Phases;
use Pmon;

eval { require IO::Pty; 1 } or plan skip_all => 'needs IO::Pty';

my $size = pack 'S4', 24, 80, 0, 0;
mkdir "$scratch/runtime", 0700;
$ENV{XDG_RUNTIME_DIR} = "$scratch/runtime";
$ENV{TERM} = 'vt100';

# Start pmon --live; its process, and the terminal's other end.
sub
live
{
	my $pty = IO::Pty->new;
	my $pid = fork // die;

	if (!$pid) {
		$pty->make_slave_controlling_terminal;
		my $slave = $pty->slave;
		ioctl $slave, 0x5414, $size;	# TIOCSWINSZ
		open STDIN, '<&', $slave or die;
		open STDOUT, '>&', $slave or die;
		open STDERR, '>', "$scratch/live.err" or die;
		close $pty;
		exec $pmon, '--live', @_ or die;
	}
	$pty->close_slave;
	return ($pid, $pty);
}

# The screen, of what was written to it with the codes of a VT100: text where
# the cursor is, its moves, erasing, and scrolling some rows.
my (@screen, $row, $column, $rest, $seen);
my ($top, $bottom) = (0, 23);
sub
screen_put
{
	my ($text) = @_;

	$seen .= $text;
	$rest .= $text;
	while (length $rest) {
		if ($rest =~ s/^\e\[(\d*);?(\d*)([A-DHJK])//) {
			my ($a, $b, $what) = ($1, $2, $3);

			if ($what eq 'H') {
				($row, $column) = (($a || 1) - 1, ($b || 1) - 1);
			} elsif ($what eq 'J') {
				@screen = map { $_ < $row ? $screen[$_] : '' }
				    0 .. 23;
			} elsif ($what eq 'K') {
				$screen[$row] = substr $screen[$row] // '', 0,
				    $column if !$a;
				$screen[$row] = ' ' x $column .
				    substr $screen[$row] // '', $column
				    if $a eq '1';
			} elsif ($what =~ /[ABCD]/) {
				$row += { A => -1, B => 1 }->{$what} *
				    ($a || 1) if $what =~ /[AB]/;
				$column += { C => 1, D => -1 }->{$what} *
				    ($a || 1) if $what =~ /[CD]/;
			}
		} elsif ($rest =~ s/^\e\[(\d*);?(\d*)r//) {
			($top, $bottom) = (($1 || 1) - 1, ($2 || 24) - 1);
			($row, $column) = (0, 0);
		} elsif ($rest =~ s/^\e\[\??[\d;]*[hlm]|^\e[()].|^\e[=>78]|^[\x0e\x0f\x07]|^\0//) {
			next;
		} elsif ($rest =~ s/^\eM//) {
			if ($row != $top) {
				$row--;
				next;
			}
			splice @screen, $bottom, 1;
			splice @screen, $top, 0, '';
		} elsif ($rest =~ /^\e/) {
			last if length $rest < 12;
			die 'unknown: ' . unpack 'H*', substr $rest, 0, 12;
		} elsif ($rest =~ s/^\r//) {
			$column = 0;
		} elsif ($rest =~ s/^\n//) {
			if ($row != $bottom) {
				$row++;
				next;
			}
			splice @screen, $top, 1;
			splice @screen, $bottom, 0, '';
		} elsif ($rest =~ s/^\x08//) {
			$column-- if $column;
		} elsif ($rest =~ s/^([^\e\r\n\x08\0\x0e\x0f\x07]+)//) {
			$screen[$row] //= '';
			$screen[$row] .= ' ' x ($column -
				length $screen[$row])
			    if length $screen[$row] < $column;
			substr $screen[$row], $column, length $1, $1;
			$column += length $1;
		}
	}
}

# Wait until the screen looks like that.
sub
shows
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($pty, $expect, $what) = @_;
	my $select = IO::Select->new($pty);
	my $end = time + $limit;

	until (join("\n", @screen) =~ $expect || time > $end) {
		next unless $select->can_read(1);
		sysread $pty, my $bytes, 4096 or last;
		screen_put($bytes);
	}
	like(join("\n", map { $_ // '' } @screen), $expect, $what);
}

@screen = ('') x 24;
($row, $column, $rest, $seen) = (0, 0, '', '');
my $server = begin('--units=func,line');
order('aat');
my ($pid, $pty) = live($server->{pid});
shows($pty, qr/^pmon  \d+\.\d s  1 process  2 threads  \S/,
    'what is counted');
shows($pty, qr/^lines +\d+\.\d %  (\d+) of \d+ ran +\[#+\.+\]$/m,
    'coverage');
# By now all of the first line has come: lines are written from above.
my $program = abs_path(phases());
my ($name) = $screen[0] =~ /threads  (\S+)$/;
ok($name eq $program ||
    (index($program, $name) == 0 && length $screen[0] >= 79),
    "its path, as far as there is room: $screen[0]");
my ($before) = join("\n", @screen) =~ /^lines.*?(\d+) of/m;
shows($pty, qr/COUNT  FUNCTION.*^ +\S+ +30  leaf.*COUNT  LINE.*^ +\S+ +30  \S*phases\.c:28/ms,
    'functions and lines with their counts');
shows($pty, qr/^ +\S+ +1[* ] main$/m, 'also what has not ended');
order('da');
shows($pty, qr/^ +\S+ +40  leaf/m, 'they grow');
shows($pty, qr/^ +\S+ +4  deeper/m, 'with what comes new');
my ($after) = join("\n", @screen) =~ /^lines.*?(\d+) of/m;
cmp_ok($after, '>', $before, 'and coverage does');
ok(!(grep { length > 80 } @screen), 'in 80 columns');
shows($pty, qr/^ +\S+ +\d+\* \w.*\* counted before$/ms,
    'with a star where a count is of an earlier look');
syswrite $pty, 's';
shows($pty, qr/^q quit  s order: count/m, 'a key sorts');
syswrite $pty, 's';
shows($pty, qr/ deeper *\n.* leaf *\n.* main *\n.*s order: name/s,
    'also by name');
syswrite $pty, 'u';
shows($pty, qr/COUNT  FUNCTION.*u show: functions/s, 'another shows functions');
unlike(join("\n", @screen), qr/COUNT  LINE/, 'alone');
syswrite $pty, 'u';
shows($pty, qr/COUNT  LINE.*u show: lines/s, 'or lines');
syswrite $pty, 'uf';
shows($pty, qr/^filter: _/m, 'another begins a filter');
syswrite $pty, "dee";
shows($pty, qr/^filter: dee_/m, 'which is typed');
syswrite $pty, "x\x7f\r";
shows($pty, qr/FUNCTION *\n[^\n]* deeper *\n *\n.*f filter: dee  /s,
    'and leaves what has it');
syswrite $pty, "f\e";
shows($pty, qr/FUNCTION.* leaf.*f filter  space/s, 'or is cleared');
syswrite $pty, ' ';
shows($pty, qr/space resume/, 'another holds it');
$seen = '';
syswrite $pty, 'q';
waitpid $pid, 0;
is($?, 0, 'q ends it');
while (IO::Select->new($pty)->can_read(0)) {
	sysread $pty, my $bytes, 4096 or last;
	$seen .= $bytes;
}
my ($left) = $seen =~ /.*(pmon  \d+\.\d s.*)/s;
like($left, qr/^ +\S+ +\d+. leaf\r\n.*\n\z/ms,
    'and leaves the last screen as text');
unlike($left, qr/q quit/, 'without the keys');
is(slurp("$scratch/live.err"), '', 'without a message');

# The program's end ends it, too.
($pid, $pty) = live($server->{pid});
@screen = ('') x 24;
shows($pty, qr/order: rate/, 'once more');
order('uu');
hang_up();
my $reader = fork // die;
if (!$reader) {
	1 while sysread $pty, my $bytes, 4096;
	POSIX::_exit(0);
}
is(ended(monitor_finish($server)), 'status 0', 'the program ends');
waitpid $pid, 0;
is($?, 0, 'and so the view of it');
kill KILL => $reader;
waitpid $reader, 0;

my $run = run([$pmon, '--live', $$]);
is("$run->{status} $run->{err}", "125 pmon: --live needs a terminal\n",
    'it needs a terminal');

done_testing;
