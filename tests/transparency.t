# Programs do the same with and without pmon: their output, their exit status,
# and what they can see of themselves.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;

my $dir = "$scratch/files";
mkdir $dir or die;
spew("$dir/b", join '', map { ($_ * 7919 % 1000) . "\n" } 1 .. 400);
spew("$dir/a", "one two three\n" x 20);
mkdir "$dir/sub";
spew("$dir/sub/c", 'x' x 10000);
utime 1e9, 1e9, glob "$dir/*";

# What a process inherits and sees; by turns with these units.
my $turn = 0;
for my $flags (['-O0'], ['-O2', '-rdynamic']) {
	my $program = compile('inherit.c', @$flags,
	    '-Wno-unused-parameter');
	# Signals ignored, blocked; files open; another umask, another limit.
	my @odd = ('sh', '-c', 'umask 027; ulimit -c 0; ulimit -n 400; ' .
	    'trap "" USR2 PIPE; exec 7</dev/null 9>/dev/null; exec "$@"',
	    'sh');
	my @argv = ($program, 'argument', '', "two\nlines");
	my @odd_alone = (@odd, @argv);

	for my $patch (@patches) {
		my $what = "@$flags, $patch";

		for my $units ($slow ? ('func', 'func,line') :
		    ('func', 'func,line')[$turn++ % 2]) {
			same(run(\@argv), monitor(["--patch=$patch",
			    "--units=$units"], \@argv), "$what, $units");
		}
		my $alone = run(\@odd_alone);
		my %from = (
			within => sub { monitor(["--patch=$patch",
			    '--units=func'], \@odd_alone) },
			without => sub { run([@odd, $pmon, "--patch=$patch",
			    '--units=func', '-o', "$scratch/out", @argv]) },
		);

		for my $from ($slow ? ('within', 'without') :
		    ('within', 'without')[$turn / 2 % 2]) {
			same($alone, $from{$from}->(),
			    "$what, from a shell $from");
		}
	}
}

# Which processors it may use, though first entries keep it on pmon's.
my $pinned = compile('pinned.c', '-O2', '-pthread');
my $pinned_alone = run([$pinned]);
like($pinned_alone->{out}, qr/^status: Cpus_allowed_list:\t\d.*\n(?s:.*)^status/m,
    'the program tells its processors');
for my $units ('func', 'edge') {
	same($pinned_alone, monitor(["--units=$units"], [$pinned]),
	    "processors at first entries, $units");
}
# What another thread sees of that.
my $asker = compile('asker.c', '-O2', '-pthread');
my $asker_alone = run([$asker]);
like($asker_alone->{out}, qr/^parent: \d+ of \d+\n.*\n.*Cpus_allowed/m,
    'the thread tells its processors');
for my $units ('func', 'edge') {
	same($asker_alone, monitor(["--units=$units"], [$asker]),
	    "processors of another thread, $units");
}

# Programs of every system.  Each is run in the directory, by this command.
my @commands = (
	'ls -la a b sub', 'sort -n b', 'sort -R --random-source=b a | wc',
	'cat a b | tr a-z A-Z | uniq -c | head -3', 'cat < b > /dev/null',
	'grep -c two a; grep nothing a', 'sed -n "s/two/2/p" a', 'cut -c1-3 a',
	'find . -type f | sort', 'find . -name c -exec wc -c {} +',
	'ls | xargs -n1 echo', 'gzip -c b | gzip -dc | cksum',
	'tar cf - --sort=name --mtime=@0 a b sub | tar tvf -',
	'dd if=b bs=100 count=2 status=none | od -c | tail -2',
	'env -i A=b env', 'expr 6 \* 7', 'test 1 -eq 2', 'false', 'exit 77',
	'kill -TERM $$', 'kill -KILL $$', 'nproc', 'pwd', 'echo $0 $# $-',
	'timeout 0.05 sleep 100; echo $?', 'timeout -s KILL 0.05 sleep 100',
	'timeout 10000 true; echo $?', 'setsid -w echo session', 'nice echo x',
	'nohup cat a', 'sleep 0.01 & wait $!; echo $?',
	'(exit 3) | (exit 4); echo $?', 'seq 100000 | head -1',
	'trap "echo caught" USR1; kill -USR1 $$; echo after',
	'for i in 1 2 3 4 5; do (echo $i; exit $i) & done | sort; wait',
	'perl -e "print join q(,), map { \$_ ** 2 } 1 .. 20; exit 9"',
	'perl -e "fork; fork; print \$\$ > 0; exit 1" | wc -c',
	'awk "{ n += \$1 } END { print n }" b', 'make --version | head -1',
	'printf "all:\n\t@echo made\n\t@exit 3\n" > m; make -f m; echo $?',
	'cc --version | head -1',
	'echo "int main(void) { return 5; }" > t.c && cc -o t t.c && ./t',
	'strings -n 5 t | sort | head -3', 'readelf -h t | head -8',
	'git hash-object a b', 'openssl sha256 < b', 'bc -l </dev/null',
	'date -u -d @0', 'mktemp -u XXXX | wc -c', 'tee copy < a; cmp copy a',
	'cp -r sub sub2 && diff -r sub sub2 && rm -r sub2', 'id -u',
);
$turn = 0;
for my $command (@commands) {
	my @argv = ('sh', '-c', $command);
	my %opt = (dir => $dir, env => { LC_ALL => 'C' });
	my $alone = run(\@argv, %opt);

	next if $alone->{status} == 127;
	# The patches in turn; compilers have too many functions for the slow
	# ones.  Every fourth time the libraries, too.
	my $patch = $patches[$turn++ % @patches];
	my @ways = ('auto', $command =~ /cc / ? () : $patch);
	# By turns every other command in one of these.
	@ways = $ways[$turn / 2 % @ways] unless $slow;
	for my $one (@ways) {
		my $run = monitor(["--patch=$one", '--units=func'], \@argv,
		    %opt);
		same($alone, $run, "$command, $one");
	}
	next if $turn % 4;
	my $run = monitor(['--units=func', '--object=*', '--func=*a*'],
	    \@argv, %opt);
	same($alone, $run, "$command, libraries");
}

done_testing;
