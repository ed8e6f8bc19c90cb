# Functions that never ran: the summary alone does not have their code analysed
# if it is more than 256 KB, and says so.  Other reports have it added.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $pmprint = $pmon =~ s/pmon$/pmprint/r;

# The row of edges: counted, run, never run, not known.
sub
edges
{
	my ($report) = @_;

	return $report =~ /^ +(\d+) +(\d+) +[\d.]+ % +(\d+) +(\d+)  edges$/m ?
	    "$1 $2 $3 $4" : 'none';
}

# 10 arguments: the jump at main's beginning is not taken.
my @arguments = 2 .. 10;

# Each such function has 1,014 bytes.
for my $case ([259, 1], [258, 0]) {
	my ($never, $left) = @$case;
	my $program = compile(['idle.S'], "-DNEVER=$never");
	my $without = qr/without\s+the\s+edges\s+of\s+$never\s+functions?\s+
	    that\s+never\s+ran\s+\(256\s+KB\s+of\s+code\),\s+which\s+
	    --report=summary,edges:FILE\s+adds/x;
	my @options = ('--func=never_*', '--func=main', '--units=func,edge');
	# Of main's three edges two are run.
	my ($few, $all) = ('3 2 1 0', join ' ', 3 * $never + 3, 2,
	    3 * $never + 1, 0);
	my $data = "$scratch/data";
	my %pmon = (
		summary => run([$pmon, @options, '-d', $data,
			"--report=summary:$scratch/summary", '--', $program,
			@arguments]),
		edges => run([$pmon, @options, '--report=summary:' .
			"$scratch/whole,edges:$scratch/edges", '--', $program,
			@arguments]),
	);
	my $summary = slurp("$scratch/summary");
	my $whole = slurp("$scratch/whole");

	is(ended($pmon{$_}), 'status 0', "$never: $_") for sort keys %pmon;
	is(edges($summary), $left ? $few : $all, "$never: the summary alone");
	is(edges($whole), $all, "$never: with the edges");
	unlike($whole, qr/without/, '  all of which are there');
	if ($left) {
		like($summary, $without, "$never: it is said");
	} else {
		unlike($summary, qr/without/, "$never: nothing is left out");
	}

	# The same from the data file.
	for my $wants ('summary', 'summary,edges') {
		my $print = run([$pmprint, "--units=func,edge",
			"--report=$wants", $data]);

		is(ended($print), 'status 0', "$never: pmprint, $wants");
		is(edges($print->{out}), $left && $wants eq 'summary' ? $few :
		    $all, '  the same edges');
		is(!!($print->{out} =~ $without), $left &&
		    $wants eq 'summary' ? 1 : '', '  the same words');
	}
	unlink $data;
}

# Lines have their counts from the code of every function that they are in.
{
	my $program = compile(['idle.S'], '-DNEVER=300');
	my @options = ('--func=never_*', '--func=main', '--units=line,edge');
	my $run = monitor(\@options, [$program, @arguments]);

	is(edges($run->{report}), '903 2 901 0', 'with lines');
	unlike($run->{report}, qr/without/, '  nothing is left out');
}

# With instructions, the report of functions has the code of all.
{
	my $program = compile(['idle.S'], '-DNEVER=1');
	my @options = ('--func=never_*', '--func=main', '--units=func,insn');
	my $data = "$scratch/data";
	my $code = qr/\ 1004\ instructions\ executed;\ of\ 2008\ in\ the\ code
	    \ \(INSNS\),\ 1004\ never/x;

	run([$pmon, @options, '-d', $data, "--report=funcs:$scratch/funcs",
		'--', $program, @arguments]);
	like(slurp("$scratch/funcs"), $code, 'functions with instructions');
	like(run([$pmprint, '--report=funcs', '--units=func,insn', $data])->{out},
	    $code, '  and from the data file');
}

done_testing;
