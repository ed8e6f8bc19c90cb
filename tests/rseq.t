# Restartable sequences: the kernel begins one anew if it was interrupted, so no
# trap may be in it; and it must stay where the kernel was told that it is.  A
# function that has one can have its calls counted, and nothing else.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Target;

my %programs = map { $_ => compile('rseq.c', '-O2', $_, '-pthread') }
    qw(-pie -no-pie);

plan skip_all => 'no restartable sequences here (rseq)'
    if run([$programs{-pie}])->{status} == 77;

for my $kind (sort keys %programs) {
	# So many that a lost restart loses additions.
	my @many = ($programs{$kind}, $slow ? 1000000 : 200000, 4);
	my @few = ($programs{$kind}, 2000, 4);

	like(run(\@many)->{out}, qr/^ok /, "$kind: alone");
	for my $options (['--units=func,edge'], ['--units=func,insn,line'],
	    ['--units=func,edge', '--placement=every'],
	    ['--units=func,block', '--patch=trap']) {
		my @argv = grep({ /trap/ } @$options) ? @few : @many;
		my $run = monitor($options, \@argv);
		my $what = "$kind, @$options";

		is(ended($run), 'status 0', "$what: it ends");
		like($run->{out}, qr/^ok /, '  and loses nothing');
		like($run->{report}, qr/restartable\s+sequence\s+\(rseq\)/,
		    '  and it is said');
	}
	# The calls are counted in front of the sequence.
	for my $options ([], ['--patch=trap']) {
		my $run = monitor(['--units=func', @$options], \@few);
		my ($calls) = $run->{out} =~ /^ok (\d+)$/;

		ok($calls, "$kind, calls, @$options: nothing is lost");
		counts_are($run, { add => $calls, thread => 4 },
		    "$kind, calls, @$options");
	}
}

# pmon makes system calls in a process that is in a sequence.
my $spins = compile('rseq_spin.c', '-O2');

Target->new($spins)->attached('aborted', $_) for '--units=func', '--no-traps';

done_testing;
