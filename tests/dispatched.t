# A process has its system calls dispatched to itself while pmon attaches and
# lets go: the calls that pmon makes in it are not (PTRACE_SET_SYSCALL_USER_
# DISPATCH_CONFIG, Linux 6.4).
use strict;
use warnings;
use lib 'tests/lib';
use POSIX ();
use Test::More;
use Pmon;
use Target;

my $prog = compile('dispatched.c', '-O1');
my ($major, $minor) = (POSIX::uname())[2] =~ /^(\d+)\.(\d+)/;

plan skip_all => 'the kernel is older than Linux 6.4'
    if $major * 1000 + $minor < 6004;
plan skip_all => 'the kernel dispatches no system calls to processes'
    if run([$prog], in => 'q')->{status} == 77;

Target->new($prog)->attached('ok', @$_) for ['--units=func,block'],
    ['--patch=trap', '--units=func'], ['--no-traps'];

done_testing;
