# A program on a terminal, in a shell with job control: ^C, ^\, ^Z, fg, bg.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $pty = compile('pty.c', '-O0');
my $console = compile('console.c', '-O1', '-Wno-unused-parameter');
my $shell = (grep { -x } '/bin/bash', '/usr/bin/bash')[0]
    or plan skip_all => 'no bash, whose job control is used';

# Each dialogue: what is awaited, what is then typed.  The shell's prompt is
# "go on"; it speaks of jobs at once, and in the C locale.
sub
dialogue
{
	my ($command, @lines) = @_;
	my $run = run([$pty, 'env', '-i', 'PS1=go on ', 'HISTFILE=', 'TERM=dumb',
	    "PATH=$ENV{PATH}", 'LC_ALL=C', $shell, '--norc', '--noprofile',
	    '--noediting', '-i'],
	    in => join '', map { "$_->[0]\t$_->[1]\n" }
	    ['go on', "set -b; $command\\n"], @lines);

	$run->{out} =~ s/\r//g;
	return $run;
}

my @dialogues = (
	['lines and a stop', '', 4, 0,
	    ['ready', 'x\n'], ['worked', '\z'], ['Stopped', 'fg\n'],
	    ['continued', 'x\n'], ['worked', '\z'], ['Stopped', 'fg\n'],
	    ['continued', 'x\n'], ['worked', 'q\n'],
	    ['worked', ''], ['go on', 'echo status $?\n'],
	    ['status 13', 'exit\n']],
	['a stop, then in the background', '', 2, 0,
	    ['ready', 'x\n'], ['worked', '\z'], ['Stopped', 'bg\n'],
	    # It reads the terminal there, and is stopped for that.
	    ['continued', ''], ['Stopped', 'fg\n'],
	    ['continued', 'q\n'], ['worked', ''],
	    ['go on', 'echo status $?\n'], ['status 13', 'exit\n']],
	['^C', '', 1, 0,
	    ['ready', 'x\n'], ['worked', '\c'],
	    ['go on', 'echo status $?\n'], ['status 130', 'exit\n']],
	['^\\', '', 1, 0,
	    ['ready', 'x\n'], ['worked', '\\\\'],
	    ['go on', 'echo status $?\n'], ['status 131', 'exit\n']],
	['^C that is handled', 'handle', 2, 1,
	    ['ready', 'x\n'], ['worked', '\c'], ['interrupted', 'q\n'],
	    ['worked', ''], ['go on', 'echo status $?\n'],
	    ['status 13', 'exit\n']],
	['^C twice', 'handle', 1, 2,
	    ['ready', 'x\n'], ['worked', '\c'], ['interrupted', '\c'],
	    ['interrupted', ''], ['go on', 'echo status $?\n'],
	    ['status 12', 'exit\n']],
	['^D', '', 1, 0,
	    ['ready', 'x\n'], ['worked', '\d'],
	    ['go on', 'echo status $?\n'], ['status 14', 'exit\n']],
	['^Z and ^C while it is busy', 'handle spin', undef, 1,
	    ['ready', '\z'], ['Stopped', 'fg\n'], ['continued', '\z'],
	    ['Stopped', 'bg\n'], ['continued', 'fg\n'],
	    ['console', '\f\c'], ['interrupted', 'q\n'], ['worked', ''],
	    ['go on', 'echo status $?\n'], ['status 13', 'exit\n']],
	['a stop of its own making', '', 2, 0,
	    ['ready', 't\n'], ['Stopped', 'fg\n'], ['continued', ''],
	    ['worked', 'q\n'], ['worked', ''],
	    ['go on', 'echo status $?\n'], ['status 13', 'exit\n']],
	# Editors do that; it ends at the second such signal.
	['the same, handled', 'catch', 2, 1,
	    ['ready', 't\n'], ['interrupted', ''], ['worked', 'q\n'],
	    ['worked', ''], ['go on', 'echo status $?\n'],
	    ['status 13', 'exit\n']],
	['end of the job by kill', '', 0, 0,
	    ['ready', '\z'], ['Stopped', 'P=$(jobs -p); kill %1; ' .
		'while kill -0 $P; do :; done 2>/dev/null; echo g""one\n'],
	    ['gone', 'exit\n']],
);
for my $case (@dialogues) {
	my ($what, $argument, $worked, $interrupts, @lines) = @$case;
	my $alone = dialogue("$console $argument", @lines);

	is(ended($alone), 'status 0', "$what: alone") or
	    diag $alone->{out}, $alone->{err};
	for my $patch (@patches) {
		my $file = "$scratch/funcs";
		my $run = dialogue("$pmon --patch=$patch --units=func " .
		    "--report=funcs:$file $console $argument", @lines);
		my $funcs = funcs_read($file);

		is(ended($run), 'status 0', "$what, $patch: as alone") or
		    diag $run->{out}, $run->{err};
		is($funcs->{work}, $worked, "$what, $patch: work counts")
		    if defined $worked;
		cmp_ok($funcs->{work} // 0, '>', 0, "$what: it worked")
		    if !defined $worked;
		is($funcs->{on_interrupt} // 0, $interrupts,
		    "$what, $patch: interrupts count");
		unlink $file;
	}
}

# ^C in the terminal ends a pmon that is attached to a background job, which
# waits, stopped, for its turn to read.
{
	my $file = "$scratch/funcs";
	my $run = dialogue("$console &",
	    ['Stopped', "$pmon --units=func --report=funcs:$file -p \$!\\n"],
	    ['-p', '\f\c'], ['go on', 'fg\n'], ['continued', 'q\n'],
	    ['worked', ''], ['go on', 'echo status $?\n'],
	    ['status 13', 'exit\n']);

	is(ended($run), 'status 0', '^C detaches') or
	    diag $run->{out}, $run->{err};
	ok(-s $file, '  and the report comes');
}

# pmon can see the program's stop before its own ^Z: the terminal sends both one
# after another.
{
	my $run = monitor_start(['--units=func'], [$console, 'handle', 'spin']);

	wait_for(sub { slurp("$run->{base}.out") =~ /ready/ });
	my ($program) = children_of($run->{pid});
	kill STOP => $program;
	# pmon is in wait4(2) again.
	wait_for(sub {
		status_of($program, 'State') eq 't' &&
		    status_of($run->{pid}, 'State') eq 'S' &&
		    slurp("/proc/$run->{pid}/syscall") =~ /^61 /;
	});
	kill TSTP => $run->{pid};
	ok(wait_for(sub { status_of($run->{pid}, 'State') eq 'T' }),
	    'stops after the program');
	kill CONT => $run->{pid}, $program;
	kill INT => $program;
	$run = monitor_finish($run);
	is(ended($run), 'status 14', 'and goes on');
	is($run->{funcs}{on_interrupt}, 1, 'counting');
}

done_testing;
