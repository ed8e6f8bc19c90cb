# The control socket: counts of a running program as of a moment, from a
# moment on, and who may ask.  The program says when it has done what it was
# told, so each count is known.
use strict;
use warnings;
use lib 'tests/lib';
use File::Copy qw(copy);
use IO::Socket::UNIX;
use Test::More;
use Phases;
use Pmon;

my $source = 'tests/prog/phases.c';
my $server;
my $runtime = "$scratch/runtime";
my @text = split /\n/, slurp($source);
my ($loop) = grep { $text[$_ - 1] =~ /sink--;/ } 1 .. @text;
my ($after) = grep { $text[$_ - 1] =~ /sink = 1;/ } 1 .. @text;
mkdir $runtime, 0700;
$ENV{XDG_RUNTIME_DIR} = $runtime;

# The id of the program.
sub
program
{
	return (children_of($server->{pid}))[0];
}

sub
asked
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my (@args) = @_;
	my $run = run([$pmon, @args]);

	is(ended($run) . $run->{err}, 'status 0', "@args");
	return $run->{out};
}

sub
calls
{
	my $funcs = funcs_read(spew("$scratch/funcs",
		asked('--query=funcs', @_)));

	return join ' ', map { "$_ $funcs->{$_}" }
	    qw(busy deeper leaf serve work);
}

# All counts of lines, by what was done since counting began.
sub
lines
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($run, %done) = @_;
	my %values = (map({ $_ => 0 } qw(A T B BB D U END)), %done);

	lines_are($run, $source, annotated($source, %values),
	    join ' ', map { "$_ $done{$_}" } sort keys %done);
}

sub
queried_lines
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my %done = @_;

	lines({ lines => lines_read(spew("$scratch/listing",
		asked('--query=listing', $server->{pid}))) }, %done);
}

# ---- queries and resets, however it is counted

for my $how (map({ ["--patch=$_"] } @patches), ['--placement=every'],
    ['--placement=vertex', '--patch=auto'], ['--patch=auto',
    '--separate=thread']) {
	$server = begin(@$how);
	order('aat');
	is(calls($server->{pid}), 'busy 0 deeper 0 leaf 30 serve 1 work 3',
	    "@$how: a query by pmon's id");
	queried_lines(A => 2, T => 1);
	order('dat');
	is(calls(program()), 'busy 0 deeper 4 leaf 50 serve 2 work 5',
	    "by the program's, with frames that have not ended");
	queried_lines(A => 3, T => 2, D => 1);
	is(asked('--reset', program()), '', 'a reset says nothing');
	is(calls(program()), 'busy 0 deeper 0 leaf 0 serve 0 work 0',
	    'then nothing is counted');
	queried_lines();
	order('tta');
	is(calls(program()), 'busy 0 deeper 0 leaf 30 serve 0 work 3',
	    'but what comes');
	queried_lines(A => 1, T => 2);
	order('uda');
	is(calls(program()), 'busy 0 deeper 4 leaf 40 serve 1 work 4',
	    'also where control was');
	queried_lines(A => 2, T => 2, U => 1, D => 1);
	order('uu');
	my $run = end();
	is(ended($run), 'status 0', 'it ends') or diag($run->{err});
	counts_are($run, { deeper => 4, leaf => 40, serve => 1, work => 4,
		main => 0 }, 'at the end');
	lines($run, A => 2, T => 2, U => 2, D => 1, END => 1);
}

# ---- while it runs

for my $how (['--patch=auto'], ['--patch=trap']) {
	my ($last, $known) = (0, 0);

	$server = begin(@$how);
	order('b');
	for (1 .. 10) {
		my $lines = lines_read(spew("$scratch/listing",
			asked('--query=listing', program())));
		my $count = $lines->{'phases.c'}{$loop} // '?';

		$known += $count ne '?' && $count >= $last;
		$last = $count eq '?' ? 0 : $count;
	}
	is($known, 10, "@$how: a busy program's counts are known and grow");
	asked('--reset', program());
	order('u');
	my $run = end();
	is(ended($run), 'status 0', 'it ends');
	# Control was in busy and in serve, at its call.
	is($run->{lines}{'phases.c'}{$after}, 1, 'what came then');
	is($run->{funcs}{busy}, 0, 'it was called before');
}

# ---- snapshots, and stopping

$server = begin('--patch=auto', '-d', "$scratch/end.out");
order('aat');
asked('--snapshot', "$scratch/before.out", program());
asked('--reset', program());
order('tttta');
asked('--snapshot', "$scratch/after.out", program());
order('a');
is(asked('--stop', program()), '', 'a stop says nothing');
# pmon answers before it has let go of the last thread.
ok(wait_for(sub { slurp("/proc/@{[program()]}/status") =~
	    /^TracerPid:\s+0$/m }), 'the program is let go');
order('atau');
my $run = end();
is(ended($run), 'status 0', 'pmon waits for its end');
counts_are($run, { leaf => 60, work => 6 }, 'nothing was counted after it');
sub
saved
{
	my $funcs = funcs_read(spew("$scratch/funcs",
		run(["$build/pmprint", '--report=funcs', @_])->{out}));

	return "leaf $funcs->{leaf} work $funcs->{work}";
}
is(saved("$scratch/before.out"), 'leaf 30 work 3', 'a snapshot');
is(saved("$scratch/after.out"), 'leaf 50 work 5', 'one after a reset');
is(saved("$scratch/end.out"), 'leaf 60 work 6', 'the data file at the end');
is(saved("$scratch/before.out", "$scratch/end.out"), 'leaf 90 work 9',
    'before and after a reset are different runs');
is(run(["$build/pmprint", "$scratch/after.out", "$scratch/end.out"])->{status},
    125, 'what was counted between two resets is one');

# Attached, and stopped.
$run = start([phases()], in_file => do { system('mkfifo', "$scratch/fifo");
	"$scratch/fifo" });
open my $feed, '>', "$scratch/fifo" or die;
ok(wait_for(sub { (readlink "/proc/$run->{pid}/exe" // '') =~ /phases/ }),
    'a program by itself');
$server = monitor_start(['-p', $run->{pid}], []);
ok(wait_for(sub { -e "$runtime/pmon/$server->{pid}.sock" }), 'attached');
asked('--stop', $run->{pid});
is(ended(monitor_finish($server)), 'status 0', '--stop detaches');
close $feed;
is(ended(finish($run)), 'status 0', 'and the program goes on');

# ---- the socket

$server = begin('-u', 'func');
my $path = "$runtime/pmon/$server->{pid}.sock";
my @dir = stat "$runtime/pmon";
my @socket = stat $path;
is(sprintf('%o %o', $dir[2] & 0777, $socket[2] & 0777), '700 600',
    'the socket is its owner\'s only');

# The protocol, as man/pmon-control.7 has it.
sub
talk
{
	my ($socket, $request) = @_;

	print $socket "$request\n" if defined $request;
	my $head = <$socket> // return 'closed';
	chomp $head;
	return $head unless $head =~ /^ok (\d+)$/;
	my $answer = '';
	read $socket, $answer, $1;
	return "ok $answer";
}
my $socket = IO::Socket::UNIX->new(Peer => $path) or die;
$socket->autoflush;
like(talk($socket, 'query funcs top=3'), qr/^ok Functions of/, 'query');
is(talk($socket, 'reset'), 'ok ', 'another of one connection');
like(talk($socket, 'snapshot'), qr/^ok \x89PMON/, 'snapshot');
is(talk($socket, 'dance'), 'error unknown request "dance"', 'no such');
is(talk($socket, ''), 'error unknown request ""', 'none');
# They are 0 if the program already waits, else they were not counted.
like(talk($socket, 'query events'),
    qr/^ok Events of.* taken(?:  \(at least 0\))?$/ms,
    'a query of all events');
like(talk($socket, 'query novel'), qr/^error --report: unknown report "novel"; choose from/,
    'no such report');
like(talk($socket, "query funcs:$scratch/written"),
    qr/^error .*go to the client/,
    'no report into a file');
ok(!-e "$scratch/written", 'and none is written');
print $socket "reset\nquery funcs\n";
is(talk($socket), 'ok ', 'two at once: the first');
like(talk($socket), qr/^ok Functions/, 'and the second');
print $socket 'x' x 5000;
is(talk($socket),
    'error the request is too long: it must have less than 4096 bytes',
    'a request that is too long');
my @idle = map { IO::Socket::UNIX->new(Peer => $path) } 1 .. 40;
order('a');
close $_ for grep { defined } @idle;
$socket = IO::Socket::UNIX->new(Peer => $path) or die;
$socket->autoflush;
print $socket "query funcs\n" x 100;
close $socket;
order('a');
ok(1, 'who does not listen holds nothing up');
$run = run([$pmon, '--query=funcs', $server->{pid}]);
like($run->{out}, qr/^ +20 .*leaf$/m, 'and it answers others');
SKIP: {
	skip 'needs root', 2 if $>;
	# The directory it was built in may be closed to others.
	my $copy = "$scratch/pmon";
	chmod 0755, $scratch;
	copy($pmon, $copy) && chmod 0755, $copy or die "$copy: $!";
	my $other = run([$copy, '--query', $server->{pid}], before => sub {
		$( = $) = 65534;
		$< = $> = 65534;
	});
	is($other->{status}, 125, 'another user may not ask');
	like($other->{err}, qr/^pmon: process \d+: /, 'and is told');
}
order('u');
is(ended(end()), 'status 0', 'it ends');
ok(!-e $path, 'and the socket is gone');

# Paused again and again: also when it has just run into a trap, of which it
# has not told yet, as there are in functions that are entered first.
# It goes on until that was done so often; tests/slow/resets.t has more of it.
my $script = 'do { for my $i (1 .. 3000) {' .
    ' $h{$i % 97} = substr $h{$i % 97} . chr(65 + $i % 26), -50; }' .
    ' @s = sort { $h{$a} cmp $h{$b} } keys %h; eval { die "x" };' .
    ' open my $f, ">", $ARGV[1] or die; } until (-e $ARGV[0]);' .
    ' print scalar keys %h';
{
	my $started = monitor_start(['--units=edge'], ['perl', '-e', $script,
		"$scratch/enough", "$scratch/round"]);

	ok(wait_for(sub { -e "$scratch/round" }), 'perl runs');
	asked('--reset', $started->{pid}) for 1 .. 20;
	spew("$scratch/enough", '');
	my $run = monitor_finish($started);
	is(ended($run) . $run->{out}, 'status 097', '20 resets');
}

# ---- what cannot be asked

for (['--query'], ['--reset', 'x'], ['--stop', 1, 2], ['--query=', 1],
    ['--reset', '--stop', 1], ['--query', -1], ['--query', $$],
    ['--snapshot', "$scratch/none", 999999999]) {
	$run = run([$pmon, @$_]);
	is($run->{status}, 125, "@$_: status 125");
	like($run->{err}, qr/\Apmon: [^\n]+\n\z/, 'one line');
}
ok(!-e "$scratch/none", 'nothing is written');

done_testing;
