# What the tests of whole programs share: compiling test programs, running
# them alone and under pmon within a time limit, and reading reports.
#
# run and monitor return a hash: status (exit status), signal (that killed
# it, or 0), out, err, late (it was killed for taking too long), and for
# monitor: funcs, lines (see funcs_read, lines_read), report (text of the
# summary, see unhurried).
package Pmon;

use strict;
use warnings;
use Cwd qw(abs_path);
use Digest::MD5 qw(md5_hex);
use Exporter qw(import);
use File::Basename qw(basename);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;
use Time::HiRes qw(setitimer sleep time ITIMER_REAL);

our @EXPORT = qw($pmon $build $cc $scratch $limit $seed $slow @patches compile
    run start finish monitor monitor_start monitor_finish same counts_are
    lines_are annotated $listed funcs_read lines_read places_read rows_read
    func_traps slurp spew wait_for ended has_ended is_gone complaints
    children_of status_of unhurried);

our $pmon = abs_path($ENV{PMON} // 'build/pmon');
our $build = abs_path($ENV{PMON_BUILD} // 'build');
our $cc = $ENV{CC} || 'cc';
our $scratch = tempdir('pmon-test-XXXXXX', TMPDIR => 1, CLEANUP => 1);
our @patches = qw(step slot emulate trap auto);

delete @ENV{qw(COLUMNS DEBUGINFOD_URLS)};
# As in the Makefile: what earlier runs left in the user's cache changes when
# functions are looked at.
$ENV{$_} = '/dev/null' for qw(XDG_CACHE_HOME XDG_CONFIG_HOME);

# Seconds after which a program hangs, and a test that waits for something
# gives up.  So many that no load of the machine makes a test fail: nothing
# else may depend on it.
our $limit = $ENV{PMON_LIMIT} // 900;

# Where PMON_SLOW is set tests do all that they can: see check-slow.  Without it
# they do what differs most.
our $slow = $ENV{PMON_SLOW} ? 1 : 0;

# What random tests begin with, which their names have.
our $seed = $ENV{PMON_SEED} // 0;
my $serial = 0;
my ($owner, %running) = $$;

sub
slurp
{
	my ($file) = @_;

	local $/;
	open my $in, '<', $file or return '';
	return scalar <$in> // '';
}

sub
spew
{
	my ($file, $text, $mode) = @_;

	open my $out, '>', $file or die "$file: $!";
	print $out $text;
	close $out or die "$file: $!";
	chmod $mode, $file if defined $mode;
	return $file;
}

# Compile tests/prog/SOURCE (or several, in an array) with the flags; the
# path of the program, which is kept as long as sources and flags are the
# same.
sub
compile
{
	my ($sources, @flags) = @_;
	my @files = map { m{/} ? $_ : "tests/prog/$_" }
	    ref $sources ? @$sources : $sources;
	my $compiler = $files[0] =~ /\.cc$/ ? $ENV{CXX} || 'c++' : $cc;
	my $name = basename($files[0]) =~ s/\.\w+$//r;
	my $key = substr(md5_hex(join "\0", $compiler, @flags, @files,
		map { slurp($_) } @files, glob 'tests/prog/*.h'), 0, 8);
	my $path = "$build/prog/$name-$key";

	return $path if -e $path;
	make_path("$build/prog");
	my $made = "$path.$$";
	my @command = ($compiler, '-g', @flags, '-o', $made, @files);
	system(@command) == 0 or die "failed: @command\n";
	rename $made, $path or die "$path: $!";
	return $path;
}

# Start a program: fork and exec with standard files in the scratch directory.
# Options: in (text for its stdin), in_file, env (hash), dir, before (code run
# in the child).
sub
start
{
	my ($argv, %opt) = @_;
	my $base = "$scratch/run" . ++$serial;
	my $in = $opt{in_file} // '/dev/null';

	$in = spew("$base.in", $opt{in}) if defined $opt{in};
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		setpgrp unless $opt{same_group};
		open STDIN, '<', $in or die "$in: $!";
		open STDOUT, '>', "$base.out" or die;
		open STDERR, '>', "$base.err" or die;
		if ($opt{dir}) {
			chdir $opt{dir} or die "$opt{dir}: $!";
		}
		# What a shell ignores for its jobs in the background, and what
		# may be ignored where tests run: whether a writer then says
		# that nobody reads is a matter of time.
		$SIG{$_} = 'DEFAULT' for qw(INT QUIT PIPE);
		$ENV{$_} = $opt{env}{$_} for sort keys %{$opt{env} // {}};
		$opt{before}->() if $opt{before};
		exec { $argv->[0] } @$argv
		    or print STDERR "exec $argv->[0]: $!\n";
		POSIX::_exit(127);
	}
	$running{$pid} = 1;
	return { pid => $pid, base => $base, argv => $argv,
	    deadline => time + $limit };
}

# Has what was started ended?  It stays a zombie, so nothing else gets its id.
# With `wait`, this waits for it, until a signal comes.
sub
has_ended
{
	my ($pid, $wait) = @_;
	# waitid(P_PID, pid, info, WEXITED | WNOWAIT), WNOHANG with that; si_pid.
	my ($waitid, $info) = (247, "\0" x 128);
	my $how = $wait ? 0x1000004 : 0x1000005;

	if (syscall($waitid, 1, 0 + $pid, $info, $how, 0) != 0) {
		return 0 if $!{EINTR};
		die "waitid: $!";
	}
	return unpack('x16 l', $info) == $pid;
}

# Has a process ended that is another's child?  It may stay a zombie for seconds.
sub
is_gone
{
	my ($pid) = @_;

	return slurp("/proc/$pid/stat") !~ /\) [^ZX]/;
}

# Wait until what was started has ended, at once when it does: false if it has
# not by the deadline.
sub
ends_by
{
	my ($pid, $deadline) = @_;

	# One that comes before the wait has begun interrupts nothing.
	local $SIG{ALRM} = sub { };
	setitimer(ITIMER_REAL, 0.5, 0.5);
	until (has_ended($pid, 1)) {
		last if time > $deadline;
	}
	setitimer(ITIMER_REAL, 0);
	return has_ended($pid);
}

# Where all threads of these processes are: in pmon, in the program, or in the
# kernel, as in an fsync(2) that a busy disk has not done.
sub
tasks_told
{
	my (@pids) = @_;
	my @told;

	for my $task (map { glob "/proc/$_/task/*" } @pids) {
		my ($stat) = slurp("$task/stat") =~ /^(.*\) \S)/ or next;

		push @told, "$stat, system call " . slurp("$task/syscall") .
		    slurp("$task/stack");
	}
	return join '', @told;
}

# Wait for the end of what was started.
sub
finish
{
	my ($run) = @_;
	my ($pid, $late) = ($run->{pid}, 0);

	until (ends_by($pid, $late ? time + 1 : $run->{deadline})) {
		if (!$late) {
			diag "too long: @{$run->{argv}}";
			diag slurp("$run->{base}.err");
			diag tasks_told($pid, children_of($pid));
		}
		$late = 1;
		kill KILL => -$pid;
		kill KILL => $pid;
	}
	# What it left behind in its group, which is its own as long as it is
	# a zombie.
	kill KILL => -$pid;
	waitpid $pid, 0;
	my $status = $?;
	delete $running{$pid};
	my %result = (%$run, status => $status >> 8, signal => $status & 127,
	    out => slurp("$run->{base}.out"), err => slurp("$run->{base}.err"),
	    late => $late);
	unlink glob "$run->{base}.{in,out,err}";
	return \%result;
}

sub
run
{
	return finish(start(@_));
}

# Start argv under pmon with these options of pmon's.  Reports go to files, so
# that all of stderr is the program's or a message of pmon's.  No counter is
# dropped for what it costs, which is a matter of time, but with `drops`.
sub
monitor_start
{
	my ($options, $argv, %opt) = @_;
	my $base = "$scratch/report" . ++$serial;
	my @reports = ("--report=summary:$base.summary,funcs:$base.funcs");

	push @reports, "--report=listing:$base.listing"
	    unless grep { /^--units=func$/ } @$options;
	push @reports, "--report=inlines:$base.inlines" if $opt{inlines};
	my $run = start([$pmon, '-v', $opt{drops} ? () : '--exact', @$options,
		@reports, @$argv ? ('--', @$argv) : ()], %opt);
	$run->{reports} = $base;
	return $run;
}

sub
monitor_finish
{
	my $run = finish(@_);
	my $base = $run->{reports};

	$run->{report} = unhurried(slurp("$base.summary"));
	$run->{funcs} = funcs_read("$base.funcs", aliases => 1);
	$run->{inlines} = funcs_read("$base.inlines");
	$run->{lines} = lines_read("$base.listing");
	unlink glob "$base.*";
	return $run;
}

sub
monitor
{
	return monitor_finish(monitor_start(@_));
}

# A report of functions: name => calls ('?' if unknown).  Functions of one
# name are summed.  With `aliases`, a function's other names count too.
sub
funcs_read
{
	my ($file, %opt) = @_;
	my (%calls, $column, $before);

	open my $in, '<', $file or return {};
	local $_;
	while (<$in>) {
		chomp;
		# Where instructions were counted, those come first.
		($column, $before) = ($-[2], $1 ? qr/\S+ +/ : qr//)
		    if /^\s*(EXECUTED\s+)?CALLS .*(FUNCTION)$/;
		next unless defined $column && /^\s*$before(\d+|\?) /;
		my $count = $1;
		my $names = substr($_, $column);
		$names =~ s/ \[[^\]]*\]$// if /^[\s\d]*\?/;
		my ($name, @aliases) = split / \(= (.*?)\)(?= \(= |$)/, $names;
		for ($name, $opt{aliases} ? grep { length } @aliases : ()) {
			if (($calls{$_} // 0) eq '?' || $count eq '?') {
				$calls{$_} = '?';
			} else {
				$calls{$_} += $count;
			}
		}
	}
	return \%calls;
}

# How a line with code begins in a listing: its file, number and count.  Quick
# to see that a line has none.
our $listed = qr/^(\S.*?)(?<=\S)\s++(\d++)\s++(\d++|\?|\#####)/;

# A listing: file name => { line => count }, of lines with code only; '?' if
# unknown.
sub
lines_read
{
	my ($file) = @_;
	my (%lines, %base);

	open my $in, '<', $file or return {};
	local $_;
	while (<$in>) {
		next unless /$listed:/;
		$lines{$base{$1} //= basename($1)}{$2} =
		    $3 eq '#####' ? 0 : $3;
	}
	return \%lines;
}

# A csv report: count of each edge and block of a function, and of its calls, by
# its place in that: { 'block 1c' => count }.
sub
places_read
{
	my ($csv, $func) = @_;
	my ($base, %counts);

	for (split /\n/, slurp($csv)) {
		my ($kind, undef, $name, $addr, undef, undef, $to, $n) =
		    split /,/;

		next if ($name // '') ne "\"$func\"" || $kind eq 'call';
		$base = hex $addr if $kind eq 'func';
		$to = $to =~ /0x/ ? sprintf '-%x', hex($to =~ tr/"//dr) - $base :
		    '';
		$counts{sprintf '%s %x%s', $kind, hex($addr) - $base, $to} = $n;
	}
	return \%counts;
}

# A csv report: all rows of functions, lines, blocks and edges.
sub
rows_read
{
	return join '', grep { /^(func|line|block|edge),/ }
	    slurp($_[0]) =~ /^.*\n/mg;
}

# A report of sites: how often traps in the function were hit.
sub
func_traps
{
	my ($sites, $func) = @_;
	my $text = slurp($sites);
	my $hits = 0;

	$hits += $1 while $text =~ /^ +(\d+) +[\da-f]+  $func\b/mg;
	return $hits;
}

# The counts a source says of its own lines: those with a comment
# "x EXPRESSION" at their end, in which words stand for the values given.
sub
annotated
{
	my ($source, %values) = @_;
	my %expected;

	open my $in, '<', $source or die "$source: $!";
	local $_;
	while (<$in>) {
		next unless m{(?:/\*|//|\#) x (.+?)\s*(?:\*/)?$};
		my $expr = $1;
		$expr =~ s/\b([A-Za-z]\w*)\b/$values{$1} \/\/ die "$1?"/ge;
		$expected{$.} = eval $expr;
		die "$source:$.: $@" if $@;
	}
	return \%expected;
}

# Do the functions named have these counts?
sub
counts_are
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($run, $expected, $what) = @_;
	my %got = map { $_ => $run->{funcs}{$_} } keys %$expected;

	return is_deeply(\%got, $expected, "$what: calls") ||
	    diag("stderr: $run->{err}");
}

# Do the lines of the source have these counts?
sub
lines_are
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($run, $source, $expected, $what) = @_;
	my $lines = $run->{lines}{basename($source)} // {};
	my %got = map { $_ => $lines->{$_} } keys %$expected;

	return is_deeply(\%got, $expected, "$what: lines");
}

# Its standard error output, but for pmon's note that it is slow: how much it
# does before it is stopped is a matter of time.
sub
complaints
{
	my ($run) = @_;

	return $run->{err} =~ s/^pmon: note: .*\n//mr;
}

# A summary without the same note.
sub
unhurried
{
	my ($summary) = @_;

	return $summary =~ s{^Note: .*\n(?: {6}.*\n)*}{
		my $note = $&;
		$note =~ /\bslower\s+than\s+alone:/ ? '' : $note;
	}gemr;
}

# Did the program end as it should, and in time?
sub
ended
{
	my ($run) = @_;

	return 'too late' if $run->{late};
	return $run->{signal} ? "signal $run->{signal}" :
	    "status $run->{status}";
}

# Is the outcome of two runs the same, but for pmon's way of passing on the
# signal that killed the program?
sub
same
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($alone, $run, $what) = @_;
	my $expected = ended($alone);
	my $err = $run->{err};

	$expected =~ s/^signal (\d+)$/'status ' . (128 + $1)/e;
	$err =~ s/^pmon: .*\n//mg;
	my $good = is(ended($run), $expected, "$what: how it ends");
	$good &= is($run->{out}, $alone->{out}, "$what: its output");
	$good &= is($err, $alone->{err}, "$what: its error output");
	return $good;
}

# The children of a process's first thread.
sub
children_of
{
	my ($pid) = @_;

	return split ' ', slurp("/proc/$pid/task/$pid/children");
}

# A field of /proc/PID/status, up to a space; '' if there is none.
sub
status_of
{
	my ($pid, $field) = @_;

	return slurp("/proc/$pid/status") =~ /^$field:\s*(\S+)/m ? $1 : '';
}

# Wait until the condition holds; false if it does not within the limit.
sub
wait_for
{
	my ($condition) = @_;
	my $end = time + $limit;

	until ($condition->()) {
		return 0 if time > $end;
		sleep 0.002;
	}
	return 1;
}

END {
	my $status = $?;

	# A fork of the test that dies has started none of them.
	if ($$ == $owner) {
		kill KILL => -$_, $_ for keys %running;
	}
	$? = $status;
}

1;
