# Programs that want to harm whoever monitors them: what they do with the
# memory that counters are in, and with files that pmon opens for them.
use strict;
use warnings;
use lib 'tests/lib';
use File::Copy qw(copy);
use POSIX qw(mkfifo);
use Test::More;
use PageData;
use Pmon;
use Target;

# Whom nobody may not ask for options.
$ENV{HOME} = '/';
chmod 0755, $scratch;

# The program is another user's if that can be.
my @other = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups');
@other = () if $< || run([@other, 'true'])->{status};
note @other ? 'as another user' : 'as the same user';

my $hostile = "$scratch/hostile";
copy(compile('hostile.c', '-O2'), $hostile) or die;
chmod 0755, $hostile;
my $swap = compile('swap_at.c', '-shared', '-fPIC');
my $preload = join ' ', $swap, $ENV{LD_PRELOAD} // ();

sub
sum_of
{
	my ($file) = @_;

	return unpack('%32C*', slurp($file)) . ' of ' . -s $file;
}

# pmon, attached to it until the code has been called; the result, and what
# the program said.
sub
attacked
{
	my ($commands, @args) = @_;
	my $control = spew("$scratch/control", "\0" x 4096, 0666);
	my $target = Target->new(@other, $hostile, $control, @args);
	my @answers;

	$target->{argv} = [$hostile];
	is($target->answer, 'ready', "@args: the process is ready") or return;
	my $run = monitor_start(['--units=func', '-p', $target->{pid}], [],
	    env => { LD_PRELOAD => $preload, PMON_SWAP => $control });
	wait_for(sub { $target->planted('work') || !kill 0, $run->{pid} });
	push @answers, $target->ask($_) for split //, $commands;
	kill INT => $run->{pid};
	$run = monitor_finish($run);
	is(ended($run), 'status 0', "@args: pmon lives");
	cmp_ok(unpack('x8 i', slurp($control)), '>', 0,
	    'it was there in time');
	is($target->finish('q'), 'status 0', "@args: so does the process");
	return ($run, @answers);
}

# What tests/prog/tamper.c prints: of how many calls.
sub
expected
{
	my ($how) = @_;
	my $calls = $how =~ /^(back|small|restore)$/ ? 3000 : $how ? 2000 : 1000;
	my $sum = 0;

	$sum = $sum * 3 + 1 & 0xffffffff for 1 .. $calls;
	return unpack('l', pack 'L', $sum) . "\n";
}

# Another file in place of the memory for counters.
for my $kind (qw(file fifo memfd)) {
	my $victim = $kind eq 'memfd' ? '' : "$scratch/victim";
	my $before;

	unlink "$scratch/victim";
	if ($kind eq 'file') {
		spew($victim, 'x' x (1 << 20), 0600);
		$before = sum_of($victim);
	} elsif ($kind eq 'fifo') {
		mkfifo($victim, 0600) or die;
	}
	my ($run, @answers) = attacked('w', 'swap', $victim);
	is(sum_of($victim), $before, 'nothing is written into it') if $before;
	counts_are($run, { work => 1000 }, $kind);
	like($run->{report}, qr/another\s+process\s+has\s+changed\s+the/,
	    'said');
}

# The memory itself, in the hands of another process.
{
	my ($run, @answers) = attacked('wtgpw', 'keep');

	is("@answers", 'done EPERM EPERM EPERM done',
	    'its size stays, and there are no holes');
	counts_are($run, { work => 2000 }, 'kept');
	unlike($run->{report}, qr/descriptors/, 'relocated');
}

# Source files that a program of another user's names.
SKIP: {
	skip 'only root can read the files of others', 5 if $< || !@other;
	my $secret = spew("$scratch/secret", "int nobody = 0; // secret\n",
	    0600);
	my $source = spew("$scratch/names.c", "# 1 \"$secret\"\n" .
	    "int main(void) { return 0; }\n");
	my $names = "$scratch/names";
	my $listed = sub {
		unlink "$scratch/listing";
		is(run([$pmon, "--report=listing:$scratch/listing", '-r',
			"html:$scratch/page", '--', $names])->{status}, 0,
		    "a source file $_[0]");
		return slurp("$scratch/listing") . join '',
		    map { page_data($_) } glob
		    "$scratch/page/data/f*.js";
	};

	system($cc, '-g', '-o', $names, $source) == 0 or die;
	like($listed->('of its own'), qr/secret/, 'is shown');
	chown 65534, 65534, $names or die;
	unlike($listed->('of root\'s'), qr/nobody = 0/, 'is not shown');
	chmod 0644, $secret;
	like($listed->('of everybody\'s'), qr/nobody = 0/, 'is shown');
	unlink $secret;
	mkfifo($secret, 0666) or die;
	unlike($listed->('that is a pipe'), qr/nobody = 0/, 'is not waited for');
}

# What a program does to its own counters: nothing is wrong without a word.
my $tamper = compile('tamper.c', '-O2');
my %outcome = (
	# How often work is called, or why that is not known; if traps count
	# from then on.
	'' => [1000],
	set => ['?'],
	back => ['?'],
	small => ['?', 'traps'],
	zero => ['?'],
	some => ['?'],
	over => ['?'],
	later => ['?'],
	restore => ['?'],
	remove => [2000],
);

for my $how (sort keys %outcome) {
	my ($count, $traps) = @{$outcome{$how}};
	my $what = $how || 'nothing';
	my @argv = ($tamper, length $how ? $how : ());
	my @funcs = ('work', $how eq 'later' ? $how : ());
	my $run = monitor([(map { "--func=$_" } @funcs), '--units=func'],
	    \@argv);

	# The kernel may have no seal against holes.
	$count = '?' if $how eq 'remove' && $run->{out} !~ /EPERM/;
	counts_are($run, { map { $_ => $count } @funcs }, $what);
	is(ended($run), 'status 0', "$what: it lives");
	# Alone it has no counters to do anything to.
	is($run->{out} =~ s/^EPERM\n//r, expected($how), "$what: its output");
	(my $report = $run->{report}) =~ s/\s+/ /g;
	if ($count eq '?') {
		like($report,
		    qr/\d functions?: the program changed the counters/,
		    "$what: why");
		like($report, qr/Note: \S+: the counts of its relocated/,
		    "$what: said");
	} else {
		unlike($report, qr/Note/, "$what: not a word");
	}
	like($report, qr/counted by traps: the program has set the gs/,
	    "$what: by traps") if $traps;
}

done_testing;
