/*
 * Counts that qemu makes inside, by pmon's plugin: hands it the sites in a file
 * that both map (host/qemu/counts.h), and reads there what it counted, also if
 * qemu was killed.  Starts no simulator.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/qemu/counts.h"
#include "host/remote_state.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/sort.h"

/* Above the file descriptors that qemu and its program would be given. */
enum { FILE_NUMBER = 200 };
/* Room for pairs of a jump and a place; what is not used takes no memory. */
enum { ARRIVALS = 1 << 18 };

static struct {
	int fd;			/* of the file, until the sites are in it */
	char *why;		/* why qemu does not count, or NULL */
	char *map;		/* the file, or NULL */
	size_t size;
	struct qemu_state *state;	/* in the file; or a copy of it, once
					   qemu goes on without pmon */
	struct qemu_counts head;	/* the file's */
	uint64_t *nexts;	/* per site, see struct host_site */
	size_t n;
	uint64_t *places;	/* where jumps may go */
	size_t nplaces;
	uint64_t *told;		/* of each arrival of the file's hash table */
} counts = { .fd = -1 };

/* ---- the file */

int
remote_counts_open(void)
{
	int low, fd;

	remote_counts_close();
	low = memfd_create("pmon", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, FILE_NUMBER);
	if (fd >= 0)
		close(low);
	counts.fd = fd < 0 ? low : fd;
	return counts.fd;
}

void
remote_counts_launched(char *why)
{
	if (counts.fd < 0 && !why)
		why = mem_strdup("no memory can be shared with qemu");
	counts.why = why;
}

static void
file_drop(void)
{
	if (counts.fd >= 0)
		close(counts.fd);
	counts.fd = -1;
	if (counts.map)
		munmap(counts.map, counts.size);
	counts.map = NULL;
}

void
remote_counts_close(void)
{
	if (!counts.map)
		free(counts.state);
	counts.state = NULL;
	file_drop();
	free(counts.why);
	counts.why = NULL;
	free(counts.nexts);
	counts.nexts = NULL;
	counts.n = 0;
	free(counts.places);
	counts.places = NULL;
	counts.nplaces = 0;
	free(counts.told);
	counts.told = NULL;
}

/*
 * Map the file, with room for so many points.  Nobody can change its size any
 * more: memory that is gone would kill pmon.
 */
static int
file_map(size_t npoints)
{
	uint64_t offset = sizeof(struct qemu_counts) +
			  npoints * sizeof(struct qemu_point);
	void *map;

	offset = (offset + COUNTS_PAGE - 1) / COUNTS_PAGE * COUNTS_PAGE;
	counts.head = (struct qemu_counts){
		.npoints = npoints,
		.nsites = counts.n,
		.narrivals = counts.nplaces ? ARRIVALS : 0,
		.state_offset = offset,
	};
	counts.size = offset + counts_state_size(&counts.head);
	if (ftruncate(counts.fd, (off_t)counts.size) ||
	    fcntl(counts.fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fail("counters for qemu: %s", strerror(errno));
	map = mmap(NULL, counts.size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   counts.fd, 0);
	if (map == MAP_FAILED)
		return fail("counters for qemu: %s", strerror(errno));
	counts.map = map;
	counts.state = (struct qemu_state *)(counts.map + offset);
	memcpy(counts.map, &counts.head, sizeof(counts.head));
	return 0;
}

/* ---- points */

struct points {
	struct qemu_point *points;
	size_t n;
};

/* By va; those with nothing but a branch before them come first. */
static int
point_compare(const void *va, const void *vb)
{
	const struct qemu_point *a = va, *b = vb;

	if (a->va != b->va)
		return a->va < b->va ? -1 : 1;
	return (a->after != 0) < (b->after != 0) ? 1 :
	       (a->after != 0) > (b->after != 0) ? -1 :
	       a->after != b->after ? (a->after < b->after ? -1 : 1) :
				      0;
}

static void
site_points(struct points *points, const struct host_site *site,
	    uint32_t number)
{
	bool branch = site->next != 0;

	*vec_push(points->points, points->n) = (struct qemu_point){
		.va = site->va,
		.site = number,
		.is = (branch ? POINT_BRANCH : 0) |
		      (site->jump ? POINT_JUMP : 0) |
		      (site->syscall ? POINT_SYSCALL : 0),
	};
	if (!branch)
		return;
	*vec_push(points->points, points->n) = (struct qemu_point){
		.va = site->next,
		.after = number,
	};
	*vec_push(points->points, points->n) = (struct qemu_point){
		.va = site->target,
		.is = POINT_TARGET,
	};
}

/*
 * Make one point of all at the same place, the last of them, except where
 * several branches lead there.
 */
static void
points_merge(struct points *points)
{
	size_t n = 0;

	for (size_t i = 0; i < points->n; i++) {
		struct qemu_point *last = n ? &points->points[n - 1] : NULL;
		const struct qemu_point *point = &points->points[i];

		if (last && last->va == point->va && !point->after) {
			last->site |= point->site;
			last->is |= point->is;
		} else {
			points->points[n++] = *point;
		}
	}
	points->n = n;
}

/* Write the file and close it: qemu has it open, too. */
static int
file_write(const struct points *points)
{
	int err = file_map(points->n);

	if (!err && points->n)
		memcpy(counts.map + sizeof(struct qemu_counts), points->points,
		       points->n * sizeof(*points->points));
	close(counts.fd);
	counts.fd = -1;
	return err;
}

void
remote_counts_begin(void)
{
	if (counts.fd >= 0 && file_write(&(struct points){ 0 }))
		counts.n = 0;
}

void
remote_counts_places(const uint64_t *vas, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*vec_push(counts.places, counts.nplaces) = vas[i];
}

int
remote_counts_plant(const struct host_site *sites, size_t n)
{
	struct points points = { 0 };
	int err;

	must(!counts.n);
	if (counts.fd < 0)
		return fail("the program has begun already");
	counts.n = n;
	counts.nexts = mem_alloc(n * sizeof(*counts.nexts));
	for (size_t i = 0; i < n; i++) {
		site_points(&points, &sites[i], (uint32_t)i + 1);
		counts.nexts[i] = sites[i].next;
	}
	for (size_t i = 0; i < counts.nplaces; i++)
		*vec_push(points.points, points.n) = (struct qemu_point){
			.va = counts.places[i],
			.is = POINT_PLACE,
		};
	sort(points.points, points.n, sizeof(*points.points), point_compare);
	points_merge(&points);
	err = file_write(&points);
	free(points.points);
	return err;
}

/* ---- counts */

bool
remote_counts_able(const char **why)
{
	*why = counts.why;
	return remote.simulator && !counts.why;
}

void
remote_counts_stopped(void)
{
	struct qemu_state *state = counts.state;
	uint64_t pc, last = state ? state->last : 0;

	if (!last || last > counts.n ||
	    remote_reg_get(remote.tid, remote.arch->reg_pc, &pc))
		return;
	counts_reach(&counts.head, state, pc,
		     pc == counts.nexts[last - 1] ? last : 0, true);
}

void
remote_counts_leave(void)
{
	size_t size = counts_state_size(&counts.head);
	struct qemu_state *copy;

	if (!counts.map)
		return;
	copy = mem_alloc(size);
	memcpy(copy, counts.state, size);
	counts.state = copy;
	file_drop();
}

int
remote_counts_fetch(struct host_site *sites, size_t n)
{
	must(n == counts.n);
	if (!counts.state || counts.state->lost || counts.state->full)
		return HOST_GONE;
	for (size_t i = 0; i < n; i++) {
		const struct qemu_counter *counter = &counts.state->counters[i];

		sites[i].hits = counter->hits;
		sites[i].taken = sites[i].next ?
					 counter->hits - counter->passed :
					 0;
	}
	return HOST_OK;
}

struct host_arrival *
remote_counts_arrived(size_t *n)
{
	const struct qemu_arrival *table;
	struct host_arrival *arrived = NULL;

	*n = 0;
	if (!counts.state || !counts.head.narrivals)
		return NULL;
	if (!counts.told)
		counts.told = mem_alloc(counts.head.narrivals *
					sizeof(*counts.told));
	table = counts_arrivals(&counts.head, counts.state);
	for (size_t i = 0; i < counts.head.narrivals; i++) {
		struct qemu_arrival now = table[i];

		if (!now.site || now.site > counts.n || now.n == counts.told[i])
			continue;
		*vec_push(arrived, *n) = (struct host_arrival){
			.site = now.site - 1,
			.va = now.va,
			.n = now.n - counts.told[i],
		};
		counts.told[i] = now.n;
	}
	return arrived;
}
