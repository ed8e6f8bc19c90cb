/*
 * Runs a VAX program with sites, counted in any of several ways.
 */
#include "flow/cfg.h"
#include "tests/lib/vaxrun.h"
#include "util/fail.h"

enum { VAXRUN_BREAK_MAX = 2000000000 };

static const uint8_t *
vaxrun_text(void *ctx, uint64_t addr, size_t *avail)
{
	return image_text(ctx, addr, avail);
}

/* By va, which is the first member of a site. */
static int
vaxrun_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
vaxrun_site_add(struct vaxrun *v, const struct insn *insn)
{
	uint64_t next = insn->addr + insn->len;

	*vec_push(v->sites, v->n) = (struct host_site){
		.va = insn->addr,
		.next = insn->kind == INSN_BRANCH && insn->target != next ?
				next :
				0,
	};
}

void
vaxrun_sites(struct vaxrun *v, const struct image *image, const char *name)
{
	size_t avail;

	for (size_t i = 0; i < image->nfuncs; i++) {
		const struct func *func = &image->funcs[i];
		uint64_t lo = image->arch->first(func->addr);
		uint64_t hi = func->ranges[0].hi;
		struct cfg *cfg;

		if (name && strcmp(func->name, name))
			continue;
		cfg = cfg_make(&(struct cfg_input){
			.arch = image->arch,
			.lo = &lo,
			.hi = &hi,
			.n = 1,
			.text = vaxrun_text,
			.ctx = (void *)image,
		});
		for (size_t k = 0; k < cfg->ninsns; k++)
			vaxrun_site_add(v, &cfg->insns[k]);
		cfg_free(cfg);
	}
	qsort(v->sites, v->n, sizeof(*v->sites), vaxrun_compare);
	v->origs = mem_alloc(v->n + 1);
	for (size_t i = 0; i < v->n; i++)
		v->origs[i] = *image_text(image, v->sites[i].va, &avail);
}

void
vaxrun_free(struct vaxrun *v)
{
	free(v->sites);
	free(v->origs);
}

static long
vaxrun_site(const struct vaxrun *v, uint64_t va)
{
	const struct host_site *found = v->n ? bsearch(&va, v->sites, v->n,
						       sizeof(*v->sites),
						       vaxrun_compare) :
					       NULL;

	return found ? found - v->sites : -1;
}

static int
vaxrun_plant(struct vaxrun *v)
{
	char command[64];
	int status = 0;

	if (v->how == VAXRUN_INSIDE)
		return host_simh.counting->plant(v->sites, v->n);
	if (v->how == VAXRUN_PLAIN)
		return 0;
	for (size_t i = 0; i < v->n && !status; i++) {
		if (v->how != VAXRUN_BREAK) {
			status = host_simh.mem_write(0, 0, v->sites[i].va,
						     arch_vax.trap, 1);
			continue;
		}
		snprintf(command, sizeof(command), "break %08" PRIx64 "[%d]",
			 v->sites[i].va, VAXRUN_BREAK_MAX);
		status = simh_command(command);
	}
	return status;
}

/* Read the hits from breakpoints' lines, "00010076:\tE [1999999990]". */
static void
vaxrun_breaks(struct vaxrun *v)
{
	const char *line;
	uint64_t va;
	long left;

	simh_command("show break all");
	for (size_t i = 0; (line = simh_answer(i)); i++)
		if (sscanf(line, "%" SCNx64 ":\tE [%ld]", &va, &left) == 2 &&
		    vaxrun_site(v, va) >= 0)
			v->sites[vaxrun_site(v, va)].hits =
				(uint64_t)(VAXRUN_BREAK_MAX - left);
}

/* Step over the trap as any host can; returns the step's event. */
static struct event
vaxrun_step(struct vaxrun *v, size_t site)
{
	struct host_site *s = &v->sites[site];
	struct event event;
	uint64_t pc;

	host_simh.mem_write(0, 0, s->va, &v->origs[site], 1);
	host_simh.resume(0, RESUME_STEP, 0);
	host_simh.wait(&event);
	s->taken += event.kind == EVENT_TRAP && s->next &&
		    !host_simh.reg_get(0, arch_vax.reg_pc, &pc) &&
		    pc != s->next;
	host_simh.mem_write(0, 0, s->va, arch_vax.trap, 1);
	return event;
}

/* One trap: count, pass it, and go on. */
static void
vaxrun_trap(struct vaxrun *v, struct event *event)
{
	uint64_t pc;
	long site;

	must(!host_simh.reg_get(0, arch_vax.reg_pc, &pc));
	site = vaxrun_site(v, pc);
	if (site < 0 || host_simh.trap_cause(0) != TRAP_INSN) {
		event->kind = EVENT_SIGNAL;
		event->value = 5;
		return;
	}
	v->sites[site].hits++;
	if (v->how == VAXRUN_PASS) {
		simh_pass(v->origs[site]);
		event->kind = EVENT_WAKE;
		return;
	}
	*event = vaxrun_step(v, (size_t)site);
	if (event->kind == EVENT_TRAP && host_simh.trap_cause(0) == TRAP_STEP) {
		host_simh.resume(0, RESUME_RUN, 0);
		event->kind = EVENT_WAKE;
	}
}

int
vaxrun(struct vaxrun *v, const char *path, char **argv)
{
	struct timespec t0, t1;
	struct event event;
	pid_t tid;

	if (host_simh.launch(path, argv, &tid) < 0)
		return -1;
	if (vaxrun_plant(v)) {
		host_simh.close();
		return -1;
	}
	clock_gettime(CLOCK_MONOTONIC, &t0);
	host_simh.resume(tid, RESUME_RUN, 0);
	for (;;) {
		host_simh.wait(&event);
		v->events++;
		if (event.kind == EVENT_TRAP)
			vaxrun_trap(v, &event);
		if (event.kind == EVENT_EXEC)
			host_simh.resume(tid, RESUME_RUN, 0);
		else if (event.kind == EVENT_SIGNAL)
			host_simh.resume(tid, RESUME_RUN, event.value);
		else if (event.kind != EVENT_WAKE)
			break;
	}
	clock_gettime(CLOCK_MONOTONIC, &t1);
	v->seconds = (double)(t1.tv_sec - t0.tv_sec) +
		     (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
	v->end = event;
	if (v->how == VAXRUN_BREAK)
		vaxrun_breaks(v);
	return v->how == VAXRUN_INSIDE ?
		       host_simh.counting->fetch(v->sites, v->n) :
		       0;
}
