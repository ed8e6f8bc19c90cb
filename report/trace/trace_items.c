/*
 * Writes the items of a thread as bytes and reads them back.  Numbers of one
 * kind stand together, so that they are compressed well.  Believes nothing that
 * it reads.
 */
#include "report/trace/trace_items.h"

#include <stdlib.h>
#include <string.h>

/* The first number of an item. */
enum code {
	CODE_RETURN,		/* the innermost call that is foreseen returns */
	CODE_END,
	CODE_EXEC,
	CODE_STOP,
	CODE_FORK,
	CODE_LOST,		/* the clock loses ticks: no item */
	CODE_RECORD = 8,	/* and the record's kind and function */
};

static const uint8_t codes[] = {
	[TRACE_RECORD] = CODE_RECORD, [TRACE_END] = CODE_END,
	[TRACE_EXEC] = CODE_EXEC,     [TRACE_STOP] = CODE_STOP,
	[TRACE_FORK] = CODE_FORK,
};

/* ---- frames */

static const struct trace_frame *
frame_top(const struct trace_frames *frames)
{
	return frames->n ? &frames->frames[frames->n - 1] : NULL;
}

static bool
frame_is(const struct trace_frame *frame, uint32_t func, uint32_t sp)
{
	return frame && frame->func == func && frame->sp == sp;
}

/* Whether the record is the return of the innermost call. */
static bool
frames_return(const struct trace_frames *frames, const struct trace_item *item)
{
	return item->record == RECORD_LEAVE &&
	       frame_is(frame_top(frames), item->func, item->sp);
}

/* Follow a record as time_stacks.c does, for one stack. */
static void
frames_follow(struct trace_frames *frames, const struct trace_item *item)
{
	const struct trace_frame *top;

	while ((top = frame_top(frames)) && (int32_t)(item->sp - top->sp) > 0)
		frames->n--;
	if (item->record != RECORD_ENTER && item->record != RECORD_LEAVE)
		return;
	if (top && top->sp == item->sp)
		frames->n--;
	if (item->record == RECORD_ENTER && frames->n < TRACE_FRAMES_MAX)
		frames->frames[frames->n++] = (struct trace_frame){ item->func,
								    item->sp };
}

/* ---- the clock */

/* What the clock shows at the stamp unless it loses ticks before. */
static uint64_t
state_now(const struct trace_state *state, uint64_t stamp)
{
	uint64_t now = stamp - state->lost;

	return (int64_t)(now - state->now) < 0 ? state->now : now;
}

/* Go on to the item. */
static void
state_follow(struct trace_state *state, const struct trace_item *item)
{
	state->lost = item->stamp - item->now;
	state->stamp = item->stamp;
	state->now = item->now;
	if (item->kind != TRACE_RECORD)
		return;
	state->lost += state->cost;
	state->sp = item->sp;
	frames_follow(&state->frames, item);
}

/* The difference of two stack pointers, which have 32 bits. */
static uint64_t
sp_far(uint32_t sp, uint32_t from)
{
	return (uint64_t)(int64_t)(int32_t)(sp - from);
}

/* ---- writing */

void
trace_encoder_init(struct trace_encoder *encoder, uint64_t cost)
{
	encoder->state.cost = cost;
}

void
trace_encoder_clear(struct trace_encoder *encoder)
{
	free(encoder->start.bytes);
	free(encoder->codes.bytes);
	free(encoder->stamps.bytes);
	free(encoder->sps.bytes);
}

/* Put what the first item's bytes depend on. */
static void
start_put(struct trace_encoder *encoder, uint64_t stamp)
{
	const struct trace_state *state = &encoder->state;
	struct sink *out = &encoder->start;
	uint32_t sp = 0;

	encoder->first = stamp;
	encoder->state.sp = 0;
	put_uint(out, encoder->chunk);
	put_uint(out, state->stamp);
	put_uint(out, state->now);
	put_delta(out, state->lost, state->stamp);
	put_uint(out, state->frames.n);
	for (size_t i = 0; i < state->frames.n; i++) {
		const struct trace_frame *frame = &state->frames.frames[i];

		put_uint(out, frame->func);
		put_delta(out, sp_far(frame->sp, sp), 0);
		sp = frame->sp;
	}
}

static void
record_put(struct trace_encoder *encoder, const struct trace_item *item)
{
	const struct trace_state *state = &encoder->state;

	if (frames_return(&state->frames, item)) {
		put_byte(&encoder->codes, CODE_RETURN);
		return;
	}
	put_uint(&encoder->codes, CODE_RECORD +
					  (uint64_t)item->func * RECORD_KINDS +
					  item->record);
	put_delta(&encoder->sps, sp_far(item->sp, state->sp), 0);
}

void
trace_encode(struct trace_encoder *encoder, const struct trace_item *given)
{
	struct trace_state *state = &encoder->state;
	struct trace_item item = *given;

	if (item.stamp < state->stamp)
		item.stamp = state->stamp;
	if (item.now < state->now)
		item.now = state->now;
	if (!encoder->n++)
		start_put(encoder, item.stamp);
	if (state_now(state, item.stamp) != item.now) {
		uint64_t lost = item.stamp - item.now;

		put_byte(&encoder->codes, CODE_LOST);
		put_delta(&encoder->stamps, lost, state->lost);
	}
	if (item.kind == TRACE_RECORD)
		record_put(encoder, &item);
	else
		put_byte(&encoder->codes, codes[item.kind]);
	put_uint(&encoder->stamps, item.stamp - state->stamp);
	if (item.kind != TRACE_RECORD && item.kind != TRACE_EXEC)
		put_uint(&encoder->stamps, item.value);
	state_follow(state, &item);
}

bool
trace_encoder_full(const struct trace_encoder *encoder)
{
	return encoder->codes.n + encoder->stamps.n + encoder->sps.n >=
	       TRACE_ITEMS_SIZE;
}

void
trace_encoder_take(struct trace_encoder *encoder, struct sink *chunk)
{
	struct sink *parts[] = { &encoder->codes, &encoder->stamps,
				 &encoder->sps };

	put_bytes(chunk, encoder->start.bytes, encoder->start.n);
	put_uint(chunk, encoder->n);
	put_uint(chunk, encoder->codes.n);
	put_uint(chunk, encoder->stamps.n);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		put_bytes(chunk, parts[i]->bytes, parts[i]->n);
		parts[i]->n = 0;
	}
	encoder->start.n = 0;
	encoder->n = 0;
	encoder->chunk++;
}

/* ---- reading */

static void
frames_get(struct feed *feed, struct trace_frames *frames)
{
	uint32_t sp = 0;

	frames->n = get_max(feed, TRACE_FRAMES_MAX);
	for (size_t i = 0; i < frames->n && !feed->bad; i++) {
		frames->frames[i].func = (uint32_t)get_max(feed,
							   TRACE_FUNCS_MAX - 1);
		sp += (uint32_t)get_delta(feed, 0);
		frames->frames[i].sp = sp;
	}
}

/* Take n bytes off the front of a feed. */
static struct feed
feed_part(struct feed *feed, uint64_t n)
{
	struct feed part = { .at = feed->at, .end = feed->at };

	if (n > feed_left(feed)) {
		feed->bad = true;
		return part;
	}
	feed->at += n;
	part.end = feed->at;
	return part;
}

bool
trace_decoder_begin(struct trace_decoder *decoder, const uint8_t *bytes,
		    size_t n, uint64_t cost)
{
	struct feed feed = { .at = bytes, .end = bytes + n };
	struct trace_state *state = &decoder->state;
	uint64_t ncodes, nstamps;

	state->cost = cost;
	state->sp = 0;
	decoder->chunk = get_uint(&feed);
	state->stamp = get_uint(&feed);
	state->now = get_uint(&feed);
	state->lost = get_delta(&feed, state->stamp);
	frames_get(&feed, &state->frames);
	decoder->begun.n = state->frames.n;
	memcpy(decoder->begun.frames, state->frames.frames,
	       state->frames.n * sizeof(state->frames.frames[0]));
	decoder->left = get_uint(&feed);
	ncodes = get_uint(&feed);
	nstamps = get_uint(&feed);
	decoder->codes = feed_part(&feed, ncodes);
	decoder->stamps = feed_part(&feed, nstamps);
	decoder->sps = feed;
	decoder->bad = feed.bad;
	return !decoder->bad;
}

/* Get the record of that code. */
static void
record_get(struct trace_decoder *decoder, uint64_t code,
	   struct trace_item *item)
{
	const struct trace_state *state = &decoder->state;
	const struct trace_frame *top = frame_top(&state->frames);
	uint64_t what = code - CODE_RECORD;

	item->kind = TRACE_RECORD;
	if (code == CODE_RETURN) {
		decoder->bad |= !top;
		item->record = RECORD_LEAVE;
		item->func = top ? top->func : 0;
		item->sp = top ? top->sp : 0;
		return;
	}
	decoder->bad |= what / RECORD_KINDS >= TRACE_FUNCS_MAX;
	item->record = (enum record_kind)(what % RECORD_KINDS);
	item->func = (uint32_t)(what / RECORD_KINDS);
	item->sp = state->sp + (uint32_t)get_delta(&decoder->sps, 0);
}

static void
other_get(struct trace_decoder *decoder, uint64_t code, struct trace_item *item)
{
	enum trace_kind kind = TRACE_END;

	while (kind <= TRACE_FORK && codes[kind] != code)
		kind++;
	decoder->bad |= kind > TRACE_FORK;
	item->kind = kind;
}

/* Get the item of that code, but for its time. */
static void
item_get(struct trace_decoder *decoder, uint64_t code, struct trace_item *item)
{
	if (code == CODE_RETURN || code >= CODE_RECORD)
		record_get(decoder, code, item);
	else
		other_get(decoder, code, item);
}

/* Get the item's time, and the number behind it. */
static void
time_get(struct trace_decoder *decoder, struct trace_item *item)
{
	const struct trace_state *state = &decoder->state;
	uint64_t far = get_uint(&decoder->stamps);

	decoder->bad |= far > UINT64_MAX - state->stamp;
	item->stamp = state->stamp + far;
	item->now = state_now(state, item->stamp);
	if (item->kind == TRACE_RECORD || item->kind == TRACE_EXEC)
		return;
	item->value = get_uint(&decoder->stamps);
	if (item->kind == TRACE_END)
		decoder->bad |= item->value >= TRACE_ENDS;
	if (item->kind == TRACE_FORK)
		decoder->bad |= item->value >= TRACE_THREADS_MAX;
}

bool
trace_decode(struct trace_decoder *decoder, struct trace_item *item)
{
	struct trace_state *state = &decoder->state;
	uint64_t code;

	if (decoder->bad)
		return false;
	if (!decoder->left) {
		decoder->bad = feed_left(&decoder->codes) ||
			       feed_left(&decoder->stamps) ||
			       feed_left(&decoder->sps);
		return false;
	}
	decoder->left--;
	*item = (struct trace_item){ 0 };
	code = get_uint(&decoder->codes);
	if (code == CODE_LOST) {
		state->lost = get_delta(&decoder->stamps, state->lost);
		code = get_uint(&decoder->codes);
	}
	item_get(decoder, code, item);
	if (!decoder->bad)
		time_get(decoder, item);
	decoder->bad |= decoder->codes.bad || decoder->stamps.bad ||
			decoder->sps.bad;
	if (decoder->bad)
		return false;
	state_follow(state, item);
	return true;
}
