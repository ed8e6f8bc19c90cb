# Stops of the program by cause: programs that are stopped for one of them as
# often as they are told, so that twice as often is twice as many, and nothing
# else is more; and that all reports, and a data file, say the same.
use strict;
use warnings;
use lib 'tests/lib';
use File::Basename qw(basename);
use JSON::PP;
use Test::More;
use Pmon;

$ENV{HOME} = '/';
my $pmprint = $pmon =~ s/pmon$/pmprint/r;
my ($more, $few) = (30, 10);

# The table of a report: cause => [stops, milliseconds].
sub
table
{
	my ($report) = @_;
	my %stops;

	$stops{$4} = [$1, $2, $3] while $report =~
	    /^ *(\d+) +(\d+\.\d) +(\d+\.\d) +(?:\d+\.\d|-)  ([(a-z].*)$/mg;
	return \%stops;
}

# What is a matter of time: when a task is kept on one processor.
sub
causes
{
	my ($stops) = @_;

	return { map { $_ => $stops->{$_}[0] } grep { !/processor|^\(all/ }
	    keys %$stops };
}

# By how many there are more in the second.
sub
growth
{
	my ($before, $after) = map { causes($_) } @_;

	return { map { $_ => $after->{$_} - ($before->{$_} // 0) }
	    grep { $after->{$_} != ($before->{$_} // 0) } keys %$after };
}

sub
stopped
{
	my ($options, @argv) = @_;
	my $name = basename($argv[0]) =~ s/-\w+$//r;
	my $run = run([$pmon, '--exact', @$options,
		"--report=sites:$scratch/sites," .
		"summary:$scratch/summary,json:$scratch/json",
		'-d', "$scratch/data", '--', @argv]);
	my $stops = table(slurp("$scratch/sites"));
	my ($all, $traps, $sum) = (0, 0, 0);

	is(ended($run), 'status 0', "@$options $name @argv[1 .. $#argv]")
	    or diag $run->{err};
	for (grep { !/^\(all/ } keys %$stops) {
		$all += $stops->{$_}[0];
		$traps += $stops->{$_}[0] if /^trap/;
	}
	is($stops->{'(all)'}[0], $all, '  the sum');
	like(slurp("$scratch/summary"),
	    qr/\b$all\s+stops,\s+$traps\s+traps?$/m, '  and the summary');
	my $json = decode_json(slurp("$scratch/json"))->{run};
	is_deeply({ map { $_->{cause} => $_->{count} } @{$json->{stops}} },
	    { map { $_ => $stops->{$_}[0] } grep { !/^\(all/ }
		keys %$stops }, '  and JSON');
	is($json->{traps}, $traps, '  and its traps');
	ok(!(grep { $_->{nanoseconds} <= 0 } @{$json->{stops}}),
	    '  each takes time');
	my ($table) = slurp("$scratch/sites") =~ /(^ +STOPS .*\(all\)$)/ms;
	my ($printed) = run([$pmprint, '--report=sites', "$scratch/data"])
	    ->{out} =~ /(^ +STOPS .*\(all\)$)/ms;
	# Other reports were written in between, so the run was longer.
	s/ +\S+(?=  \S)//mg for $table, $printed;
	is($printed, $table, '  and pmprint');
	return $stops;
}

# Each round adds so many, and no others.
sub
grows
{
	my ($options, $program, $mode, %each) = @_;
	my @argv = ($program, $mode eq '' ? () : $mode);
	my $name = basename($program) =~ s/-\w+$//r;
	my $growth = growth(stopped($options, @argv, $few),
	    stopped($options, @argv, $more));

	# A jump that is written late is a trap until then.  How often threads
	# come to it meanwhile is a matter of time, and so is what they do while
	# one of them is kept on a processor, and whether they are in a call when
	# they are paused.  How often the C library sets the mask when it makes a
	# thread is its own affair.
	for ('trap that leads into a relocated function',
	    'trap, sets which signals are blocked',
	    'pause, counters planted',
	    'pause, another thread kept on one processor',
	    'system call, while kept on one processor',
	    'system call, may be cut short by a pause') {
		delete $growth->{$_} if !$each{$_};
	}
	is_deeply($growth, { map { $_ => $each{$_} * ($more - $few) }
	    keys %each }, "@$options $name @argv[1 .. $#argv]: by causes")
	    or diag explain $growth;
}

my $c = compile('stops.c', '-O1', '-pthread');
my $cc = compile('throws.cc', '-O1');
my $forks = compile('forks.c', '-O1', '-pthread');
my $ends = 'thread or process ends';
my $begins = 'thread or process begins';
my $called = 'system call that pmon makes in the program';

# A program that is started makes calls for pmon at two stops for the memory of
# its counters, at one for its code, and at one for that of all its libraries.
my ($before, $after) = map {
	run([$pmon, '--exact', "--report=sites:$scratch/sites", '--', $forks,
		'spawn', $_]);
	table(slurp("$scratch/sites"));
} $few, $more;
is(growth($before, $after)->{$called}, 4 * ($more - $few),
    'a program is started: system calls of pmon');

# What pmon has followed once is counted in the program: here the unwinder goes
# to five cleanups and the handler.
grows([], $cc, '');
grows([], $c, 'jumps');
grows([], $c, 'swaps',
    'trap, sets which signals are blocked' => 2);
# mmap and munmap, neither of which maps code.
grows(['--object=*', '--func=main'], $c, 'maps',
    'trap, may map or unmap code' => 2);
# The C library's functions for that are counted, too, without more traps.
grows(['--object=*', '--units=edge', '--func=main', '--func=*m*map'], $c,
    'maps', 'trap, may map or unmap code' => 2);
# With traps alone nothing is to be done when its handler returns.
grows(['--patch=trap', '--placement=every', '--units=func'], $c, 'signals',
    'signal' => 1, 'trap, instruction executed in a slot' => 1);
# Whose end a signal tells.
grows([], $c, 'forks', 'process created' => 1, $begins => 1, $ends => 1,
    'signal' => 1);
# clone3's flags are in memory: a hook looks whether the thread is traced.
grows([], $c, 'threads', 'thread created' => 1, $begins => 1, $ends => 1,
    'trap, makes a thread or process' => 1);

done_testing;
