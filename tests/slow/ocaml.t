# A program of OCaml's compiler: nearly all of its functions run without traps,
# a raise walks no stack, and all counts are as by traps.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Counts;
use Pmon;

my $ocamlopt = (grep { -x } map { "$_/ocamlopt" } split /:/, $ENV{PATH})[0]
    or plan skip_all => 'ocamlopt is not installed (ocaml-nox)';

my $rounds = 300;
my $ran = run(['sh', '-c', "cp tests/prog/raises.ml $scratch &&
    cd $scratch && $ocamlopt -g -o raises raises.ml"]);
is($ran->{status}, 0, 'compiled') or diag($ran->{err});

my $argv = ["$scratch/raises", $rounds];
my $alone = run($argv);
my ($finds, $caught, $missed) = split ' ', $alone->{out};
my @select = ('--func=caml[A-Z]*');
my $truth = counted([@select, '--placement=every', '--patch=trap'], $argv);

is($truth->{out}, $alone->{out}, 'by traps: output');
for my $way ([], ['--placement=vertex'], ['--placement=every']) {
	my $run = counted([@select, @$way], $argv);

	is($run->{out}, $alone->{out}, "@$way: output");
	is(join("\n", counts_differ($run->{counts}, $truth->{counts})), '',
	    "@$way: as counted all");
}

my $run = monitor(['--units=func,edge', "--report=sites:$scratch/sites"],
    $argv);
my %named = map { (/__([a-z]+)_\d+$/ ? $1 : $_) => $run->{funcs}{$_} }
    grep { /^camlRaises__/ } keys %{ $run->{funcs} };
is($named{find}, $finds, 'calls of find');
is($named{combine}, $rounds, 'calls of combine');
is($run->{funcs}{caml_raise_exn} // 0, $caught + $missed + 1, 'raises');
unlike(slurp("$scratch/sites"), qr/stack switched/, 'no walks');
done_testing();
