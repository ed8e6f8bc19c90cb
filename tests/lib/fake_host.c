/*
 * The functions of the fake host that pmon calls.  Each but the wait counts as
 * a request.  What tasks do is in fake_kernel.c, and what happens next in
 * fake_schedule.c.
 */
#include "tests/lib/fake_kernel.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/mem.h"

/* Count a request, and do what is to be done before it. */
static void
request_begin(pid_t tid, const char *name)
{
	const struct fake_schedule *schedule = fake.schedule;

	fake.result.requests++;
	if (fake.log)
		printf("# %lu: %s %d\n", (unsigned long)fake.result.requests,
		       name, (int)tid);
	if (fake.result.requests != schedule->at_request)
		return;
	fake.result.deed_done = true;
	fake_do(schedule->deed);
}

/* The task that a request is made to, if it stands still. */
static struct fake_task *
request_to(pid_t tid, const char *name)
{
	struct fake_task *task;

	request_begin(tid, name);
	task = fake_find(tid);
	return task && task->traced && !task->taken &&
			       (task->state == FAKE_STOPPED ||
				task->state == FAKE_LAST) ?
		       task :
		       NULL;
}

/* A task that has not ended, whether or not it stands still. */
static struct fake_task *
request_about(pid_t tid, const char *name)
{
	struct fake_task *task;

	request_begin(tid, name);
	task = fake_find(tid);
	return task && task->process->mm && !task->taken ? task : NULL;
}

/* ---- events and tasks */

static int
host_launch(const char *path, char **argv, pid_t *tid)
{
	*tid = fake_start(path)->tid;
	return HOST_OK;
}

static int
host_launch_error(void)
{
	return 0;
}

static int
host_resume(pid_t tid, enum resume how, int signal)
{
	const struct fake_schedule *schedule = fake.schedule;
	bool past = schedule->deed == FAKE_KILL_PAST &&
		    fake.result.requests + 1 == schedule->at_request;
	struct fake_task *task = request_to(tid, __func__);

	if (!task || (task->state == FAKE_LAST && how != RESUME_END && !past))
		return HOST_GONE;
	if (!task->reported && !past)
		fake_wrong(tid, "resumed from a stop that pmon has not seen");
	if (task->state == FAKE_LAST) {
		task->let_go = how == RESUME_END;
		fake_finish(task);
		return HOST_OK;
	}
	task->step = how == RESUME_STEP;
	task->calls = how == RESUME_SYSCALL;
	if (how == RESUME_LISTEN) {
		if (task->event.kind != EVENT_STOPPED)
			return fail("fake: no group stop");
		task->state = FAKE_LISTENS;
		task->look = true;
		return HOST_OK;
	}
	fake_go(task, signal);
	return HOST_OK;
}

/* Where the pause finds a task that runs. */
static void
pause_meets(struct fake_task *task)
{
	enum { HERE, LATER, STOPPED, BEHIND, CHOICES = BEHIND + 8 };
	unsigned choice = fake_choose(CHOICES);

	switch (choice) {
	case HERE:
		task->look = true;
		break;
	case LATER:		/* it comes to its next stop meanwhile */
		break;
	case STOPPED:		/* it was there already */
		fake_advance(task);
		break;
	default:		/* behind so many instructions */
		fake_run(task, choice - BEHIND + 1);
		task->look = true;
	}
}

static int
host_pause(pid_t tid)
{
	struct fake_task *task;

	request_begin(tid, __func__);
	task = fake_find(tid);
	if (!task || !task->traced || task->state >= FAKE_DYING)
		return HOST_GONE;
	if (task->state == FAKE_RUNS && task->phase == FAKE_USER)
		pause_meets(task);
	else
		task->look = true;
	task->interrupt = task->state < FAKE_DYING;
	return HOST_OK;
}

/* Is anything of pmon's left in a process that nobody traces any more? */
static void
left_check(const struct fake_task *task)
{
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->traced &&
		    fake.tasks[i]->state < FAKE_ENDED &&
		    fake.tasks[i]->process->mm == task->process->mm)
			return;
	if (task->process->mm && fake_mm_changed(task->process->mm))
		fake_wrong(task->tid, "let go with memory of pmon's");
}

static int
host_detach(pid_t tid, int signal)
{
	struct fake_task *task = request_to(tid, __func__);

	if (!task || task->state == FAKE_LAST)
		return HOST_GONE;
	task->traced = false;
	task->interrupt = task->step = task->calls = false;
	fake_go(task, signal);
	left_check(task);
	return HOST_OK;
}

static int
host_kill(pid_t pid, int signal)
{
	struct fake_task *task;

	request_begin(pid, __func__);
	task = fake_find(pid);
	if (!task)
		return HOST_GONE;
	if (signal)
		fake_signal(task->process, signal);
	return HOST_OK;
}

static int
host_send(pid_t tid, int signal)
{
	struct fake_task *task;

	request_begin(tid, __func__);
	task = fake_find(tid);
	if (!task)
		return HOST_GONE;
	if (!signal)
		return HOST_OK;
	task->pending |= UINT64_C(1) << (signal - 1);
	task->trap_cause = TRAP_SENT;
	task->look = true;
	return HOST_OK;
}

/* ---- registers and signals */

static enum trap_cause
host_trap_cause(pid_t tid)
{
	const struct fake_task *task = request_to(tid, __func__);

	return !task || task->state == FAKE_LAST ?
		       TRAP_NONE :
		       (enum trap_cause)task->info[0];
}

static int
host_regs_get(pid_t tid, struct regs *regs)
{
	const struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	*regs = task->regs;
	return HOST_OK;
}

static int
host_regs_set(pid_t tid, const struct regs *regs)
{
	struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	task->regs = *regs;
	return HOST_OK;
}

static int
host_reg_get(pid_t tid, unsigned reg, uint64_t *value)
{
	const struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	*value = task->regs.r[reg];
	return HOST_OK;
}

static int
host_reg_set(pid_t tid, unsigned reg, uint64_t value)
{
	struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	task->regs.r[reg] = value;
	return HOST_OK;
}

static int
host_fault_get(pid_t tid, int *code, uint64_t *va)
{
	*code = 0;
	*va = 0;
	return request_to(tid, __func__) ? HOST_OK : HOST_GONE;
}

static int
host_fault_set(pid_t tid, uint64_t va)
{
	return request_to(tid, __func__) ? HOST_OK : HOST_GONE;
}

static int
host_siginfo_get(pid_t tid, uint8_t info[SIGINFO_MAX])
{
	const struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	memcpy(info, task->info, SIGINFO_MAX);
	return HOST_OK;
}

static int
host_siginfo_set(pid_t tid, const uint8_t info[SIGINFO_MAX])
{
	struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	memcpy(task->info, info, SIGINFO_MAX);
	return HOST_OK;
}

static int
host_rseq_get(pid_t tid, struct rseq_area *area)
{
	*area = (struct rseq_area){ 0 };
	return request_to(tid, __func__) ? HOST_OK : HOST_GONE;
}

static int
host_dispatch_get(pid_t tid, struct dispatch *dispatch)
{
	const struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	*dispatch = task->dispatch;
	return HOST_OK;
}

static int
host_dispatch_set(pid_t tid, const struct dispatch *dispatch)
{
	struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	task->dispatch = *dispatch;
	return HOST_OK;
}

static int
host_mask_get(pid_t tid, uint64_t *mask)
{
	const struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	*mask = task->mask;
	return HOST_OK;
}

static int
host_mask_set(pid_t tid, uint64_t mask, uint64_t *old)
{
	struct fake_task *task = request_to(tid, __func__);

	if (!task)
		return HOST_GONE;
	if (old)
		*old = task->mask;
	task->mask = mask;
	return HOST_OK;
}

/* ---- memory */

static int
host_mem_open(pid_t tid)
{
	const struct fake_task *task = request_about(tid, __func__);

	if (!task)
		return HOST_GONE;
	task->process->mm->refs++;
	*vec_push(fake.handles, fake.nhandles) = task->process->mm;
	return (int)fake.nhandles - 1;
}

static void
host_mem_close(int mem)
{
	if (mem < 0)
		return;
	fake_mm_drop(fake.handles[mem]);
	fake.handles[mem] = NULL;
}

static int
mem_move(int mem, pid_t tid, uint64_t va, void *buf, size_t n, bool write)
{
	request_begin(tid, __func__);
	return mem >= 0 && fake_mm_move(fake.handles[mem], va, buf, n, write,
					false) ?
		       HOST_OK :
		       HOST_GONE;
}

static int
host_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n)
{
	return mem_move(mem, tid, va, buf, n, false);
}

static int
host_mem_write(int mem, pid_t tid, uint64_t va, const void *buf, size_t n)
{
	return mem_move(mem, tid, va, (void *)buf, n, true);
}

static int
data_move(pid_t tid, uint64_t va, void *buf, size_t n, bool write)
{
	struct fake_task *task = request_about(tid, __func__);

	return task && fake_mm_move(task->process->mm, va, buf, n, write,
				    true) ?
		       HOST_OK :
		       HOST_GONE;
}

static int
host_data_read(pid_t tid, uint64_t va, void *buf, size_t n)
{
	return data_move(tid, va, buf, n, false);
}

static size_t
host_data_gather(pid_t tid, const struct data_part *parts, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (host_data_read(tid, parts[i].va, parts[i].buf, parts[i].n))
			break;
	return i;
}

static int
host_data_write(pid_t tid, uint64_t va, const void *buf, size_t n)
{
	return data_move(tid, va, (void *)buf, n, true);
}

/* ---- what /proc tells */

static bool
host_changed(pid_t tid)
{
	const struct fake_task *task;

	request_begin(tid, __func__);
	task = fake_find(tid);
	return task && (fake_end_ready(task) || ((task->state == FAKE_STOPPED ||
						  task->state == FAKE_LAST) &&
						 !task->reported));
}

static void
host_renewed(pid_t tid)
{
	struct fake_task *task = fake_find(tid);

	if (task)
		task->taken = false;
}

static bool
host_zombie(pid_t tid)
{
	const struct fake_task *task;

	request_begin(tid, __func__);
	task = fake_find(tid);
	return task && task->state == FAKE_ENDED;
}

static pid_t
host_parent(pid_t tid)
{
	const struct fake_task *task;

	request_begin(tid, __func__);
	task = fake_find(tid);
	if (!task || task->tid != task->process->pid)
		return 0;
	return fake_find(task->process->parent) ? task->process->parent : 1;
}

static int
host_children(pid_t pid, pid_t **pids, size_t *n)
{
	request_begin(pid, __func__);
	for (size_t i = 0; i < fake.nprocesses; i++) {
		const struct fake_process *child = fake.processes[i];
		const struct fake_task *task = fake_find(child->pid);

		if (child->parent == pid && task && task->traced)
			*vec_push(*pids, *n) = child->pid;
	}
	return HOST_OK;
}

static int
host_maps(pid_t tid, struct mapping **maps, size_t *n)
{
	const struct fake_task *task = request_about(tid, __func__);

	return task ? fake_mm_maps(task->process->mm, maps, n) : HOST_GONE;
}

static uint64_t
host_auxv(pid_t tid, uint64_t type)
{
	if (!request_about(tid, __func__))
		return 0;
	return type == AT_ENTRY ? fake.entry :
	       type == AT_PHDR	? fake.phdr :
	       type == AT_PHNUM ? fake.phnum :
				  0;
}

static int
host_signals(pid_t tid, struct signal_state *state)
{
	const struct fake_task *task = request_about(tid, __func__);

	if (!task)
		return HOST_GONE;
	*state = (struct signal_state){
		.pending = task->pending,
		.blocked = task->mask,
	};
	return HOST_OK;
}

static int
host_actions(pid_t tid, struct signal_state *state)
{
	const struct fake_task *task = request_about(tid, __func__);

	if (!task)
		return HOST_GONE;
	*state = (struct signal_state){ .blocked = task->mask };
	return HOST_OK;
}

static uint64_t
host_room(pid_t tid)
{
	return UINT64_C(1) << 46;
}

static bool
host_holds(pid_t tid, int fd, const char *name)
{
	return false;
}

static bool
host_confined(pid_t tid)
{
	return false;
}

static char *
host_exe(pid_t tid, char **open_path)
{
	if (!request_about(tid, __func__))
		return NULL;
	*open_path = mem_strdup(fake.program);
	return mem_strdup(fake.program);
}

static char *
host_mapped(pid_t tid, const struct mapping *map)
{
	return mem_strdup(map->path);
}

/* No task is pinned: that would depend on the time. */
static int
host_affinity_get(pid_t tid, void *set, size_t size)
{
	return HOST_GONE;
}

static int
host_affinity_set(pid_t tid, const void *set, size_t size)
{
	return HOST_GONE;
}

static enum file_kind
host_file_kind(pid_t tid, int fd)
{
	(void)fd;
	request_about(tid, __func__);
	return FILE_PIPE;
}

static const struct host_native fake_native = {
	.launch_error = host_launch_error,
	.send = host_send,
	.fault_set = host_fault_set,
	.rseq_get = host_rseq_get,
	.dispatch_get = host_dispatch_get,
	.dispatch_set = host_dispatch_set,
	.siginfo_get = host_siginfo_get,
	.siginfo_set = host_siginfo_set,
	.mask_get = host_mask_get,
	.changed = host_changed,
	.renewed = host_renewed,
	.parent = host_parent,
	.children = host_children,
	.actions = host_actions,
	.data_gather = host_data_gather,
	.room = host_room,
	.file_max = host_room,
	.confined = host_confined,
	.holds = host_holds,
	.file_kind = host_file_kind,
};

const struct host fake_host = {
	.name = "fake",
	.native = &fake_native,
	.launch = host_launch,
	.detach = host_detach,
	.wait = fake_wait,
	.resume = host_resume,
	.pause = host_pause,
	.kill = host_kill,
	.regs_get = host_regs_get,
	.regs_set = host_regs_set,
	.reg_get = host_reg_get,
	.reg_set = host_reg_set,
	.trap_cause = host_trap_cause,
	.fault_get = host_fault_get,
	.mask_set = host_mask_set,
	.mem_open = host_mem_open,
	.mem_close = host_mem_close,
	.mem_read = host_mem_read,
	.mem_write = host_mem_write,
	.data_read = host_data_read,
	.data_write = host_data_write,
	.zombie = host_zombie,
	.maps = host_maps,
	.auxv = host_auxv,
	.signals = host_signals,
	.exe = host_exe,
	.mapped = host_mapped,
	.affinity_get = host_affinity_get,
	.affinity_set = host_affinity_set,
};
