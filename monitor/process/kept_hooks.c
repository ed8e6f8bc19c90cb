/*
 * Keeps the hooks of libraries from run to run, in the user's cache directory.
 * What a list leaves out is not looked for again, so a list is used for no other
 * file than that which was searched, nor by another pmon.  Nor is it for a
 * program or library that is counted: which code that has depends on what is
 * counted, and on debug files.
 */
#include "monitor/process/kept_hooks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "monitor/process/thread_pages.h"
#include "symtab/pool.h"
#include "util/mem.h"

/* Smaller files are searched sooner than a list is read. */
enum { SIZE_MIN = 64 << 10 };

static const char head[] = "pmon: hooks, 1";

static const char *
suffix(bool maps)
{
	return maps ? ".maps" : ".hooks";
}

/* pmon's own file, which stays the same; NULL if it is not known. */
static const struct stat *
own_file(void)
{
	static struct stat st;
	static bool known;

	if (!known)
		known = !stat("/proc/self/exe", &st);
	return known ? &st : NULL;
}

/*
 * The line that tells which file was searched, and by what: pmon's own file, and
 * the library that decodes.  NULL: nothing is kept of the file.  Only if objects
 * are chosen can a dynamic linker be a program that is not counted; then one of
 * its symbols is needed (monitor/patch/linker.c).
 */
static char *
identity_make(const struct image *image, bool maps)
{
	const struct file_id *id = &image->file;
	const struct stat *own;

	if (!id->settled || id->size < SIZE_MIN ||
	    (maps && image->entry && !image->interp))
		return NULL;
	own = own_file();
	if (!own)
		return NULL;
	return mem_printf("%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64
			  " %" PRIx64 " %" PRIx64 " %jx %jx %jx %jx.%lx\n",
			  image->arch->decoder ? image->arch->decoder() : 0,
			  id->dev, id->ino, id->size, id->mtime, id->ctime,
			  (uintmax_t)own->st_dev, (uintmax_t)own->st_ino,
			  (uintmax_t)own->st_size,
			  (uintmax_t)own->st_ctim.tv_sec,
			  (unsigned long)own->st_ctim.tv_nsec);
}

/* Whether a search finds such hooks; others are the monitor's own. */
static bool
hook_searched(const struct hook *hook)
{
	return hook->kind < HOOK_OTHER_CALL;
}

/* A hook as it is in a line. */
enum {
	FIELD_ADDR,
	FIELD_END,
	FIELD_KIND,
	FIELD_FUNC,
	FIELD_FILTER,
	FIELD_DEPTH,
	FIELD_CHANGED,
	FIELDS,
};

static void
fields_of(const struct hook *hook, uint64_t fields[FIELDS])
{
	fields[FIELD_ADDR] = hook->addr;
	fields[FIELD_END] = hook->end;
	fields[FIELD_KIND] = hook->kind;
	fields[FIELD_FUNC] = hook->func;
	fields[FIELD_FILTER] = hook->filter;
	fields[FIELD_DEPTH] = (uint32_t)hook->depth;
	fields[FIELD_CHANGED] = hook->changed;
}

static struct hook
hook_of(const uint64_t fields[FIELDS])
{
	return (struct hook){
		.addr = fields[FIELD_ADDR],
		.end = fields[FIELD_END],
		.kind = (uint8_t)fields[FIELD_KIND],
		.func = fields[FIELD_FUNC],
		.filter = fields[FIELD_FILTER],
		.depth = (int32_t)fields[FIELD_DEPTH],
		.changed = (uint32_t)fields[FIELD_CHANGED],
	};
}

/* ---- reading */

/* Whether the file has this line now. */
static bool
line_is(FILE *in, const char *line, size_t n)
{
	char *found = mem_alloc(n + 1);
	bool is = fread(found, 1, n, in) == n && !memcmp(found, line, n);

	free(found);
	return is;
}

/* Whether there is an instruction at the hook, and not of a wrong kind. */
static bool
hook_is(const struct image *image, const struct hook *hook)
{
	bool call = hook->kind != HOOK_STACK_SWITCH && hook->kind != HOOK_ENTRY;
	struct insn insn;
	size_t avail;
	const uint8_t *text = image_text(image, hook->addr, &avail);

	return hook_searched(hook) && text &&
	       !image->arch->decode(text, avail, hook->addr, &insn) &&
	       (insn.kind == INSN_SYSCALL || !call);
}

static bool
numbers_read(FILE *in, uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fscanf(in, "%" SCNx64, &numbers[i]) != 1)
			return false;
	return true;
}

/* Whether all lines are as they were written. */
static bool
lines_read(FILE *in, const struct image *image, struct kept_hooks *kept)
{
	uint64_t begin[2], fields[FIELDS], hash, end;

	/* How many lines, and maps_unseen. */
	if (!numbers_read(in, begin, 2))
		return false;
	kept->maps_unseen = begin[1];
	hash = map_hash(begin, sizeof(begin));
	while (kept->n < begin[0]) {
		struct hook hook;

		if (!numbers_read(in, fields, FIELDS))
			return false;
		hook = hook_of(fields);
		if (!hook_is(image, &hook))
			return false;
		hash = map_hash_add(hash, fields, sizeof(fields));
		*vec_push(kept->hooks, kept->n) = hook;
	}
	return numbers_read(in, &end, 1) && end == hash;
}

static bool
list_read(FILE *in, const char *identity, const struct image *image,
	  struct kept_hooks *kept)
{
	if (line_is(in, head, sizeof(head) - 1) && line_is(in, "\n", 1) &&
	    line_is(in, identity, strlen(identity)) &&
	    lines_read(in, image, kept))
		return true;
	free(kept->hooks);
	*kept = (struct kept_hooks){ 0 };
	return false;
}

bool
kept_hooks_read(struct cache *cache, const struct image *image, bool maps,
		struct kept_hooks *kept)
{
	char *identity = identity_make(image, maps);
	FILE *in = identity ? cache_read(cache, image, suffix(maps)) : NULL;
	bool found = false;

	*kept = (struct kept_hooks){ 0 };
	if (in) {
		found = list_read(in, identity, image, kept);
		fclose(in);
	}
	free(identity);
	return found;
}

/* ---- writing */

static void
lines_write(FILE *out, const struct plan *plan)
{
	uint64_t begin[] = { 0, plan->maps_unseen }, fields[FIELDS], hash;

	for (size_t i = 0; i < plan->nhooks; i++)
		begin[0] += hook_searched(&plan->hooks[i]);
	fprintf(out, "%" PRIx64 " %" PRIx64 "\n", begin[0], begin[1]);
	hash = map_hash(begin, sizeof(begin));
	for (size_t i = 0; i < plan->nhooks; i++) {
		if (!hook_searched(&plan->hooks[i]))
			continue;
		fields_of(&plan->hooks[i], fields);
		hash = map_hash_add(hash, fields, sizeof(fields));
		for (size_t k = 0; k < FIELDS; k++)
			fprintf(out, "%" PRIx64 "%c", fields[k],
				k + 1 < FIELDS ? ' ' : '\n');
	}
	fprintf(out, "%" PRIx64 "\n", hash);
}

void
kept_hooks_write(struct cache *cache, struct plan *plan)
{
	const struct image *image = plan->image;
	const char *kind = suffix(plan->options.maps);
	char *identity = NULL;
	FILE *out = NULL;

	if (!image->unsearched && !plan->options.no_traps &&
	    !thread_pages_doubtful(image))
		identity = identity_make(image, plan->options.maps);
	if (identity && cache_keeps(cache, image)) {
		plan_hooks(plan, HOOKS_EXECS | HOOKS_SWITCHES);
		/* What could not be read may have more hooks. */
		if (!image_lost(image))
			out = cache_write(cache, image, kind);
	}
	if (out) {
		fprintf(out, "%s\n%s", head, identity);
		lines_write(out, plan);
		cache_written(cache, image, kind, out);
	}
	free(identity);
}

void
kept_hooks_forget(struct cache *cache, const struct image *image)
{
	cache_forget(cache, image, suffix(false));
	cache_forget(cache, image, suffix(true));
}
