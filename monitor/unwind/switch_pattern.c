/*
 * Makes patterns of stack switches from walks of both stacks.  A frame's caller
 * follows from the frame's pc, by the tables, and from two words at most: the
 * return address, and the frame pointer if the cfa is found by that.  So by
 * induction from the innermost frame, two stacks with the same words have the
 * same frames at the same distances.  Reads no memory.
 */
#include "monitor/unwind/switch_pattern.h"

/* Where the frame pointer of a frame comes from. */
struct pointer {
	enum { POINTER_UNKNOWN, POINTER_REGISTER, POINTER_WORD } kind;
	uint64_t va;		/* POINTER_WORD */
};

static bool
word_add(struct switch_pattern *pattern, const struct switch_word *word)
{
	if (pattern->n == SWITCH_WORDS)
		return false;
	pattern->words[pattern->n++] = *word;
	return true;
}

/* The distance from the stack's sp to va; false if it is too far. */
static bool
distance(const struct pattern_stack *of, uint64_t va, int32_t *by)
{
	*by = (int32_t)(va - of->sp);
	return of->sp + (uint64_t)(int64_t)*by == va;
}

/* The frame pointer must be this. */
static bool
pointer_add(const struct pattern_stack *of, const struct pointer *pointer,
	    uint64_t fp, struct switch_pattern *pattern)
{
	struct switch_word word = {
		.after = of->after,
		.pointer = pointer->kind == POINTER_REGISTER,
		.relative = true,
	};
	int32_t by;

	if (pointer->kind == POINTER_UNKNOWN || !distance(of, fp, &by) ||
	    (!word.pointer && !distance(of, pointer->va, &word.at)))
		return false;
	word.value = (uint64_t)(int64_t)by;
	return word_add(pattern, &word);
}

static bool
return_add(const struct pattern_stack *of, uint64_t va, uint64_t pc,
	   struct switch_pattern *pattern)
{
	struct switch_word word = { .after = of->after, .value = pc };

	return distance(of, va, &word.at) && word_add(pattern, &word);
}

bool
pattern_add(struct stack *stack, pid_t tid, const struct pattern_stack *of,
	    struct switch_pattern *pattern)
{
	struct pointer pointer = {
		of->fp_known ? POINTER_REGISTER : POINTER_UNKNOWN,
		0,
	};
	const struct walk *walk = of->walk;
	struct frame_way way;

	/* The return address of the function that switches. */
	if (!walk->n || (!of->after &&
			 !return_add(of, of->sp, walk->frames[0].pc, pattern)))
		return false;
	for (size_t i = 0; i < walk->n; i++) {
		const struct frame *frame = &walk->frames[i];
		bool last = i + 1 == walk->n;

		if (last && walk->end == WALK_ENOUGH)
			break;
		if ((frame->exact && i) ||
		    !stack_way(stack, tid, frame, &way) ||
		    way.outermost != last)
			return false;
		if (last)
			break;
		if (way.by_fp &&
		    !pointer_add(of, &pointer,
				 frame->cfa - (uint64_t)way.offset, pattern))
			return false;
		if (!return_add(of,
				frame->cfa + (uint64_t)(int64_t)way.return_at,
				walk->frames[i + 1].pc, pattern))
			return false;
		if (way.fp_saved)
			pointer = (struct pointer){
				POINTER_WORD,
				frame->cfa + (uint64_t)(int64_t)way.fp_at,
			};
	}
	return true;
}

static bool
va_within(uint64_t va, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (va - ranges[i].lo < ranges[i].hi - ranges[i].lo)
			return true;
	return false;
}

bool
pattern_within(const struct switch_pattern *pattern, const struct range *ranges,
	       size_t n)
{
	if (!va_within(pattern->target, ranges, n))
		return false;
	for (size_t i = 0; i < pattern->n; i++)
		if (!pattern->words[i].relative &&
		    !va_within(pattern->words[i].value, ranges, n))
			return false;
	return true;
}

static uint64_t
mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x9e3779b97f4a7c15u ^ hash >> 29;
}

uint64_t
pattern_hash(const struct switch_pattern *pattern)
{
	uint64_t hash = mix(mix(1, pattern->target), pattern->distance);

	for (size_t i = 0; i < pattern->n; i++) {
		const struct switch_word *word = &pattern->words[i];

		hash = mix(hash, word->value);
		hash = mix(hash, (uint64_t)(uint32_t)word->at << 3 |
					 (uint64_t)word->after << 2 |
					 (uint64_t)word->pointer << 1 |
					 word->relative);
	}
	return hash | 1;
}
