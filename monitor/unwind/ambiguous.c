/*
 * Ambiguous calls: searches the memory of a space, and the registers of its
 * tasks, for return addresses, where the walk of a stack is lost.  Looks at
 * every byte, as code may keep a stack anywhere and at any alignment.  What
 * pmon has mapped is left out, and so are the return addresses of the frames
 * that the walk has found.  Gives up, and changes nothing, if any memory cannot
 * be searched.  Changes nothing in the task.
 */
#include "monitor/unwind/ambiguous.h"

#include <stdlib.h>
#include <string.h>

#include "arch/fragment.h"
#include "host/native.h"
#include "monitor/process/regions.h"
#include "monitor/process/space.h"
#include "monitor/process/stops.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_memory.h"
#include "monitor/process/thread_pages.h"
#include "monitor/unwind/stack_switch.h"
#include "util/mem.h"
#include "util/search.h"

/*
 * What all searches of a run may read and ask for, so that a program that
 * forks all the time is not searched all the time; and what one search may
 * bring into memory.
 */
static const uint64_t READ_MAX = UINT64_C(4) << 30, PAGES_MAX = 1 << 24,
		      SHARED_MAX = 64 << 20, SWAPPED_MAX = 64 << 20;

enum { CHUNK_PAGES = 256, WORD = sizeof(uint64_t) };

/* The text of a module, with a bit for each address in it that was found. */
struct text {
	uint64_t lo, hi;
	uint64_t *found;
};

struct memory_search {
	struct run *run;
	struct task *task;
	struct text *texts;	/* ascending */
	size_t ntexts;
	struct range *own;	/* pmon's; ascending */
	size_t nown;
	uint64_t *slots;	/* ascending vas of the return addresses of
				   frames that are known */
	size_t nslots;
	bool there;		/* the task has not been killed meanwhile */
	uint64_t called;	/* where the innermost frame's system call
				   returns to; 0: it is in none */
	uint64_t shared, swapped;	/* bytes read of such memory */
	uint8_t pages[CHUNK_PAGES];
	uint64_t end;		/* of what was read last ... */
	uint8_t bytes[WORD + CHUNK_PAGES * PAGE_BYTES];	/* ... the last bytes
							   of which come first */
};

/* The handlers of a space that have not returned. */
struct handlers {
	const struct space *space;
	size_t n;
};

static int
by_number(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static int
by_lo(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static int
text_by_lo(const void *va, const void *vb)
{
	const struct text *a = va, *b = vb;

	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/* ---- words */

/* Note a word, if it can be a return address. */
static void
word_note(struct memory_search *s, uint64_t word)
{
	size_t at = search_first(s->ntexts, i, s->texts[i].hi >= word);
	struct text *text = &s->texts[at];

	/* A call at the very end returns to what is behind the text. */
	if (at == s->ntexts || word <= text->lo)
		return;
	word -= text->lo;
	text->found[word / 64] |= UINT64_C(1) << word % 64;
}

static bool
slot_known(const struct memory_search *s, uint64_t va)
{
	size_t at = search_first(s->nslots, i, s->slots[i] >= va);

	return at < s->nslots && s->slots[at] == va;
}

/* Note all words that are in the n bytes, which are at va. */
static void
words_note(struct memory_search *s, const uint8_t *bytes, size_t n, uint64_t va)
{
	uint64_t lo = s->texts[0].lo, hi = s->texts[s->ntexts - 1].hi, word;

	for (size_t at = 0; at + WORD <= n; at++) {
		memcpy(&word, bytes + at, WORD);
		if (word - lo <= hi - lo && !slot_known(s, va + at))
			word_note(s, word);
	}
}

/* ---- memory */

/*
 * Search n pages from va on, of one state; 0, or -1 if they cannot be read.  One
 * that the kernel cannot bring back from where it is has no frame: the program
 * could not return to it either.  So have guards, which no page is behind.
 */
static int
pages_search(struct memory_search *s, uint64_t va, size_t n, uint8_t state)
{
	const struct space *space = s->task->process->space;
	size_t size = n * PAGE_BYTES, before = s->end == va ? WORD - 1 : 0;
	uint8_t *bytes = s->bytes + WORD;

	s->run->searched.bytes += size;
	if (s->run->searched.bytes > READ_MAX)
		return -1;
	if (s->run->host->mem_read(space->mem, s->task->tid, va, bytes, size))
		return state == PAGE_SWAPPED && n == 1 ? 0 : -1;
	words_note(s, bytes - before, size + before, va - before);
	memmove(s->bytes, bytes + size - WORD, WORD);
	s->end = va + size;
	return 0;
}

/*
 * How many pages, of at most n, are searched at once, as the first of them is;
 * 0 if that need not be.
 */
static size_t
pages_wanted(const struct mapping *map, const uint8_t *pages, size_t n)
{
	size_t i = 1;

	if (!map->shared && pages[0] != PAGE_OWN && pages[0] != PAGE_SWAPPED)
		return 0;
	while (pages[0] != PAGE_SWAPPED && i < n &&
	       (pages[i] == pages[0] ||
		(map->shared && pages[i] != PAGE_SWAPPED)))
		i++;
	return i;
}

/* Search what has to be searched of at most CHUNK_PAGES pages of a mapping. */
static int
chunk_search(struct memory_search *s, const struct mapping *map, uint64_t va,
	     size_t n)
{
	size_t many;

	s->run->searched.pages += n;
	if (s->run->searched.pages > PAGES_MAX ||
	    s->run->host->native->resident(s->task->tid, va, n, s->pages))
		return -1;
	for (size_t i = 0; i < n; i += many ? many : 1) {
		many = pages_wanted(map, s->pages + i, n - i);
		s->shared += map->shared ? many * PAGE_BYTES : 0;
		s->swapped += s->pages[i] == PAGE_SWAPPED ? PAGE_BYTES : 0;
		if (s->shared > SHARED_MAX || s->swapped > SWAPPED_MAX ||
		    (many &&
		     pages_search(s, va + i * PAGE_BYTES, many, s->pages[i])))
			return -1;
	}
	return 0;
}

static int
mapping_search(struct memory_search *s, const struct mapping *map, uint64_t lo,
	       uint64_t hi)
{
	for (uint64_t va = lo; va < hi; va += CHUNK_PAGES * PAGE_BYTES) {
		uint64_t n = (hi - va) / PAGE_BYTES;

		if (chunk_search(s, map, va, n < CHUNK_PAGES ? n : CHUNK_PAGES))
			return -1;
	}
	return 0;
}

/* Search a mapping, but not what pmon has mapped; the kernel may join both. */
static int
mapping_search_rest(struct memory_search *s, const struct mapping *map)
{
	uint64_t lo = map->lo;

	for (size_t i = 0; i < s->nown; i++) {
		const struct range *own = &s->own[i];

		if (own->hi <= lo || own->lo >= map->hi)
			continue;
		if (lo < own->lo && mapping_search(s, map, lo, own->lo))
			return -1;
		lo = own->hi;
	}
	return lo < map->hi ? mapping_search(s, map, lo, map->hi) : 0;
}

/* The kernel's own pages, which have no frames and cannot all be read. */
static bool
mapping_kernels(const struct mapping *map)
{
	return !strncmp(map->path, "[vvar", 5) ||
	       !strcmp(map->path, "[vsyscall]");
}

static int
memory_search(struct memory_search *s)
{
	struct mapping *maps;
	int err = 0;
	size_t n;

	if (s->run->host->maps(s->task->tid, &maps, &n))
		return -1;
	for (size_t i = 0; i < n && !err; i++)
		if (!mapping_kernels(&maps[i]))
			err = mapping_search_rest(s, &maps[i]);
	mappings_free(maps, n);
	return err;
}

/* ---- registers */

/* A probe may have put registers aside. */
static void
scratch_note(struct memory_search *s, const struct task *task)
{
	uint64_t words[SCRATCH_SLOTS];
	uint64_t va = thread_pages_va(task) + region_scratch.offset;

	if (!s->run->host->data_read(task->tid, va, words, sizeof(words)))
		for (size_t i = 0; i < SCRATCH_SLOTS; i++)
			word_note(s, words[i]);
}

static void
registers_note(struct run *run, struct task *task, void *ctx)
{
	struct memory_search *s = ctx;
	struct regs regs;

	if (!task->process || task->process->space != s->task->process->space ||
	    (task != s->task && task->state != TASK_STOPPED) ||
	    run->host->regs_get(task->tid, &regs))
		return;
	for (size_t i = 0; i < sizeof(regs.r) / sizeof(regs.r[0]); i++)
		if (task != s->task ||
		    (i != run->arch->reg_pc && regs.r[i] != s->called))
			word_note(s, regs.r[i]);
	s->there |= task == s->task;
	if (task->thread_page && task->process->space->thread_pages)
		scratch_note(s, task);
}

/* ---- what to search for, and where not */

static void
texts_make(struct memory_search *s)
{
	const struct space *space = s->task->process->space;

	for (size_t i = 0; i < space->nmodules; i++) {
		const struct module *module = space->modules[i];

		if (plan_infers(module->plan))
			*vec_push(s->texts, s->ntexts) = (struct text){
				.lo = module->lo,
				.hi = module->hi,
				.found = mem_alloc(
					((module->hi - module->lo) / 64 + 1) *
					sizeof(uint64_t)),
			};
	}
	if (s->ntexts)
		qsort(s->texts, s->ntexts, sizeof(*s->texts), text_by_lo);
}

static int
own_add(void *ctx, uint64_t va, uint64_t size)
{
	struct memory_search *s = ctx;

	*vec_push(s->own, s->nown) = (struct range){ va, va + size };
	return 0;
}

static void
own_make(struct memory_search *s)
{
	const struct space *space = s->task->process->space;

	for (size_t i = 0; i < space->nown; i++)
		*vec_push(s->own, s->nown) = space->own[i];
	thread_pages_each(space, own_add, s);
	if (s->nown)
		qsort(s->own, s->nown, sizeof(*s->own), by_lo);
}

/* The frames that are known, but for the innermost, are in calls. */
static void
slots_make(struct memory_search *s, const struct stack_switch *stack_switch)
{
	for (size_t i = 0; i < stack_switch->n; i++) {
		const struct frame_edge *at = &stack_switch->frame_edges[i];

		if (i && at->during && at->sp)
			*vec_push(s->slots, s->nslots) = at->sp - WORD;
	}
	if (s->nslots)
		qsort(s->slots, s->nslots, sizeof(*s->slots), by_number);
	if (stack_switch->n && stack_switch->frame_edges[0].during)
		s->called = stack_switch->frame_edges[0].va;
}

/*
 * Whether the innermost frame's stack is still there: a thread may have unmapped
 * its stack before its end, and the return addresses with it.
 */
static bool
stack_there(const struct memory_search *s)
{
	const struct run *run = s->run;
	uint64_t sp, word;

	return !run->host->reg_get(s->task->tid, run->arch->reg_sp, &sp) &&
	       !run->host->data_read(s->task->tid, sp, &word, sizeof(word));
}

/* ---- what was found */

/* Whether a function may be in a call that returns to addr. */
static bool
returns_to(const struct plan *plan, uint64_t addr)
{
	uint32_t fplan = plan_func(plan, addr - 1);

	return fplan != FPLAN_NONE && plan->fplans[fplan].units &&
	       plan->fplans[fplan].state != FPLAN_WAITING;
}

static void
found_tell(const struct module *module, const struct text *text)
{
	uint64_t *addrs = NULL, size = text->hi - text->lo;
	size_t n = 0;

	for (uint64_t at = 0; at <= size; at++) {
		uint64_t addr = text->lo + at - module->bias;

		if (!text->found[at / 64])
			at |= 63;
		else if (text->found[at / 64] >> at % 64 & 1 &&
			 returns_to(module->plan, addr))
			*vec_push(addrs, n) = addr;
	}
	plan_calls_ambiguous(module->plan, addrs, n);
	free(addrs);
}

/* Whether some module gains from a search: its calls are not yet in doubt. */
static bool
search_helps(const struct space *space)
{
	for (size_t i = 0; i < space->nmodules; i++) {
		const struct plan *plan = space->modules[i]->plan;

		if (plan_infers(plan) && !plan->wish.leaks &&
		    !plan->calls_underivable && !plan->underivable)
			return true;
	}
	return false;
}

static void
handlers_count(struct run *run, struct task *task, void *ctx)
{
	struct handlers *handlers = ctx;

	if (task->process && task->process->space == handlers->space)
		handlers->n += task->nmoved_pcs;
}

/*
 * Whether a handler may have been left by code that has no hooks, as Lisp does
 * for an error: its frames were left at a time of which nothing is known.
 */
static bool
handler_left(struct run *run, const struct task *task)
{
	struct handlers handlers = { task->process->space, 0 };

	task_each(run, handlers_count, &handlers);
	return handlers.n || handlers.space->handler_left;
}

static void
search_tell(struct memory_search *s, const char *why)
{
	const struct space *space = s->task->process->space;

	for (size_t i = 0; i < space->nmodules; i++) {
		const struct module *module = space->modules[i];

		for (size_t k = 0; k < s->ntexts; k++)
			if (plan_infers(module->plan) &&
			    s->texts[k].lo == module->lo)
				found_tell(module, &s->texts[k]);
	}
	space_calls_ambiguous(s->run, s->task->process->space, REASON_STACK,
			      why);
}

/* What else may be known of the frames is known. */
static void
switch_settled(struct stack_switch *stack_switch)
{
	free(stack_switch->unknown);
	stack_switch->unknown = NULL;
}

void
ambiguous_settle(struct run *run, struct task *task,
		 struct stack_switch *stack_switch)
{
	struct memory_search *s;

	if (!stack_switch->unknown || !run->host->native ||
	    !search_helps(task->process->space) || handler_left(run, task))
		return;
	if (run->searched.look &&
	    task->process->space->searched == run->searched.look) {
		switch_settled(stack_switch);
		return;
	}
	s = mem_alloc(sizeof(*s));
	s->run = run;
	s->task = task;
	texts_make(s);
	own_make(s);
	slots_make(s, stack_switch);
	/* A trap stays one. */
	if (task->stop.cause >= STOP_TRAPS)
		stop_is(run, task, STOP_SEARCHED);
	if (stack_there(s) && !memory_search(s))
		task_each(run, registers_note, s);
	if (s->there) {
		search_tell(s, stack_switch->unknown);
		task->process->space->searched = run->searched.look;
		switch_settled(stack_switch);
	}
	for (size_t i = 0; i < s->ntexts; i++)
		free(s->texts[i].found);
	free(s->texts);
	free(s->own);
	free(s->slots);
	free(s);
}
