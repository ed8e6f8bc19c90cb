# System calls whose numbers the program gives to syscall(2), and to functions
# like it: no trap but for those that matter, where a jump to a filter can stand
# in front of the call; the program behaves as alone wherever a signal comes.
use strict;
use warnings;
use Cwd qw(abs_path);
use lib 'tests/lib';
use Test::More;
use Pmon;

my $library = abs_path(compile('filters.c', '-shared', '-fPIC', '-DLIBRARY'));
my $program = compile('filters.c', '-O1', '-Wl,--no-as-needed',
    $library);
my $calls = 2000;

sub
traps
{
	my ($options, $argv, $what) = @_;
	my $run = monitor($options, $argv);

	same(run($argv), $run, $what);
	return $run->{report} =~ /\s(\d+)\s+traps?\b/ ? $1 : -1;
}

# Each call is a trap where no filter can be: with an instruction that cannot be
# repeated, with a jump to the middle, and where the function is counted.
for my $options (['--units=func'], ['--units=func,edge']) {
	for my $test (qw(many filtered)) {
		my $what = "@$options $test";

		cmp_ok(traps($options, [$program, $test, $calls], $what), '<',
		    $calls / 2, "$what: no trap at each call");
	}
	for my $test (qw(moved looped)) {
		my $what = "@$options $test";

		cmp_ok(traps($options, [$program, $test, $calls], $what), '>=',
		    $calls, "$what: a trap at each call");
	}
}
my @counted = ('--units=func', '--object=libc.so*');
cmp_ok(traps(\@counted, [$program, 'many', $calls], "@counted"), '>=', $calls,
    "@counted: a trap at each call");

for my $options (['--units=func'], ['--units=func,edge'],
    ['--units=func', '--patch=trap']) {
	for my $test (qw(signals leaves)) {
		my @argv = ($program, $test, 300);
		my $run = monitor($options, \@argv);
		my $handler = $test eq 'leaves' ? 'leave' : 'handle';
		my ($handled) = $run->{err} =~ /handled (\d+)/;

		is($run->{out}, "0 wrong\n", "@$options $test");
		is($run->{status}, 0, '  its status');
		counts_are($run, { $handler => $handled },
		    "@$options $test");
	}
	for my $test (qw(action child)) {
		my @argv = ($program, $test);

		same(run(\@argv), monitor($options, \@argv),
		    "@$options $test");
	}
}
done_testing;
