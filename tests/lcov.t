# Tracefiles of C++ programs keep to what lcov 2 takes for consistent: the checks
# are those of its _checkConsistency, as Debian 12 has lcov 1.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

# What lcov 2 would give up at, and numbers of functions, lines and branches.
sub
faults
{
	my ($info) = @_;
	my (@faults, %n);

	for my $file ($info =~ /^SF:.*?^end_of_record$/msg) {
		my ($name) = $file =~ /^SF:(.*)/;
		my %line = $file =~ /^DA:(\d+),(\d+)$/mg;
		my (%ran, %begins, %way);

		$begins{$2} = $1 while $file =~ /^FN:(\d+),(.*)$/mg;
		# Those that begin at one line are one.
		$ran{$begins{$2}} += $1 while $file =~ /^FNDA:(\d+),(.*)$/mg;
		$way{$1} += $2 eq '-' ? 0 : $2
		    while $file =~ /^BRDA:(\d+),\d+,\d+,(.*)$/mg;
		my @begins = sort { $a <=> $b } keys %ran;

		for my $i (0 .. $#begins) {
			my ($from, $to) = ($begins[$i], $begins[$i + 1] // 1e9);
			my @lines = grep { $_ >= $from && $_ < $to } keys %line;

			push @faults, "$name:$from: no line"
			    if !defined $line{$from};
			push @faults, "$name:$from: function $ran{$from}"
			    if !$ran{$from} != !grep { $line{$_} } @lines;
		}
		for (sort keys %way) {
			push @faults, "$name:$_: branches $way{$_}, line " .
			    ($line{$_} // 'missing')
			    if !defined $line{$_} || !$way{$_} != !$line{$_};
		}
		$n{funcs} += keys %begins;
		$n{lines} += keys %line;
		$n{ways} += () = $file =~ /^BRDA:/mg;
		for my $count (['FNF', 'FNDA:'], ['FNH', 'FNDA:[1-9]'],
		    ['LF', 'DA:'], ['LH', 'DA:\d+,[1-9]'], ['BRF', 'BRDA:'],
		    ['BRH', 'BRDA:.*,[1-9]\d*$']) {
			my ($total) = $file =~ /^$count->[0]:(\d+)$/m;
			my $n = () = $file =~ /^$count->[1]/mg;

			push @faults, "$name: $count->[0]" if ($total // 0) != $n;
		}
	}
	return (\@faults, \%n);
}

# A record that breaks each rule.
my $sound = "SF:x.c\nFN:3,f\nFN:9,g\nFNDA:1,f\nFNDA:0,g\nFNF:2\nFNH:1\n" .
    "BRDA:3,0,0,1\nBRDA:3,0,1,0\nBRF:2\nBRH:1\nDA:3,1\nDA:9,0\nLF:2\nLH:1\n" .
    "end_of_record\n";
is_deeply((faults($sound))[0], [], 'a sound record');
for my $break (['FNDA:1,f', 'FNDA:0,f'], ['FNDA:0,g', 'FNDA:1,g'],
    ['DA:9,0', 'DA:9,1'], ['BRDA:3,0,0,1', 'BRDA:3,0,0,-'],
    ['BRDA:3,0,1,0', 'BRDA:9,0,0,2'], ['BRDA:3,0,1,0', 'BRDA:5,0,1,0'],
    ['LF:2', 'LF:3'], ["DA:3,1\n", '']) {
	my ($from, $to) = @$break;

	isnt(@{(faults($sound =~ s/\Q$from\E/$to/r))[0]}, 0, "... $to");
}

my $file = "$scratch/info";
for my $level ('-O0', '-O1', '-O2') {
	my $program = compile('instances.cc', $level);

	for my $options ([], ['--system-headers'], ['--patch=trap']) {
		is(ended(run([$pmon, @$options, "-rlcov:$file", $program])),
		    'status 0', "$level @$options");
		my ($faults, $n) = faults(slurp($file));

		is_deeply($faults, [], '... lcov 2 would read it');
		note("$n->{funcs} functions, $n->{lines} lines, " .
		    "$n->{ways} ways; ", slurp($file) =~ /^(# left.*)/m);
		cmp_ok($n->{funcs}, '>', 10, '... with its functions');
		cmp_ok($n->{lines}, '>', 20, '... lines');
		cmp_ok($n->{ways}, '>', 10, '... and branches');
		is(run(['lcov', '--rc', 'lcov_branch_coverage=1', '--summary',
		    $file])->{status}, 0, '... lcov 1 reads it')
		    if !system('command -v lcov >/dev/null');
	}
}
# Lines that are chosen one by one: of some functions not the first.
my $program = compile('instances.cc', '-O0');
for my $lines ('15', '15-40', '1-15') {
	run([$pmon, "--line=instances.cc:$lines", "-rlcov:$file", $program]);
	my ($faults, $n) = faults(slurp($file));

	is_deeply($faults, [], "--line=$lines");
	cmp_ok($n->{lines}, '>', 0, '... has lines');
}
done_testing();
