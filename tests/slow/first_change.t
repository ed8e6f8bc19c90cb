# The change of doc/first-change.md applies to this tree, touches the files that
# it names and no other, and its tests pass.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use Test::More;

my $cc = $ENV{CC} || 'cc';
my $dir = tempdir(CLEANUP => 1);
my $page = do { open my $in, '<', 'doc/first-change.md' or die $!;
    local $/; <$in> };
my @patches = $page =~ /^```diff\n(.*?)^```$/msg;
my %named = map { $_ => 1 } map { m{^\+\+\+ b/(.*)$}mg } @patches;

is(system("git archive HEAD | tar x -C $dir") >> 8, 0, 'a clean tree');
open my $patch, '|-', "cd $dir && patch -s -p1" or die $!;
print $patch @patches;
close $patch;
is($?, 0, 'the patches apply');
is(system("make -s -C $dir CC='$cc' all build/unit/report >$dir.log 2>&1") >> 8,
    0, 'it builds') or diag(qx(tail $dir.log));
is(system("cd $dir && build/unit/report >$dir.log 2>&1") >> 8, 0,
    'the unit test passes') or diag(qx(grep -v ^ok $dir.log));
is(system("cd $dir && prove tests/man.t tests/options.t >$dir.log 2>&1") >> 8,
    0, 'and those of the man page and the options')
    or diag(qx(tail $dir.log));
like($page, qr/\Q$_\E/, "$_ is named") for sort keys %named;
unlink "$dir.log";

done_testing;
