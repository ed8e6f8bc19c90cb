# The notes of the summary that tell a user what would show more: symbols, lines,
# libraries, and code that is not optimised.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Copy qw(copy);
use Test::More;
use Pmon;

# The notes, each in one line.
sub
notes
{
	my ($program, @options) = @_;
	my $run = run([$pmon, @options, "--report=summary:$scratch/report",
		'--', $program]);

	is(ended($run) . complaints($run), 'status 0', "$program: it ends");
	return unhurried(slurp("$scratch/report")) =~ s/\n {6}/ /gr =~
	    /^Note: (.*)$/mg;
}

# Does the compiler say in DWARF how it was called?
sub
tells
{
	return scalar grep { / -O2/ } `readelf -p .debug_str -p .debug_line_str $_[0]`;
}

my $plain = compile('foreign.cc', '-O0');
is(join('; ', notes($plain)), '', 'a program with all that is wanted');

SKIP: {
	my $optimised = compile('foreign.cc', '-O2');

	skip 'the compiler does not name its options', 7
	    unless tells($optimised);
	my ($note, @more) = notes($optimised);
	like($note, qr/^\S+: compiled with -O2, which .* -Og or -O0 /,
	    'optimised code');
	is("@more", '', 'nothing else');
	like(join('; ', notes(compile('foreign.cc', '-O'))),
	    qr/: compiled with -O, which /, '-O is -O1');
	is(join('; ', notes($optimised, '--units=func')), '',
	    'functions alone are what they are');
}

my $bare = compile('foreign.cc', '-O2', '-g0');
is(join('; ', notes($bare)), "$bare: no line information: compile with -g, or " .
    'install its debug symbols', 'no -g');
# Exports of lines say so, too, but for -q.
run([$pmon, "--data=$scratch/data", '--', $bare]);
for my $kind (qw(lcov cobertura gcov-json)) {
	my $path = "$scratch/$kind.gcov.json.gz";
	my $said = "$path has no lines: $bare has no line information; compile " .
	    "with -g, or install its debug symbols\n";

	is(complaints(run([$pmon, "-r$kind:$path", '--', $bare])), "pmon: $said",
	    "$kind of no lines");
	is(run(["$build/pmprint", "-r$kind:$path", "$scratch/data"])->{err},
	    "pmprint: $said", '... of a data file');
	is(run([$pmon, '-q', "-r$kind:$path", '--', $bare])->{err}, '', '-q');
	is(complaints(run([$pmon, "-r$kind:$path", '--', $plain])), '',
	    '... of lines');
}
is(run([$pmon, '-q', "-rgcov-json:$scratch/x.json", '--', $plain])->{err}, '',
    '-q: not which names gcovr reads');
copy($bare, "$scratch/stripped") and chmod 0755, "$scratch/stripped" or die;
system('strip', "$scratch/stripped") == 0 or die;
like(join('; ', notes("$scratch/stripped")), qr/ is stripped: .*; its debug /,
    'stripped');

# A library of the user's own, beside those of the system.
my $library = abs_path(compile('notes_lib.c', qw(-O0 -shared -fPIC)));
my $uses = compile('notes.c', '-O0', '-Wl,--no-as-needed', $library);
is(join('; ', notes($uses)), 'not counted: ' . ($library =~ s{.*/}{}r) .
    "; --object='*' counts libraries, too", 'a library');
my ($said) = grep { /not counted/ } notes($uses, '--object=*');
is($said, undef, 'it is counted');
($said) = grep { /not counted/ } notes($uses, '--object=notes-*');
is($said, undef, 'the user has chosen');
done_testing();
