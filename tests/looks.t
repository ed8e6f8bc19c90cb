# What reports look like at a terminal and elsewhere: colours, commas, orders,
# notes and a pager.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my $program = compile('foreign.cc', '-O0');
my $pty = compile('pty.c', '-O0');
my $pmprint = "$build/pmprint";
my $data = "$scratch/data";
my $escape = qr/\e\[\d*m/;

delete @ENV{qw(NO_COLOR PAGER PMON_PAGER LESS)};
$ENV{TERM} = 'xterm';

# What the terminal shows of a command in the end, with what it is in front of;
# and the status.  What takes long is said in a line that is erased.
sub
shown
{
	my ($env, @command) = @_;
	my $run = run([$pty, 'env', @$env, @command], in => '');

	return ($run->{out} =~ s/[^\n]*\r\e\[K//gr =~ s/\r//gr, $run->{status});
}

# The text without colours, commas in numbers, and blanks.
sub
bare
{
	my ($text) = @_;

	$text =~ s/\e\[\d*m//g;
	1 while $text =~ s/(\d),(\d{3})(?!\d)/$1$2/;
	return $text =~ s/[ \n]+/ /gr;
}

is(run([$pmon, '--units=func,line,insn', "--data=$data", '--', $program])
    ->{status}, 0, 'a data file');

# ---- colours and commas

for my $report (qw(summary funcs files listing lines insns uncovered blocks
    edges calls placement hist)) {
	my @command = ($pmprint, '--no-pager', '--wide', '--units=func,line,insn',
	    "--report=$report", $data);
	my $plain = run(\@command)->{out};
	my ($shown) = shown([], @command);

	unlike($plain, qr/\e|\d,\d{3}\b/, "$report in a pipe is plain");
	like($shown, qr/^$escape/, "$report at a terminal has a bright title");
	unlike($shown, qr/(?<![\d.x,])\d{5,} /, '... commas')
	    if $report =~ /^(?:summary|funcs|files|lines)$/;
	is(bare($shown), bare($plain), '... and the same words');
}
my ($listing) = shown([], $pmprint, '--no-pager', '-rlisting', $data);
like($listing, qr/\e\[31m *#####\e\[0m:  \e\[31m\{\e\[0m/,
    'code that never ran is red');
for my $env ('NO_COLOR=1', 'TERM=dumb', '--color=never') {
	my @option = $env =~ /^-/ ? $env : ();
	my ($shown) = shown([@option ? () : $env], $pmprint, '--no-pager',
	    @option, '-rfiles', $data);

	unlike($shown, qr/\e/, "$env: no colour");
	like($shown, qr/\d,\d{3}\b/, '... but commas');
}
like((shown(['NO_COLOR='], $pmprint, '--no-pager', $data))[0], qr/\e/,
    'NO_COLOR that is empty says nothing');
my $always = run([$pmprint, '--color=always', '-rfiles', $data])->{out};
like($always, qr/\e/, '--color=always: colours in a pipe');
unlike($always, qr/\d,\d{3}\b/, '... without commas');
for my $report (qw(csv json lcov folded cfg)) {
	my @command = ($pmprint, '--no-pager', '--color=always', '-r', $report,
	    $data);

	is((shown([], @command))[0], run(\@command)->{out} =~ s/\r//gr,
	    "$report is the same at a terminal");
}
like(run([$pmon, '--color=red', $program])->{err},
    qr/^pmon: --color: unknown word "red"; choose from auto, always, never$/,
    '--color=red');

# ---- orders

# A column of the report's rows.
sub
column
{
	my ($at, @options) = @_;
	my $report = run([$pmprint, '--units=func,insn', @options,
	    $data])->{out};
	my ($rows) = $report =~ /^ *(?:EXECUTED|CALLS) .*?\n(.*?)(?:\n\n|\z)/ms;

	# The main program's, as there are others.
	return map { [split]->[$at] // '' } split /\n/, $rows;
}

my @by_insns = column(0, '-rfuncs');
my @by_calls = column(1, '-rfuncs', '--sort=calls');

cmp_ok(@by_insns, '>', 100, 'there are many functions');
is_deeply(\@by_insns, [sort { $b <=> $a } @by_insns],
    'funcs by executed instructions');
is_deeply(\@by_calls, [sort { ($b eq '-' ? -1 : $b) <=> ($a eq '-' ? -1 : $a) }
    @by_calls], '... by calls');
isnt("@{[sort @by_insns[0 .. 9]]}", "@{[sort((column(0, '-rfuncs',
    '--sort=calls'))[0 .. 9])]}", '... which is another order');
for my $case (['funcs', 4], ['inlines', 1]) {
	my ($report, $from) = @$case;
	my $text = run([$pmprint, "-r$report", '--sort=name', $data])->{out};
	my @names = $text =~ /^ *[\d?]+ .*?  (?:\S+:\d+)? +(\S.*)$/mg;

	is_deeply(\@names, [sort @names], "$report by name");
}
my $text = run([$pmprint, '-rfuncs', '--sort=file', $data])->{out};
my @own = $text =~ /foreign\.cc:(\d+) /g;
is_deeply(\@own, [sort { $a <=> $b } @own], 'funcs by file and line');
is(@own, 3, '... those of this file');
like($text, qr/(?:.*foreign\.cc:\d+ .*\n){3}/, '... together');
my @files = run([$pmprint, '-rfiles', '--system-headers', '--sort=name', $data])
    ->{out} =~ /^(?: +\d+){6}  ([^(\s]+)$/mg;
cmp_ok(@files, '>', 3, 'there are some files');
isnt("@files", join(' ', run([$pmprint, '-rfiles', '--system-headers', $data])
    ->{out} =~ /^(?: +\d+){6}  ([^(\s]+)$/mg), 'files by name');
like(run([$pmprint, '--sort=size', $data])->{err},
    qr/^pmprint: --sort: unknown word "size"; choose from count, calls, name, file$/,
    '--sort=size');

# ---- notes

my $optimised = compile('foreign.cc', '-O2');
like(run([$pmon, $optimised])->{err}, qr/^Note: /m, 'there is a note');
unlike(run([$pmon, '-q', $optimised])->{err}, qr/Note/, '-q: there is none');

# ---- the pager

my $pager = "PMON_PAGER=sed 's/^/| /'";
my $all = run([$pmprint, '-rlisting', $data])->{out};
my @long = ($pmprint, '-rlisting', $data);
($text) = shown(['COLUMNS=', $pager, 'PAGER=false'], @long);
is(bare($text =~ s/^\| //mgr), bare($all), 'a pager gets all');
is(scalar(() = $text =~ /^[^|]/mg), 0, '... and nobody else');
like($text, qr/\e/, '... with colours');
is((shown(["PAGER=sed 's/^/| /'"], @long))[0], $text, 'PAGER, too');
for my $case (['empty', 'PMON_PAGER='], ['cat', 'PMON_PAGER=cat'],
    ['--no-pager', $pager, '--no-pager']) {
	my ($name, $env, @options) = @$case;

	is((shown([$env], @long, @options))[0], $text =~ s/^\| //mgr,
	    "$name: no pager");
}
for my $none ('PMON_PAGER=there-is-none -x', 'PMON_PAGER= ') {
	is((shown([$none], @long))[0], $text =~ s/^\| //mgr,
	    "$none: no pager");
}
is(bare((shown([$pager], 'sh', '-c', "exec @long <&-"))[0] =~ s/^\| //mgr),
    bare($all), 'a pager without a standard input');
is(run(\@long, env => { PMON_PAGER => 'false' })->{out}, $all,
    'no pager in a pipe');
is((shown(['PMON_PAGER=false'], @long, "-o$scratch/listing"))[0], '',
    'no pager for a file');
is(slurp("$scratch/listing"), $all, '... which has the report');
is((shown(["PMON_PAGER=echo paged"], $pmprint, "-rlisting:$scratch/listing",
    $data))[0], '', '... of its own, too');

my ($under, $status) = shown([$pager], @long, '--fail-under=100');
like($under, qr/^\| .*^pmprint: .* of the lines ran/ms,
    'what is wrong is said behind the pager');
is($status, 124, '... with its status');
($under, $status) = shown([$pager], $pmprint, "$scratch/nothing");
is($under, "pmprint: $scratch/nothing: No such file or directory\n",
    'no pager for an error');
is($status, 125, '... with its status');

# A pager that is left early, and before pmprint ends by a signal.
my ($said) = shown(['PMON_PAGER=head -1; exec <&-; echo left'], $pmprint,
    '-rinsns', '--wide', $data);
is(() = $said =~ /\n/g, 2, 'a pager that reads one line');
like($said, qr/left$/, '... ends before pmprint does');
($said) = shown([], 'sh', '-c', 'sh -c "echo \$\$ >' . "$scratch/pid; exec " .
    'env PMON_PAGER=\'cat; kill -INT $(cat ' . "$scratch/pid); " .
    'echo still here\' ' . "@long\"; echo ended");
like($said, qr/still here\nended$/, 'a signal ends pmprint behind its pager');
done_testing();
