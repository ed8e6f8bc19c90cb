# Damaged data files, whose checksums are right, and damaged ELF files with
# DWARF, each made by its number: nothing crashes, hangs, or breaks a promise
# of the readers.  PMON_MUTANTS is how many data files are tried; of the others
# it is a tenth.  PMON_MUTANTS_FIRST is the number of the first.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $count = $ENV{PMON_MUTANTS} // 50_000;
my $first = $ENV{PMON_MUTANTS_FIRST} // 1;
my $source = spew("$scratch/seed.c", <<'END');
static inline int twice(int n) { return 2 * n; }
__attribute__((cold)) void never(int n) { while (n > 3) n = twice(n) - 9; }
int main(int argc, char **argv) { if (argc > 5) never(argc); return twice(0); }
END
my @small = ('-nostartfiles', '-Wl,-e,main');
my @seeds = map { compile($source, @$_) }
    map({ ["-gdwarf-$_", '-O2', @small] } 2 .. 5), ['-gz=zlib', '-O0', @small],
    ['-O2', '-static-pie', '-nostdlib', '-Wl,-e,main'], ['-s', '-O2', @small];
push @seeds, compile('gopanics.S', '-no-pie', '-nostartfiles', '-Wl,-e,main');

# So many are tried by one run, which has a limit.
my $batch = 50_000;

sub
mutants
{
	my ($target, $many, @files) = @_;
	my ($accepted, @bad) = 0;

	for (my $n = 0; $n < $many; $n += $batch) {
		my $size = $many - $n < $batch ? $many - $n : $batch;
		my $run = run(["$build/mutants/$target", $first + $n, $size,
		    @files]);

		push @bad, ended($run) . ": $run->{out}$run->{err}"
		    if ended($run) ne 'status 0' ||
		    $run->{out} !~ /^$size mutants, 0 failed$/m;
		$accepted += $1 if $run->{out} =~ /^(\d+) accepted/m;
		note $run->{out};
	}
	is_deeply(\@bad, [], "$target: of $many mutants from $first none fails");
	# Neither do all of them stay as they were nor are all refused.
	diag "$target: $accepted of $many accepted";
	cmp_ok($accepted, '>', $many / 100, 'some are good');
	cmp_ok($accepted, '<', $many, 'some are not');
}

mutants('profile', $count);
mutants('trace', int($count / 10));
mutants('symtab', int($count / 10), @seeds);

done_testing;
