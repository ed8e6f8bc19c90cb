# Why counts are not known: a program for each reason, and that it is the one
# which is given, in reports and, where there is more to say, in a note.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use Test::More;
use Pmon;
use Target;

$ENV{HOME} = '/';

# Reason => how many, of the rows of these functions whose count is not known.
sub
reasons
{
	my ($csv, @functions) = @_;
	my %of = map { $_ => 1 } @functions;
	my %reasons;

	for (split /\r\n/, slurp($csv)) {
		my @row = /\G(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g;
		my @cell = map { $row[2 * $_] // $row[2 * $_ + 1] }
		    0 .. @row / 2 - 1;

		$reasons{$cell[8]}++
		    if $of{$cell[2]} && $cell[7] eq '' && $cell[8] ne '';
	}
	return \%reasons;
}

my $where = "--report=csv:$scratch/csv,summary:$scratch/summary";

# The one reason, of these functions.
sub
because
{
	my ($why, $note, $what, @functions) = @_;
	my $summary = slurp("$scratch/summary") =~ s/\s+/ /gr;

	is_deeply([keys %{reasons("$scratch/csv", @functions)}], [$why],
	    "$what: the reason") or diag explain
	    reasons("$scratch/csv", @functions);
	like($summary, $note, "$what: the note");
}

# One function has no table.
{
	my $program = compile('walks.c', '-O2');
	my $path = abs_path($program);

	is(ended(run([$pmon, $where, '--units=insn', '--', $program, 'j', 8])),
	    'status 0', 'without a table');
	my $note = 'Note: not all counts can be derived: a stack could not ' .
	    "be walked past through in $path (no unwind table)";
	because('a stack could not be walked to its end', qr/\Q$note\E/,
	    'without a table', 'deep', 'main');
}

# Stacks could be walked, but nobody looks.
{
	my $target = Target->new(compile('busy.c', '-O2', '-pthread'), 2, 10);

	is($target->answer, 'ready', 'a process');
	my $run = start([$pmon, $where, '--units=insn', '--no-traps', '-p',
		$target->{pid}]);
	ok(wait_for(sub { $target->planted('work') }), 'without traps');
	kill INT => $run->{pid};
	is(ended(finish($run)), 'status 0', 'let go');
	because('without breakpoints (--no-traps) pmon does not walk stacks',
	    qr/^(?!.*could not be walked)/, 'without traps', 'main', 'work');
	$target->finish;
}

# What is counted in relocated functions when gs turns out to be in use.
{
	my $lib = compile(spew("$scratch/lib.c", <<'END'), '-shared', '-fPIC');
void set(long to)
{
	__asm__ volatile("wrgsbase %0" :: "r"(to));
}
END
	my $program = compile(spew("$scratch/late.c", <<'END'), '-O1');
#include <dlfcn.h>
__attribute__((noinline)) int work(int n)
{
	__asm__ volatile("");
	return n > 5 ? n : -n;
}
int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += work(i);
	if (!dlopen(argv[1], RTLD_NOW))
		return 1;
	for (int i = 0; i < 10; i++)
		sum += work(i);
	return sum == 30 ? 0 : 2;
}
END
	is(ended(run([$pmon, $where, '--units=func,insn', '--', $program,
		abs_path($lib)])), 'status 0', 'gs');
	because('pmon had to give up the relocated function that counted',
	    qr/counted by traps: \S+ may use the gs register/, 'gs', 'work');
}

# A longjmp by a sum: behind the call of leap_out in inner nothing ran.
{
	my $program = compile(spew("$scratch/sum.c", <<'END'), '-O1');
struct spot { long rip, rsp, rbx, rbp; };
int mark(struct spot *spot) __attribute__((returns_twice));
void leap(struct spot *spot);
__asm__(".text\n.globl mark, leap\n.type mark, @function\n"
	"mark: .cfi_startproc\n	mov (%rsp), %rax; mov %rax, (%rdi)\n"
	"	lea 8(%rsp), %rax; mov %rax, 8(%rdi)\n"
	"	mov %rbx, 16(%rdi); mov %rbp, 24(%rdi)\n"
	"	xor %eax, %eax; ret\n.cfi_endproc\n.size mark, . - mark\n"
	".type leap, @function\n"
	"leap: .cfi_startproc\n	mov 16(%rdi), %rbx; mov 24(%rdi), %rbp\n"
	"	mov 8(%rdi), %rsi; sub %rsp, %rsi; add %rsi, %rsp\n"
	"	mov $1, %eax; jmp *(%rdi)\n.cfi_endproc\n.size leap, . - leap\n");

static struct spot spot;
static volatile int left, back;

__attribute__((noinline)) void leap_out(void)
{
	leap(&spot);
	back++;
}
__attribute__((noinline)) void inner(void)
{
	left++;
	leap_out();
	back++;
}
int main(void)
{
	if (!mark(&spot))
		inner();
	return left == 1 && !back ? 0 : 2;
}
END
	is(ended(run([$pmon, $where, '--units=insn', '--', $program])),
	    'status 0', 'by a sum');
	because('control left a stack in a way that pmon could not follow',
	    qr/leaves a stack in a way that pmon does not follow/, 'by a sum',
	    'inner', 'leap_out');
}

# The program changes a function before that is first entered.
{
	my $program = compile(spew("$scratch/differs.c", <<'END'), '-O1');
#include <stdint.h>
#include <sys/mman.h>

__asm__(".text\n.globl work\n.type work, @function\n"
	"work: mov $5, %eax\n	test %edi, %edi\n	jz 1f\n"
	"	inc %eax\n1:	ret\n.size work, . - work\n");
int work(int);

int main(void)
{
	char *page = (char *)((uintptr_t)work & -(uintptr_t)4096);

	if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 1;
	((volatile char *)work)[10] = (char)0xc8;	/* dec %eax */
	return work(1) + work(0) == 4 + 5 ? 0 : 2;
}
END
	for my $way ([], ['--patch=trap']) {
		is(ended(run([$pmon, $where, @$way, '--units=edge', '--',
			$program])), 'status 0', "its text differs @$way");
		because('the code in memory differs from the file',
		    qr/some of its code in memory differs from the file/,
		    "its text differs @$way", 'work');
	}
}

done_testing;
