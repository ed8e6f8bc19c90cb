# Libraries that a program maps by system calls of its own are counted from the
# first.  Hooks see the calls; where the program makes or changes its code,
# pmon stops it at all system calls.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;

my $program = compile('maps.c', '-O1');
my $lib = abs_path(compile('mapped.c', '-O1', '-shared', '-fPIC',
    '-nostdlib'));
my $hook = 'trap, may map or unmap code';
my $any = 'trap, makes a system call of any number';
my $maps = 'system call, maps or unmaps code';
my $watched = 'system call, may map or unmap code';
my $rounds = 5;

# Stops by cause: how many.
sub
stops
{
	my ($report) = @_;
	my %stops;

	$stops{$2} = $1 while $report =~
	    /^ *(\d+) +\d+\.\d +\d+\.\d +\S+  ([a-z].*)$/mg;
	return \%stops;
}

for my $patch ('auto', 'trap') {
	for my $way (qw(number ways push made change)) {
		my @argv = ($program, $lib, $way);
		my $alone = run(\@argv);
		my $run = monitor(["--patch=$patch", '--object=*/map*',
		    '--units=func', '--func=leaf', '--func=main',
		    "--report=sites:$scratch/sites"], \@argv);

		same($alone, $run, "$patch, $way");
		counts_are($run, { leaf => 7 * $rounds, main => 1 },
		    "$patch, $way");
		my $stops = stops(slurp("$scratch/sites"));
		if ($way =~ /made|change/) {
			cmp_ok($stops->{$watched} // 0, '>=', 6 * $rounds,
			    '  all system calls are watched');
			next;
		}
		is($stops->{$watched}, undef, '  no more than hooks');
		# mprotect and munmap of its text, at entry and exit, and the
		# loader's mapping of the C library.
		is($stops->{$maps}, 2 * 2 * $rounds + 2, '  and what they see');
		cmp_ok($stops->{$way eq 'push' ? $hook : $any}, '>=',
		    3 * $rounds, '  of that kind');
	}
}

# A library in which data follow the text in the file: the dynamic linker first
# maps all of it to be executed.  System calls are watched until it maps the rest
# otherwise.
my @joining = ('loading.c', '-O1', '-shared', '-fPIC', '-DLIBRARY',
    '-nostdlib', '-Wl,-z,noseparate-code');
my $joined = abs_path(compile(@joining));
my $loading = compile('loading.c', '-O1', '-Wl,--no-as-needed', $joined);
# The same with a gap in front of the data, to which the dynamic linker takes
# the access before it maps them.
my $gap = abs_path(compile(@joining, '-Wl,-z,max-page-size=0x200000'));
my $across = compile('loading.c', '-O1', '-Wl,--no-as-needed', $gap);
my $calls = 300;

# How many system calls are watched, of how many.
my %least = (linked => 0, whole => $calls, made => 2 * $calls);

for my $options (['--units=func'], ['--units=func,edge']) {
	for my $test (sort(keys %least), 'gap') {
		my @argv = $test eq 'gap' ?
		    ($across, 'linked', $calls, $gap) :
		    ($loading, $test, $calls, $joined);
		my $least = 2 * ($least{$test} // $least{linked});
		my $alone = run(\@argv);
		my $run = monitor([@$options, '--object=*',
		    "--report=sites:$scratch/sites"], \@argv);
		my $stops = stops(slurp("$scratch/sites"))->{$watched} // 0;

		same($alone, $run, "@$options, $test");
		is($run->{funcs}{leaf}, 1, '  and counted');
		# At entry and exit; besides, those of the dynamic linker.
		cmp_ok($stops, '>=', $least, '  those are watched');
		cmp_ok($stops, '<', $least + 100, '  and no others');
	}
}

done_testing;
