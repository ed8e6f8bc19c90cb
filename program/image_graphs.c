/*
 * Makes graphs of an image's code, from what the image knows and with flow/.
 * Owns the list of functions that are known by name never to return.
 */
#include "program/image_graphs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "flow/constant.h"
#include "flow/returns.h"
#include "util/addrs.h"
#include "util/mem.h"
#include "util/search.h"

struct graphs {
	const struct image *image;
	struct returns *returns;
	struct returns *after_all;	/* the same after graphs_return, or
					   NULL */
	struct range *returning;	/* what graphs_return has noted */
	size_t nreturning;
	struct range followed;	/* callee_at allowed this range last */
	bool parted;		/* the graph being made may have parts */
	long budget;		/* instructions of other functions that may
				   still be decoded for it */
	struct range other;	/* the latest of their ranges, ... */
	uint64_t *begun;	/* ... and where instructions begin, from its
				   first on, as far as it was decoded */
	size_t nbegun;
};

/* What a graph may cost in other functions: not much more than the function. */
enum { BUDGET_MIN = 1 << 14, BUDGET_BYTE = 64, BUDGET_MAX = 1 << 18 };

/*
 * Functions of C, POSIX, glibc, the C++ ABI and the C++ library that never
 * return; ascending.
 */
static const char *const never[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt21__glibcxx_assert_failPKciS0_S0_",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_terminate",
	"__cxa_call_unexpected",
	"__cxa_deleted_virtual",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_length",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_longjmp",
	"__libc_siglongjmp",
	"__libc_start_main",
	"__longjmp",
	"__longjmp_chk",
	"__stack_chk_fail",
	"__stack_chk_fail_local",
	"_exit",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

static int
name_compare(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

static bool
name_never(const char *name)
{
	const char *p = name;

	if (bsearch(name, never, sizeof(never) / sizeof(*never), sizeof(*never),
		    name_compare))
		return true;
	/* std::__throw_length_error(char const *) and the like. */
	if (strncmp(p, "_ZSt", 4) != 0)
		return false;
	for (p += 4; isdigit((unsigned char)*p); p++)
		;
	return strncmp(p, "__throw_", 8) == 0;
}

/* The function whose entry is addr, or NULL. */
static const struct func *
func_at(const struct image *image, uint64_t addr)
{
	size_t lo = search_first(image->nfuncs, i,
				 image->funcs[i].addr >= addr);

	if (lo < image->nfuncs && image->funcs[lo].addr == addr)
		return &image->funcs[lo];
	return NULL;
}

static enum returns_hint
function_hint(void *ctx, uint64_t addr)
{
	const struct graphs *graphs = ctx;
	const struct func *func = func_at(graphs->image, addr);

	if (!func)
		return RETURNS_LOOK;
	if (name_never(func->name))
		return RETURNS_NEVER;
	for (size_t i = 0; i < func->naliases; i++)
		if (name_never(func->aliases[i]))
			return RETURNS_NEVER;
	return RETURNS_LOOK;
}

static bool
code_returning(void *ctx, uint64_t addr)
{
	const struct graphs *graphs = ctx;

	return range_has(graphs->returning, graphs->nreturning, addr);
}

static enum returns_hint
import_hint(void *ctx, uint64_t slot)
{
	const struct graphs *graphs = ctx;
	const char *name = image_import(graphs->image, slot);

	return name && name_never(name) ? RETURNS_NEVER : RETURNS_LOOK;
}

static const uint8_t *
text_at(void *ctx, uint64_t addr, size_t *avail)
{
	return image_text(((struct graphs *)ctx)->image, addr, avail);
}

/*
 * Select the addresses, of n ascending ones, that are in the ranges: ascending,
 * *found of them, owned by the caller.
 */
static uint64_t *
addrs_in(const uint64_t *addrs, size_t n, const struct range *ranges,
	 size_t nranges, size_t *found)
{
	uint64_t *in = NULL;

	*found = 0;
	for (size_t i = 0; i < nranges; i++) {
		size_t lo = search_first(n, j, addrs[j] >= ranges[i].lo);

		for (; lo < n && addrs[lo] < ranges[i].hi; lo++)
			*vec_push(in, *found) = addrs[lo];
	}
	addrs_sort(in, *found);
	return in;
}

/* The function whose first range contains addr, or NULL. */
static const struct func *
func_around(const struct image *image, uint64_t addr)
{
	size_t lo = search_first(image->nfuncs, i, image->funcs[i].addr > addr);

	if (!lo || !image->funcs[lo - 1].nranges ||
	    addr >= image->funcs[lo - 1].ranges[0].hi)
		return NULL;
	return &image->funcs[lo - 1];
}

/*
 * The code at addr, in which to look for returns.  NULL in functions with
 * landing pads, and in those of OCaml that call: such a function may catch an
 * exception and return although no path leads there from its entry.
 */
static const uint8_t *
callee_at(void *ctx, uint64_t addr, size_t *avail)
{
	struct graphs *graphs = ctx;
	const struct image *image = graphs->image;
	const struct func *func;
	size_t npads, nframes;

	if ((!image->npads && !image->nframes) ||
	    (addr >= graphs->followed.lo && addr < graphs->followed.hi))
		return image_text(image, addr, avail);
	func = func_around(image, addr);
	if (func) {
		free(addrs_in(image->pads, image->npads, func->ranges,
			      func->nranges, &npads));
		free(addrs_in(image->frames, image->nframes, func->ranges,
			      func->nranges, &nframes));
		if (npads || nframes)
			return NULL;
		graphs->followed = func->ranges[0];
	}
	return image_text(image, addr, avail);
}

const struct range *
image_part(const struct image *image, uint64_t addr)
{
	size_t lo = search_first(image->nparts, i, image->parts[i].lo > addr);

	if (lo && addr < image->parts[lo - 1].hi)
		return &image->parts[lo - 1];
	return NULL;
}

/* Where the code behind addr begins, if a function or a part ends there. */
static uint64_t
code_behind(void *ctx, uint64_t addr)
{
	const struct image *image = ((struct graphs *)ctx)->image;
	const struct func *func = func_around(image, addr - 1);
	const struct range *part = image_part(image, addr - 1);
	size_t f = search_first(image->nfuncs, i, image->funcs[i].addr >= addr);
	size_t p = search_first(image->nparts, i, image->parts[i].lo >= addr);
	uint64_t next = f < image->nfuncs ? image->funcs[f].addr : 0;

	if ((!func || func->ranges[0].hi != addr) &&
	    (!part || part->hi != addr))
		return 0;
	if (p < image->nparts && (!next || image->parts[p].lo < next))
		next = image->parts[p].lo;
	return next;
}

static const uint8_t *
data_at(void *ctx, uint64_t addr, size_t *avail)
{
	return image_data(((struct graphs *)ctx)->image, addr, avail);
}

static bool
call_returns(void *ctx, const struct insn *call)
{
	return returns_call(((struct graphs *)ctx)->returns, call);
}

bool
range_has(const struct range *ranges, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (addr >= ranges[i].lo && addr < ranges[i].hi)
			return true;
	return false;
}

/*
 * Decode the instruction at addr in another function; false if there is none,
 * or too many were decoded.
 */
static bool
other_decode(struct graphs *graphs, uint64_t addr, struct insn *insn)
{
	const struct image *image = graphs->image;
	size_t avail;
	const uint8_t *code = image_text(image, addr, &avail);

	return graphs->budget-- > 0 && code &&
	       !image->arch->decode(code, avail, addr, insn);
}

/* Begin to decode a range of another function, unless it is the latest. */
static void
other_begin(struct graphs *graphs, const struct range *range, uint64_t first)
{
	if (graphs->nbegun && graphs->other.lo == range->lo &&
	    graphs->other.hi == range->hi && graphs->begun[0] == first)
		return;
	graphs->other = *range;
	graphs->nbegun = 0;
	*vec_push(graphs->begun, graphs->nbegun) = first;
}

/*
 * Whether an instruction of the function begins at addr, for all that is known:
 * as if the function had nothing but instructions.
 */
static bool
insn_begins(struct graphs *graphs, const struct func *func, uint64_t addr)
{
	struct insn insn = { .len = 0 };

	for (size_t i = 0; i < func->nranges; i++) {
		uint64_t at = func->ranges[i].lo;
		size_t found;

		if (!range_has(&func->ranges[i], 1, addr))
			continue;
		if (at == func->addr)
			at = graphs->image->arch->first(at);
		other_begin(graphs, &func->ranges[i], at);
		while ((at = graphs->begun[graphs->nbegun - 1]) < addr) {
			if (!other_decode(graphs, at, &insn))
				return true;
			at += insn.len;
			*vec_push(graphs->begun, graphs->nbegun) = at;
		}
		found = search_first(graphs->nbegun, k,
				     graphs->begun[k] >= addr);
		return graphs->begun[found] == addr;
	}
	return true;
}

static enum cfg_place
place_of(void *ctx, uint64_t addr)
{
	struct graphs *graphs = ctx;
	const struct image *image = graphs->image;
	const struct func *func;

	if (func_at(image, addr))
		return CFG_ENTRY;
	if (image_is_data(image, addr))
		return CFG_NONE;
	func = image_func(image, addr);
	if (!func)
		return graphs->parted && image_part(image, addr) ? CFG_MIDDLE :
								   CFG_UNKNOWN;
	return insn_begins(graphs, func, addr) ? CFG_MIDDLE : CFG_NONE;
}

static bool
insn_mentions(const struct image *image, uint64_t at, uint64_t addr)
{
	struct effect effect;
	size_t avail;
	const uint8_t *code = image_text(image, at, &avail);

	return !image->arch->effect(code, avail, at, &effect) &&
	       effect.src.kind == PLACE_MEM && effect.src.reg == REG_NONE &&
	       (uint64_t)effect.src.disp == addr;
}

static bool
func_mentions(void *ctx, uint64_t code, uint64_t addr)
{
	struct graphs *graphs = ctx;
	const struct func *func = image_func(graphs->image, code);
	struct insn insn;

	for (size_t i = 0; func && i < func->nranges; i++)
		for (uint64_t at = func->ranges[i].lo;
		     at < func->ranges[i].hi && other_decode(graphs, at, &insn);
		     at += insn.len)
			if (insn_mentions(graphs->image, at, addr))
				return true;
	return false;
}

static struct returns *
returns_begin(struct graphs *graphs,
	      bool (*after_all)(void *ctx, uint64_t addr))
{
	return returns_open(&(struct returns_input){
		.arch = graphs->image->arch,
		.text = callee_at,
		.function = function_hint,
		.import = import_hint,
		.behind = code_behind,
		.after_all = after_all,
		.ctx = graphs,
	});
}

struct graphs *
graphs_open(const struct image *image)
{
	struct graphs *graphs = mem_alloc(sizeof(*graphs));

	graphs->image = image;
	graphs->returns = returns_begin(graphs, NULL);
	return graphs;
}

void
graphs_return(struct graphs *graphs, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*vec_push(graphs->returning, graphs->nreturning) = ranges[i];
	returns_close(graphs->after_all);
	graphs->after_all = NULL;
}

bool
graphs_comes_back(struct graphs *graphs, const struct insn *call)
{
	if (!graphs->after_all)
		graphs->after_all = returns_begin(graphs, code_returning);
	return returns_call(graphs->after_all, call);
}

void
graphs_close(struct graphs *graphs)
{
	if (!graphs)
		return;
	returns_close(graphs->returns);
	returns_close(graphs->after_all);
	free(graphs->returning);
	free(graphs->begun);
	free(graphs);
}

/* Add the part with the target, if there is one, to the ranges. */
static bool
part_add(const struct image *image, uint64_t target, struct range **ranges,
	 size_t *n)
{
	const struct range *part = range_has(*ranges, *n, target) ?
					   NULL :
					   image_part(image, target);

	if (part)
		*vec_push(*ranges, *n) = *part;
	return part;
}

/*
 * Add parts to which the graph jumps to the ranges; true if any is new.  Where
 * not all targets of jumps are known, some entries of tables may be none.
 */
static bool
parts_add(const struct image *image, const struct cfg *cfg,
	  struct range **ranges, size_t *n)
{
	bool added = false;

	for (size_t i = 0; i < cfg->ninsns && image->nparts; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH)
			added |= part_add(image, insn->target, ranges, n);
	}
	for (size_t i = 0; i < cfg->nouts && !cfg->unresolved; i++)
		added |= part_add(image, cfg->outs[i], ranges, n);
	return added;
}

/* Landing pads and other places entered from outside, ascending. */
static uint64_t *
pads_in(const struct image *image, const struct graph_input *input,
	const struct range *ranges, size_t n, size_t *npads)
{
	uint64_t *pads = addrs_in(image->pads, image->npads, ranges, n, npads);
	uint64_t *more;
	size_t nmore;

	if (!input->nexternal)
		return pads;
	more = addrs_in(input->external, input->nexternal, ranges, n, &nmore);
	for (size_t i = 0; i < nmore; i++)
		*vec_push(pads, *npads) = more[i];
	addrs_sort(pads, *npads);
	free(more);
	return pads;
}

static long
budget_of(const struct range *range)
{
	uint64_t size = range->hi - range->lo;

	return size < BUDGET_MAX ? (long)size * BUDGET_BYTE : BUDGET_MAX;
}

static struct cfg *
ranges_graph(struct graphs *graphs, const struct graph_input *input,
	     const struct range *ranges, size_t n)
{
	const struct image *image = graphs->image;
	uint64_t *lo = mem_alloc(2 * n * sizeof(*lo)), *hi = lo + n;
	struct cfg_input in = {
		.arch = image->arch,
		.lo = lo,
		.hi = hi,
		.n = n,
		.leaders = input->leaders,
		.nleaders = input->nleaders,
		.text = text_at,
		.data = data_at,
		.returns = call_returns,
		.place = place_of,
		.mentions = func_mentions,
		.ctx = graphs,
		.calls_end = input->calls_end,
		.relocated = image->dyn,
		.ocaml = image->ocaml,
	};
	uint64_t *pads, *refs, *frames;
	struct cfg *cfg;

	graphs->parted = input->entry;
	graphs->budget = BUDGET_MIN;
	graphs->nbegun = 0;
	for (size_t i = 0; i < n; i++) {
		lo[i] = ranges[i].lo;
		hi[i] = ranges[i].hi;
		graphs->budget += budget_of(&ranges[i]);
	}
	if (graphs->budget > BUDGET_MAX)
		graphs->budget = BUDGET_MAX;
	if (input->entry)
		lo[0] = image->arch->first(lo[0]);
	in.pads = pads = pads_in(image, input, ranges, n, &in.npads);
	in.refs = refs = addrs_in(image->refs, image->nrefs, ranges, n,
				  &in.nrefs);
	in.frames = frames = addrs_in(image->frames, image->nframes, ranges, n,
				      &in.nframes);
	cfg = cfg_make(&in);
	free(pads);
	free(refs);
	free(frames);
	free(lo);
	return cfg;
}

struct cfg *
graph_make(struct graphs *graphs, const struct graph_input *input)
{
	struct range *all = NULL;
	struct cfg *cfg;
	size_t nall = 0;

	for (size_t i = 0; i < input->n; i++)
		*vec_push(all, nall) = input->ranges[i];
	cfg = ranges_graph(graphs, input, all, nall);
	while (input->entry && !input->apart &&
	       parts_add(graphs->image, cfg, &all, &nall)) {
		cfg_free(cfg);
		cfg = ranges_graph(graphs, input, all, nall);
	}
	free(all);
	return cfg;
}

bool
graph_constant(struct graphs *graphs, const struct cfg *cfg, size_t insn,
	       uint8_t reg, uint64_t *value)
{
	struct cfg_input in = {
		.arch = graphs->image->arch,
		.text = text_at,
		.data = data_at,
		.ctx = graphs,
	};

	return constant_at(cfg, &in, insn, reg, value);
}
