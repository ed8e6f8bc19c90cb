# In a program of several threads the jumps at the entries of functions are
# written late, many in one pause; nothing is counted twice or not at all.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

for ('', 'fork', 'signal', 'trap', 'blocked', 'late', 'late fork', 'late signal',
    'late trap') {
	my ($late, $how) = /^(late)? ?(.*)/;
	my @flags = $late ? '-DLATE' : ();
	my $program = compile('deferred.c', '-O1', '-pthread', @flags);
	my @argv = ($program, $how ? $how : ());
	my $alone = run(\@argv);

	# By units, patches and placement: whatever is relocated, and how.
	for my $options (['--units=func'], [], ['--units=func,edge'],
	    ['--placement=every'], ['--placement=vertex'], ['--eager'],
	    ['--units=func', '--separate=process']) {
		my $what = join ' ', 'deferred', @flags, $how, @$options;
		my $run = monitor([@$options, "--report=sites:$scratch/sites"],
		    \@argv);
		my $sites = slurp("$scratch/sites");
		my ($pauses) = $sites =~ /^ +(\d+) .* pause, counters plant/m;
		# What the child, or the handler, adds to the calls of n.
		my %more = (fork => sub { $_[0] > 20 ? $_[0] - 20 : 0 },
		    '' => sub { 0 },
		    map { $_ => sub { 1 } } qw(signal trap blocked));
		my $wrong = 0;

		is($run->{out}, $alone->{out}, "$what: output");
		is(ended($run), 'status 0', '  and status');
		for my $n (0 .. 99) {
			my $calls = $n + $more{$how}->($n);
			my $name = 'f' . ($n + 10);

			next if ($run->{funcs}{$name} // 'none') eq $calls;
			$wrong++;
			diag("$name: $run->{funcs}{$name}, not $calls");
		}
		is($wrong, 0, '  and the calls of a hundred functions');
		# One for each function, if each jump is written at once.
		cmp_ok($pauses // 0, '<', 30, '  in few pauses');
		unlink "$scratch/sites";
	}
}
done_testing;
