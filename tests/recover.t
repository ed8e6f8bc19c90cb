# A run whose pmon is killed: what was counted when it was saved last can be
# had, and is exact.  The program says when it has done what it was told.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Fcntl;
use File::Copy qw(copy);
use POSIX qw(mkfifo);
use Test::More;
use Phases;
use Pmon;

my $source = 'tests/prog/phases.c';
my $pmprint = "$build/pmprint";
my $data = "$scratch/run.out";

# The files that were saved.
sub
parts
{
	return grep { -s } glob "$data.*.part";
}

# Wait until all is saved that has been done by now.  A file that is written
# when the first is removed may be older, so another is waited for.
sub
saved
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	for (1, 2) {
		unlink parts();
		wait_for(sub { scalar(parts()) }) or return fail('it is saved');
	}
	return pass('it is saved');
}

sub
recovered
{
	my (@args) = @_;

	return run([$pmprint, '--recover', @args, $data]);
}

sub
refused
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($what, $message) = @_;
	my $run = recovered();

	is(ended($run), 'status 125', "$what: refused");
	like($run->{err}, qr/^pmprint: $message\n\z/, "$what: why");
	is($run->{out}, '', "$what: nothing is printed");
	return;
}

for my $how ([], ['--patch=trap'], ['--placement=every'],
    ['--separate=thread']) {
	unlink $data;
	my $server = begin(@$how, "--data=$data", '--save-every=0.02');
	order('aatda');
	saved();
	my ($pid) = children_of($server->{pid});
	kill KILL => $server->{pid};
	is(ended(finish($server)), 'signal 9', "@$how: pmon is killed");
	ok(wait_for(sub { is_gone($pid) }), 'the program with it');
	ok(!-e $data, 'there is no data file');
	my ($part) = parts();
	my $run = recovered('--report=listing');
	is(ended($run), 'status 0', 'it is recovered');
	is($run->{err}, "pmprint: $data: recovered from $part\n", 'and said');
	my %values = (map({ $_ => 0 } qw(A T B BB D U END)), A => 3, T => 1,
	    D => 1);
	lines_are({ lines => lines_read(spew("$scratch/listing", $run->{out})) },
	    $source, annotated($source, %values), 'frames have not ended');
	is_deeply([parts()], [], 'the part has become the data file');
	like(run([$pmprint, $data])->{out} =~ s/\s+/ /gr,
	    qr/still running.*ended before the run did: the counts are those of the run's first [\d.]+ seconds/,
	    'it says of when the counts are');
}

# A writer that is at work goes on when pmon is killed, and the recovery waits
# for what it writes.  If it is killed, too, nothing of it is left.
for my $case (['the first that is killed', 0, 1], ['the first save', 0, 0],
    ['a writer that is killed', 1, 1], ['a later save', 1, 0]) {
	my ($what, $saved, $kill) = @$case;
	my ($halt, $pipe) = ("$scratch/halt", "$scratch/halt_pipe");

	unlink $data, $halt, $pipe;
	mkfifo($pipe, 0600) or die "$pipe: $!";
	spew($halt, '') unless $saved;
	my $server;
	{
		local $ENV{LD_PRELOAD} = abs_path(compile('halt_rename.c',
			qw(-shared -fPIC)));
		local $ENV{PMON_HALT} = $halt;
		local $ENV{PMON_HALT_PIPE} = $pipe;

		$server = begin("--data=$data", '--save-every=0.02');
	}
	if ($saved) {
		saved();
		spew($halt, '');
	}
	order('a');
	my $writer;
	wait_for(sub { ($writer) = slurp($halt) =~ /^(\d+)\n/ });
	kill KILL => $server->{pid};
	# finish() would kill the writer.
	wait_for(sub { has_ended($server->{pid}) });
	if ($kill) {
		kill KILL => $writer;
		# As a zombie it may still write, for all pmprint knows.
		wait_for(sub { !kill 0, $writer });
	}
	my $recovery = start([$pmprint, '--recover', $data]);
	if (!$kill) {
		# The number of flock.
		wait_for(sub { has_ended($recovery->{pid}) ||
		    slurp("/proc/$recovery->{pid}/syscall") =~ /^73 / });
		ok(!has_ended($recovery->{pid}), "$what: is waited for");
		wait_for(sub { sysopen my $go, $pipe, O_WRONLY | O_NONBLOCK });
	}
	$recovery = finish($recovery);
	finish($server);
	is(ended($recovery), $kill && !$saved ? 'status 125' : 'status 0',
	    "$what: recovered, if there is something");
	like($recovery->{err}, qr/: there is no file /, "$what: said")
	    if $kill && !$saved;
	is_deeply([glob "$data.*"], [], "$what: nothing else is left");
}

# What is recovered, and what is replaced.

my ($first, $second) = map { "$data.$_.part" } 11, 12;
copy($data, "$scratch/good") or die;
unlink $data;
refused('no part',
    qr/\Q$data: there is no file $data.PID.part to recover it from\E/);

copy("$scratch/good", $_) or die for $first, $second;
utime 1000, 1000, $first;
my $run = recovered();
is($run->{err}, "pmprint: $data: recovered from $second; 1 older file is " .
    "left\n", 'the newest is taken');

copy("$scratch/good", $second) or die;
spew($data, 'text of mine');
refused('another file',
    qr/\Q$data: not a data file: $second does not replace it\E/);
is(slurp($data), 'text of mine', 'it is as it was');

copy("$scratch/good", $data) or die;
utime 1000, 1000, $second;
utime 2000, 2000, $data;
unlink $first;
refused('a later run',
    qr/\Q$data: newer than $second, which does not replace it\E/);

truncate $second, 100;
unlink $data;
refused('a damaged part', qr/\Q$second\E: .*/);
ok(!-e $data, 'nothing is made of it');
unlink $second;

# In the end the data file is all there is.

begin("--data=$data", '--save-every=0.02');
order('a');
saved();
is(ended(end()), 'status 0', 'the program ends');
is_deeply([parts()], [], 'no part is left');
unlike(run([$pmprint, $data])->{out}, qr/ended before/, 'nothing is missing');

# Nor is it saved more often where the end of the one that writes is not seen.
# That may write after the end, and so to a file that nothing else looks at.
$data = "$scratch/unseen.out";
{
	local $ENV{LD_PRELOAD} = abs_path(compile('no_pidfd.c',
		qw(-shared -fPIC)));

	begin("--data=$data", '--save-every=0.5',
	    "--report=sites:$scratch/sites");
}
order('a');
saved() for 1, 2;
$run = end();
is(ended($run), 'status 0', 'no descriptors of processes');
my ($pauses) = slurp("$scratch/sites") =~ /^ *(\d+) .*counts requested/m;
my ($seconds) = $run->{report} =~ /; ([\d.]+) s,/;
# Each pauses two threads.
cmp_ok($pauses, '<=', 2 * ($seconds / 0.5 + 1),
    'it is saved as often as is said');

$data = "$scratch/never.out";
my $never = begin("--data=$data", '--save-every=0');
order('a');
kill TERM => $never->{pid};
ok(wait_for(sub { -e $data }), 'never saved: until the end');
is_deeply([parts()], [], 'then there is no part');
hang_up();

done_testing;
