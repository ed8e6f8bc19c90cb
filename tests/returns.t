# Handlers that run with SIGTRAP blocked: their returns trap nowhere, and the
# program's mask, handler of SIGTRAP and waiting signals are as without pmon.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;

my $program = compile('returns.c', '-O1');

# In each round the handler works, and what it interrupted; in calls a second
# handler, too, and a child behind the last round's.
my %calls = (
	calls => 4 * 3 + 1,
	leaves => 4 * 2,
	dies => 4 + 3,
);

for my $mode (sort keys %calls) {
	my @argv = ($program, $mode);
	my $alone = run(\@argv);
	my $truth;

	for my $options (['--patch=trap', '--units=func,edge'],
	    ['--placement=every', '--units=func,edge'],
	    ['--units=func,edge'], ['--units=func'],
	    ['--units=func,edge', '--object=*']) {
		my $follows = "@$options" =~ /edge/;
		my ($edges, $sites) = ("$scratch/edges", "$scratch/sites");
		my $run = monitor([@$options, "--report=sites:$sites",
			$follows ? "--report=edges:$edges" : ()], \@argv);

		same($alone, $run, "@$options, $mode");
		counts_are($run, { work => $calls{$mode} }, "@$options, $mode");
		# Traps in the handler change what becomes of the last signal.
		next if !$follows || "$mode @$options" =~ /^dies .*trap/;
		$truth //= slurp($edges);
		is(slurp($edges), $truth, 'and each edge')
		    unless "@$options" =~ /object/;
		unlike(slurp($sites), qr/trap, signal handler returns/,
		    'no trap at their returns');
	}
}

# Reports that are asked for just when a handler is to return, where pmon looks at
# the stack before it has seen the return, change nothing.
{
	my $enter = abs_path(compile('enter_at.c', qw(-O2 -shared -fPIC)));
	# At least how often handlers return. The last one of dies may not.
	my %returns = (leaves => 1, dies => 3);

	for my $mode (sort keys %returns) {
		my @argv = ($program, $mode);

		for my $options (['--patch=trap'], ['--placement=every'], []) {
			my @edges = (@$options, '--units=edge',
			    "--report=edges:$scratch/edges");
			my $once = run([$pmon, @edges, '--', @argv]);
			my $truth = slurp("$scratch/edges");
			local $ENV{PMON_ENTER} = 15;	# rt_sigreturn
			local $ENV{LD_PRELOAD} = $enter;
			my $run = run([$pmon, @edges, '--report=summary', '--',
			    @argv]);
			my $reports = () = $run->{err} =~ /^Counts of /mg;

			is($run->{out}, $once->{out}, "@$options, $mode, asked");
			is(ended($run), ended($once), 'it ends as ever');
			cmp_ok($reports, '>', $returns{$mode}, 'reports');
			is(slurp("$scratch/edges"), $truth, 'and each edge');
		}
	}
}

# A handler that is left by a jump is not followed for ever: the program makes 80
# system calls behind it.
monitor(['--units=func,edge', "--report=sites:$scratch/sites"],
    [$program, 'leaves']);
my ($followed) = slurp("$scratch/sites") =~
    /^\s*(\d+) .* system call, in a handler with SIGTRAP blocked$/m;
cmp_ok($followed, '<', 2 * 80, 'calls are followed no longer than needed');

done_testing;
