# Real programs of many languages and compilers: what each is given to do, which
# Debian packages it needs, and counts that the program itself knows.  For
# tests/slow/corpus.t and bench/corpus.  Owns build/corpus/.
package Corpus;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Path qw(make_path remove_tree);
use Pmon;

our @EXPORT = qw(corpus corpus_install corpus_begin);

my $dir = abs_path($build) . '/corpus';
my $python = '/usr/bin/python3';

# A file in the directory.
sub
file
{
	my ($name, $text) = @_;

	return spew("$dir/$name", $text);
}

# A shell script that all programs it runs belong to; argv.
sub
script
{
	my ($name, $text) = @_;

	return ['/bin/sh', '-e', file("$name.sh", "cd $dir\n$text")];
}

# n functions of C, with loops, switches and calls of one another.
sub
c_source
{
	my ($n) = @_;
	my $source = "#include <stdio.h>\n";

	$source .= <<"END" for 1 .. $n;
int f$_(int x) {
	int s = $_;
	for (int i = 0; i < x; i++)
		switch ((s + i) & 7) {
		case 0: s += i * 3; break;
		case 1: s ^= x << 2; break;
		case 2: s -= i / (x + 1); break;
		case 3: s *= 5; break;
		default: s += s >> 1;
		}
	return s;
}
END
	return $source . "int main(void) {\n\tint s = 0;\n" .
	    join('', map { "\ts += f$_($_);\n" } 1 .. $n) .
	    "\tprintf(\"%d\\n\", s);\n}\n";
}

my $servers = <<'END';
wait_for() {
	until "$@" >/dev/null 2>&1; do sleep 0.1; done
}
END

# Of each: its name; packages; argv, or a function that makes what argv needs
# and returns argv; options.  knows: functions of the program, and how often
# they are called.  loose: its output differs from run to run when it is alone.
# status: what it exits with, if that is not 0.
my @corpus = (
	['python3', ['python3-minimal'], [$python, '-c',
	    'f = lambda n: n if n < 2 else f(n - 1) + f(n - 2); print(f(18))']],
	['numpy', ['python3-numpy'], [$python, '-c', 'import numpy as n; ' .
	    'a = n.arange(9e4).reshape(300, 300); print((a @ a).sum())']],
	['php', ['php-cli'], ['php', '-n', '-r', 'function f($n) { return ' .
	    '$n < 2 ? $n : f($n - 1) + f($n - 2); } echo f(20), "\n";']],
	['ruby', ['ruby'], ['ruby', '-e',
	    'def f(n) n < 2 ? n : f(n - 1) + f(n - 2) end; puts f(20)']],
	['node', ['nodejs'], ['node', '-e', 'function f(n) { return ' .
	    'n < 2 ? n : f(n - 1) + f(n - 2) } console.log(f(20))']],
	['perl', ['perl'], ['perl', '-e', 'sub f { my $n = shift; ' .
	    '$n < 2 ? $n : f($n - 1) + f($n - 2) } print f(18), "\n"'],
	    # f(n) makes 2 * fib(n + 1) - 1 calls: the first, and two, each with
	    # a subtraction, for each addition.
	    knows => { Perl_pp_entersub => 8361, Perl_pp_cond_expr => 8361,
		Perl_pp_subtract => 8360, Perl_pp_add => 4180,
		Perl_pp_print => 1 }],
	['lua', ['lua5.4'], ['lua5.4', '-e', 'function f(n) return ' .
	    'n < 2 and n or f(n - 1) + f(n - 2) end print(f(22))']],
	['luajit', ['luajit'], ['luajit', '-e', 'function f(n) return ' .
	    'n < 2 and n or f(n - 1) + f(n - 2) end print(f(22))']],
	['guile', ['guile-3.0'], ['guile-3.0', '--no-auto-compile', '-c',
	    '(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) ' .
	    '(display (f 20))']],
	['racket', ['racket'], ['racket', '-l', 'racket/base', '-e',
	    '(display (+ 1 2))']],
	['gforth', ['gforth'], ['gforth', '-e', ': f dup 1 > if dup 1- recurse ' .
	    'swap 2 - recurse + then ; 20 f . cr bye']],
	['sbcl', ['sbcl'], ['sbcl', '--noinform', '--no-userinit', '--eval',
	    '(progn (print (loop for i below 1000000 sum i)) (exit))']],
	['erlang', ['erlang-base'], ['erl', '-noshell', '-eval',
	    'io:format("~p~n", [lists:sum(lists:seq(1, 100000))]), halt().']],
	['R', ['r-base-core'], ['R', '--vanilla', '-s', '-e',
	    'f <- function(n) if (n < 2) n else f(n - 1) + f(n - 2); f(15)']],
	['tcl', ['tcl'], ['tclsh'],
	    in => 'proc f n {expr {$n < 2 ? $n : [f [expr {$n - 1}]] + ' .
		"[f [expr {\$n - 2}]]}}\nputs [f 16]\n"],
	['java', ['default-jre-headless'], ['java', '-version']],
	['mono', ['mono-runtime'], ['mono', '--version']],
	['fzf (Go)', ['fzf'], ['fzf', '--filter=abc'],
	    in => join('', map { "a$_-b" . $_ * 7 . "c\n" } 1 .. 9999)],
	['bat (Rust)', ['bat'], sub { ['batcat', '-pp', '--color=always',
	    file('bat.c', c_source(60))] }],
	['fd (Rust)', ['fd-find'], ['fdfind', '--max-buffer-time=600000',
	    'passwd', '/etc']],
	['pandoc (GHC)', ['pandoc'], ['pandoc', '-f', 'markdown', '-t', 'html',
	    abs_path('CONTRIBUTING.md')]],
	['shellcheck', ['shellcheck'], ['shellcheck', abs_path('tools/deps')],
	    status => 1],
	['unison (OCaml)', ['unison-2.52'], ['unison-2.52', '-version']],
	['ocaml', ['ocaml-nox'], sub { ['ocaml', file('f.ml',
	    'let rec f n = if n < 2 then n else f (n - 1) + f (n - 2);; ' .
	    "print_int (f 20)\n")] }],
	['gcc', ['gcc'], sub { ['gcc', '-O2', '-c', '-o', "$dir/gcc.o",
	    file('gcc.c', c_source(60))] }],
	['g++', ['g++'], sub { ['g++', '-O1', '-c', '-o', "$dir/g++.o",
	    file('g++.cc', "#include <map>\n#include <string>\n" .
	    "int main() { std::map<std::string, int> m; " .
	    "return m[\"x\"]; }\n")] }],
	['clang', ['clang'], sub { ['clang', '-O1', '-c', '-o',
	    "$dir/clang.o", file('clang.c', c_source(20))] }],
	['make', ['make', 'gcc'], sub {
		file("m$_.c", c_source(8) =~ s/main/main_$_/r) for 1 .. 4;
		script('make', 'rm -f m*.o; printf "all:' .
		    join('', map { " m$_.o" } 1 .. 4) .
		    '\n" >m.mk; make -s -j2 -f m.mk');
	}],
	['cmake+ninja', ['cmake', 'ninja-build'], sub {
		remove_tree("$dir/cmake");
		make_path("$dir/cmake");
		file('cmake/c.c', c_source(8));
		file('cmake/CMakeLists.txt', "cmake_minimum_required(VERSION " .
		    "3.10)\nproject(c C)\nadd_executable(c c.c)\n");
		script('cmake', 'rm -rf cmake.out; cmake -G Ninja -S cmake -B ' .
		    'cmake.out >/dev/null; ninja -C cmake.out >/dev/null; ' .
		    './cmake.out/c');
	}, knows => { map { ("f$_" => 1) } 1 .. 8 }],
	['git', ['git'], sub { script('git', <<'END') }],
rm -rf git; git init -q git; cd git
for i in 1 2 3; do
	echo $i >f; git add f
	git -c user.name=x -c user.email=x -c commit.gpgsign=0 commit -qm $i
done
git log --format=%s
END
	['bash', ['bash'], ['bash', '--norc', '-c',
	    'f() { (($1 < 2)) && r=$1 || { f $(($1 - 1)); local a=$r; ' .
	    'f $(($1 - 2)); ((r += a)); }; }; f 12; echo $r']],
	['busybox', ['busybox-static'], ['busybox', 'awk',
	    'BEGIN { for (i = 0; i < 100000; i++) s += i % 7; print s }']],
	['musl', ['musl-tools'], sub {
		my $source = file('musl.c', "#include <stdio.h>\n" .
		    "__attribute__((noinline)) int f(int n)\n{\n" .
		    "\treturn n < 2 ? n : f(n - 1) + f(n - 2);\n}\n" .
		    "int main(void) { printf(\"%d\\n\", f(24)); }\n");

		# f(n) makes 2 * fib(n + 1) - 1 calls; no other optimisation
		# than these makes one of two calls a loop.
		system('musl-gcc', '-O1', '-fno-optimize-sibling-calls',
		    '-static', '-o', "$dir/musl", $source) == 0 or die;
		["$dir/musl"];
	}, knows => { f => 150049 }],
	['sqlite3', ['sqlite3'], ['sqlite3', ':memory:', 'with recursive ' .
	    'c(x) as (select 1 union all select x + 1 from c where x < 50000) ' .
	    'select sum(x * x % 7) from c']],
	['redis', ['redis-server', 'redis-tools'],
	    sub { script('redis', $servers . <<'END') }],
redis-server --unixsocket $PWD/redis.sock --port 0 --save '' >/dev/null &
wait_for redis-cli -s redis.sock ping
redis-benchmark -s redis.sock -n 5000 -q -t set,get >/dev/null
redis-cli -s redis.sock dbsize
redis-cli -s redis.sock shutdown nosave
wait
END
	['nginx', ['nginx-light', 'curl'], sub {
		file('index.html', "hello\n");
		file('nginx.conf', <<"END");
worker_processes 2; daemon off; pid $dir/nginx.pid; error_log $dir/error.log;
events { worker_connections 64; }
http { access_log off; server { listen unix:$dir/nginx.sock; root $dir; } }
user root;
END
		script('nginx', $servers . <<'END');
rm -f nginx.sock
nginx -c $PWD/nginx.conf 2>/dev/null &
wait_for test -S nginx.sock
for i in 1 2 3 4 5; do
	curl -s --unix-socket nginx.sock http://x/index.html
done
kill $!
wait
END
	}],
	['postgres', ['postgresql'], sub {
		my ($bin) = glob '/usr/lib/postgresql/*/bin';

		remove_tree("$dir/pg");
		make_path("$dir/pg");
		system('chown', 'postgres', "$dir/pg") == 0 or die;
		file('pg.sh', $servers . <<"END");
cd $dir/pg
rm -rf data
$bin/initdb -D data -N >/dev/null
$bin/postgres -D data -k $dir/pg -h '' >/dev/null 2>&1 &
wait_for $bin/pg_isready -h $dir/pg
$bin/createdb -h $dir/pg b
$bin/pgbench -h $dir/pg -i -q b >/dev/null 2>&1
$bin/pgbench -h $dir/pg -t 50 b >/dev/null 2>&1
$bin/psql -h $dir/pg -Atc 'select count(*) from pgbench_history' b
kill \$!
wait
END
		['setpriv', '--reuid=postgres', '--regid=postgres',
		    '--clear-groups', '/bin/sh', '-e', "$dir/pg.sh"];
	}],
	['ffmpeg', ['ffmpeg'], ['ffmpeg', '-loglevel', 'error', '-threads', '1',
	    '-f', 'lavfi', '-i', 'testsrc=duration=1:size=160x120', '-f', 'md5',
	    '-']],
	['qemu-x86_64', ['qemu-user'], ['qemu-x86_64', '/bin/echo', 'hello']],
	['valgrind', ['valgrind'], ['valgrind', '-q', '/bin/echo',
	    'hello']],
	['chromium', ['chromium'], ['chromium', '--headless', '--no-sandbox',
	    '--disable-gpu', '--user-data-dir=' . "$dir/chromium", '--dump-dom',
	    'data:text/html,<p>hello'], loose => 1],
);

# Install what is missing; true if all is there.
sub
corpus_install
{
	my %wanted = map { $_ => 1 } map { @{$_->[1]} } @corpus;
	my %there = map { /^(\S+) ii/ ? ($1 => 1) : () }
	    split /\n/, qx(dpkg-query -W -f '\${Package} \${db:Status-Abbrev}\n');
	my @missing = grep { !$there{$_} } sort keys %wanted;

	return !@missing || !system('apt-get', '-qq', '-y',
	    '-o', 'DPkg::Lock::Timeout=600', '--no-install-recommends',
	    'install', @missing);
}

# Make what the program needs; its argv, or nothing if it is not here.
sub
corpus_begin
{
	my ($program) = @_;

	make_path($dir);
	# For users that servers change to.
	chmod 0755, $dir;
	my $argv = $program->{argv};

	$argv = $argv->() if ref $argv eq 'CODE';
	my ($path) = grep { -x } $argv->[0] =~ m{/} ? $argv->[0] :
	    map { "$_/$argv->[0]" } split /:/, $ENV{PATH};
	return $path ? [$path, @$argv[1 .. $#$argv]] : undef;
}

# The programs, or those of these names: hashes of name, packages, argv and the
# options.
sub
corpus
{
	my %chosen = map { $_ => 1 } @_;

	return map {
		my ($name, $packages, $argv, %opt) = @$_;

		{ name => $name, packages => $packages, argv => $argv, %opt };
	} grep { !@_ || $chosen{$_->[0]} } @corpus;
}

1;
