# Processes that may do less than others: by seccomp, by being privileged, by
# being of another architecture.  They are counted or left alone, never harmed.
use strict;
use warnings;
use lib 'tests/lib';
use File::Copy qw(copy);
use Test::More;
use Pmon;
use Target;

# Whom nobody may not ask for options.
$ENV{HOME} = '/';

my $confined = compile('confined.c', '-O2', '-Wno-unused-parameter');
my $calls = 15;
my $lines = 4;

for my $mode (qw(strict kill errno trap)) {
	my @argv = ($confined, $mode, $calls);
	my $in = "x" x $lines;
	my $alone = run(\@argv, in => $in);

	SKIP: {
		skip "no seccomp here: $mode", 1 if $alone->{status} == 77;
		is(ended($alone), 'status ' . (10 +
		    ($mode eq 'trap' ? $lines : 0)), "$mode runs alone");
		for my $patch (@patches) {
			my $run = monitor(["--patch=$patch"], \@argv,
			    in => $in);

			same($alone, $run, "$patch, $mode");
			counts_are($run, { work => $calls * $lines,
			    on_sys => $mode eq 'trap' ? $lines : 0 },
			    "$patch, $mode");

			# Attached when it is confined already.
			my $target = Target->new(@argv);
			is($target->answer, 'done 0', 'it is confined');
			$run = monitor_start(["--patch=$patch", '-p',
			    $target->{pid}], []);
			ok(wait_for(sub { $target->planted('work') }),
			    'attached');
			# One line is two characters.
			my @answers = ($target->ask('x'), $target->answer);
			is("@answers", "done $calls done " . 2 * $calls,
			    'it works');
			kill INT => $run->{pid};
			$run = monitor_finish($run);
			is(ended($run), 'status 0', 'detached');
			counts_are($run, { work => 2 * $calls },
			    "$patch, $mode, attached");
			@answers = ($target->ask('x'), $target->answer);
			is("@answers", 'done ' . 3 * $calls . ' done ' .
			    4 * $calls, 'it works on');
			like($target->finish, qr/^status 1\d$/,
			    'and ends well');
		}
	}
}

# A filter does not see that tasks get memory for counters; if there is not
# enough of that, counts are unknown and the program knows nothing of it.
my $tasks = compile('confined_tasks.c', '-O2', '-pthread');
SKIP: {
	my $alone = run([$tasks, 9, 9]);

	skip 'no seccomp here: tasks', 1 if $alone->{status} == 77;
	my $run = monitor(['--units=func'], [$tasks, 9, 9]);
	same($alone, $run, 'confined threads and children');
	counts_are($run, { step => 19 * 1000, work => 19 },
	    'confined threads and children');
	$run = monitor(['--units=func'], [$tasks, 150, 20]);
	same(run([$tasks, 150, 20]), $run, 'too many threads');
	like($run->{report}, qr/a\s+thread\s+got\s+no\s+memory/, 'it is said');
	like($run->{funcs}{step}, qr/^(?:\?|171000)$/, 'and nothing is guessed');
}

# Programs that gain privileges, and that nobody may read.
my @nobody = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
    '--inh-caps=-all');
# Which privilege, how the file has it, what the program says it has by it.
my %privileges = (
	'set-user-ID' => ['setuid', 'uid 65534 euid 0 gid 65534 egid 65534' .
	    " caps 1\n"],
	'set-group-ID' => ['setgid', 'uid 65534 euid 65534 gid 65534 egid 0' .
	    " caps 0\n"],
	'capabilities' => ['capable', 'uid 65534 euid 65534 gid 65534' .
	    " egid 65534 caps 1\n"],
);
my $unprivileged = "uid 65534 euid 65534 gid 65534 egid 65534 caps 0\n";

# A file that gives a privilege, monitored by one who has not got it.
sub
privileged
{
	my ($what, $how, $patch, $as_nobody, $file) = @_;
	my @argv = $how eq 'alone' ? $file : ('sh', '-c', "$file; exit \$?");

	unlink "$scratch/funcs";
	my $run = $as_nobody->("--patch=$patch", @argv);
	is($run->{out}, $unprivileged, "$patch: $what, $how: not privileged");
	is(ended($run), 'status 8', 'it ends as it should');
	is(funcs_read("$scratch/funcs")->{work}, 10, 'and counts');
	like(slurp("$scratch/summary"), qr/\Q$what\E.*without/s,
	    'and pmon says so');
}
SKIP: {
	skip 'not root', 1 if $>;
	skip 'no setpriv that works', 1 if run([@nobody, 'true'])->{status};
	chmod 0777, $scratch;
	my %file = (pmon => $pmon, map { $_ => compile('ids.c', '-O2') }
	    qw(plain setuid setgid capable unreadable));
	my %mode = (pmon => 0755, plain => 0755, setuid => 04755,
	    setgid => 02755, capable => 0755, unreadable => 0711);
	for my $name (sort keys %file) {
		copy($file{$name}, "$scratch/$name") or die;
		chmod $mode{$name}, "$scratch/$name" or die;
		$file{$name} = "$scratch/$name";
	}
	# setxattr; revision 2, CAP_SYS_NICE permitted (linux/capability.h).
	my ($name, $value) = ('security.capability',
	    pack('V5', 0x02000000, 1 << 23, 0, 0, 0));
	syscall(188, $file{capable}, $name, $value, length $value, 0);
	for my $what (sort keys %privileges) {
		my ($name, $out) = @{$privileges{$what}};

		next if run([@nobody, $file{$name}])->{out} eq $out;
		diag "$what does not work here";
		delete $privileges{$what};
	}
	skip 'no privileges are given here', 1 unless %privileges;

	# pmon of a user who is not root; what a shell of its starts.
	my $as_nobody = sub {
		my @command = @_;
		local $pmon = $file{pmon};

		return run([@nobody, $file{pmon}, '--units=func',
		    (map { "--object=*/$_" } sort keys %mode),
		    '--object=sh', '--object=dash',
		    "--report=funcs:$scratch/funcs,summary:$scratch/summary",
		    @command]);
	};
	for my $patch (@patches) {
		my $run = $as_nobody->("--patch=$patch", $file{plain});
		is($run->{out}, $unprivileged, "$patch: a user's program");
		is(ended($run), 'status 8', 'ends as it should');
		is(funcs_read("$scratch/funcs")->{work}, 10, 'and counts');

		for my $what (sort keys %privileges) {
			privileged($what, $_, $patch, $as_nobody,
			    $file{$privileges{$what}[0]})
			    for 'alone', 'by a shell';
		}
		$run = $as_nobody->("--patch=$patch", 'sh', '-c',
		    "$file{unreadable}; exit \$?");
		is($run->{out}, $unprivileged,
		    "$patch: a program that may not be read runs");
		is(ended($run), 'status 8', 'and ends as it should');
		like(slurp("$scratch/summary"), qr/unreadable.*not\s+counted/s,
		    'and pmon says that it does not count');
	}

	# pmon of root.
	for my $patch (@patches) {
		my $run = monitor(["--patch=$patch", '--units=func'],
		    [$file{setuid}]);

		same(run([$file{setuid}]), $run, "$patch: as root");
		counts_are($run, { work => 10 }, "$patch: as root");
	}
}

# Programs for the architecture's 32-bit ancestor.
SKIP: {
	my $object = "$scratch/i386.o";
	my $program = "$scratch/i386";
	my $made = run(['as', '--32', '-o', $object, 'tests/prog/i386.S'])
	    ->{status} == 0 && run(['ld', '-m', 'elf_i386', '-o', $program,
	    $object])->{status} == 0;

	skip 'no assembler and linker for 32 bits', 1 unless $made;
	my $alone = run([$program]);
	skip 'no 32-bit programs here', 1 unless $alone->{status} == 17;
	my $plain = compile('ids.c', '-O2');
	my $script = spew("$scratch/script", <<"END", 0755);
#!/bin/sh
$program
echo \$?
$plain
exec $program
END
	$alone = run([$script]);
	is(ended($alone), 'status 17', 'the script runs alone');
	for my $patch (@patches) {
		my $run = monitor(["--patch=$patch", '--units=func'],
		    [$script]);

		same($alone, $run, "$patch: 32 bits, by a shell");
		counts_are($run, { work => 10 }, "$patch: and others count");
		like($run->{report}, qr/i386.*not\s+counted|not\s+counted.*i386/s,
		    'and pmon says what does not');
	}
	my $run = run([$pmon, $program]);
	is(ended($run), 'status 125', 'alone it cannot be counted');
	like($run->{err}, qr/\Apmon: [^\n]*i386[^\n]*\n\z/, 'and why');
	is($run->{out}, '', 'and is not run');
}

done_testing;
