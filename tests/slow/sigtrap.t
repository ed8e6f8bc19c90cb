# All of tests/sigtrap.t; attaching to a program that runs with SIGTRAP blocked
# at any moment; and a program that uses breakpoints for errors of its own.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;
use Target;

$ENV{HOME} = '/';

{
	local $ENV{PMON_SIGTRAP} = 'all';

	is(system("$^X tests/sigtrap.t >$scratch/all") >> 8, 0, 'in all modes')
	    or diag slurp("$scratch/all");
}

my $program = compile('sigtraps.c', '-O1', '-pthread');

for my $patch (@patches) {
	my $target = Target->new($program, 'spins');
	my $failed = 0;

	is($target->answer, 'ready', 'the process is ready');
	for my $time (1 .. $ENV{PMON_ATTACH} // 20) {
		my $run = monitor(["--patch=$patch", '--units=func',
		    '--duration=0.005', '-p', $target->{pid}], []);

		$failed++ if ended($run) ne 'status 0' ||
		    complaints($run) ne '';
	}
	is($failed, 0, "$patch: attached and detached");
	is($target->ask(''), 'blocked: handled, blocked, none waits, got 0',
	    'SIGTRAP is still blocked');
	is($target->answer, 'unblocked: handled, open, none waits, got 1',
	    'and handled');
	is($target->finish(''), 'status 0', 'it ends well');
}

SKIP: {
	skip 'sbcl is not installed', 6
	    if system('sbcl --version >/dev/null 2>&1');
	my $script = spew("$scratch/errors.lisp", <<'END');
(defun strings (n)
  (let ((l nil)) (dotimes (i n) (push (make-string 100) l)) (length l)))
(dotimes (i 3)
  (strings 20000)
  (gc :full t)
  (print (handler-case (error "an error") (error (e) (format nil "~a" e))))
  (print (handler-case (car (eval '(identity 3))) (error (e) (type-of e)))))
(gc)
(print (strings 100))
(terpri)
END
	my @argv = ('sbcl', '--script', $script);

	for my $options (['--object=*', '--units=func'],
	    ['--object=*', '--units=func', '--patch=trap']) {
		same(run(\@argv), monitor($options, \@argv), "@$options, sbcl");
	}
}

done_testing;
