/*
 * Shared counter pages: the memory that a module's relocated functions count in
 * where pmon must not use the thread register.
 */
#ifndef MONITOR_PROCESS_SHARED_PAGE_H
#define MONITOR_PROCESS_SHARED_PAGE_H

#include "monitor/run.h"
#include "util/fail.h"

/*
 * May counters be shared by all threads?  Not where processes are told apart,
 * as a fork's child counts in its parent's page.
 */
bool shared_pages_allowed(const struct run *run);
/* How many bytes a shared page with `need` bytes of counters takes. */
uint64_t shared_page_size(uint64_t need);
/* The region that these counters have in the page. */
struct region shared_page_region(uint64_t need);
/*
 * Have the stopped task map a shared page for the module, with room for `need`
 * bytes of counters, at `place`: shared_page_size(need) bytes of pmon's memory
 * there.  0; or -1 with the message, and nothing is mapped at `place`.
 */
int shared_page_open(struct run *run, struct task *task, struct module *module,
		     uint64_t place, uint64_t need) MUST_CHECK;
/* Unmap the module's shared page in pmon, if it has one. */
void shared_page_close(struct module *module);
/*
 * Does the page, if there is one, have the generation that it had at the last
 * call?  Else the program has written there.  Begins the next generation.
 */
bool shared_page_renew(struct module *module);

#endif
