# How wide reports are: as a terminal, as COLUMNS says, and else as names are
# long.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $program = compile('foreign.cc', '-O0');
my $pty = compile('pty.c', '-O0');

# The longest line of a summary that has long names.
sub
width
{
	my ($text) = @_;
	my ($rows) = $text =~ /^(Functions called most:.*)/ms;

	ok($rows =~ /std::/, 'there are long names');
	return (sort { $b <=> $a } map { length } split /\r?\n/, $rows)[0];
}

# On a terminal of so many columns.
sub
terminal
{
	my ($columns, @options) = @_;

	return run([$pty, 'env', 'NO_COLOR=1', 'sh', '-c', "stty cols $columns; exec " .
		join(' ', $pmon, @options, $program)], in => '')->{out};
}

my $file = "$scratch/report";
run([$pmon, "--report=summary:$file", '--', $program]);
my $all = width(slurp($file));
cmp_ok($all, '>', 160, 'a file has names in full');
is(width(run([$pmon, $program])->{err}), $all, '... and so has a pipe');
for my $columns (60, 100) {
	my $run = run([$pmon, $program], env => { COLUMNS => $columns });

	my $wide = width($run->{err});

	# What stands in brackets may be left out of a name as a whole.
	cmp_ok($wide, '<=', $columns, "COLUMNS=$columns");
	cmp_ok($wide, '>', $columns * 0.8, '... are used');
	is(width(terminal($columns)), $wide, "$columns columns");
	is(width(terminal($columns, '--wide')), $all,
	    "$columns columns, --wide");
}
# Nonsense in the environment, and a terminal that does not say.
is(width(run([$pmon, $program], env => { COLUMNS => 'x' })->{err}), $all,
    'COLUMNS that is no number');
is(width(run([$pmon, $program], env => { COLUMNS => 1 })->{err}), $all,
    'COLUMNS that is too small');
is(width(terminal(0)), width(terminal(80)), 'a terminal that does not say');
run([$pmon, "--data=$scratch/data", '--', $program]);
cmp_ok(width(run(["$build/pmprint", '--report=summary', "$scratch/data"],
    env => { COLUMNS => 70 })->{out}), '<=', 70, 'pmprint');
done_testing();
