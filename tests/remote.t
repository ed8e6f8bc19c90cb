# Programs behind stubs that others have started: gdbserver's and qemu's.
# Counts are those of the same program started by pmon, and of arithmetic.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use IO::Handle;
use IO::Socket::INET;
use POSIX qw(mkfifo);
use Pmon;
use Simulated;

my $serial = 0;
my @servers;

# Start a stub and wait until it says where it listens.
sub
served
{
	my ($where, @argv) = @_;
	my $said = "$scratch/said" . ++$serial;
	my $pid = fork // die "fork: $!";

	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $said or die;
		open STDERR, '>&', \*STDOUT;
		exec @argv or POSIX::_exit(127);
	}
	push @servers, $pid;
	wait_for(sub { $where->($said) }) or die "no stub: @argv";
	return { where => $where->($said), pid => $pid, said => $said };
}

sub
gdbserver
{
	return served(sub { slurp($_[0]) =~ /^Listening on port (\d+)/m ?
	    "127.0.0.1:$1" : undef }, 'gdbserver', '--once', '127.0.0.1:0',
	    @_);
}

sub
qemu
{
	my $socket = "$scratch/socket" . ++$serial;

	# It may be bound, and refuse connections, before it listens (SO_ACCEPTCON).
	return served(sub { slurp('/proc/net/unix') =~
	    /^\S+ \S+ \S+ 00010000 .* \Q$socket\E$/m ? $socket : undef },
	    $_[0], '-g', $socket, @_[1 .. $#_]);
}

# What the stub's program wrote, when the stub has ended.
sub
written
{
	my ($stub) = @_;

	waitpid $stub->{pid}, 0;
	@servers = grep { $_ != $stub->{pid} } @servers;
	return slurp($stub->{said}) =~
	    s/^(?:Process|Listening|Remote|Child|\n).*\n?|^Detaching.*\n//mgr;
}

# Count a program behind the stub.
sub
remote
{
	my ($stub, $options, $program, %opt) = @_;
	my $run = counts_of(["--remote=$stub->{where}", @$options],
	    [$program], %opt);

	$run->{out} = written($stub);
	return $run;
}

sub
gdbserver_tests
{
	my $rounds = $slow ? 300 : 60;
	my $program = compile('children.c', '-O1', '-pthread',
	    "-DROUNDS=$rounds");
	my $static = compile('children.c', '-O1', '-pthread', '-static');
	my @units = ('--file=children.c');

	for my $exe ($program, $static) {
		my $here = counts_of(\@units, [$exe, 'none']);

		for my $options (['--patch=step'], ['--placement=every'], []) {
			my $run = remote(gdbserver($exe, 'none'),
			    [@units, @$options], $exe);
			my $what = "gdbserver, @$options" .
			    ($exe eq $static ? ', static' : '');

			is($run->{status}, 3, "$what: status");
			is($run->{out}, $here->{out}, "$what: output");
			is_deeply($run->{insns}, $here->{insns},
			    "$what: instructions");
			is_deeply($run->{lines}, $here->{lines},
			    "$what: lines");
		}
	}
	for my $case (['crash', 11], ['raise', 15]) {
		my ($arg, $signal) = @$case;
		my $here = counts_of(\@units, [$program, $arg]);
		my $run = remote(gdbserver($program, $arg), \@units, $program);

		is($run->{status}, 128 + $signal, "gdbserver, $arg: status");
		is_deeply($run->{insns}, $here->{insns}, '  and counts');
	}
	# Each of 4 threads calls work so many times, which goes round 5 times;
	# before and after it goes round 10 and 11 times.
	my @text = split /\n/, slurp('tests/prog/children.c');
	my ($line) = grep { $text[$_ - 1] =~ /sum \+= i/ } 1 .. @text;
	for my $patch ('step', 'slot') {
		my $run = remote(gdbserver($program, 'threads', 4),
		    [@units, "--patch=$patch"], $program);

		is($run->{funcs}{work}, 4 * $rounds + 2,
		    "gdbserver, threads, $patch: calls");
		is($run->{lines}{'children.c'}{$line}, 4 * $rounds * 5 + 21,
		    '  and lines');
		is($run->{status}, 3, '  and status');
	}
	# A program that executes itself goes on being counted.
	my $run = remote(gdbserver($program, 'again', $program), \@units,
	    $program);
	is($run->{funcs}{work}, 1 + 2, 'gdbserver, exec: calls');
	is($run->{out}, "165\n165\n154\n" =~ s/165/work_of(10)/ger =~
	    s/154/work_of(11)/er, '  and output');

	$run = remote(gdbserver($program, 'exec'), \@units, $program);
	is($run->{funcs}{work}, 1, 'gdbserver, exec of another: calls');
	like($run->{out}, qr/^executed$/m, '  and output');

	my $stub = gdbserver($program, 'loop', $$);
	my $started = monitor_start(["--remote=$stub->{where}", @units],
	    [$program]);

	ok(wait_for(sub { called_so_far($started, 'work') > 1 }),
	    'gdbserver: the program works');
	kill INT => $started->{pid};
	$run = monitor_finish($started);
	is($run->{status}, 0, 'gdbserver, ^C: it is detached');
	is($run->{funcs}{main}, 1, '  main was called');
	cmp_ok($run->{funcs}{work}, '>', 1, '  and work, often');
	like(slurp($stub->{said}), qr/^Detaching from process (\d+)$/m,
	    '  the stub was told');
	my ($pid) = slurp($stub->{said}) =~ /created; pid = (\d+)/;
	like(slurp("/proc/$pid/stat"), qr/ R /, '  and the program runs on');
	program_kill($stub, $program);

	$stub = gdbserver($program, 'loop', $$);
	$started = monitor_start(["--remote=$stub->{where}", @units],
	    [$program]);
	wait_for(sub { -s $stub->{said} && slurp($stub->{said}) =~
	    /^${\ work_of(10)}$/m });
	kill KILL => $stub->{pid};
	$run = monitor_finish($started);
	is($run->{status}, 128 + 9, 'gdbserver is killed: status');
	like($run->{report}, qr/^Counts of/, '  and the report comes');
	program_kill($stub, $program);
}

# Kill the program that the stub began, unless it has ended: its number may be
# another process's then.
sub
program_kill
{
	my ($stub, $program) = @_;
	my ($pid) = slurp($stub->{said}) =~ /created; pid = (\d+)/ or return;
	my $exe = readlink "/proc/$pid/exe";

	kill KILL => $pid if defined $exe && $exe eq abs_path($program);
	return;
}

sub
work_of
{
	my ($n) = @_;
	my $sum = 0;

	$sum += $_ ^ $n for 0 .. $n - 1;
	return $sum;
}

# Its text cannot be written through the stub: breakpoints are the stub's.
sub
qemu_stub_tests
{
	for my $case (['qemu-m68k', 'm68k'], ['qemu-m68k', 'm68000'],
	    ['qemu-aarch64', 'aarch64']) {
		my ($qemu, $name) = @$case;

		next if system("$qemu --version >$scratch/version 2>&1");
		qemu_detached($qemu, "tests/m68k/many-O2.$name");
		next if $name eq 'm68000' && !$slow;
		# Of each CPU one program, and all where there is time.
		for my $source ($slow ? ('shell-O0', 'many-O2') :
		    $name eq 'm68k' ? 'shell-O0' : 'many-O2') {
			my @argv = ("tests/m68k/$source.$name",
			    $source =~ /many/ ? 'tests/m68k/rt.h' : ());
			my $truth = trace_counts($qemu, \@argv);

			for my $options (['--placement=every'], []) {
				my $run = remote(qemu($qemu, @argv), $options,
				    $argv[0]);
				my $what = "$qemu, $source.$name @$options";

				is($run->{out}, $truth->{out},
				    "$what: output");
				is($run->{status}, $truth->{status},
				    '  and status');
				counts_equal($run->{insns}, $truth->{insns},
				    '  and counts');
			}
		}
	}
}

# It hears of an interrupt when the program has stopped, and goes on alone.  The
# program reads on until pmon has gone, however long that takes.
sub
qemu_detached
{
	my ($qemu, $program) = @_;
	# However reads divide it, the program says the same of it.
	my $text = "letters\n" x 1000;

	for my $patch ('step', 'slot') {
		my ($what, $fifo) = ("$program, ^C, $patch", "$scratch/fifo");
		my ($said, $sent) = (0, 0);

		mkfifo($fifo, 0600) or die "$fifo: $!";
		my $stub = qemu($qemu, $program, $fifo);
		my $run = monitor_start(["--remote=$stub->{where}",
		    '--units=func', "--patch=$patch"], [$program]);
		open my $feed, '>', $fifo or die "$fifo: $!";
		$feed->autoflush(1);
		until (has_ended($run->{pid})) {
			print $feed $text;
			$sent++;
			next if $said || called_so_far($run, 'rt_read') <= 1;
			$said = 1;
			kill INT => $run->{pid};
		}
		close $feed;
		unlink $fifo;
		ok($said, "$what: it reads");
		$run = monitor_finish($run);
		my $alone = run([$qemu, $program], in => $text x $sent);

		is(ended($run), 'status 0', "$what: pmon ends");
		like($run->{report}, qr/^ +detached; /m, '  and detaches');
		cmp_ok($run->{funcs}{rt_read}, '>', 1, '  counts something');
		is(written($stub), $alone->{out}, '  and the program ends');
		is($?, $alone->{status} << 8, '  as it does alone');
	}
}

# One line, and the status of trouble.
sub
refused
{
	my ($options, $program, $why, $what) = @_;
	my $run = run([$pmon, @$options, $program]);

	is($run->{status}, 125, "$what: refused");
	like($run->{err}, $why, '  with the reason');
	is($run->{err} =~ tr/\n//, 1, '  in one line');
}

my $here = compile('children.c', '-O1', '-pthread');
# A port that nobody listens at: one that was just given back.
my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1');
my $port = $socket->sockport;

close $socket;
refused(["--remote=127.0.0.1:$port"], $here,
    qr/^pmon: 127.0.0.1:$port: cannot connect: Connection refused$/,
    'no stub');
refused(['--remote=nowhere'], $here,
    qr/^pmon: nowhere: neither HOST:PORT nor the path of a socket$/,
    'no address');
refused(["--remote=$scratch/none"], $here, qr/No such file or directory$/,
    'no socket');
refused(['--remote=127.0.0.1:1'], 'tests/vax/shell.O0',
    qr/^pmon: tests.vax.shell.O0: pmon knows no GDB stub for VAX programs$/,
    'a VAX');

if (system("gdbserver --version >$scratch/version 2>&1")) {
	note('gdbserver is not installed (gdbserver)');
} else {
	gdbserver_tests();
	my $stub = gdbserver($here, 'none');

	refused(["--remote=$stub->{where}"], 'tests/m68k/shell-O0.m68k',
	    qr/the stub does not let pmon read the program$/, 'another CPU');
}
qemu_stub_tests();
kill KILL => @servers;
done_testing();
