/*
 * Preloaded into pmon: makes one of its calls go wrong.  PMON_FAULT is
 * CALL[@PLACE]:N:ERROR[:again|:ever]: the Nth call of that name (from that
 * place) fails with the errno ERROR; with `again` the same call is refused for
 * good when it is made again, and with `ever` all later ones of that name are.
 * CALL `text` is the Nth pwrite(2): its bytes are refused for good, to ptrace(2)
 * too, as long as the file PMON_FAULT_WHILE exists, if that is set.  Instead of a
 * number ERROR may be `kill`, which kills the task that a
 * ptrace(2) call is about just before that is made, `die`, which kills pmon,
 * `halt`, which stops pmon before a call that then succeeds, or `half`, which
 * writes all of the text but the last page.  A place is a number for the return
 * addresses on the stack, the same in each run of one pmon.  The file
 * PMON_FAULT_COUNTS gets a line for each place: its call, the place, how many
 * calls came from there.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ptraced.h"

enum name {
	PTRACE, PREAD, PWRITE, READV, WRITEV, OPEN, FOPEN, MMAP, TEXT, NAMES
};
enum { PLACES = 1 << 14, FRAMES = 64 };

struct place {
	enum name name;
	uint32_t key;
	long calls;
};

static const char *const names[NAMES] = {
	"ptrace", "pread", "pwrite", "process_vm_readv", "process_vm_writev",
	"open", "fopen", "mmap", "text",
};

static struct {
	pid_t self;
	enum name name;
	uint32_t place;
	long at, seen;
	int error;
	bool again, ever, kill, die, halt, half, counting;
	/* What the call that failed was about. */
	bool failed;
	uint64_t what[3];
	bool halved;
} fault = { .name = NAMES };

static struct place places[PLACES];

static void
fault_parse(const char *text)
{
	char name[32], error[16], again[16] = "";
	char *place;

	if (sscanf(text, "%31[^:]:%ld:%15[^:]:%15s", name, &fault.at, error,
		   again) < 3)
		abort();
	place = strchr(name, '@');
	if (place) {
		*place++ = 0;
		fault.place = strtoul(place, NULL, 16);
	}
	for (int i = 0; i < NAMES; i++)
		if (!strcmp(name, names[i]))
			fault.name = i;
	fault.kill = !strcmp(error, "kill");
	fault.die = !strcmp(error, "die");
	fault.halt = !strcmp(error, "halt");
	fault.half = !strcmp(error, "half");
	fault.error = atoi(error);
	fault.again = !strcmp(again, "again");
	fault.ever = !strcmp(again, "ever");
}

__attribute__((constructor)) static void
fault_begin(void)
{
	const char *text = getenv("PMON_FAULT");

	void *frame;

	/* Loads the unwinder, with calls that are not pmon's. */
	backtrace(&frame, 1);
	fault.self = getpid();
	fault.counting = getenv("PMON_FAULT_COUNTS") != NULL;
	if (text)
		fault_parse(text);
}

__attribute__((destructor)) static void
fault_end(void)
{
	const char *path = getenv("PMON_FAULT_COUNTS");
	FILE *(*real)(const char *, const char *);
	FILE *f;

	*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	if (getpid() != fault.self || !path || !(f = real(path, "w")))
		return;
	for (int i = 0; i < PLACES; i++)
		if (places[i].calls)
			fprintf(f, "%s %08x %ld\n", names[places[i].name],
				places[i].key, places[i].calls);
	fclose(f);
}

/* The place that a call comes from; never 0. */
static uint32_t
place_key(void)
{
	void *frames[FRAMES];
	int n = backtrace(frames, FRAMES);
	uint32_t key = 2166136261u;
	Dl_info info;

	/* The innermost frames are of this file. */
	for (int i = 2; i < n; i++) {
		uintptr_t addr = (uintptr_t)frames[i];

		if (dladdr(frames[i], &info))
			addr -= (uintptr_t)info.dli_fbase;
		key = (key ^ addr) * 16777619u;
	}
	return key | 1;
}

static void
place_count(enum name name, uint32_t key)
{
	for (uint32_t i = key; ; i++) {
		struct place *place = &places[(i + name) % PLACES];

		if (place->calls && (place->name != name || place->key != key))
			continue;
		*place = (struct place){ .name = name, .key = key,
			.calls = place->calls + 1 };
		return;
	}
}

/* Is this call to fail?  Its errno is set. */
static bool
fails(enum name name, uint64_t a, uint64_t b, uint64_t c)
{
	if (getpid() != fault.self)
		return false;
	if (fault.counting)
		place_count(name, place_key());
	if (name != fault.name || (fault.place && fault.place != place_key()))
		return false;
	fault.seen++;
	if (fault.failed && fault.ever) {
		errno = fault.error;
		return true;
	}
	if (fault.failed) {
		if (!fault.again || a != fault.what[0] || b != fault.what[1] ||
		    c != fault.what[2])
			return false;
	} else if (fault.seen != fault.at) {
		return false;
	}
	if (fault.die)
		kill(getpid(), SIGKILL);
	if (fault.halt) {
		kill(getpid(), SIGSTOP);
		return false;
	}
	fault.failed = true;
	fault.what[0] = a;
	fault.what[1] = b;
	fault.what[2] = c;
	errno = fault.error;
	return true;
}

#define REAL(function) ({ \
	static __typeof__(&function) real; \
	if (!real) \
		*(void **)&real = dlsym(RTLD_NEXT, #function); \
	real; \
})

/* Is text written again, since the file of PMON_FAULT_WHILE is gone? */
static bool
text_free(void)
{
	const char *path = getenv("PMON_FAULT_WHILE");

	return path && access(path, F_OK);
}

/* Are these bytes of text refused, or half of them? */
static bool
text_refused(int fd, uint64_t at, size_t n)
{
	if (fault.name != TEXT || getpid() != fault.self || text_free())
		return false;
	if (!fault.failed)
		return fails(TEXT, fd, at, n);
	errno = fault.error;
	return fault.ever || (fd == (int)fault.what[0] &&
		at < fault.what[1] + fault.what[2] && fault.what[1] < at + n);
}

/* The same of a word that is poked; of which memory it is does not matter. */
static bool
word_refused(enum __ptrace_request request, void *addr)
{
	uint64_t at = (uintptr_t)addr;

	if (request != PTRACE_POKEDATA || fault.name != TEXT || !fault.failed ||
	    getpid() != fault.self || text_free())
		return false;
	errno = EIO;
	return fault.ever || (at < fault.what[1] + fault.what[2] &&
		fault.what[1] < at + sizeof(long));
}

static long
ptraced(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	if (word_refused(request, addr))
		return -1;
	if (fails(PTRACE, request, pid, (uintptr_t)addr)) {
		if (!fault.kill)
			return -1;
		kill(pid, SIGKILL);
	}
	return ptrace_really(request, pid, addr, data);
}

ssize_t
pread(int fd, void *buf, size_t n, off_t at)
{
	return fails(PREAD, fd, at, n) ? -1 : REAL(pread)(fd, buf, n, at);
}

ssize_t
pwrite(int fd, const void *buf, size_t n, off_t at)
{
	if (text_refused(fd, at, n)) {
		/* The kernel writes page by page. */
		size_t part = fault.half ? (at + n - 1) / 4096 * 4096 - at : 0;

		if (part && part < n && !fault.halved) {
			fault.halved = true;
			return REAL(pwrite)(fd, buf, part, at);
		}
		return -1;
	}
	return fails(PWRITE, fd, at, n) ? -1 : REAL(pwrite)(fd, buf, n, at);
}

ssize_t
process_vm_readv(pid_t pid, const struct iovec *to, unsigned long nto,
		 const struct iovec *from, unsigned long nfrom,
		 unsigned long flags)
{
	if (fails(READV, pid, (uintptr_t)from->iov_base, from->iov_len))
		return -1;
	return REAL(process_vm_readv)(pid, to, nto, from, nfrom, flags);
}

ssize_t
process_vm_writev(pid_t pid, const struct iovec *from, unsigned long nfrom,
		  const struct iovec *to, unsigned long nto,
		  unsigned long flags)
{
	if (fails(WRITEV, pid, (uintptr_t)to->iov_base, to->iov_len))
		return -1;
	return REAL(process_vm_writev)(pid, from, nfrom, to, nto, flags);
}

int
open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return fails(OPEN, 0, 0, flags) ? -1 : REAL(open)(path, flags, mode);
}

FILE *
fopen(const char *path, const char *mode)
{
	return fails(FOPEN, 0, 0, 0) ? NULL : REAL(fopen)(path, mode);
}

void *
mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	if (fails(MMAP, fd, n, offset))
		return MAP_FAILED;
	return REAL(mmap)(at, n, prot, flags, fd, offset);
}
