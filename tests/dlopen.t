# Libraries: loaded with the program, later, again, in the place of others.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;

my ($rounds, $calls) = (4, 7);

for my $optimised ('-O0', '-O2') {
	my $program = compile('dlopen.c', $optimised);
	my %lib = map { $_ => abs_path(compile('plug.c', $optimised, '-shared',
	    '-fPIC', '-fno-inline', "-DTAG=$_")) } qw(one two);
	my @argv = ($program, $rounds, $calls, "$lib{one}:one",
	    "$lib{two}:two");
	my $alone = run(\@argv);

	is(ended($alone), 'status 0', 'runs alone');
	for my $patch (@patches) {
		my $what = "$optimised, $patch";
		# Every round, and at the end.
		my $loads = $rounds + 1;
		my %expected = map {
			("init_$_" => $loads, "fini_$_" => $loads,
			    "resolve_$_" => $loads, "work_$_" => $loads,
			    "helper_$_" => $loads * $calls,
			    "chosen_$_" => $loads * $calls)
		} qw(one two);
		my $run = monitor(["--patch=$patch", '--object=*plug-*'],
		    \@argv);

		same($alone, $run, $what);
		counts_are($run, \%expected, $what);
		is($run->{funcs}{main}, undef, 'only the libraries count');
		lines_are($run, 'plug.c', annotated('tests/prog/plug.c',
		    W => 2 * $loads * $calls), $what)
		    if $optimised eq '-O0';

		$run = monitor(["--patch=$patch", '--object=*',
		    '--units=func', '--func=*_one', '--func=main',
		    '--func=load', '--func=dlsym'], \@argv);
		same($alone, $run, "$what, all objects");
		delete $expected{$_} for grep { /_two/ } keys %expected;
		counts_are($run, { %expected, main => 1, load => 2 * $loads },
		    "$what, all objects");
		# glibc itself looks for some of its symbols by dlsym, if by
		# any, hence at least.
		cmp_ok($run->{funcs}{dlsym} // 0, '>=', 2 * $loads,
		    'and libc');

		my @preload = ('/usr/bin/env', "LD_PRELOAD=$lib{one}",
		    $program, 'preload', 25);
		$run = monitor(["--patch=$patch", '--units=func',
		    '--object=*plug-*'], \@preload);
		same(run(\@preload), $run, "$what, preloaded");
		counts_are($run, { getppid => 25, init_one => 1,
		    fini_one => 1 }, "$what, preloaded");
	}
}

# Every function of the C library and the dynamic linker counts, too, and
# disturbs nothing.
my $program = compile('dlopen.c', '-O2');
my $lib = abs_path(compile('plug.c', '-O2', '-shared', '-fPIC',
    '-fno-inline', '-DTAG=one'));
for my $patch (@patches) {
	my @argv = ($program, 2, 3, "$lib:one");
	my $run = monitor(["--patch=$patch", '--object=*', '--units=func'],
	    \@argv);

	same(run(\@argv), $run, "$patch, all of all objects");
	counts_are($run, { work_one => 3, helper_one => 9, main => 1,
	    dlclose => 2, dlopen => 3 }, "$patch, all of all objects");
}

# Where the dynamic linker tells of libraries is looked for once, not each time
# that some come or go.
my $opens = abs_path(compile('opens.c', '-O1', '-shared', '-fPIC', '-ldl'));
for my $loads (2, 40) {
	my @argv = ($program, $loads, 3, "$lib:one");
	my $run = monitor(['--units=func'], \@argv,
	    env => { LD_PRELOAD => join(' ', $opens, $ENV{LD_PRELOAD} // ()) });
	my ($opened) = $run->{err} =~ /opened auxv (\d+) times/;

	is($run->{out}, run(\@argv)->{out}, "$loads loads");
	ok($opened && $opened < 20, '  and few looks where') or diag $opened;
}

# A library that is loaded again gets the memory for its counters and relocated
# functions back.  If each load took more, there would be none left for these
# after some 15 of 40.  pmon looks once at what was mapped, and at what was
# unmapped.
my $large = abs_path(compile('plug.c', '-O2', '-shared', '-fPIC',
    '-fno-inline', '-DTAG=one', '-DROOM=0x1000000'));
my %looks;
for my $loads (20, 40) {
	my @argv = ($program, $loads, 3, "$large:one");
	my $run = monitor(['--object=*', '--func=*_one', '--units=func',
	    "--report=sites:$scratch/sites"], \@argv,
	    env => { LD_PRELOAD => join(' ', $opens, $ENV{LD_PRELOAD} // ()) });
	my ($made) = slurp("$scratch/sites") =~
	    /^ *(\d+) .*  system call that pmon makes in the program$/m;
	my ($opened) = $run->{err} =~ /opened maps (\d+) times/;

	is($run->{out}, run(\@argv)->{out}, "$loads loads of a large library");
	counts_are($run, { work_one => $loads + 1,
	    helper_one => 3 * ($loads + 1) }, '  and calls');
	unlike($run->{err}, qr/counted by traps/, '  in relocated functions');
	$looks{$loads} = [$made, $opened];
}
is($looks{40}[0], $looks{20}[0], 'nothing more is mapped');
is($looks{40}[1] - $looks{20}[1], 2 * 20, 'and looks for each load');

# A file that is a program and a library is counted as a program only, whichever
# it is first.
my $both = compile('both.c', '-O1');
my $library = abs_path(compile('both.c', '-O1', '-shared', '-fPIC',
    '-DLIBRARY', '-nostdlib', '-Wl,-e,library_start'));

for my $how ('load', 'run') {
	for my $patch ('trap', 'auto') {
		my $run = monitor(["--patch=$patch"], [$both, $how, $library]);

		is(ended($run), 'status 0', "$how, $patch: how it ends");
		counts_are($run, { load => 1, shared_work => 3,
		    library_main => 1 }, "$how, $patch");
	}
}

done_testing;
