/*
 * Puts relocated functions in place in this process, runs and traces them.
 */
#include "relocate/patch_bytes.h"
#include "tests/lib/relocation.h"

struct thread_page {
	uint64_t words[PAGE_COUNTERS / 8 + PAGE_COUNTER_MAX];
};

static struct thread_page thread_page;

/* State for the signal handler.  One function at a time is traced. */
static struct relocation *installed[INSTALLED_MAX];

uint64_t guards[GUARDS_MAX];

unsigned nguards;

static uint64_t ntraps;

unsigned long nstays;

struct trace trace;

uint8_t *relocated_room;

static size_t room_used;	/* bytes of it, by relocated functions */

static uint32_t counters_used;

static uint64_t
step_reg(const ucontext_t *uc, int i)
{
	return (uint64_t)uc->uc_mcontext.gregs[i];
}

static void
trace_step(const ucontext_t *uc)
{
	static const int order[16] = {
		REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX,
		REG_R11, REG_R10, REG_R9,  REG_R8,  REG_RAX, REG_RCX,
		REG_RDX, REG_RSI, REG_RDI, REG_RSP,
	};
	struct step *step = &trace.steps[trace.n];
	uint64_t offset = step_reg(uc, REG_RIP) - trace.base;

	if (trace.hits) {
		if (offset < trace.size)
			trace.hits[offset]++;
		return;
	}
	if (trace.n == TRACE_MAX)
		abort();
	step->pc = step_reg(uc, REG_RIP);
	for (int i = 0; i < 16; i++)
		step->regs[i] = step_reg(uc, order[i]);
	trace.n++;
}

/* Follow a trap that leads into a relocated function; false if it does not. */
static bool
trap_follow(ucontext_t *uc)
{
	uint64_t pc = step_reg(uc, REG_RIP) - 1;

	for (unsigned i = 0; i < INSTALLED_MAX; i++) {
		const struct relocation *c = installed[i];
		const struct entry_patch *entry_patch =
			c ? relocated_entry_patch(c->relocated,
						  pc - c->place.bias) :
			    NULL;

		if (!entry_patch || entry_patch->via != VIA_TRAP)
			continue;
		ntraps++;
		if (entry_patch->kind == ENTRY_PATCH_GUARD &&
		    nguards < GUARDS_MAX)
			guards[nguards++] = entry_patch->addr;
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(c->place.va +
							  entry_patch->offset);
		return true;
	}
	return false;
}

/* Check that no patch changes a byte that still runs in place. */
static void
stays_check(const struct relocation *c)
{
	const struct relocated_place place = { .va = c->place.va };
	struct code_patch patches[2];

	for (uint32_t i = 0; i < c->relocated->nentry_patches; i++) {
		int n = entry_patch_bytes(c->relocated,
					  &c->relocated->entry_patches[i],
					  &place, patches);

		while (n-- > 0)
			for (unsigned k = 0; k < patches[n].len; k++)
				for (size_t s = 0; s < c->relocated->nstays;
				     s++)
					if (patches[n].va + k -
						    c->relocated->stays[s].lo <
					    c->relocated->stays[s].hi -
						    c->relocated->stays[s].lo)
						abort();
	}
	nstays += c->relocated->nstays;
}

static void
on_trap(int sig, siginfo_t *info, void *ctx)
{
	ucontext_t *uc = ctx;

	/* A step's code is TRAP_TRACE, or TRAP_BRKPT on some machines. */
	if (info->si_code == SI_KERNEL && !trap_follow(uc))
		abort();
	if (!trace.on) {
		uc->uc_mcontext.gregs[REG_EFL] &= ~INT64_C(0x100);
		return;
	}
	uc->uc_mcontext.gregs[REG_EFL] |= 0x100;
	trace_step(uc);
}

static int
object_find(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct object *object = ctx;
	uint64_t va = object->bias;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD &&
		    va >= info->dlpi_addr + ph->p_vaddr &&
		    va < info->dlpi_addr + ph->p_vaddr + ph->p_memsz) {
			object->bias = info->dlpi_addr;
			return 1;
		}
	}
	return 0;
}

void
object_open(struct object *object, const char *path, const void *inside)
{
	struct sigaction sa = { .sa_sigaction = on_trap,
				.sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGTRAP, &sa, NULL);
	syscall(SYS_arch_prctl, ARCH_SET_GS, &thread_page);
	if (!trace.steps)
		trace.steps = mem_alloc(TRACE_MAX * sizeof(*trace.steps));
	object->bias = (uint64_t)(uintptr_t)inside;
	dl_iterate_phdr(object_find, object);
	object->image = image_open(path, NULL, IMAGE_FLOW, NULL, NULL);
	if (!object->image) {
		fprintf(stderr, "%s\n", fail_message());
		abort();
	}
	object->graphs = graphs_open(object->image);
}

void
object_close(struct object *object)
{
	graphs_close(object->graphs);
	image_close(object->image);
}

/* Map memory for relocated functions within reach of va. */
static uint8_t *
room_near(uint64_t va)
{
	for (uint64_t at = (va & ~UINT64_C(0xfffff)) - (16 << 20);
	     at > va - (UINT64_C(1) << 30); at -= 1 << 20) {
		void *p = mmap((void *)at, RELOCATED_ROOM,
			       PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS |
				       MAP_FIXED_NOREPLACE,
			       -1, 0);

		if (p == (void *)at)
			return p;
		if (p != MAP_FAILED)
			munmap(p, RELOCATED_ROOM);
	}
	abort();
}

static const uint8_t *
relocation_text(void *ctx, uint64_t addr, size_t *avail)
{
	return image_text(ctx, addr, avail);
}

/* Per arc, whether a locked counter would change flags in use there. */
static bool *
spoilt_make(const struct relocation *c)
{
	return relocated_spoilt(&(struct relocate_input){
		.arch = c->object->image->arch,
		.cfg = c->cfg,
		.flow = c->flow,
		.text = relocation_text,
		.ctx = c->object->image,
	});
}

struct relocation *
relocation_make(const struct object *object, const struct func *func,
		const struct make_options *options, bool none)
{
	struct relocation *c = mem_alloc(sizeof(*c));
	struct placement_input input = {
		.method = options->method,
		.tables = options->tables,
		.whole = true,
		.cost = relocated_cost,
	};
	struct probe_list list = { 0 };
	bool *wanted, *spoilt = NULL;

	c->object = object;
	c->cfg = graph_make(object->graphs, &(struct graph_input){
						    .ranges = func->ranges,
						    .n = func->nranges,
						    .entry = true,
					    });
	c->flow = flow_build(c->cfg, NULL, 0);
	c->weights = weights_guess(c->flow, NULL);
	wanted = mem_alloc(flow_arcs(c->flow) + 1);
	if (options->entry_only) {
		wanted[arc_of_block(c->flow, c->flow->edges[0].to)] = true;
		input.wanted = wanted;
	}
	if (options->shared)
		input.ctx = spoilt = spoilt_make(c);
	c->placement = placement_make(c->flow, c->weights, &input);
	free(wanted);
	free(spoilt);
	if (none)
		c->placement->narcs = 0;
	list.slot = counters_used;
	probes_count(&list, c->placement);
	c->probes = list.probes;
	for (uint32_t i = 0; options->operand && i < c->placement->narcs; i++)
		c->probes[i].operand = options->operand;
	c->operand = options->operand ? options->operand : 1;
	c->relocated = relocated_make(&(struct relocate_input){
		.arch = object->image->arch,
		.cfg = c->cfg,
		.flow = c->flow,
		.weights = c->weights,
		.probes = c->probes,
		.nprobes = c->placement->narcs,
		.slot = counters_used + c->placement->narcs,
		.shared = options->shared,
		.extent = options->extent,
		.text = relocation_text,
		.ctx = object->image,
		.spares = options->spares,
		.nspares = options->nspares,
	});
	c->locked = options->shared;
	return c;
}

void
relocation_free(struct relocation *c)
{
	relocated_free(c->relocated);
	free(c->probes);
	placement_free(c->placement);
	weights_free(c->weights);
	flow_free(c->flow);
	cfg_free(c->cfg);
	free(c->undo);
	free(c->counts);
	free(c);
}

static void
text_write(uint64_t va, const void *bytes, size_t len)
{
	uint64_t page = va & ~UINT64_C(4095);

	if (mprotect((void *)page, va + len - page,
		     PROT_READ | PROT_WRITE | PROT_EXEC))
		abort();
	memcpy((void *)va, bytes, len);
}

void
room_reset(void)
{
	room_used = 0;
	counters_used = 0;
}

static void
relocation_place(struct relocation *c)
{
	uint32_t n;

	if (!relocated_room)
		relocated_room = room_near(c->object->bias +
					   c->cfg->insns[0].addr);
	room_used = (room_used + c->relocated->align - 1) &
		    ~(size_t)(c->relocated->align - 1);
	c->place = (struct relocated_place){
		.va = (uint64_t)relocated_room + room_used,
		.bias = c->object->bias,
		.slots = PAGE_COUNTERS,
		.page.scratch = PAGE_SCRATCH,
	};
	c->counters = thread_page.words + PAGE_COUNTERS / 8;
	if (c->locked) {
		c->counters = (uint64_t *)(relocated_room +
					   RELOCATED_ROOM / 8 * 7);
		c->place.slots = (uint64_t)c->counters;
	}
	c->counters += counters_used;
	c->slot = counters_used;
	room_used += c->relocated->size;
	n = c->relocated->nprobes;
	counters_used += n;
	if (room_used > RELOCATED_ROOM / 8 * 7 ||
	    counters_used > PAGE_COUNTER_MAX)
		abort();
	memset(c->counters, 0, n * sizeof(*c->counters));
}

void
relocation_install(struct relocation *c)
{
	struct code_patch patches[2];
	size_t nundo = 0;
	unsigned slot = 0;

	relocation_place(c);
	stays_check(c);
	if (relocated_write(c->relocated, &c->place, (uint8_t *)c->place.va))
		abort();
	c->undo = mem_alloc(2 * INSN_MAX * c->relocated->nentry_patches + 1);
	for (uint32_t i = 0; i < c->relocated->nentry_patches; i++) {
		int n = entry_patch_bytes(c->relocated,
					  &c->relocated->entry_patches[i],
					  &c->place, patches);

		if (n < 0)
			abort();
		for (int k = n - 1; k >= 0; k--) {
			memcpy(c->undo + nundo, (void *)patches[k].va,
			       patches[k].len);
			nundo += patches[k].len;
			text_write(patches[k].va, patches[k].bytes,
				   patches[k].len);
		}
	}
	while (installed[slot])
		if (++slot == INSTALLED_MAX)
			abort();
	installed[slot] = c;
}

void
relocation_remove(struct relocation *c)
{
	struct code_patch patches[2];
	size_t nundo = 0;
	int n;

	for (uint32_t i = 0; i < c->relocated->nentry_patches; i++) {
		n = entry_patch_bytes(c->relocated,
				      &c->relocated->entry_patches[i],
				      &c->place, patches);
		for (int k = n - 1; k >= 0; k--) {
			text_write(patches[k].va, c->undo + nundo,
				   patches[k].len);
			nundo += patches[k].len;
		}
	}
	for (unsigned i = 0; i < INSTALLED_MAX; i++)
		if (installed[i] == c)
			installed[i] = NULL;
}

void
relocation_sum(const struct relocation *c, uint64_t *sums)
{
	uint32_t n = c->placement->narcs;

	relocated_sum(c->relocated, c->counters - c->slot,
		      c->slot + c->relocated->nprobes, sums, n);
	for (uint32_t i = 0; i < n; i++) {
		if ((int64_t)sums[i] % c->operand)
			abort();
		sums[i] = (uint64_t)((int64_t)sums[i] / c->operand);
	}
}

enum propagated
relocation_propagate(struct relocation *c)
{
	uint64_t *sums = mem_alloc((c->placement->narcs + 1) * sizeof(*sums));
	enum propagated result;

	relocation_sum(c, sums);
	c->counts = mem_alloc((flow_arcs(c->flow) + 1) * sizeof(*c->counts));
	result = propagate(c->flow, c->placement,
			   &(struct measured){ .counters = sums }, c->counts,
			   NULL);
	free(sums);
	return result;
}
