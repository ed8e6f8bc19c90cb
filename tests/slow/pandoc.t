# pandoc, which GHC made: words that describe code lie in front of it, in the
# midst of functions.  Nothing may be planted there.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my ($pandoc) = grep { -x } '/usr/bin/pandoc';
plan skip_all => 'no pandoc here' unless $pandoc;

my @argv = ($pandoc, '-f', 'markdown', '-t', 'html', 'README.md');
my $version = run([$pandoc, '--version']);
my $page = run(\@argv);

is($page->{status}, 0, 'pandoc runs alone');
for my $options (
    ['--units=edge'], ['--units=func'], ['--units=insn'],
    (map { ['--units=edge', "--patch=$_"] } qw(trap slot emulate step)),
    ['--units=edge', '--placement=every'],
    ['--units=edge', '--placement=every', '--patch=trap']) {
	my $run = monitor([@$options], [$pandoc, '--version']);

	is($run->{out}, $version->{out}, "@$options: what it prints");
	is($run->{signal} || $run->{status}, 0, "@$options: its status");
}
my $run = monitor(['--units=edge'], \@argv);
is($run->{out}, $page->{out}, 'a page: what it prints');
is($run->{signal} || $run->{status}, 0, 'a page: its status');
done_testing;
