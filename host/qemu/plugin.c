/*
 * What qemu loads to count inside (-plugin pmon-qemu.so,fd=N): adds one for each
 * site of pmon's that it translates.  Writes into the file that pmon gave it and
 * nowhere else; stops nothing, and uses only libc.  Debian 12 has no header of
 * qemu's plugins, so what is used of it (qemu-plugin.h) is declared here.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/qemu/counts.h"

/* ---- qemu's: the same from 7.2 to 10, where nothing else is said */

enum { NO_REGS = 0 };		/* enum qemu_plugin_cb_flags */
enum { ADD_U64 = 0 };		/* enum qemu_plugin_op */
enum { ERESTARTSYS = 512 };	/* QEMU_ERESTARTSYS of linux-user */

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef void block_fn(uint64_t id, struct qemu_plugin_tb *tb);
typedef void insn_fn(unsigned vcpu, void *data);
typedef void vcpu_fn(uint64_t id, unsigned vcpu);
typedef void returned_fn(uint64_t id, unsigned vcpu, int64_t number,
			 int64_t value);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, block_fn *fn);
void qemu_plugin_register_vcpu_init_cb(uint64_t id, vcpu_fn *fn);
void qemu_plugin_register_vcpu_syscall_ret_cb(uint64_t id, returned_fn *fn);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    insn_fn *fn, int flags, void *data);
/* Not in 9 and later. */
__attribute__((weak)) void
qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
					   int op, void *at, uint64_t operand);

#define EXPORT __attribute__((visibility("default")))
/* Which API this is: qemu 9 and later want 2, earlier ones do not know that. */
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc,
			       char **argv);

/* ---- */

static struct {
	int fd;			/* of the file, until it is mapped; or -1 */
	const struct qemu_counts *counts;
	const struct qemu_point *points;
	struct qemu_state *state;
	size_t state_size;
} plugin = { .fd = -1 };

__attribute__((constructor)) static void
version_choose(void)
{
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new"))
		qemu_plugin_version = 2;
}

/*
 * From here on what is added is not for pmon: a child was forked, or a second
 * thread is about to begin.
 */
static void
part(void)
{
	if (plugin.fd >= 0)
		close(plugin.fd);
	plugin.fd = -1;
	if (plugin.state &&
	    mmap(plugin.state, plugin.state_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != plugin.state)
		plugin.state->lost = 1;
}

/* Note in the file, which could not be mapped, that nothing counts. */
static void
counts_lose(void)
{
	struct qemu_counts counts;
	uint64_t lost = 1;

	if (pread(plugin.fd, &counts, sizeof(counts), 0) == sizeof(counts))
		(void)!pwrite(plugin.fd, &lost, sizeof(lost),
			      (off_t)(counts.state_offset +
				      offsetof(struct qemu_state, lost)));
}

/*
 * Map the file, once pmon has written it.  That is before the program begins,
 * but pmon may have had it make system calls before.  The program may not see
 * the file open.
 */
static void
file_map(void)
{
	struct stat st;
	char *file;

	if (fstat(plugin.fd, &st) || st.st_size == COUNTS_LOADED)
		return;
	file = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED, plugin.fd, 0);
	if (file == MAP_FAILED)
		counts_lose();
	close(plugin.fd);
	plugin.fd = -1;
	if (file == MAP_FAILED)
		return;
	plugin.counts = (const struct qemu_counts *)file;
	plugin.points = (const struct qemu_point *)(plugin.counts + 1);
	plugin.state_size = (size_t)st.st_size - plugin.counts->state_offset;
	plugin.state = (struct qemu_state *)(file +
					     plugin.counts->state_offset);
}

/* The first point at va or behind it. */
static size_t
point_first(uint64_t va)
{
	size_t lo = 0, hi = plugin.counts->npoints;

	while (lo < hi) {
		size_t middle = (lo + hi) / 2;

		if (plugin.points[middle].va < va)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/* An instruction is about to run. */
static void
point_reached(unsigned vcpu, void *data)
{
	const struct qemu_point *point = data;
	struct qemu_state *state = plugin.state;
	struct qemu_counter *counter = &state->counters[point->site - 1];

	counts_reach(plugin.counts, state, point->va, point->after,
		     point->is & POINT_PLACE);
	state->steps++;
	if (!point->site)
		return;
	if (point->is & (POINT_BRANCH | POINT_JUMP)) {
		state->last = point->site;
		state->then = state->steps;
		state->jump = (point->is & POINT_JUMP) != 0;
	}
	if (point->is & POINT_SYSCALL) {
		state->call = point->site;
		if (counter->again) {
			counter->again = 0;
			return;
		}
	}
	counter->hits++;
}

/* A signal made a system call end, and qemu has it begin again. */
static void
call_returned(uint64_t id, unsigned vcpu, int64_t number, int64_t value)
{
	struct qemu_state *state = plugin.state;

	if (!state)
		return;
	if (value == -ERESTARTSYS && state->call)
		state->counters[state->call - 1].again = 1;
	state->call = 0;
}

/* Have one added at each execution; false if this qemu cannot. */
static bool
added_inline(struct qemu_plugin_insn *insn, uint64_t *at)
{
	if (!qemu_plugin_register_vcpu_insn_exec_inline)
		return false;
	qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD_U64, at, 1);
	return true;
}

/*
 * The instruction is a point; head: it may follow a jump.  What is more than
 * adding is for point_reached, and then all of it, since nothing says whether
 * qemu calls or adds first.
 */
static void
point_translated(struct qemu_plugin_insn *insn, const struct qemu_point *point,
		 bool head)
{
	struct qemu_state *state = plugin.state;
	bool steps = head || point->is & POINT_TARGET;
	bool adds = !point->after && !(point->is & ~(uint32_t)POINT_TARGET) &&
		    qemu_plugin_register_vcpu_insn_exec_inline;

	if (!adds)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, point_reached,
						       NO_REGS, (void *)point);
	if (adds && steps)
		added_inline(insn, &state->steps);
	if (adds && point->site)
		added_inline(insn, &state->counters[point->site - 1].hits);
}

static void
step_reached(unsigned vcpu, void *data)
{
	plugin.state->steps++;
}

static void
insn_translated(struct qemu_plugin_insn *insn, bool head)
{
	uint64_t va = qemu_plugin_insn_vaddr(insn);
	size_t i = point_first(va), n = plugin.counts->npoints;

	if (head && (i == n || plugin.points[i].va != va) &&
	    !added_inline(insn, &plugin.state->steps))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, step_reached,
						       NO_REGS, NULL);
	for (; i < n && plugin.points[i].va == va; i++)
		point_translated(insn, &plugin.points[i], head);
}

static void
block_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	if (plugin.fd >= 0)
		file_map();
	if (!plugin.state)
		return;
	for (size_t i = 0; i < n; i++)
		insn_translated(qemu_plugin_tb_get_insn(tb, i),
				!i && plugin.counts->narrivals);
}

static void
vcpu_begun(uint64_t id, unsigned vcpu)
{
	if (vcpu)
		part();
}

/* Where qemu is to write from now on, as it was started with no output. */
static void
output_open(int fd, int number)
{
	if (fd < 0)
		return;
	dup2(fd, number);
	close(fd);
}

int
qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	int out = -1, err = -1;

	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "fd=", 3))
			plugin.fd = atoi(argv[i] + 3);
		else if (!strncmp(argv[i], "out=", 4))
			out = atoi(argv[i] + 4);
		else if (!strncmp(argv[i], "err=", 4))
			err = atoi(argv[i] + 4);
	if (pthread_atfork(NULL, NULL, part) ||
	    ftruncate(plugin.fd, COUNTS_LOADED))
		return -1;
	output_open(out, STDOUT_FILENO);
	output_open(err, STDERR_FILENO);
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
	qemu_plugin_register_vcpu_init_cb(id, vcpu_begun);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, call_returned);
	return 0;
}
