/*
 * Hints, and images that keep no more than what is near them: no instruction
 * that decoding finds in libraries is missed, wherever in a file it lies, and
 * of functions and text that are there all is as in the whole image.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/build.h"

#include "arch/abi.h"

enum { MANY = 60000, REACH = SPARSE_REACH };

static const char *const libraries[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/x86_64-linux-gnu/libgcc_s.so.1",
	"/lib/ld-musl-x86_64.so.1",
	"/usr/bin/perl",
};

enum { LIBRARIES = sizeof(libraries) / sizeof(*libraries) };

static struct image *
open_any(const char *path, unsigned want)
{
	return image_open(path, NULL, want, NULL, NULL);
}

static bool
hinted(const struct image *image, const struct insn *insn, uint8_t kind)
{
	size_t i = image_hint(image, insn->addr);

	for (; i < image->nhints; i++)
		if (image->hints[i].addr >= insn->addr + insn->len)
			return false;
		else if (image->hints[i].kind == kind)
			return true;
	return false;
}

/* Instructions in [at, hi) that are of interest; each must be hinted at. */
static size_t
range_check(const struct image *image, uint64_t at, uint64_t hi)
{
	const struct arch *arch = image->arch;
	struct effect effect;
	struct insn insn;
	size_t n = 0, avail;

	for (; at < hi; at += insn.len) {
		const uint8_t *text = image_text(image, at, &avail);

		if (!text || arch->decode(text, avail, at, &insn) ||
		    arch->effect(text, avail, at, &effect))
			break;
		if (insn.kind == INSN_SYSCALL) {
			assert_true(hinted(image, &insn, HINT_SYSCALL));
			n++;
		}
		if ((effect.op == EFFECT_COPY ||
		     (effect.op == EFFECT_SUM && effect.src.reg != REG_NONE &&
		      effect.src.index == REG_NONE)) &&
		    effect.dst.width == 8 && effect.dst.kind == PLACE_REG &&
		    effect.dst.reg == arch->reg_sp &&
		    (effect.src.kind == PLACE_REG || effect.op == EFFECT_SUM) &&
		    effect.src.reg != arch->reg_fp &&
		    effect.src.reg != arch->reg_sp) {
			assert_true(hinted(image, &insn, HINT_SWITCH));
			n++;
		}
	}
	return n;
}

static void
all_found(void **state)
{
	struct image *image;
	size_t n = 0;

	for (size_t i = 0; i < LIBRARIES; i++) {
		image = open_any(libraries[i], IMAGE_BARE);
		for (size_t k = 0; image && k < image->nfuncs; k++)
			for (size_t r = 0; r < image->funcs[k].nranges; r++)
				n += range_check(image,
						 image->funcs[k].ranges[r].lo,
						 image->funcs[k].ranges[r].hi);
		image_close(image);
	}
	assert_true(n > 100);
}

/* The n hints of a kind that there must be, so many bytes apart. */
static void
hints_check(const struct image *image, uint8_t kind, size_t n, uint64_t step)
{
	const struct hint *last = NULL;

	for (size_t i = 0; i < image->nhints; i++) {
		const struct hint *hint = &image->hints[i];

		if (hint->kind != kind)
			continue;
		if (last)
			assert_int_equal(hint->addr - last->addr, step);
		last = hint;
		n--;
	}
	assert_int_equal(n, 0);
}

/* Also where one part of the file that is read at once ends. */
static void
in_order(void **state)
{
	static const struct {
		const char *insns;
		uint64_t step;
		uint8_t kind;
	} cases[] = {
		{ "mov %rdi, %rsp", 3, HINT_SWITCH },
		{ "mov (%r13), %rsp", 4, HINT_SWITCH },
		{ "lea 8(%rdi), %rsp", 4, HINT_SWITCH },
		{ "lea (%rdi, %rsi), %rsp", 4, HINT_SWITCH },
		{ "lea 8(%rax, %rcx, 8), %rsp", 5, HINT_SWITCH },
		{ "lea 64(%rip), %rsp", 7, HINT_SWITCH },
		{ "syscall", 2, HINT_SYSCALL },
		{ "wrgsbase %r9", 5, HINT_THREAD_REG },
		{ "mov $158, %eax; .fill 32, 1, 0x90; movq $0x1001, %r12;"
		  ".fill 83, 1, 0x90",
		  127, HINT_THREAD_REG },
		{ "movq $0x1001, %rsi; .fill 32, 1, 0x90; mov $158, %eax;"
		  ".fill 83, 1, 0x90",
		  127, HINT_THREAD_REG },
		{ "mov $0x1001, %edi", 5, HINT_THREAD_REG_CALL },
	};
	struct image *image;
	char text[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), ".text; .rept %d; %s; .endr\n",
			 MANY, cases[i].insns);
		source("dense.S", text);
		run("gcc -shared -nostdlib dense.S -o dense");
		image = opened("dense", IMAGE_BARE);
		hints_check(image, cases[i].kind, MANY, cases[i].step);
		image_close(image);
		image = opened("dense", IMAGE_SPARSE);
		hints_check(image, cases[i].kind, MANY, cases[i].step);
		image_close(image);
	}
}

/* The functions that have a hint are the same, and so is their text. */
static size_t
sparse_check(const struct image *whole, const struct image *sparse)
{
	const struct func *a, *b;
	size_t n, m;

	assert_int_equal(whole->nhints, sparse->nhints);
	for (size_t i = 0; i < whole->nhints; i++) {
		uint64_t addr = whole->hints[i].addr;
		const uint8_t *text = image_text(whole, addr, &n);
		const uint8_t *same = image_text_range(sparse, addr,
						       addr + REACH, &m);

		assert_int_equal(addr, sparse->hints[i].addr);
		assert_true(m == n || (m < n && m == REACH));
		assert_memory_equal(text, same, m);
		a = image_func(whole, addr);
		b = image_func(sparse, addr);
		if (!a || a->size > REACH)
			continue;
		assert_non_null(b);
		assert_int_equal(a->addr, b->addr);
		assert_int_equal(a->size, b->size);
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->nranges, b->nranges);
	}
	return whole->nfuncs - sparse->nfuncs;
}

static void
sparse_same(void **state)
{
	size_t saved = 0;

	for (size_t i = 0; i < LIBRARIES; i++) {
		struct image *whole = open_any(libraries[i], IMAGE_BARE);
		struct image *sparse = open_any(libraries[i], IMAGE_SPARSE);

		assert_int_equal(!whole, !sparse);
		if (whole)
			saved += sparse_check(whole, sparse);
		image_close(whole);
		image_close(sparse);
	}
	assert_true(saved > 0);
}

/* Far from any hint nothing is known, but the text can be read. */
static void
sparse_far(void **state)
{
	struct image *image;
	size_t avail;
	const uint8_t *text;

	source("far.S",
	       ".text; .type far, @function; far: ret; .size far, .-far\n"
	       ".fill 70000, 1, 0x90\n"
	       ".type near, @function; near: nop; ret; .size near, .-near\n"
	       ".fill 60000, 1, 0x90\n"
	       ".type calls, @function; calls: syscall; ret\n"
	       ".size calls, .-calls; .fill 70000, 1, 0x90\n"
	       ".type end, @function; end: nop; nop; ret\n");
	run("gcc -shared -nostdlib far.S -o far");
	image = opened("far", IMAGE_SPARSE);
	assert_null(func_named(image, "far"));
	assert_null(func_named(image, "end"));
	assert_non_null(func_named(image, "near"));
	assert_non_null(func_named(image, "calls"));
	text = image_text(image, image->segments[1].addr, &avail);
	assert_non_null(text);
	assert_int_equal(*text, 0xc3);
	assert_int_equal(avail, SPARSE_TEXT);
	text = image_text(image,
			  image->segments[1].addr + image->segments[1].filesz -
				  3,
			  &avail);
	assert_non_null(text);
	assert_int_equal(avail, 3);
	assert_int_equal(text[2], 0xc3);
	image_close(image);
}

/*
 * Constants are the same in any image, but for those that the dynamic linker
 * sets, and a sparse image gives enough of them for any table.
 */
static void
constants_check(const char *path, unsigned want)
{
	struct image *whole = open_any(path, IMAGE_FLOW);
	struct image *part = open_any(path, want);
	size_t n, m;

	assert_int_equal(!whole, !part);
	for (size_t i = 0; part && i < part->ndata; i++) {
		const struct data *data = &part->data[i];

		for (uint64_t at = 0; at < data->size; at += 4093) {
			const uint8_t *same, *bytes;

			assert_true(image_is_data(whole, data->addr + at));
			bytes = image_data(whole, data->addr + at, &n);
			same = image_data(part, data->addr + at, &m);
			assert_true(m == n || (m < n && m >= SPARSE_DATA));
			assert_memory_equal(bytes, same, m);
		}
	}
	image_close(whole);
	image_close(part);
}

static void
constants_same(void **state)
{
	struct image *image;

	source("constants.S",
	       ".text; syscall\n"
	       ".section .rodata; .rept 50000; .quad . - .rodata, 1; .endr\n"
	       "big: .byte 7\n"
	       ".section .data.rel.ro, \"aw\"; pointers: .quad big\n"
	       ".data; .quad 1\n"
	       ".section inner, \"a\"; .long 2, 3\n");
	run("gcc -shared -nostdlib constants.S -o constants");
	run("gcc -shared -nostdlib -Wl,-z,noseparate-code constants.S "
	    "-o joined");
	for (int i = 0; i < 4; i++) {
		const char *file = i / 2 ? "joined" : "constants";
		unsigned want = i % 2 ? IMAGE_SPARSE : IMAGE_BARE;

		constants_check(in_work(file), want);
		image = opened(file, want);
		assert_true(image_is_data(image, label_in(file, "big")));
		assert_false(image_is_data(image, label_in(file, "pointers")));
		image_close(image);
	}
	for (size_t i = 0; i < LIBRARIES; i++)
		constants_check(libraries[i], IMAGE_SPARSE);
}

/* What pread gives at most; 0: all that is asked for. */
static size_t pread_max;

/* Takes the place of the C library's. */
ssize_t
pread64(int fd, void *buf, size_t n, off_t offset)
{
	if (pread_max && n > pread_max)
		n = pread_max;
	return syscall(SYS_pread64, fd, buf, n, offset);
}

/* A part that ends within a block that is there leaves out none behind it. */
static void
sparse_parts(void **state)
{
	enum { BLOCKS = 4, SIZE = BLOCKS * SPARSE_TEXT };
	struct image *image;
	const struct segment *seg;
	const uint8_t *text;
	size_t avail;

	source("parts.S", ".text; .fill 20000, 1, 0x90\n");
	run("gcc -shared -nostdlib parts.S -o parts");
	for (size_t there = 0; there < BLOCKS; there++) {
		image = opened("parts", IMAGE_SPARSE);
		seg = &image->segments[1];
		assert_non_null(image_text(
			image, seg->addr + there * SPARSE_TEXT, &avail));
		pread_max = SPARSE_TEXT * 3 / 2;
		text = image_text_range(image, seg->addr, seg->addr + SIZE,
					&avail);
		pread_max = 0;
		assert_non_null(text);
		assert_int_equal(avail, SIZE);
		for (size_t i = 0; i < SIZE; i++)
			if (text[i] != 0x90)
				fail_msg("byte %zu, with block %zu there", i,
					 there);
		image_close(image);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_found),
		cmocka_unit_test(in_order),
		cmocka_unit_test(sparse_same),
		cmocka_unit_test(sparse_far),
		cmocka_unit_test(sparse_parts),
		cmocka_unit_test(constants_same),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("hints", tests, work_make,
					   work_remove);
}
