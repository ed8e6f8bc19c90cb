/*
 * Plants traps at calls and hooks, follows tasks and counts.
 */
#include "tests/lib/watcher.h"

#include "arch/abi.h"

/* ---- the program's calls */

static bool
watch_wanted(const struct func *func)
{
	return strstr(func->name, "t_") || !strcmp(func->name, "main");
}

static bool
watch_emulated(const struct image *image, uint64_t addr)
{
	struct emul emul;
	size_t avail;
	const uint8_t *code = image_text(image, addr, &avail);

	return code && !image->arch->emul_prepare(code, avail, addr, &emul);
}

static bool
is_call(const struct insn *insn)
{
	return insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT;
}

/* Add the calls of one range of code, and the targets of its branches. */
static void
watch_range(struct watched_image *of, const struct range *range,
	    uint64_t **targets, size_t *ntargets)
{
	const struct image *image = of->image;
	uint64_t addr = range->lo;
	const uint8_t *code;
	struct insn insn;
	size_t avail;

	while (addr < range->hi) {
		code = image_text(image, addr, &avail);
		must(code && !image->arch->decode(code, avail, addr, &insn));
		addr += insn.len;
		if (insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH)
			*vec_push(*targets, *ntargets) = insn.target;
		if (is_call(&insn) && addr < range->hi &&
		    watch_emulated(image, insn.addr) &&
		    watch_emulated(image, addr))
			*vec_push(of->balances,
				  of->nbalances) = (struct balance){ insn.addr,
								     addr };
	}
}

static bool
watch_joined(uint64_t addr, const uint64_t *addrs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (addrs[i] == addr)
			return true;
	return false;
}

static void
watch_func(struct watched_image *of, const struct func *func)
{
	const struct image *image = of->image;
	uint64_t *targets = NULL, ret;
	size_t ntargets = 0, kept = of->nbalances, i = kept;

	for (size_t k = 0; k < func->nranges; k++)
		watch_range(of, &func->ranges[k], &targets, &ntargets);
	for (; i < of->nbalances; i++) {
		ret = of->balances[i].ret;
		if (!watch_joined(ret, targets, ntargets) &&
		    !watch_joined(ret, image->pads, image->npads))
			of->balances[kept++] = of->balances[i];
	}
	of->nbalances = kept;
	free(targets);
}

static void
watch_calls(struct watched_image *of)
{
	const struct image *image = of->image;

	for (size_t i = 0; i < image->nfuncs; i++)
		if (watch_wanted(&image->funcs[i]))
			watch_func(of, &image->funcs[i]);
}

static struct watched_image *
watch_image(struct watcher *watcher, const char *path)
{
	struct watched_image *of;

	for (size_t i = 0; i < watcher->nimages; i++)
		if (!strcmp(watcher->images[i].image->path, path))
			return &watcher->images[i];
	if (!watcher->images)
		watcher->images = mem_alloc(64 * sizeof(*watcher->images));
	must(watcher->nimages < 64);
	of = &watcher->images[watcher->nimages];
	of->image = image_open(path, NULL, IMAGE_FLOW, NULL, NULL);
	if (!of->image)
		return NULL;
	watcher->nimages++;
	for (size_t i = 0; i < of->image->nfuncs; i++)
		hook_find(of->image, &of->image->funcs[i],
			  HOOKS_EXECS | HOOKS_SWITCHES, &of->hooks,
			  &of->nhooks);
	if (!strcmp(path, watcher->program))
		watch_calls(of);
	return of;
}

/* ---- traps */

static void
watch_trap(struct watched_space *space, pid_t tid, uint64_t va)
{
	must(!host_ptrace.mem_write(space->mem, tid, va, "\xcc", 1));
}

static void
watch_plant(struct watched_space *space, pid_t tid,
	    const struct watched_module *module)
{
	const struct watched_image *of = module->of;

	for (size_t i = 0; i < of->nhooks; i++)
		watch_trap(space, tid, of->hooks[i].addr + module->bias);
	for (size_t i = 0; i < of->nbalances; i++) {
		watch_trap(space, tid, of->balances[i].call + module->bias);
		watch_trap(space, tid, of->balances[i].ret + module->bias);
	}
}

/* Plant traps in the modules mapped since the last time. */
static void
watch_maps(struct watcher *watcher, struct watched_task *task)
{
	struct watched_space *space = task->space;
	struct watched_module module;
	struct mapping *maps;
	size_t n, text = 0, at;

	if (watcher->host->maps(task->tid, &maps, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!maps[i].exec || !maps[i].ino || maps[i].path[0] != '/')
			continue;
		for (at = 0; at < space->nmodules; at++)
			if (space->modules[at].lo == maps[i].lo)
				break;
		module.of = at < space->nmodules &&
					    !strcmp(space->modules[at]
							    .of->image->path,
						    maps[i].path) ?
				    NULL :
				    watch_image(watcher, maps[i].path);
		if (!module.of)
			continue;
		for (text = 0; text < module.of->image->nsegments; text++)
			if (module.of->image->segments[text].flags & 1)
				break;
		module.lo = maps[i].lo;
		module.hi = maps[i].hi;
		module.bias = maps[i].lo - maps[i].offset -
			      (module.of->image->segments[text].addr -
			       module.of->image->segments[text].offset);
		must(at < 16);
		space->modules[at] = module;
		space->nmodules += at == space->nmodules;
		watch_plant(space, task->tid, &module);
	}
	mappings_free(maps, n);
}

static const struct watched_module *
watch_module(const struct watched_space *space, uint64_t va)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (va >= space->modules[i].lo && va < space->modules[i].hi)
			return &space->modules[i];
	return NULL;
}

static int
watch_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	return host_ptrace.data_read(*(pid_t *)ctx, va, buf, len);
}

static int
watch_write(void *ctx, uint64_t va, const void *buf, size_t len)
{
	return host_ptrace.data_write(*(pid_t *)ctx, va, buf, len);
}

/* Do the instruction under a trap: emulate it, or lift the trap for a step. */
static enum resume
watch_do(struct watched_task *task, const struct watched_module *module,
	 struct regs *regs)
{
	const struct image *image = module->of->image;
	uint64_t va = regs->r[image->arch->reg_pc];
	struct memory memory = { watch_read, watch_write, &task->tid };
	struct emul emul;
	size_t avail;
	const uint8_t *code = image_text(image, va - module->bias, &avail);
	bool emulated = !image->arch->emul_prepare(code, avail, va, &emul);

	if (emulated)
		must(image->arch->emul_run(&emul, regs, &memory) != EMUL_FAULT);
	must(!host_ptrace.regs_set(task->tid, regs));
	if (emulated)
		return RESUME_SYSCALL;
	must(!host_ptrace.mem_write(task->space->mem, task->tid, va, code, 1));
	task->lifted = va;
	return RESUME_STEP;
}

/* ---- frame edges */

static void
watch_frame_edges(struct watcher *watcher, struct watched_space *space,
		  struct stack_switch *stack_switch)
{
	if (stack_switch->unknown) {
		watcher->unknown++;
		snprintf(watcher->why, sizeof(watcher->why), "%s",
			 stack_switch->unknown);
	}
	for (size_t i = 0; i < stack_switch->n; i++) {
		const struct frame_edge *frame_edge =
			&stack_switch->frame_edges[i];
		const struct watched_module *module = watch_module(
			space, frame_edge->va - frame_edge->during);
		struct watched_image *of = module ? module->of : NULL;

		if (!of || !of->balances ||
		    frame_edge_counted(frame_edge, of->image, module->bias))
			continue;
		watcher->exact += !frame_edge->during;
		*(frame_edge->came ? &watcher->came : &watcher->left) += 1;
		for (size_t k = 0; k < of->nbalances; k++) {
			struct balance *balance = &of->balances[k];

			if (!frame_edge->during ||
			    balance->ret + module->bias != frame_edge->va)
				continue;
			*(frame_edge->came ? &balance->came :
					     &balance->left) += 1;
		}
	}
	stack_switch_free(stack_switch);
}

static size_t
gather_nothing(pid_t tid, const struct data_part *parts, size_t n)
{
	return 0;
}

/*
 * The same must be found by a walker that reads everything when it is needed,
 * and knows nothing of former switches.
 */
static void
watch_plain(struct watched_task *task, const struct switch_at *at,
	    const struct stack_switch *found)
{
	struct host_native native = *host_ptrace.native;
	struct host host = host_ptrace;
	struct stack_switch plain = { 0 };
	struct stack *stack;

	native.data_gather = gather_nothing;
	host.native = &native;
	stack = stack_open(&host, &arch_x86_64);
	must(!stack_switch_find(stack, task->tid, at, &plain));
	must(plain.n == found->n && !plain.unknown == !found->unknown);
	for (size_t i = 0; i < plain.n; i++)
		must(plain.frame_edges[i].va == found->frame_edges[i].va &&
		     plain.frame_edges[i].sp == found->frame_edges[i].sp &&
		     plain.frame_edges[i].during ==
			     found->frame_edges[i].during &&
		     plain.frame_edges[i].came == found->frame_edges[i].came);
	must(!memcmp(&plain.after, &found->after, sizeof(plain.after)));
	stack_switch_free(&plain);
	stack_close(stack);
}

static void
watch_hook(struct watcher *watcher, struct watched_task *task,
	   const struct watched_module *module, const struct hook *hook,
	   const struct regs *regs)
{
	const struct image *image = module->of->image;
	struct stack_switch stack_switch = { 0 };
	struct switch_at at = {
		.image = image,
		.bias = module->bias,
		.hook = hook,
		.regs = regs,
		.entries = &task->entries,
	};

	if (hook->kind == HOOK_ENTRY) {
		entries_add(&task->entries, watcher->host, task->tid,
			    image->arch, regs);
		return;
	}
	if (hook->kind == HOOK_STACK_SWITCH) {
		must(!stack_switch_find(task->space->stack, task->tid, &at,
					&stack_switch));
		watch_plain(task, &at, &stack_switch);
		watch_frame_edges(watcher, task->space, &stack_switch);
		return;
	}
	stack_switch_free(&task->exec);
	must(!stack_switch_exec(task->space->stack, task->tid, regs,
				hook->addr + module->bias +
					image->arch->syscall_len,
				&task->exec));
}

/* ---- events */

static struct watched_task *
watch_task(struct watcher *watcher, pid_t tid)
{
	for (size_t i = 0; i < watcher->ntasks; i++)
		if (watcher->tasks[i].tid == tid)
			return &watcher->tasks[i];
	must(watcher->ntasks < 64);
	watcher->tasks[watcher->ntasks] = (struct watched_task){ .tid = tid };
	return &watcher->tasks[watcher->ntasks++];
}

static struct watched_space *
watch_space(struct watcher *watcher, pid_t tid)
{
	struct watched_space *space = mem_alloc(sizeof(*space));

	space->mem = watcher->host->mem_open(tid);
	space->stack = stack_open(watcher->host, &arch_x86_64);
	*vec_push(watcher->spaces, watcher->nspaces) = space;
	return space;
}

/* Whether a new process shares the space's memory (vfork). */
static bool
watch_shared(struct watched_space *space, pid_t tid, uint64_t sp)
{
	uint64_t old, flipped, seen = 0;
	int mem = host_ptrace.mem_open(tid);

	/* A word well below the stack pointer that nothing uses. */
	sp -= 4096;
	must(!host_ptrace.mem_read(mem, tid, sp, &old, sizeof(old)));
	flipped = ~old;
	must(!host_ptrace.mem_write(mem, tid, sp, &flipped, sizeof(old)));
	must(!host_ptrace.mem_read(space->mem, tid, sp, &seen, sizeof(seen)));
	must(!host_ptrace.mem_write(mem, tid, sp, &old, sizeof(old)));
	host_ptrace.mem_close(mem);
	return seen == flipped;
}

/* Wait for a new task's first stop; queue the events of others. */
static void
watch_first(struct watcher *watcher, pid_t tid)
{
	struct event event;

	for (size_t i = 0; i < watcher->nheld; i++)
		if (watcher->held[i] == tid) {
			watcher->held[i] = 0;
			return;
		}
	for (;;) {
		watcher->host->wait(&event);
		if (event.tid == tid)
			break;
		*vec_push(watcher->queue, watcher->nqueue) = event;
	}
	must(event.kind == EVENT_PAUSED);
}

/* Add a new task, which its parent's event announces and which has not run. */
static void
watch_new(struct watcher *watcher, struct watched_task *parent,
	  const struct event *event)
{
	struct watched_task *task = watch_task(watcher, event->value);
	struct watched_space *space = parent->space;
	struct stack_switch stack_switch;
	struct regs regs;

	task->space = space;
	watch_first(watcher, task->tid);
	must(!watcher->host->regs_get(task->tid, &regs));
	if (event->kind != EVENT_CLONE &&
	    !watch_shared(space, task->tid, regs.r[arch_x86_64.reg_sp])) {
		task->space = watch_space(watcher, task->tid);
		memcpy(task->space->modules, space->modules,
		       sizeof(space->modules));
		task->space->nmodules = space->nmodules;
	}
	if (!space->foreign) {
		must(!watcher->host->regs_get(parent->tid, &regs));
		must(!stack_switch_birth(task->space->stack, task->tid,
					 regs.r[arch_x86_64.reg_sp],
					 &stack_switch));
		watch_frame_edges(watcher, task->space, &stack_switch);
	}
	task->space->foreign = space->foreign;
	watcher->host->resume(task->tid, RESUME_SYSCALL, 0);
}

static void
watch_exec(struct watcher *watcher, struct watched_task *task,
	   const struct event *event)
{
	struct watched_task *was = watch_task(watcher, event->value);
	char *open_path, *path = watcher->host->exe(task->tid, &open_path);

	if (was->space)
		watch_frame_edges(watcher, was->space, &was->exec);
	task->space = watch_space(watcher, task->tid);
	task->lifted = 0;
	task->space->foreign = !path || strcmp(path, watcher->program);
	free(path);
	free(open_path);
	if (!task->space->foreign)
		watch_maps(watcher, task);
}

static void
watch_end(struct watcher *watcher, struct watched_task *task)
{
	struct stack_switch stack_switch;

	if (!task->space || task->space->foreign ||
	    stack_switch_all(task->space->stack, task->tid, false,
			     &stack_switch))
		return;
	watch_frame_edges(watcher, task->space, &stack_switch);
}

/* Handle a trap; returns how to resume, or -1 if it is not the watcher's. */
static int
watch_hit(struct watcher *watcher, struct watched_task *task)
{
	const struct watched_module *module;
	const struct hook *hook;
	struct regs regs;
	uint64_t addr;
	bool ours;

	must(!watcher->host->regs_get(task->tid, &regs));
	regs.r[arch_x86_64.reg_pc] -= 1;
	module = watch_module(task->space, regs.r[arch_x86_64.reg_pc]);
	if (!module)
		return -1;
	addr = regs.r[arch_x86_64.reg_pc] - module->bias;
	hook = hook_at(module->of->hooks, module->of->nhooks, addr);
	ours = hook;
	if (hook)
		watch_hook(watcher, task, module, hook, &regs);
	for (size_t i = 0; i < module->of->nbalances; i++) {
		struct balance *balance = &module->of->balances[i];

		balance->called += balance->call == addr;
		balance->returned += balance->ret == addr;
		ours |= balance->call == addr || balance->ret == addr;
	}
	return ours ? (int)watch_do(task, module, &regs) : -1;
}

static void
watch_trapped(struct watcher *watcher, struct watched_task *task)
{
	int how = -1;

	if (task->lifted) {
		watch_trap(task->space, task->tid, task->lifted);
		task->lifted = 0;
		how = RESUME_SYSCALL;
	} else if (watcher->host->trap_cause(task->tid) == TRAP_INSN &&
		   !task->space->foreign) {
		how = watch_hit(watcher, task);
	}
	watcher->host->resume(task->tid, how < 0 ? RESUME_SYSCALL : how,
			      how < 0 ? SIGTRAP : 0);
}

static void
watch_syscall(struct watcher *watcher, struct watched_task *task)
{
	uint64_t nr;

	if (watcher->host->reg_get(task->tid, abi_x86_64.reg_orig, &nr))
		return;
	if (!task->space->foreign && ((int)nr == abi_x86_64.nr_mmap ||
				      (int)nr == abi_x86_64.nr_mprotect))
		watch_maps(watcher, task);
}

static void
watch_event(struct watcher *watcher, const struct event *event, pid_t root)
{
	struct watched_task *task = watch_task(watcher, event->tid);
	int signal = 0;

	switch (event->kind) {
	case EVENT_TRAP:
		watch_trapped(watcher, task);
		return;
	case EVENT_SIGNAL:
		signal = event->value;
		break;
	case EVENT_FORK:
	case EVENT_VFORK:
	case EVENT_CLONE:
		watch_new(watcher, task, event);
		break;
	case EVENT_EXEC:
		watch_exec(watcher, task, event);
		break;
	case EVENT_SYSCALL_EXIT:
		watch_syscall(watcher, task);
		break;
	case EVENT_EXITING:
		watch_end(watcher, task);
		break;
	case EVENT_EXITED:
	case EVENT_KILLED:
		if (event->tid == root)
			watcher->status = event->kind == EVENT_EXITED ?
						  event->value :
						  -event->value;
		return;
	default:
		break;
	}
	watcher->host->resume(event->tid,
			      event->kind == EVENT_EXITING ? RESUME_END :
							     RESUME_SYSCALL,
			      signal);
}

static void
watch_next(struct watcher *watcher, struct event *event)
{
	if (watcher->next < watcher->nqueue)
		*event = watcher->queue[watcher->next++];
	else
		watcher->host->wait(event);
}

void
watch(struct watcher *watcher, char **argv)
{
	struct event event;
	pid_t root;

	watcher->host = &host_ptrace;
	watcher->program = argv[0];
	must(!watcher->host->launch(argv[0], argv, &root));
	for (;;) {
		watch_next(watcher, &event);
		if (event.kind == EVENT_DONE)
			break;
		/* A new task's first stop may precede its announcement. */
		if (event.kind == EVENT_PAUSED &&
		    !watch_task(watcher, event.tid)->space) {
			must(watcher->nheld < 64);
			watcher->held[watcher->nheld++] = event.tid;
		} else if (event.kind != EVENT_WAKE) {
			watch_event(watcher, &event, root);
		}
	}
	must(!watcher->host->native->launch_error());
	free(watcher->queue);
	for (size_t i = 0; i < watcher->nspaces; i++) {
		watcher->host->mem_close(watcher->spaces[i]->mem);
		stack_close(watcher->spaces[i]->stack);
		free(watcher->spaces[i]);
	}
	free(watcher->spaces);
	for (size_t i = 0; i < watcher->ntasks; i++)
		stack_switch_free(&watcher->tasks[i].exec);
}

void
watch_again(struct watcher *watcher)
{
	struct watched_image *images = watcher->images;
	size_t nimages = watcher->nimages;

	for (size_t i = 0; i < nimages; i++)
		for (size_t k = 0; k < images[i].nbalances; k++) {
			struct balance *b = &images[i].balances[k];

			*b = (struct balance){ b->call, b->ret };
		}
	*watcher = (struct watcher){ .images = images, .nimages = nimages };
}

void
watch_close(struct watcher *watcher)
{
	for (size_t i = 0; i < watcher->nimages; i++) {
		image_close(watcher->images[i].image);
		free(watcher->images[i].hooks);
		free(watcher->images[i].balances);
	}
	free(watcher->images);
}
