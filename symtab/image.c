/*
 * Opens images: lets elf.c and dwarf.c read the file and its separate debug
 * file, keeps what they found, and looks up addresses in it.  Uses neither
 * libelf nor libdwarf itself.
 */
#include "symtab/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/debug.h"
#include "symtab/gopclntab.h"
#include "symtab/rseq.h"
#include "symtab/separate.h"
#include "symtab/text.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

/* A file was read that may name source files: note its owner. */
static void
owner_note(struct image *image, const struct elf *elf)
{
	gid_t group;
	uid_t owner = elf_owner(elf, &group);

	if (!owner)
		return;
	image->owner = owner;
	image->group = group;
}

/* Read the DWARF of `dwarf`, the program's file or its separate debug file. */
static void
dwarf_of(struct reading *r, struct elf *dwarf, unsigned want)
{
	struct elf *supplement = separate_supplement(dwarf);

	owner_note(r->image, dwarf);
	if (supplement)
		owner_note(r->image, supplement);
	if (elf_inflate_check(dwarf) ||
	    (supplement && elf_inflate_check(supplement)))
		reading_remark(r, "%s", fail_message());
	else
		debug_read(r, dwarf, supplement, want);
	elf_close(supplement);
}

/* Functions that make text writable, then those that replace text. */
enum { PROTECTING = 3U };	/* the first two */
static const char *const rewriting[] = {
	"mprotect",	     "pkey_mprotect", "mmap",  "mmap64",  "mremap",
	"process_vm_writev", "ptrace",	      "shmat", "syscall", NULL
};

/* Look for functions elsewhere than in symbols and DWARF. */
static void
stripped_read(struct reading *r, struct elf *elf)
{
	const char *path = r->image->path;
	size_t n = r->nsymbols;

	if (!gopclntab_symbols(r, elf))
		reading_remark(r,
			       "%s: damaged .gopclntab: pmon ignored part "
			       "of it",
			       path);
	debug_read_frames(r, elf);
	reading_remark(r,
		       "%s is stripped: pmon takes functions from .dynsym%s "
		       ".eh_frame; its debug symbols would give names and "
		       "lines",
		       path, r->nsymbols > n ? ", .gopclntab and" : " and");
}

static void
image_read(struct reading *r, struct elf *elf, unsigned want)
{
	struct image *image = r->image;
	unsigned imports = elf_imports(elf, rewriting);
	bool dwarf = elf_has_dwarf(elf);
	struct elf *debug;

	if (!reading_goes_on(r, PROGRESS_STEP))
		return;
	owner_note(image, elf);
	image->protects = imports & PROTECTING;
	image->maps = imports & ~PROTECTING;
	if (want & (IMAGE_BARE | IMAGE_SPARSE)) {
		if (reading_wants_any(r)) {
			elf_constants(elf, r);
			debug_read_frames(r, elf);
		}
		funcs_make(r);
		return;
	}
	debug = dwarf ? NULL : separate_debug(elf, r);
	if (debug) {
		image->debug_path = mem_strdup(elf_path(debug));
		if (!r->symtab && elf_symbols(debug, r) < 0)
			reading_remark(r, "%s", fail_message());
		if (elf_has_dwarf(debug))
			dwarf_of(r, debug, want);
	}
	if (dwarf)
		dwarf_of(r, elf, want);
	if (want & IMAGE_FLOW) {
		elf_data(elf, r);
		rseq_read(elf, image);
		debug_read_pads(r, elf);
		debug_read_unwinds(r, elf);
	}
	image->stripped = !r->symtab && !r->dwarf;
	if (image->stripped)
		stripped_read(r, elf);
	else if (want & IMAGE_LINES && !r->dwarf)
		reading_remark(r,
			       "%s: no line information: compile with -g, or "
			       "install its debug symbols",
			       image->path);
	elf_close(debug);
	funcs_make(r);
}

static int
hints_of(struct reading *r, struct elf *elf, const struct image_calls *calls)
{
	struct image *image = r->image;

	image->file = elf_file_id(elf);
	image->unsearched = calls->unsearched &&
			    calls->unsearched(calls->arg, image);
	return image->unsearched ? 0 : text_read_hints(r, elf);
}

/*
 * Begin an image: open its file, check what must be right, and read headers,
 * hints and symbols.  Without calls it is a probe, which needs no hints.  NULL
 * with the message set.
 */
static struct elf *
reading_begin(struct reading *r, const char *path, const char *real_path,
	      unsigned want, const struct image_calls *calls)
{
	struct image_priv *priv = mem_alloc(sizeof(*priv));
	struct elf *elf;

	r->pool = &priv->pool;
	r->image = mem_alloc(sizeof(*r->image));
	r->image->priv = priv;
	r->image->path = mem_strdup(path);
	priv->fd = -1;
	elf = elf_open(path, real_path);
	if (elf && want & IMAGE_SPARSE)
		text_open(r, elf);
	if (elf && elf_headers(elf, r) == 0 &&
	    (!calls || hints_of(r, elf, calls) == 0) &&
	    elf_symbols(elf, r) == 0)
		return elf;
	elf_close(elf);
	return NULL;
}

static void
reading_end(struct reading *r, struct elf *elf)
{
	elf_close(elf);
	for (size_t i = 0; i < r->nsubs; i++)
		free(r->subs[i].ranges);
	free(r->subs);
	free(r->texts);
	free(r->symbols);
	free(r->frames);
	map_free(&r->paths);
	map_free(&r->sequences);
}

struct image *
image_open_with(const char *path, const char *real_path, unsigned want,
		const struct image_calls *calls)
{
	struct reading r = {
		.progress = calls->progress,
		.arg = calls->arg,
		.debug_dirs = calls->debug_dirs,
		.ndebug_dirs = calls->ndebug_dirs,
		.debug_find = calls->debug_find,
	};
	struct elf *elf = reading_begin(&r, path, real_path, want, calls);

	if (elf)
		image_read(&r, elf, want);
	reading_end(&r, elf);
	if (elf && !r.stopped)
		return r.image;
	if (elf)
		fail("%s: not read to the end, because pmon was told to stop",
		     path);
	image_close(r.image);
	return NULL;
}

struct image *
image_open(const char *path, const char *real_path, unsigned want,
	   bool (*progress)(void *), void *arg)
{
	struct image_calls calls = { .progress = progress, .arg = arg };

	return image_open_with(path, real_path, want, &calls);
}

const struct arch *
image_probe(const char *path)
{
	struct reading r = { 0 };
	struct elf *elf = reading_begin(&r, path, NULL, IMAGE_SPARSE, NULL);
	const struct arch *arch = NULL;

	if (elf && !reading_text(&r, r.image->entry))
		fail("%s: damaged: its entry point 0x%" PRIx64 " is not in its "
		     "code",
		     path, r.image->entry);
	else if (elf)
		arch = r.image->arch;
	reading_end(&r, elf);
	image_close(r.image);
	return arch;
}

static void
strings_free(char **strings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(strings[i]);
	free(strings);
}

/* Segments of sparse images are mapped; those of others are in the pool. */
static void
bytes_free(struct image *image)
{
	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].there)
			mem_unmap((void *)image->segments[i].bytes,
				  image->segments[i].filesz);
	for (size_t i = 0; i < image->ndata; i++)
		text_data_free(&image->data[i]);
}

void
image_close(struct image *image)
{
	struct image_priv *priv;

	if (!image)
		return;
	priv = image->priv;
	text_close(priv);
	bytes_free(image);
	pool_free(&priv->pool);
	free(priv->ranges);
	free(priv);
	strings_free(image->files, image->nfiles);
	strings_free(image->remarks, image->nremarks);
	free(image->path);
	free(image->debug_path);
	free(image->interp);
	free(image->segments);
	free(image->hints);
	free(image->funcs);
	free(image->inlines);
	free(image->rows);
	free(image->data);
	free(image->refs);
	free(image->frames);
	free(image->pads);
	free(image->parts);
	free(image->plts);
	free(image->sequences);
	free(image->imports);
	free(image);
}

void
image_rename(struct image *image, const char *path)
{
	size_t len = strlen(image->path);

	for (size_t i = 0; i < image->nremarks; i++) {
		char *remark = image->remarks[i];

		if (strncmp(remark, image->path, len) ||
		    (remark[len] != ' ' && remark[len] != ':'))
			continue;
		image->remarks[i] = mem_printf("%s%s", path, remark + len);
		free(remark);
	}
	free(image->path);
	image->path = mem_strdup(path);
}

const char *
image_name(const struct image *image)
{
	const char *slash = strrchr(image->path, '/');

	return slash && slash[1] ? slash + 1 : image->path;
}

static const struct data *
data_find(const struct image *image, uint64_t addr)
{
	size_t lo = search_first(image->ndata, i, image->data[i].addr > addr);

	if (lo && addr - image->data[lo - 1].addr < image->data[lo - 1].size)
		return &image->data[lo - 1];
	return NULL;
}

uint64_t
image_size(const struct image *image)
{
	uint64_t size = 0;

	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].bytes)
			size += image->segments[i].filesz;
	return size;
}

bool
image_is_data(const struct image *image, uint64_t addr)
{
	return data_find(image, addr) != NULL;
}

const uint8_t *
image_data(const struct image *image, uint64_t addr, size_t *avail)
{
	const struct data *data = data_find(image, addr);

	if (!data)
		return image_text_range(image, addr, addr + SPARSE_DATA, avail);
	return text_data(image, data, addr, avail);
}

const char *
image_import(const struct image *image, uint64_t slot)
{
	size_t lo = search_first(image->nimports, i,
				 image->imports[i].slot > slot);

	if (lo && image->imports[lo - 1].slot == slot)
		return image->imports[lo - 1].name;
	return NULL;
}

const struct func *
image_func(const struct image *image, uint64_t addr)
{
	const struct image_priv *priv = image->priv;
	size_t lo = search_first(priv->nranges, i, priv->ranges[i].lo > addr);

	if (lo && addr < priv->ranges[lo - 1].hi)
		return &image->funcs[priv->ranges[lo - 1].func];
	return NULL;
}

bool
image_restarts(const struct image *image, const struct range *ranges, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		size_t i = search_first(image->nsequences, s,
					image->sequences[s].hi > ranges[k].lo);

		if (i < image->nsequences &&
		    image->sequences[i].lo < ranges[k].hi)
			return true;
	}
	return false;
}
