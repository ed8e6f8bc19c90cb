/*
 * Traces: what is written is read back, whatever is missing or damaged at the
 * end; and calls are those that the records tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/times.h"
#include "report/trace/trace_calls.h"
#include "report/trace/trace_write.h"
#include "tests/lib/random.h"
#include "util/fail.h"
#include "util/mem.h"

#include <cmocka.h>

enum { FUNCS = 300, THREADS = 5, COST = 20, ITEMS = 60000 };

/* Items as programs make them, more or less. */
struct maker {
	uint64_t stamp, now;
	uint32_t func[64], sp[64];
	size_t n;
};

static struct trace_item
item_make(struct maker *maker, uint32_t thread)
{
	struct trace_item item = { .thread = thread };
	uint64_t gone = 1 + random_below(random_below(20) ? 300 : 1 << 20);

	item.stamp = maker->stamp += gone;
	item.now = maker->now += random_below(9) ? gone : gone / 2;
	switch (random_below(30)) {
	case 0:
		item.kind = TRACE_STOP;
		item.value = random_u64();
		return item;
	case 1:
		item.kind = TRACE_EXEC;
		return item;
	case 2:
		/* Anything. */
		item.record = (enum record_kind)random_below(RECORD_KINDS);
		item.func = (uint32_t)random_below(FUNCS);
		item.sp = (uint32_t)random_u64();
		return item;
	}
	if (maker->n && (maker->n == 64 || random_below(2))) {
		maker->n--;
		item.record = RECORD_LEAVE;
		item.func = maker->func[maker->n];
		item.sp = maker->sp[maker->n];
		return item;
	}
	item.func = (uint32_t)random_below(FUNCS);
	item.sp = (maker->n ? maker->sp[maker->n - 1] : 0x7fff0000) - 16 -
		  16 * (uint32_t)random_below(9);
	maker->func[maker->n] = item.func;
	maker->sp[maker->n++] = item.sp;
	return item;
}

static void
item_equal(const struct trace_item *a, const struct trace_item *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->stamp, b->stamp);
	assert_int_equal(a->now, b->now);
	assert_int_equal(a->value, b->value);
	if (a->kind != TRACE_RECORD)
		return;
	assert_int_equal(a->record, b->record);
	assert_int_equal(a->func, b->func);
	assert_int_equal(a->sp, b->sp);
}

/* ---- files */

static int
out_sink(void *ctx, const uint8_t *bytes, size_t n)
{
	put_bytes(ctx, bytes, n);
	return 0;
}

/* A trace file, and its items in the order of time. */
struct made {
	struct trace_item *items;
	size_t n;
	struct sink file;
};

static struct trace_writer *
writer_make(uint64_t ring, trace_out *out, void *ctx)
{
	struct trace_run run = {
		.command = mem_strdup("prog arg"),
		.version = mem_strdup("0"),
		.start = 5,
		.stamp = 1000,
		.cost = COST,
	};
	struct trace_writer *writer = trace_writer_open(run, ring, out, ctx);

	trace_writer_object(writer,
			    (struct trace_object){ .path = mem_strdup("/p"),
						   .build_id = { 1, 2 },
						   .build_id_len = 2 });
	for (size_t i = 0; i < FUNCS; i++)
		trace_writer_func(writer, (struct trace_func){
						  .addr = 16 * i,
						  .name = mem_printf("f%zu", i),
						  .file = mem_strdup("a.c"),
						  .line = (uint32_t)i });
	for (size_t i = 0; i < THREADS; i++)
		trace_writer_thread(writer,
				    (struct trace_thread){
					    .pid = 7,
					    .tid = 7 + (uint32_t)i,
					    .program = mem_strdup("/p") });
	trace_writer_clock(writer, (struct moment){ 3000, 1000 });
	return writer;
}

static struct made
made_make(uint64_t seed, size_t nitems, uint64_t ring)
{
	struct made made = { 0 };
	struct maker makers[THREADS] = { 0 };
	struct trace_writer *writer;
	uint64_t stamp = 1000;

	random_state = seed;
	writer = writer_make(ring, out_sink, &made.file);
	while (made.n < nitems) {
		uint32_t thread = (uint32_t)random_below(THREADS);
		struct trace_item item;

		makers[thread].stamp = stamp;
		item = item_make(&makers[thread], thread);
		stamp = item.stamp + 1;
		trace_writer_item(writer, &item);
		*vec_push(made.items, made.n) = item;
	}
	if (ring)
		assert_int_equal(
			trace_writer_save(writer, out_sink, &made.file), 0);
	else
		assert_int_equal(trace_writer_end(writer), 0);
	trace_writer_close(writer);
	return made;
}

static void
made_free(struct made *made)
{
	free(made->items);
	free(made->file.bytes);
}

static const char *
file_write(const uint8_t *bytes, size_t n)
{
	static char path[] = "/tmp/pmon-trace-XXXXXX";
	static int fd = -1;

	if (fd < 0)
		fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, n, 0), (ssize_t)n);
	return path;
}

/* ---- tests */

static void
test_round(void **state)
{
	struct made made = made_make(1, 10 * ITEMS, 0);
	struct trace *trace = trace_open(
		file_write(made.file.bytes, made.file.n));
	struct trace_cursor *cursor;
	struct trace_item item;

	assert_non_null(trace);
	assert_null(trace->fault);
	assert_string_equal(trace->tables.run.command, "prog arg");
	assert_int_equal(trace->tables.nfuncs, FUNCS);
	assert_string_equal(trace->tables.funcs[299].name, "f299");
	assert_int_equal(trace->tables.funcs[299].line, 299);
	assert_int_equal(trace->tables.nthreads, THREADS);
	assert_true(trace->tick_ns == 0.5);
	cursor = trace_cursor_open(trace, NULL, NULL);
	for (size_t i = 0; i < made.n; i++) {
		assert_int_equal(trace_next(cursor, &item), 1);
		item_equal(&item, &made.items[i]);
	}
	assert_int_equal(trace_next(cursor, &item), 0);
	trace_cursor_close(cursor);
	trace_close(trace);
	made_free(&made);
}

/* How many items of each thread a trace has; they are the first that were made. */
static size_t
items_are_first(const struct trace *trace, const struct made *made)
{
	struct trace_cursor *cursor = trace_cursor_open(trace, NULL, NULL);
	size_t at[THREADS] = { 0 }, n = 0;
	struct trace_item item;

	while (trace_next(cursor, &item) == 1) {
		size_t *i = &at[item.thread];

		while (made->items[*i].thread != item.thread)
			++*i;
		item_equal(&item, &made->items[(*i)++]);
		n++;
	}
	trace_cursor_close(cursor);
	return n;
}

/* Wherever the file ends, it has the chunks up to there. */
static void
test_cut(void **state)
{
	struct made made = made_make(2, 10 * ITEMS, 0);
	size_t before = 0, all = 0;

	for (size_t n = 0; n < made.file.n; n += 1 + made.file.n / 40) {
		struct trace *trace = trace_open(
			file_write(made.file.bytes, n));

		if (!trace) {
			assert_true(n < 100);
			continue;
		}
		assert_non_null(trace->fault);
		all = items_are_first(trace, &made);
		assert_true(all >= before);
		before = all;
		trace_close(trace);
	}
	assert_true(all > 0);
	made_free(&made);
}

static void
nothing_begun(void *ctx, const struct trace_item *first,
	      const struct trace_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_true(frames[i].func < FUNCS);
}

/*
 * With any bytes changed nothing is read that was not written, but for what no
 * checksum covers; and nothing breaks.
 */
static void
test_damaged(void **state)
{
	static const struct trace_watch watch;
	static const struct trace_part part;
	struct made made = made_make(3, 3000, 0);

	for (int i = 0; i < 1000; i++) {
		size_t at = random_below((unsigned)made.file.n);
		uint8_t old = made.file.bytes[at];
		struct trace_sums sums;
		struct trace *trace;

		made.file.bytes[at] ^= (uint8_t)(1 + random_below(255));
		trace = trace_open(file_write(made.file.bytes, made.file.n));
		made.file.bytes[at] = old;
		if (!trace)
			continue;
		items_are_first(trace, &made);
		if (trace_follow(trace, &part, &watch, NULL, &sums))
			assert_non_null(strstr(fail_message(), "damaged"));
		trace_sums_free(trace, &sums);
		trace_close(trace);
	}
	made_free(&made);
}

/* The data of chunks may be anything, with checksums that are right. */
static void
test_hostile(void **state)
{
	struct trace_encoder encoder = { 0 };
	struct maker maker = { 0 };
	struct sink data = { 0 };
	struct trace_decoder *decoder = mem_alloc(sizeof(*decoder));
	struct trace_item item;

	random_state = 4;
	trace_encoder_init(&encoder, COST);
	for (int i = 0; i < 500; i++) {
		item = item_make(&maker, 0);
		trace_encode(&encoder, &item);
	}
	trace_encoder_take(&encoder, &data);
	for (int i = 0; i < 20000; i++) {
		size_t n = random_below(4) ? data.n :
					     random_below((unsigned)data.n);
		uint8_t *bytes = mem_alloc(n + 1);
		uint64_t stamp = 0;

		memcpy(bytes, data.bytes, n);
		for (uint64_t k = random_below(4); n && k; k--)
			bytes[random_below((unsigned)n)] = (uint8_t)
				random_u64();
		if (trace_decoder_begin(decoder, bytes, n, COST))
			while (trace_decode(decoder, &item)) {
				assert_true(item.stamp >= stamp);
				assert_true(item.kind <= TRACE_FORK);
				assert_true(item.record < RECORD_KINDS);
				assert_true(item.func < TRACE_FUNCS_MAX);
				stamp = item.stamp;
			}
		free(bytes);
	}
	trace_encoder_clear(&encoder);
	free(data.bytes);
	free(decoder);
}

/* A ring has the newest items, and calls that began before. */
static void
test_ring(void **state)
{
	struct made made = made_make(5, 20 * ITEMS, 1500 << 10);
	struct trace *trace = trace_open(
		file_write(made.file.bytes, made.file.n));
	struct trace_cursor *cursor;
	struct trace_item item;
	size_t first[THREADS], i, n = 0;

	assert_non_null(trace);
	assert_null(trace->fault);
	assert_true(made.file.n < 1600 << 10);
	cursor = trace_cursor_open(trace, nothing_begun, NULL);
	memset(first, 0, sizeof(first));
	while (trace_next(cursor, &item) == 1) {
		n++;
		/* The first of a thread is somewhere; then all follow. */
		i = first[item.thread];
		while (i < made.n && (made.items[i].thread != item.thread ||
				      (!first[item.thread] &&
				       made.items[i].stamp != item.stamp)))
			i++;
		assert_true(i < made.n);
		item_equal(&item, &made.items[i]);
		first[item.thread] = i + 1;
	}
	for (size_t t = 0; t < THREADS; t++) {
		for (i = first[t]; i < made.n; i++)
			assert_int_not_equal(made.items[i].thread, t);
	}
	assert_true(n > 1000 && n < made.n);
	trace_cursor_close(cursor);
	trace_close(trace);
	made_free(&made);
}

/* ---- calls */

/* What was told, as text: "begin depth function" and "end depth function". */
static char *told;

static void
tell(char kind, const struct trace_call *call, const char *after)
{
	char *longer = mem_printf("%s%c%zu.%u%s ", told, kind, call->depth,
				  call->func, after);

	free(told);
	told = longer;
}

static void
began_tell(void *ctx, const struct trace_call *call)
{
	tell('b', call, call->before ? "before" : "");
}

static void
ended_tell(void *ctx, const struct trace_call *call)
{
	static const char *const hows[] = {
		[CALL_RETURNED] = "",	[CALL_LEFT] = "left",
		[CALL_ENDED] = "ended", [CALL_OPEN] = "open",
		[CALL_LOST] = "lost",
	};

	tell('e', call, hows[call->how]);
}

/* Follow a trace of one thread's records: kind, function, stack pointer. */
static char *
told_of(const struct trace_item *items, size_t n, const struct trace_part *part)
{
	static const struct trace_watch watch = { began_tell, ended_tell,
						  NULL };
	struct sink file = { 0 };
	struct trace_writer *writer = writer_make(0, out_sink, &file);
	struct trace_sums sums;
	struct trace *trace;

	for (size_t i = 0; i < n; i++) {
		struct trace_item item = items[i];

		item.stamp = item.now = 2000 + 10 * i;
		trace_writer_item(writer, &item);
	}
	assert_int_equal(trace_writer_end(writer), 0);
	trace_writer_close(writer);
	trace = trace_open(file_write(file.bytes, file.n));
	assert_non_null(trace);
	told = mem_strdup("");
	assert_int_equal(trace_follow(trace, part, &watch, NULL, &sums), 0);
	trace_sums_free(trace, &sums);
	trace_close(trace);
	free(file.bytes);
	return told;
}

static void
test_calls(void **state)
{
	static const struct trace_item items[] = {
		{ .record = RECORD_ENTER, .func = 1, .sp = 1000 },
		{ .record = RECORD_ENTER, .func = 2, .sp = 900 },
		{ .record = RECORD_LEAVE, .func = 2, .sp = 900 },
		{ .record = RECORD_ENTER, .func = 3, .sp = 900 },
		{ .record = RECORD_ENTER, .func = 4, .sp = 800 },
		{ .record = RECORD_LAND, .func = 1, .sp = 950 },
		{ .record = RECORD_ENTER, .func = 2, .sp = 900 },
		{ .thread = 1, .kind = TRACE_FORK, .value = 0 },
		{ .thread = 1, .record = RECORD_LEAVE, .func = 2, .sp = 900 },
		{ .thread = 1, .kind = TRACE_END },
		{ .record = RECORD_LEAVE, .func = 2, .sp = 900 },
	};
	const size_t n = sizeof(items) / sizeof(items[0]);
	struct trace_part part = { 0 };

	told_of(items, n, &part);
	assert_string_equal(told,
			    "b0.1 b1.2 e1.2 b1.3 b2.4 e2.4left e1.3left b1.2 "
			    "b0.1before b1.2before e1.2 e0.1ended e1.2 "
			    "e0.1open ");
	free(told);
	part.tid = 7;
	part.from_func = "f3";
	part.to_func = "f2";
	told_of(items, n, &part);
	assert_string_equal(told, "b0.1before b1.3 b2.4 e2.4left e1.3left b1.2 "
				  "e1.2 e0.1open ");
	free(told);
}

/* A write that fails is told, once, and nothing breaks. */
static int
out_full(void *ctx, const uint8_t *bytes, size_t n)
{
	int *left = ctx;

	return *left > 0 && (*left -= (int)n) > 0 ? 0 : (fail)("no room");
}

static void
test_full(void **state)
{
	int left = 10000;
	struct trace_writer *writer = writer_make(0, out_full, &left);
	struct maker maker = { .stamp = 1000 };

	random_state = 6;
	for (int i = 0; i < 4 * ITEMS; i++) {
		struct trace_item item = item_make(&maker, 0);

		trace_writer_item(writer, &item);
	}
	assert_true(trace_writer_failed(writer));
	assert_int_equal(trace_writer_end(writer), -1);
	assert_string_equal(fail_message(), "no room");
	trace_writer_close(writer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),	cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_ring),	cmocka_unit_test(test_calls),
		cmocka_unit_test(test_full),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
