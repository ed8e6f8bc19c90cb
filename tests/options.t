# The command line from outside: help, versions, mistakes, and where options
# end.  What each option is parsed to is tests/unit/options.c's.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);

my $pmon = $ENV{PMON} // 'build/pmon';
my $dir = tempdir(CLEANUP => 1);

# Run pmon; its exit status, standard output and standard error output.
sub
run
{
	my @output;
	my $pid = fork // die "fork: $!";

	if (!$pid) {
		open STDOUT, '>', "$dir/out" or die;
		open STDERR, '>', "$dir/err" or die;
		exec $pmon, @_ or die "$pmon: $!";
	}
	waitpid $pid, 0;
	my $status = $?;
	for my $name (qw(out err)) {
		local $/;
		open my $in, '<', "$dir/$name" or die;
		push @output, scalar <$in> // '';
	}
	return ($status >> 8, @output);
}

my ($status, $out, $err) = run('--help');
is("$status$err", '0', '--help: status 0, no message');
like($out, qr/^usage: pmon \[options\] \[--\] program/, 'help is on stdout');
is(join('', (run('-h'))[1]), $out, '-h is the same');

($status, $out, $err) = run('--version');
is("$status$err", '0', '--version: status 0, no message');
like($out, qr/^pmon \d+\.\d+\nbuilt with .*libelf .*libdwarf.*Zydis .*\n\z/,
    'versions of pmon and its libraries');

open my $full, '>', '/dev/full';
if ($full) {
	my $pid = fork // die "fork: $!";

	if (!$pid) {
		open STDOUT, '>&', $full or die;
		open STDERR, '>', "$dir/err" or die;
		exec $pmon, '--help' or die;
	}
	waitpid $pid, 0;
	is($? >> 8, 125, 'help that cannot be written is an error');
}

# Mistakes: status 125, one line, nothing on stdout, nothing run.
for my $args ([], ['--bogus', 'true'], ['-p'], ['-p', '1', 'true'],
    ['-p', 'x'], ['--top=0', 'true'], ['--patch=leap', 'true'],
    ['--units=', 'true'], ['--report=novel', 'true'],
    ['--line=x.c:9-2', 'true'], ['--duration=soon', 'true'],
    ['/nonexistent/program'], ['no-such-program-anywhere'], ["$dir"],
    ['-o', '/nonexistent/dir/file', 'touch', "$dir/touched"],
    ['--report=funcs:/nonexistent/dir/file', 'touch', "$dir/touched"]) {
	($status, $out, $err) = run(@$args);
	is($status, 125, "pmon @$args: status 125");
	is($out, '', 'nothing on standard output');
	like($err, qr/\Apmon: [^\n]+\n\z/, 'one line of message');
}
ok(!-e "$dir/touched", 'the program was not run');

# The program's own options are its own.
($status, $out, $err) = run('-o', "$dir/report", 'echo', '-h', '--top=x');
is("$status $out", "0 -h --top=x\n", 'options end at the program\'s name');
is($err, '', 'and the report is not on stderr');
ok(-s "$dir/report", 'but where -o says');
($status, $out) = run('-o', "$dir/report", '--', 'echo', '--', '-V');
is("$status $out", "0 -- -V\n", 'or at --');

done_testing;
