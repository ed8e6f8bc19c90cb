# The memory that pmon maps into a program costs nothing where nobody uses it: a
# core dump leaves it out, and mlockall allocates little of it.
use strict;
use warnings;
no warnings 'portable';
use lib 'tests/lib';
use Test::More;
use Pmon;

# 16 threads that may come have, each, two bytes for each of the program's and
# its libraries', and 4 MB for libraries that may come.
sub
most
{
	my ($program) = @_;
	my @libraries = qx{ldd $program} =~ m{(/\S+)}g;
	my $bytes = 1 << 20;

	$bytes += -s $_ for $program, @libraries;
	return 16 * (2 * $bytes + (4 << 20));
}

my $perl = (grep { -x } map { "$_/perl" } split /:/, $ENV{PATH})[0];
my $mlockall = 151;
my $current = 1;

for my $flags (['--units=func'], ['--units=func', '--object=*']) {
	my $what = "@$flags";
	my $r = run([$pmon, @$flags, '-o', "$scratch/out", '--', '/bin/cat',
	    '/proc/self/smaps']);
	my ($open, $all, $dumped) = (0, 0, 0);

	is($r->{status}, 0, "$what: status");
	for my $map (split /^(?=[0-9a-f]+-[0-9a-f]+ )/m, $r->{out}) {
		my ($lo, $hi, $mode) =
		    $map =~ /^(\S+)-(\S+) (\S+) .*memfd:/ or next;
		my $size = hex($hi) - hex $lo;

		$all += $size;
		$open += $size if $mode =~ /rw-s/;
		$dumped += $size if $map !~ /^VmFlags:.* dd\b/m;
	}
	cmp_ok($all, '>', 0, "$what: counters are mapped");
	is($dumped, 0, "$what: no byte of them is dumped");
	cmp_ok($open, '<=', most('/bin/cat'), "$what: few can be accessed") or next;

	$r = run([$pmon, @$flags, '-o', "$scratch/out", '--', $perl, '-e',
	    "syscall($mlockall, $current) == 0 or die qq(refused: \$!\\n); " .
	    'open F, "<", "/proc/self/status"; print grep /RssShmem/, <F>']);
	SKIP: {
		skip "mlockall is $1", 1 if $r->{err} =~ /(refused: .*)/;
		my ($kb) = $r->{out} =~ /RssShmem:\s*(\d+) kB/;
		cmp_ok($kb, '<=', most($perl) / 1024,
		    "$what: little is allocated for locked memory");
	}
}

done_testing();
