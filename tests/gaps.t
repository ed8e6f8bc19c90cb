# Data in the midst of code: functions made at random, from a seed, with data
# between and inside them, tables in text, code that only an address on the
# stack leads to, words in front of it, data behind calls that do not return,
# and instructions that overlap.  The programs count for themselves how often
# their places are passed: whatever pmon says must be that, what they do must not
# change, and where direct jumps lead everywhere all must be known.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use Pmon;

my @modes = (
	['--units=edge,insn'],
	['--units=edge,insn', '--placement=every'],
	['--units=func'],
	(map { ['--units=edge,insn', "--patch=$_"] }
	    qw(trap slot emulate step)),
	['--units=insn', '--patch=trap', '--placement=every'],
	['--units=func', '--patch=trap'],
);
my @links = (
	['lines', '-pie', '-fPIE'],
	['symbols', '-g0', '-pie', '-fPIE'],
	['no symbols', '-g0', '-pie', '-fPIE', '-s'],
	['fixed addresses', '-g0', '-no-pie', '-fno-pie'],
	['fixed addresses, no symbols', qw(-g0 -no-pie -fno-pie -s)],
);
my ($state, $label, $known, $plain, @places, @plain, @data, @asm);

sub
below
{
	my ($n) = @_;

	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	return ($state >> 8) % $n;
}

sub
put
{
	push @asm, map { "\t$_" } @_;
}

sub
label
{
	return '.L' . ++$label;
}

# Bytes that end like an instruction that goes on, to swallow what follows.
sub
data
{
	my @ends = ([], [0x48, 0xb8], [0xe8], [0xe9], [0x0f, 0x84], [0x81],
	    [0x90, 0x90], [0xcc], [0xff, 0x25], [0x48, 0xc7, 0x05]);
	my $end = $ends[below(scalar @ends)];
	my @bytes = map { below(4) ? below(256) : 0 } 1 .. 1 + below(20);
	my $at = label();

	push @bytes, @$end;
	push @asm, "$at:";
	put('.byte ' . join ', ', @bytes);
	push @data, [$at, scalar @bytes];
	return $at;
}

# Control passes here.
sub
place
{
	my $at = label();

	push @asm, "$at:";
	put('incq gaps_passed+' . 8 * @places . '(%rip)');
	push @places, $at;
	push @plain, $plain;
}

# What may be in a function; n is in rdi, the sum in rax.
my @parts = (
	# Data that is jumped over, and read.
	sub {
		my $end = label();
		my $at;

		put('mov %rdi, %rcx', "jmp $end");
		$at = data();
		push @asm, "$end:";
		place();
		put("movzbl $at(%rip), %ecx", 'add %rcx, %rax');
	},
	# The same behind a branch and a loop.
	sub {
		my ($loop, $odd, $end) = map { label() } 1 .. 3;

		put('lea 1(%rdi), %rcx', 'jmp ' . $loop);
		data();
		push @asm, "$odd:";
		place();
		put('add %rcx, %rax', "jmp $end");
		data();
		push @asm, "$loop:";
		place();
		put('test $1, %cl', "jnz $odd");
		push @asm, "$end:";
		place();
		put('dec %rcx', "jg $loop");
	},
	# A table in the text.
	sub {
		my ($table, $end, @cases) = map { label() } 1 .. 6;

		put('mov %edi, %ecx', 'and $3, %ecx', "lea $table(%rip), %rdx",
		    'movslq (%rdx, %rcx, 4), %rcx', 'add %rdx, %rcx',
		    'jmp *%rcx');
		data() if below(2);
		push @asm, "$table:";
		put(map { ".long $_ - $table" } @cases);
		for (@cases) {
			data() if below(2);
			push @asm, "$_:";
			place();
			put('lea ' . below(100) . '(%rax, %rax), %rax',
			    "jmp $end");
		}
		push @asm, "$end:";
		place();
	},
	# Code behind a word, to which an address on the stack leads.
	sub {
		my ($back, $end) = (label(), label());

		put("lea $back(%rip), %rcx", 'push %rcx',
		    '.cfi_adjust_cfa_offset 8', 'jmp gaps_go');
		data() for 0 .. below(2);
		push @asm, "$back:";
		put('.cfi_adjust_cfa_offset -8');
		place();
		put('add $3, %rax', "jmp $end");
		data();
		push @asm, "$end:";
		place();
	},
	# Data behind a call that does not return.
	sub {
		my $end = label();

		put('cmp $1000, %rdi', "jb $end", 'call abort@plt');
		data();
		push @asm, "$end:";
		place();
	},
	# A jump into itself: inc %eax.
	sub {
		place();
		put('.byte 0xeb, 0xff, 0xc0');
		place();
	},
	# A jump over what could be the first byte of another instruction.
	sub {
		my $over = label();

		put("jmp $over", '.byte 0x48, 0xb8');
		push @asm, "$over:";
		place();
	},
	sub {
		put('add %rdi, %rax', 'imul $7, %rax, %rax');
		place();
	},
);

# A function.  In a plain one direct jumps and branches lead to all code.
sub
function
{
	my ($name) = @_;

	data() if below(2);
	put('.p2align ' . below(5)) if below(2);
	put(".globl $name") if below(2);
	put(".type $name, \@function");
	push @asm, "$name:";
	put('.cfi_startproc', 'xor %eax, %eax');
	place();
	for (0 .. below(5)) {
		my $part = below(scalar @parts);

		$part = 7 if $plain && ($part == 2 || $part == 3 || $part == 5);
		$parts[$part]->();
	}
	put('ret');
	data() if below(2);
	put('.cfi_endproc');
	put(".size $name, . - $name") if below(4);
}

# Make a file of the seed; its name.
sub
generate
{
	my $functions = 8;
	my $file = "$scratch/gaps.S";

	@asm = @places = @plain = @data = ();
	$label = 0;
	push @asm, '#ifdef __x86_64__', "\t.text", 'gaps_text:',
	    "\t.globl gaps_text";
	push @asm, 'gaps_go:', "\t.cfi_startproc", "\t.type gaps_go, \@function",
	    "\tpop %rcx", "\t.cfi_adjust_cfa_offset -8", "\tjmp *%rcx",
	    "\t.cfi_endproc", "\t.size gaps_go, . - gaps_go";
	for (1 .. $functions) {
		$plain = $_ % 2;
		function("gaps_$_");
	}
	push @asm, "\t.section .rodata", "\t.p2align 3",
	    "\t.globl gaps_data, gaps_ndata, gaps_places, gaps_nplaces",
	    'gaps_data:', (map { "\t.long $_->[0] - gaps_text, $_->[1]" } @data),
	    'gaps_ndata:', "\t.long " . @data,
	    'gaps_places:', (map { "\t.long $_ - gaps_text" } @places),
	    'gaps_nplaces:', "\t.long " . @places,
	    "\t.globl gaps_calls, gaps_ncalls",
	    'gaps_ncalls:', "\t.long $functions",
	    "\t.section .data.rel.ro, \"aw\"", "\t.p2align 3", 'gaps_calls:',
	    (map { "\t.quad gaps_$_" } 1 .. $functions),
	    "\t.local gaps_passed", "\t.comm gaps_passed, " . 8 * @places .
	    ', 8', '#endif', "\t.section .note.GNU-stack";
	# A common symbol of another file's may be global only.
	s/^\t\.local gaps_passed$/\t.globl gaps_passed/ for @asm;
	spew($file, join "\n", @asm, '');
	return $file;
}

# Counts by csv: those of instructions by address, or '?', unless what may be
# data elsewhere looks like a jump to the middle of the function.
sub
insns_read
{
	my ($file) = @_;
	my %counts;

	for (split /\n/, slurp($file)) {
		my ($addr, $n, $why) =
		    /^insn,.*?,0x([0-9a-f]+),.*,(\d*),([^,]*)$/ or next;

		$n = $why =~ /other code jumps|give up/ ? 'doubt' : '?'
		    if $n eq '';
		$counts{hex $addr} = $n;
	}
	return \%counts;
}

sub
gaps
{
	my ($program, $link) = @_;
	my $alone = run([$program]);
	my @passed = $alone->{out} =~ /^place ([0-9a-f]+) (\d+)$/mg;

	is($alone->{status}, 0, "$link: runs");
	for my $mode (@modes) {
		my $name = "$link, @$mode";
		my $csv = "$scratch/gaps.csv";
		my $run = monitor([@$mode, "--report=csv:$csv"], [$program]);
		my ($counts, @wrong);

		is($run->{out}, $alone->{out}, "$name: output");
		is($run->{status}, 0, "$name: status");
		next unless "@$mode" =~ /insn/;
		$counts = insns_read($csv);
		for (my $i = 0; $i < @passed; $i += 2) {
			my $n = $counts->{hex $passed[$i]} // '?';

			next if $n eq 'doubt' ||
			    ($n eq '?' && !$plain[$i / 2]);
			$known++;
			push @wrong, "$passed[$i]: $n, not $passed[$i + 1]"
			    if $n ne $passed[$i + 1];
		}
		is_deeply(\@wrong, [], "$name: counts");
		unlink $csv;
	}
}

my $rounds = $ENV{PMON_GAPS} // 2;

for my $round ($seed + 1 .. $seed + $rounds) {
	$state = $round;
	my $file = generate();

	for my $link (@links) {
		my ($name, @flags) = @$link;
		my $program = compile(['gaps.c', $file], '-O1', @flags);

		gaps($program, "seed $round, $name");
	}
}
cmp_ok($known, '>', 500 * $rounds, 'counts known');

# ---- symbols in the middle of instructions: no breakpoint goes there

for my $size (1, '.exit - within') {
	my $source = spew("$scratch/within.s", <<"END");
	.globl	_start
	.type	_start, \@function
_start:	mov	\$7, %edi
	mov	\$60, %eax
.exit:	syscall
	.size	_start, . - _start
	.type	within, \@function
	.set	within, _start + 1
	.size	within, $size
	.type	further, \@function
	.set	further, _start + 6
	.size	further, 1
END
	my $program = compile($source, '-nostdlib', '-static');

	is(ended(monitor($_, [$program])), 'status 7', "size $size, @$_")
	    for @modes;
}
done_testing;
