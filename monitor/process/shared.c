/*
 * Memory that a program and pmon share: pmon has a task of the program create
 * and map a memfd, and maps it, too.  The program is not trusted: another
 * process may share its descriptors and change their meaning at any moment.  So
 * pmon never opens a file by a descriptor's number alone.  It takes an O_PATH
 * handle, checks which file that is, and opens the file only if it is a memfd
 * that the task itself has mapped for writing.
 */
#include "monitor/process/shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "monitor/process/inject.h"
#include "monitor/process/task.h"
#include "util/fail.h"
#include "util/mem.h"

/* How far the counters are from the place that the kernel chooses. */
static const uint64_t apart = UINT64_C(1) << 33;

/* No program maps memory from there on. */
static const uint64_t user_end = UINT64_C(1) << 47;

/* The seals on the size, and all that the memory must have in the end. */
enum {
	SEALS_SIZE = F_SEAL_SHRINK | F_SEAL_GROW,
	SEALS_ALL = SEALS_SIZE | F_SEAL_SEAL,
};

/* The va of an empty string on the task's stack, or 0. */
static uint64_t
empty_name(struct run *run, struct task *task)
{
	uint64_t sp, va;
	uint8_t bytes[64];

	if (run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		return 0;
	for (va = sp; va < sp + 65536; va += sizeof(bytes)) {
		if (run->host->data_read(task->tid, va, bytes, sizeof(bytes)))
			return 0;
		for (size_t i = 0; i < sizeof(bytes); i++)
			if (!bytes[i])
				return va + i;
	}
	return 0;
}

/* Look at the handle's file, without asking a server or a device. */
static int
handle_stat(int handle, struct statx *st)
{
	return statx(handle, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		     STATX_BASIC_STATS, st);
}

/* All memfds are on one internal file system, where no file has a path. */
static bool
is_memfd(const struct statx *st)
{
	struct statx own;
	int fd = memfd_create("", MFD_CLOEXEC);
	bool same;

	if (fd < 0)
		return false;
	same = !handle_stat(fd, &own) && S_ISREG(st->stx_mode) &&
	       st->stx_dev_major == own.stx_dev_major &&
	       st->stx_dev_minor == own.stx_dev_minor;
	close(fd);
	return same;
}

bool
shared_is(const struct shared *shared, const struct mapping *map)
{
	return map->shared && map->ino == shared->ino &&
	       map->dev == shared->dev && map->lo - shared->va < shared->size &&
	       map->offset == map->lo - shared->va;
}

/*
 * Has the task all of the memory's file mapped at shared->va, shared, and the first
 * shared->open bytes writable?
 */
static bool
is_mapped(struct run *run, struct task *task, const struct shared *shared)
{
	uint64_t open = shared->open;
	struct mapping *maps;
	bool mapped = false;
	size_t n;

	if (run->host->maps(task->tid, &maps, &n))
		return false;
	for (size_t i = 0; i < n && !mapped; i++)
		mapped = maps[i].lo == shared->va &&
			 maps[i].hi == shared->va + open && maps[i].write &&
			 shared_is(shared, &maps[i]) &&
			 (open == shared->size ||
			  (i + 1 < n && maps[i + 1].lo == maps[i].hi &&
			   maps[i + 1].hi == shared->va + shared->size &&
			   shared_is(shared, &maps[i + 1])));
	mappings_free(maps, n);
	return mapped;
}

/*
 * Seal the memory; the size is sealed before it is checked.  Where the kernel
 * has F_SEAL_FUTURE_WRITE (from 5.1 on), nobody can punch holes in the memory
 * either.
 */
static bool
sealed(int fd, uint64_t size)
{
	struct stat st;
	int seals;

	if (fcntl(fd, F_ADD_SEALS, SEALS_SIZE) || fstat(fd, &st) ||
	    (uint64_t)st.st_size != size)
		return false;
	fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
	fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL);
	seals = fcntl(fd, F_GET_SEALS);
	return seals >= 0 && (seals & SEALS_ALL) == SEALS_ALL;
}

/*
 * Map the handle's file in pmon: before it is sealed, as F_SEAL_FUTURE_WRITE
 * forbids new writable mappings.
 */
static int
shared_view(int handle, struct shared *shared)
{
	char path[64];
	void *bytes;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fail("the counters' memory cannot be opened");
	bytes = mmap(NULL, shared->size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (bytes == MAP_FAILED) {
		close(fd);
		return fail("pmon has no room to map the counters' memory");
	}
	madvise(bytes, shared->size, MADV_DONTDUMP);
	if (!sealed(fd, shared->size)) {
		munmap(bytes, shared->size);
		close(fd);
		return fail("the counters' memory cannot be sealed");
	}
	close(fd);
	shared->bytes = bytes;
	return 0;
}

/* A seccomp filter may kill the process for its system calls. */
static int
task_unconfined(struct run *run, struct task *task)
{
	return task_confined(run, task) ?
		       fail("a seccomp filter may forbid the system calls that "
			    "counters need") :
		       0;
}

/* The call that lets tasks access memory for counters. */
static struct syscall
allowing(const struct run *run, uint64_t va, uint64_t size)
{
	return (struct syscall){
		.nr = run->abi->nr_mprotect,
		.nargs = 3,
		.args = { va, size, PROT_READ | PROT_WRITE },
	};
}

int
shared_allow(struct run *run, struct task *task, const struct range *ranges,
	     size_t n)
{
	struct syscall *calls;
	int err;

	if (task_unconfined(run, task))
		return -1;
	calls = mem_alloc(n * sizeof(*calls));
	for (size_t i = 0; i < n; i++)
		calls[i] = allowing(run, ranges[i].lo,
				    ranges[i].hi - ranges[i].lo);
	err = inject_calls(run, task, calls, n);
	for (size_t i = 0; i < n && !err; i++)
		err = calls[i].result != 0;
	free(calls);
	return err ? fail("the process was refused memory for counters") : 0;
}

/*
 * A free place for the memory, or 0.  The kernel would put it just below the
 * libraries: there is the room for springboards and relocated functions, so it
 * goes further down.  The room below the stack is the stack's.
 */
static uint64_t
place_apart(struct run *run, const struct task *task, uint64_t size)
{
	uint64_t hi = 0, place = 0;
	struct mapping *maps;
	size_t n;

	if (run->host->maps(task->tid, &maps, &n))
		return 0;
	for (size_t i = n; i-- && !place;) {
		if (hi > maps[i].hi && hi - maps[i].hi > size + apart)
			place = hi - size - apart;
		hi = maps[i].hi <= user_end && strcmp(maps[i].path, "[stack]") ?
			     maps[i].lo :
			     0;
	}
	mappings_free(maps, n);
	return place / PAGE * PAGE;
}

/* A handle (O_PATH) of the task's descriptor fd: the file is not opened. */
static int
handle_open(const struct task *task, int64_t fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)task->tid, (int)fd);
	return open(path, O_PATH | O_CLOEXEC);
}

/* Note which file the handle is of; whether it is what the task has mapped. */
static bool
file_note(struct run *run, struct task *task, int handle, struct shared *shared)
{
	struct statx st;

	if (handle < 0 || handle_stat(handle, &st) || !is_memfd(&st))
		return false;
	shared->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	shared->ino = st.stx_ino;
	return is_mapped(run, task, shared);
}

/* RLIMIT_FSIZE would kill the process, by SIGXFSZ. */
int
shared_may(struct run *run, struct task *task, uint64_t size)
{
	if (task_unconfined(run, task))
		return -1;
	if (!task_room(run, task, size))
		return fail("its address space is limited (RLIMIT_AS)");
	if (run->host->native && size > run->host->native->file_max(task->tid))
		return fail("the size of its files is limited (RLIMIT_FSIZE)");
	return 0;
}

/*
 * Have the task create the memory and map it, at shared->va, which is pmon's, or
 * else where there is room: its descriptor, or -1.
 */
static int64_t
memory_create(struct run *run, struct task *task, struct shared *shared)
{
	const struct abi *abi = run->abi;
	uint64_t hint = shared->va ? shared->va :
				     place_apart(run, task, shared->size);
	uint64_t prot = shared->open < shared->size ? PROT_NONE :
						      PROT_READ | PROT_WRITE;
	uint64_t flags = MAP_SHARED | MAP_NORESERVE |
			 (shared->va ? MAP_FIXED : 0);
	enum { CREATE, SIZE, MAP, CALLS };
	struct syscall calls[CALLS] = {
		[CREATE] = { abi->nr_memfd_create, 2,
			     .args = { empty_name(run, task),
				       MFD_CLOEXEC | MFD_ALLOW_SEALING } },
		[SIZE] = { abi->nr_ftruncate, 2, .taken = 1,
			   .args = { 0, shared->size } },
		[MAP] = { abi->nr_mmap, 6, .taken = 5,
			  .args = { hint, shared->size, prot, flags } },
	};

	shared->va = 0;
	if (!calls[CREATE].args[0] || inject_calls(run, task, calls, CALLS) ||
	    calls[CREATE].result < 0)
		return -1;
	if (!calls[SIZE].result)
		shared->va = inject_mapped(&calls[MAP]);
	return calls[CREATE].result;
}

/*
 * Have the task close its descriptor fd, and prepare the memory.  mlockall
 * allocates memory for all that can be accessed, and a core dump for all that it
 * is not told to leave out.
 */
static int
memory_prepare(struct run *run, struct task *task, int64_t fd,
	       const struct shared *shared)
{
	const struct abi *abi = run->abi;
	enum { CLOSE, DUMP, ALLOW, CALLS };
	struct syscall calls[CALLS] = {
		[CLOSE] = { abi->nr_close, 1, .args = { (uint64_t)fd } },
		[DUMP] = { abi->nr_madvise, 3,
			   .args = { shared->va, shared->size,
				     MADV_DONTDUMP } },
		[ALLOW] = allowing(run, shared->va, shared->open),
	};
	size_t n = !shared->va		       ? DUMP :
		   shared->open < shared->size ? CALLS :
						 ALLOW;

	if (inject_calls(run, task, calls, n) || !shared->va ||
	    (n == CALLS && calls[ALLOW].result))
		return fail("the process was refused memory for counters");
	return 0;
}

int
shared_open(struct run *run, struct task *task, struct shared *shared)
{
	int handle, err;
	int64_t fd;

	shared->bytes = NULL;
	if (shared_may(run, task, shared->size))
		return -1;
	fd = memory_create(run, task, shared);
	if (fd < 0)
		return fail("the process was refused memory for counters");
	handle = handle_open(task, fd);
	err = memory_prepare(run, task, fd, shared);
	if (!err && !file_note(run, task, handle, shared))
		err = fail("another process has changed the process's "
			   "descriptors");
	if (!err)
		err = shared_view(handle, shared);
	if (err && shared->va)
		inject_unmap(run, task, shared->va, shared->size);
	if (handle >= 0)
		close(handle);
	return err;
}

void
shared_close(struct shared *shared)
{
	if (shared->bytes)
		munmap(shared->bytes, shared->size);
	shared->bytes = NULL;
}
