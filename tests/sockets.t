# Control sockets: where they may be, what is said where there can be none, what
# killed pmons leave, and how many clients share one.  What a client asked while
# pmon was stopped is all there when it goes on, so the order is known.
use strict;
use warnings;
use lib 'tests/lib';
use Fcntl qw(:flock);
use File::Copy qw(copy);
use IO::Socket::UNIX;
use POSIX ();
use Socket;
use Test::More;
use Phases;
use Pmon;

my $runtime = "$scratch/runtime";
my $dir = "$runtime/pmon";
my $clients = 32;
mkdir $runtime, 0700;
$ENV{XDG_RUNTIME_DIR} = $runtime;

# A process that is stopped.
sub
halt
{
	my ($pid) = @_;

	kill STOP => $pid;
	ok(wait_for(sub { slurp("/proc/$pid/stat") =~ /\) T/ }), 'stopped');
}

sub
client
{
	my ($server, $requests) = @_;
	my $socket = IO::Socket::UNIX->new(
	    Peer => "$dir/$server->{pid}.sock") or die "socket: $!";

	$socket->autoflush;
	print $socket $requests if defined $requests;
	return $socket;
}

# The next answer: its head.
sub
answer
{
	my ($socket) = @_;
	my $head = <$socket> // return 'closed';

	chomp $head;
	read $socket, my $text, $1 if $head =~ /^ok (\d+)$/;
	return $head =~ s/^ok \d+$/ok/r;
}

# ---- many clients

my $server = begin('-u', 'func');
my @idle = map { client($server) } 1 .. $clients;
my $late = client($server);
is(answer($late), 'error pmon has 32 clients already, which is the limit',
    'one client too many is told');
is(answer($late), 'closed', 'and that is all');
my $run = run([$pmon, '--query', $server->{pid}]);
is($run->{status} . $run->{err},
    "125pmon: pmon has 32 clients already, which is the limit\n",
    'so is one that has asked before it could hear it');
my $last = pop @idle;
is(answer(do { print $last "query summary\n"; $last }), 'ok',
    'the others are served');
# They hang up, and others come, before pmon looks.
halt($server->{pid});
undef $last;
$last = client($server, "query summary\n");
kill CONT => $server->{pid};
is(answer($last), 'ok', 'a place that is free again is given');
@idle = ();

# One that asks a lot, and does not listen, and one that asks once.
halt($server->{pid});
my $deaf = client($server, "snapshot\n" x 400);
my $polite = client($server, "query summary\n");
kill CONT => $server->{pid};
is(answer($polite), 'ok', 'who does not listen delays nobody');
close $deaf;

halt($server->{pid});
my $eager = client($server, "query summary\n" x 20);
$polite = client($server, "stop\n");
kill CONT => $server->{pid};
is(answer($polite), 'ok', 'a request of another');
is(join(' ', map { answer($eager) =~ s/^(\w+).*/$1/r } 1 .. 3),
    'ok error error', 'is answered behind the first of many');
close $eager;
is(ended(end()), 'status 0', 'it ends');

# One that asks before pmon can be told of it.
my $early = compile('listen_at.c', '-g0', '-shared', '-fPIC');
$run = monitor(['-u', 'func'], [phases()], env => { LD_PRELOAD => $early });
is(ended($run), 'status 0', 'one asks as soon as pmon listens');
is($run->{funcs}{main} // 0, 0,
    'and is answered before anything is counted');

# Requests that are too long, by one byte or many, and the next one.
$server = begin('-u', 'func');
my $limit = 'the request is too long: it must have less than 4096 bytes';
my $least = 'query ' . 'x' x 4089;
my $long = client($server, "$least\n${least}x\n" . 'y' x 10_000_000 .
    "\nquery summary\n");
like(answer($long), qr/^error .*x/, 'a request of 4095 bytes is looked at');
is(answer($long), "error $limit",
    'one of 4096 is not');
is(answer($long), "error $limit",
    'nor one of 10 million');
is(answer($long), 'ok', 'and the next one is answered');
$run = run([$pmon, '--query=' . 'z' x 100_000, $server->{pid}]);
is($run->{status} . $run->{err},
    "125pmon: $limit\n", 'who asks is told');
is(ended(end()), 'status 0', 'it ends');

# ---- what killed pmons leave

sub
listener
{
	my ($name, $listens) = @_;

	socket(my $socket, PF_UNIX, SOCK_STREAM, 0) or die;
	bind($socket, pack_sockaddr_un("$dir/$name")) or die "$name: $!";
	listen($socket, 1) or die if $listens;
	return $socket;
}

# A number that no process has: Linux gives all processes lower ones.
my $no_pid = 1 << 22;

$server = begin('-u', 'func');
kill KILL => $server->{pid};
is(ended(end()), 'signal 9', 'a pmon is killed');
ok(-S "$dir/$server->{pid}.sock", 'its socket stays');
# Some new process may have its id by now.
my $killed = $no_pid++ . '.sock';
rename "$dir/$server->{pid}.sock", "$dir/$killed" or die "$killed: $!";
my $heard = $no_pid++ . '.sock';
my $unheard = $no_pid++ . '.sock';
my $file = $no_pid++ . '.sock';
my $other = $no_pid++ . '.socket';
my $socket = listener($heard, 1);
close listener($_) for $unheard, $other, "$$.sock";
spew("$dir/$file", '');
$server = begin('-u', 'func');
ok(!-e "$dir/$killed", 'until the next pmon begins');
ok(!-e "$dir/$unheard", 'so with one of any process that has ended');
ok(-S "$dir/$heard", 'not one that somebody listens at');
ok(-S "$dir/$$.sock", 'nor one of a process that there is');
ok(-e "$dir/$file", 'nor what is no socket');
ok(-S "$dir/$other", 'nor what has another name');
ok(-S "$dir/$server->{pid}.sock", 'its own it keeps');
is(ended(end()), 'status 0', 'it ends');
close $socket;
unlink map { "$dir/$_" } $heard, "$$.sock", $file, $other;
rmdir $dir or die "$dir: $!";

# ---- where there can be none

# A directory that cannot be used: the next is.
my $spare = "/tmp/pmon-$>";
for my $bad (sub { spew($dir, '') }, sub { mkdir $dir; chmod 0777, $dir },
    sub { $ENV{XDG_RUNTIME_DIR} = "$runtime/" . 'x' x 100 },
    sub { $ENV{XDG_RUNTIME_DIR} = "$runtime/none" }) {
	$bad->();
	$server = begin('-u', 'func');
	ok(-S "$spare/$server->{pid}.sock", 'a socket in the other place');
	$run = run([$pmon, '--query', $server->{pid}]);
	is(ended($run) . $run->{err}, 'status 0', 'it is asked there');
	$run = end();
	unlike($run->{report}, qr/socket/, 'nothing is remarked');
	unlink $dir;
	rmdir $dir;
	$ENV{XDG_RUNTIME_DIR} = $runtime;
}

# A user that nobody is, whose other place is taken.
SKIP: {
	skip 'needs root', 17 if $>;
	my $user = 1_000_000_000 + $$;
	my $copy = "$scratch/pmon";
	my $taken = "/tmp/pmon-$user";
	my $become = sub {
		$( = $) = "$user $user";
		$< = $> = $user;
	};

	# The directory it was built in may be closed to others.
	chmod 0755, $scratch;
	copy($pmon, $copy) && chmod 0755, $copy or die "$copy: $!";
	delete $ENV{XDG_RUNTIME_DIR};
	my $refused = sub {
		my ($why, $what) = @_;
		my $run = run([$copy, '-u', 'func', '--report=summary',
			'--', '/bin/true'], before => $become);
		my $report = ($run->{out} . $run->{err}) =~ s/\s+/ /gr;

		is(ended($run), 'status 0', "$what: the program runs");
		like($report, qr/Note: no control socket: \Q$why\E(?: |$)/,
		    'a remark says why there is no socket');
		unlike($report, qr/no control socket.*no control socket/,
		    'once');
		my $asker = start(['sleep', 1000], before => $become);
		ok(wait_for(sub {
			(readlink "/proc/$asker->{pid}/exe" // '') =~ /sleep|coreutils|busybox/
		}), 'a process of that user');
		$run = run([$copy, '--query', $asker->{pid}],
		    before => $become);
		is($run->{status} . $run->{err}, "125pmon: process " .
		    "$asker->{pid}: no pmon of its user has a control socket:" .
		    " $why\n", 'who asks is told');
		kill KILL => $asker->{pid};
		finish($asker);
	};
	mkdir $taken, 0700 or die "$taken: $!";
	$refused->("$taken belongs to user 0", 'taken by another');
	chown $user, $user, $taken;
	chmod 0750, $taken;
	$refused->("$taken is open to other users (mode 0750)", 'open');
	rmdir $taken;
	spew($taken, '');
	$refused->("$taken is not a directory", 'a file');
	unlink $taken;
	# Who keeps the lock keeps others from starting, but not for ever.
	mkdir $taken, 0700;
	open my $lock, '<', $taken or die;
	flock $lock, LOCK_EX or die;
	chown $user, $user, $taken;
	$run = run([$copy, '--report=summary', '--', '/bin/true'],
	    before => $become);
	is(ended($run), 'status 0', 'locked: the program runs');
	like(($run->{out} . $run->{err}) =~ s/\s+/ /gr,
	    qr/Note: no control socket: \Q$taken\E stays locked/, 'it is said');
	close $lock;
	rmdir $taken;
}

done_testing;
