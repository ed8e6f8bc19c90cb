# The position at which a signal ended a program: a program knows how often the
# instruction had run by then.
use strict;
use warnings;
use lib 'tests/lib';
use JSON::PP;
use Test::More;
use Pmon;

my $pmprint = "$build/pmprint";
my $program = compile('deadly.c', '-O1', '-pthread');
my $turns = 47;

# Ways to die => how often the instruction where the signal came had begun by
# then, and whether it faulted or called code that is not counted.
my %ways = (
	reads => [$turns, 'during'],
	divides => [$turns, 'during'],
	illegal => [1, 'during'],
	aborts => [1, 'call'],
	kills => [$turns, 'call'],
	# Of two processes nobody knows whose turn it was.
	after_child => [undef, 'call'],
	# The instruction to which the handler returned is still in that run.
	resets => [$turns, 'during'],
	threaded => [undef, 'during']);

my @source = split /\n/, slurp('tests/prog/deadly.c');

# The line of the function that says that it dies.
sub
line_of
{
	my ($func) = @_;
	my ($in) = grep { $source[$_] =~ /^$func\(/ } 0 .. $#source;
	my ($line) = grep { $source[$_] =~ m{/\* dies \*/} } $in .. $#source;

	return $line + 1;
}

sub
position_like
{
	my ($text, $way, $name) = @_;
	my ($times, $how) = @{$ways{$way}};
	my $line = line_of($way);
	my $at = $how eq 'call' ? 'in a call at' : 'at';
	my $number = $times ? "#$times" : '';

	$text =~ s/\n +/ /g;
	like($text, qr/killed by signal \d+ \([\w ]+\) $at \S*deadly\.c:$line \($way\+[0-9a-f]+$number\);/,
	    $name);
}

for my $way (sort keys %ways) {
	my $run = run([$pmon, '--no-config', '--units=line,insn',
		"--data=$scratch/data", "--report=json:$scratch/json",
		'--report=summary', $program, $way, $turns]);
	my $end = decode_json(slurp("$scratch/json"))->{run}{end};
	my ($times, $how) = @{$ways{$way}};

	position_like($run->{err}, $way, $way);
	is($end->{how}, $how, "$way: how, in JSON");
	is($end->{times}, $times, "$way: how often, in JSON");
	$run = run([$pmprint, '--report=summary', "$scratch/data"]);
	position_like($run->{out}, $way, "$way: from a data file");
}

# However it is counted.
for my $way (qw(reads kills resets)) {
	for my $patch (qw(trap slot jump emulate step)) {
		for my $placement (qw(optimal every)) {
			my $run = run([$pmon, '--no-config',
				'--units=line,insn', "--patch=$patch",
				"--placement=$placement", $program, $way,
				$turns]);

			position_like($run->{err}, $way,
			    "$way, $patch, $placement");
		}
	}
}

# Merged runs have no position, and neither has a program that ends otherwise.
run([$pmon, '--no-config', "--data=$scratch/first", $program, 'reads', 2]);
run([$pmon, '--no-config', "--data=$scratch/second", $program, 'reads', 3]);
run([$pmprint, "--merge=$scratch/both", "$scratch/second", "$scratch/first"]);
my $run = run([$pmprint, '--report=summary', "$scratch/both"]);
is($run->{status}, 0, 'merged');
unlike($run->{out}, qr/deadly\.c:\d+ \(/, 'merged: no position');
$run = run([$pmon, '--no-config', $program, 'none', 2]);
like($run->{err}, qr/status \d+;/, 'exit: no position');

# Functions alone: where, but not how often.
$run = run([$pmon, '--no-config', '--units=func', $program, 'reads', 3]);
like($run->{err}, qr/killed by signal 11 \(Segmentation fault\) at reads\+/,
    'functions alone');
done_testing;
