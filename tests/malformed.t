# Damaged ELF files and DWARF, made from one good program: cut short at every
# boundary, with fields of the headers changed, with sections overwritten.
# pmon refuses such a file in one line that names it and the reason, or runs
# the program as if nothing were the matter, with a remark when DWARF was
# damaged; it never crashes, hangs or reports a bug of its own.
use strict;
use warnings;
use lib 'tests/lib';
use Compress::Zlib qw(compress);
use Test::More;
use Pmon;

my $status = 7;
my $source = spew("$scratch/small.c", <<"END");
static int leaf(int n)
{
	return n + 1;
}

int main(int argc, char **argv)
{
	return leaf(argc) + leaf(argc) + 3;
}
END
my $program = compile($source, '-O0', '-gdwarf-5');
my $good = slurp($program);
my $bad = "$scratch/damaged";

# Elf64_Ehdr, _Phdr, _Shdr: field => [offset, size].
my %ehdr = (class => [4, 1], data => [5, 1], ident_version => [6, 1],
	type => [16, 2], machine => [18, 2], version => [20, 4],
	entry => [24, 8], phoff => [32, 8], shoff => [40, 8],
	flags => [48, 4], ehsize => [52, 2], phentsize => [54, 2],
	phnum => [56, 2], shentsize => [58, 2], shnum => [60, 2],
	shstrndx => [62, 2]);
my %phdr = (type => [0, 4], flags => [4, 4], offset => [8, 8],
	vaddr => [16, 8], filesz => [32, 8], memsz => [40, 8],
	align => [48, 8]);
my %shdr = (name => [0, 4], type => [4, 4], flags => [8, 8],
	addr => [16, 8], offset => [24, 8], size => [32, 8],
	link => [40, 4], info => [44, 4], align => [48, 8],
	entsize => [56, 8]);
my %pack = (1 => 'C', 2 => 'v', 4 => 'V', 8 => 'Q<');

sub
get
{
	my ($table, $field, $base) = @_;
	my ($offset, $size) = @{$table->{$field}};

	return unpack $pack{$size}, substr $good, ($base // 0) + $offset,
	    $size;
}

# The good file with one field changed.
sub
changed
{
	my ($table, $field, $base, $value) = @_;
	my ($offset, $size) = @{$table->{$field}};
	my $file = $good;

	no warnings 'pack';
	substr($file, $base + $offset, $size) = pack $pack{$size}, $value;
	return $file;
}

my ($phoff, $shoff) = (get(\%ehdr, 'phoff'), get(\%ehdr, 'shoff'));
my @phdrs = map { $phoff + 56 * $_ } 0 .. get(\%ehdr, 'phnum') - 1;
my @shdrs = map { $shoff + 64 * $_ } 0 .. get(\%ehdr, 'shnum') - 1;
my $names = get(\%shdr, 'offset', $shdrs[get(\%ehdr, 'shstrndx')]);
my %section;
for my $base (@shdrs) {
	my $at = $names + get(\%shdr, 'name', $base);

	$section{substr $good, $at, index($good, "\0", $at) - $at} = $base;
}

# Run pmon on this file.
sub
outcome
{
	my ($file) = @_;

	unlink $bad;
	spew($bad, $file, 0755);
	return monitor([], [$bad]);
}

# What must hold whatever the damage: a description of the breach, or ''.
sub
breach
{
	my ($run) = @_;

	return 'takes too long' if $run->{late};
	return "pmon dies of signal $run->{signal}" if $run->{signal};
	return "pmon says: $run->{err}"
	    if $run->{err} =~ /pmon: bug|Sanitizer|runtime error/;
	return '' if $run->{status} != 125;
	return "says not one line: $run->{err}"
	    unless $run->{err} =~ /\Apmon: [^\n]+\n\z/;
	return "does not name the file: $run->{err}"
	    unless $run->{err} =~ /\Q$bad\E/;
	return '';
}

sub
refused
{
	my ($run) = @_;

	return breach($run) || ($run->{status} == 125 ? '' :
		"ended with $run->{status}, not 125");
}

# Fails with the first few of the breaches found.
sub
all_well
{
	my ($name, $tried, @breaches) = @_;

	ok($tried && !@breaches, "$name ($tried files)");
	diag scalar @breaches, " breaches, such as" if @breaches;
	diag $_ for splice @breaches, 0, 5;
}

my $whole = outcome($good);
is($whole->{status}, $status, 'the good program runs');
is($whole->{funcs}{leaf}, 2, 'its functions are counted');
is($whole->{report} =~ /Note:/, '', 'and nothing is remarked');

# Cut at every boundary.  The section headers come last, so each one lacks
# something that the ELF header promises.
my %cuts = map { $_ => 1 } 1, 3, 4, 16, 40, 63, 64, @phdrs, $phdrs[-1] + 55,
    @shdrs, $shdrs[-1] + 63, length($good) - 1;
for my $base (@phdrs) {
	my $start = get(\%phdr, 'offset', $base);

	$cuts{$_} = 1 for $start, $start + get(\%phdr, 'filesz', $base);
}
for my $base (@shdrs) {
	my $start = get(\%shdr, 'offset', $base);

	next if get(\%shdr, 'type', $base) == 8;	# SHT_NOBITS
	$cuts{$_} = 1 for $start, $start + 1,
	    $start + get(\%shdr, 'size', $base);
}
my @breaches;
my @cuts = grep { $_ < length $good } sort { $a <=> $b } keys %cuts;
for my $cut (@cuts) {
	my $wrong = refused(outcome(substr $good, 0, $cut));

	push @breaches, "cut at $cut: $wrong" if $wrong;
}
all_well('cut at a boundary it is refused', scalar @cuts, @breaches);

# Fields that must not be so, and what pmon says.
my ($load) = grep { get(\%phdr, 'type', $_) == 1 &&
    get(\%phdr, 'flags', $_) & 1 } @phdrs;
my $symtab = $section{'.symtab'};
my $far = length($good) + 1;
my @refusals = (
	[\%ehdr, 'data', 0, 2, qr/damaged|big-endian|truncated/],
	[\%ehdr, 'type', 0, 1, qr/not linked yet/],
	[\%ehdr, 'type', 0, 4, qr/core dump/],
	[\%ehdr, 'type', 0, 9, qr/not a program \(ELF type 9\)/],
	[\%ehdr, 'machine', 0, 3, qr/machine 3: 32-bit x86, i386/],
	[\%ehdr, 'machine', 0, 40,
	    qr/does not support its CPU \(ELF machine 40/],
	[\%ehdr, 'machine', 0, 9999, qr/machine 9999: unknown/],
	[\%ehdr, 'version', 0, 2, qr/version 2/],
	[\%ehdr, 'phoff', 0, $far, qr/truncated: its program headers/],
	[\%ehdr, 'phoff', 0, ~0, qr/truncated: its program headers/],
	[\%ehdr, 'phoff', 0, 0, qr/no code/],
	[\%ehdr, 'phentsize', 0, 1, qr/program headers of 1 bytes/],
	[\%ehdr, 'phnum', 0, 60000, qr/truncated: its program headers/],
	[\%ehdr, 'phnum', 0, 0, qr/no code/],
	[\%ehdr, 'shoff', 0, $far, qr/truncated: its section headers/],
	[\%ehdr, 'shoff', 0, ~0, qr/truncated: its section headers/],
	[\%ehdr, 'shentsize', 0, 0, qr/section headers of 0 bytes/],
	[\%ehdr, 'shnum', 0, 65000, qr/truncated: its section headers/],
	[\%ehdr, 'shstrndx', 0, 4000, qr/section names cannot be found/],
	[\%phdr, 'offset', $load, $far, qr/truncated: its segments/],
	[\%phdr, 'filesz', $load, ~0, qr/truncated: its segments/],
	[\%phdr, 'memsz', $load, 1, qr/no sensible size/],
	[\%phdr, 'vaddr', $load, ~0 - 16, qr/no sensible size/],
	[\%shdr, 'offset', $symtab, $far, qr/symbol table .symtab/],
	[\%shdr, 'size', $symtab, ~0, qr/symbol table .symtab/],
	[\%shdr, 'entsize', $symtab, 3, qr/symbol table .symtab/],
);
for my $case (@refusals) {
	my ($table, $field, $base, $value, $expect) = @$case;
	my $run = outcome(changed($table, $field, $base, $value));
	my $wrong = refused($run);

	is($wrong, '', "refused: $field $value");
	like($run->{err}, $expect, "  with the reason");
}

# Any field, any value: nothing bad happens to pmon itself.
my @tables = map { [\%phdr, $_] } @phdrs;
push @tables, map { [\%shdr, $_] } @section{grep { exists $section{$_} }
    qw(.symtab .strtab .shstrtab .dynsym .dynstr .text .plt .eh_frame
	.debug_info .debug_abbrev .debug_line .debug_line_str .debug_str
	.debug_rnglists .debug_aranges .note.gnu.build-id)};
my ($tried, $turn) = (0, 0);
@breaches = ();
for my $table ([\%ehdr, 0], @tables) {
	my ($fields, $base) = @$table;

	# So that a field of several headers has each.
	$turn++;
	for my $field (sort keys %$fields) {
		my $value = get($fields, $field, $base);

		# By turns one of five.
		my @new = (0, $value ^ 1, $value + 8, ~0 >> 1, ~0);
		@new = $new[$turn++ % 5] unless $slow;
		for my $new (@new) {
			my $file = changed($fields, $field, $base, $new);

			next if $file eq $good;
			my $wrong = breach(outcome($file));
			$tried++;
			push @breaches, "$field at $base is $new: $wrong"
			    if $wrong;
		}
	}
}
all_well('any field may be wrong', $tried, @breaches);

# Damage in DWARF alone: the program runs, its functions are counted.  The
# bytes are bits of a linear congruential sequence from the seed on.
my $state = $seed + 1;
my %fill = (
	zeros => sub { "\0" x $_[0] },
	ones => sub { "\xff" x $_[0] },
	noise => sub {
		join '', map {
			$state = ($state * 1103515245 + 12345) & 0x7fffffff;
			chr($state >> 16 & 255);
		} 1 .. $_[0];
	},
	half => sub {
		my ($size, $old) = @_;
		substr($old, 0, $size / 2) . "\xff" x ($size - int $size / 2);
	},
);
for my $name (sort grep { /^\.debug_/ } keys %section) {
	my $base = $section{$name};
	my $start = get(\%shdr, 'offset', $base);
	my $size = get(\%shdr, 'size', $base);

	for my $kind (sort keys %fill) {
		my $file = $good;

		substr($file, $start, $size) = $fill{$kind}->($size,
		    substr $good, $start, $size);
		my $run = outcome($file);
		my $what = "$name of $kind";
		is(breach($run), '', "$what: pmon is well");
		is($run->{status}, $status, '  the program runs');
		is($run->{funcs}{leaf}, 2, '  functions are counted');
		like($run->{report}, qr/damaged\s+DWARF/, '  it is remarked')
		    if "$name $kind" =~ /_(?:info|line|abbrev) (?:ones|noise)/;
	}
	for my $field (qw(offset size)) {
		my $run = outcome(changed(\%shdr, $field, $base, $far));

		is(breach($run), '', "$name with $field $far: pmon is well");
		is($run->{status}, $status, '  the program runs');
		is($run->{funcs}{leaf}, 2, '  functions are counted');
	}
}

# Sections that become large when they are decompressed, and names that libelf would decompress.
sub
bomb
{
	my ($name, $claim, $packed) = @_;
	my $base = $section{$name};
	my $file = $good;
	my $contents = pack('VVQ<Q<', 1, 0, $claim, 1) . $packed;
	my %fields = (offset => length $file, size => length $contents,
	    flags => get(\%shdr, 'flags', $base) | 0x800);

	for (keys %fields) {
		my ($offset, $size) = @{$shdr{$_}};

		substr($file, $base + $offset, $size) =
		    pack $pack{$size}, $fields{$_};
	}
	return $file . $contents;
}

my $much = 64 << 20;
my $packed = compress("\0" x $much);
for my $name ('.debug_info', '.debug_line', '.debug_str') {
	my $run = outcome(bomb($name, $much, $packed));
	my $bytes = length slurp($bad);

	is(breach($run) . $run->{status}, $status, "$name, a bomb: it runs");
	is($run->{funcs}{leaf}, 2, '  functions are counted');
	cmp_ok(index($run->{report} =~ s/\s+/ /gr, "Note: $bad: pmon does " .
		'not read its compressed sections: they would take ' .
		"$much bytes, and the file has $bytes"), '>', 0,
	    '  it is said');
	$run = outcome(bomb($name, ~0, $packed));
	is(breach($run) . $run->{status} . ' ' . $run->{funcs}{leaf},
	    "$status 2", "$name, a claim of 16 EB");
	like($run->{report} =~ s/\s+/ /gr, qr/Note: .* would take \d{20} bytes/,
	    '  it is said');
}
my $few = compress(substr $good, get(\%shdr, 'offset', $section{'.debug_line'}),
    get(\%shdr, 'size', $section{'.debug_line'}));
my $run = outcome(bomb('.debug_line', get(\%shdr, 'size',
	    $section{'.debug_line'}), $few));
is($run->{status} . $run->{report} =~ /Note:/, $status, 'no bomb: no remark');
is($run->{lines}{'small.c'}{3}, 2, 'and lines');
for my $name ('.strtab', '.shstrtab') {
	like(refused(outcome(bomb($name, $much, $packed))), qr/\A\z/,
	    "$name, compressed: is refused");
}

done_testing;
