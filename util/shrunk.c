/*
 * Handles SIGBUS.  When a mapped file becomes shorter its pages are lost, and
 * reading them raises that signal.  pmon maps the memory that holds counters,
 * and libraries that it uses may map files.  A page of zeros replaces a lost
 * page, so that the run goes on and its report is made.  Never tells which
 * data are lost: callers of shrunk_met do.
 */
#include "util/shrunk.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t met;
static uintptr_t page_size;

static void
on_bus(int signal, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~(page_size - 1);

	met = 1;
	if (info->si_code == BUS_ADRERR &&
	    mmap((void *)page, page_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		return;
	/* The access raises SIGBUS again, which ends pmon. */
	(void)!sigaction(SIGBUS, &(struct sigaction){ .sa_handler = SIG_DFL },
			 NULL);
}

void
shrunk_catch(void)
{
	struct sigaction action = {
		.sa_sigaction = on_bus,
		.sa_flags = SA_SIGINFO,
	};

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &action, NULL);
}

bool
shrunk_met(void)
{
	return met;
}
