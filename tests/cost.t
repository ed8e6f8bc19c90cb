# A program that pmon slows down much: pmon says so, once and while the program
# runs, which waits for that; and all reports have the note.
use strict;
use warnings;
use lib 'tests/lib';
use JSON::PP;
use Test::More;
use Pmon;

$ENV{HOME} = '/';
my $pmprint = $pmon =~ s/pmon$/pmprint/r;
my $lasting = compile('lasting.c', '-O1');
for my $patch ('--patch=step', '--patch=trap') {
	my $run = run([$pmon, '--units=func', '--func=work', $patch,
		"--report=summary:$scratch/summary,json:$scratch/json",
		'-d', "$scratch/data", '--', $lasting]);

	is(ended($run), 'status 0', "$patch: the program ends");
	is($run->{out}, "noted\n", '  its output');
	like($run->{err}, qr/^pmon:\ note:\ lasting-\w+\ runs\ at\ least
	    \ \d+\ times\ slower\ than\ alone:\ \d+\ traps\ at\ 1\ place\ of
	    \ work\ \([^()]+\);\ --patch=auto,\ the\ default,\ is\ faster\n\z/x,
	    '  one line on standard error');
	my ($note) = $run->{err} =~ /^pmon: note: (.*)\n/;
	my ($times) = $note =~ /at least (\d+)/;
	cmp_ok($times, '>=', 3, '  more than three times');
	is_deeply([grep { $_ eq $note }
	    @{decode_json(slurp("$scratch/json"))->{run}{remarks}}], [$note],
	    '  JSON has it');
	for my $summary (slurp("$scratch/summary"),
	    run([$pmprint, "$scratch/data"])->{out}) {
		like($summary =~ s/\n +/ /gr, qr/\bNote: \Q$note\E/,
		    '  and the summary, also from the data file');
	}
}

done_testing;
