/*
 * Keeps the files mapped into an address space as libdw's modules, and reads
 * their text.  Reads files, /proc by way of the host, and no memory but the
 * head of each file and the vdso.
 */
#include "monitor/unwind/stack_files.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/regular.h"

/* No debug files: the tables for unwinding are in what is mapped. */
static int
debuginfo_none(Dwfl_Module *module, void **userdata, const char *name,
	       Dwarf_Addr base, const char *file_name, const char *link,
	       GElf_Word crc, char **path)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = debuginfo_none,
};

static bool
is_vdso(const struct mapping *map)
{
	return !strcmp(map->path, "[vdso]");
}

static bool
is_file(const struct mapping *map)
{
	return map->ino || is_vdso(map);
}

static bool
same_file(const struct mapping *a, const struct mapping *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* Whether this mapping goes on with the file that `last` maps. */
static bool
goes_on(const struct mapping *last, const struct mapping *map)
{
	return map->ino && same_file(last, map) && map->offset >= last->offset;
}

/*
 * The end of the mappings of one file, which begin with number `first`; *text
 * tells whether any is executable.  Anonymous memory (.bss) may lie between.
 */
static size_t
group_end(const struct mapping *maps, size_t n, size_t first, bool *text)
{
	size_t last = first;

	*text = maps[first].exec;
	for (size_t i = first + 1; i < n; i++) {
		if (goes_on(&maps[last], &maps[i])) {
			last = i;
			*text |= maps[i].exec;
		} else if (is_file(&maps[i])) {
			break;
		}
	}
	return last + 1;
}

/* A file descriptor for what is mapped, or -1. */
static int
map_open(const struct stack_files *files, pid_t tid, const struct mapping *map)
{
	uint64_t size = map->hi - map->lo;
	char *path;
	void *buf;
	struct stat st;
	int fd;

	if (!is_vdso(map)) {
		path = files->host->mapped(tid, map);
		fd = regular_open(path, NULL, &st);
		free(path);
		return fd;
	}
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	buf = mem_alloc(size);
	if (files->host->data_read(tid, map->lo, buf, size) ||
	    pwrite(fd, buf, size, 0) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	free(buf);
	return fd;
}

static uint64_t
head_entry(const struct mapped_file *file, Dwfl_Module *module)
{
	GElf_Addr bias = 0;
	Elf64_Ehdr ehdr;

	_Static_assert(sizeof(ehdr) <= HEAD_SIZE, "the head has it");
	memcpy(&ehdr, file->head, sizeof(ehdr));
	if (!file->has_head || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !ehdr.e_entry || !dwfl_module_getelf(module, &bias))
		return 0;
	return ehdr.e_entry + bias;
}

static void
file_add(struct stack_files *files, pid_t tid, const struct mapping *map)
{
	struct mapped_file *file;
	Dwfl_Module *module;
	void **userdata;
	int fd = map_open(files, tid, map);

	if (fd < 0)
		return;
	module = dwfl_report_elf(files->dwfl, map->path, map->path, fd, map->lo,
				 false);
	if (!module) {
		close(fd);
		return;
	}
	file = mem_alloc(sizeof(*file));
	*vec_push(files->files, files->nfiles) = file;
	file->lo = map->lo;
	file->has_head = !files->host->data_read(tid, map->lo, file->head,
						 sizeof(file->head));
	file->entry = head_entry(file, module);
	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = file;
}

void
files_read(struct stack_files *files, pid_t tid)
{
	size_t i = 0, end;
	bool text;

	files->dwfl = dwfl_begin(&callbacks);
	if (!files->dwfl)
		return;
	dwfl_report_begin(files->dwfl);
	while (i < files->nmaps) {
		end = i + 1;
		if (is_file(&files->maps[i])) {
			end = group_end(files->maps, files->nmaps, i, &text);
			if (text)
				file_add(files, tid, &files->maps[i]);
		}
		i = end;
	}
	dwfl_report_end(files->dwfl, NULL, NULL);
}

static bool
is_text(const struct mapping *map)
{
	return map->exec && is_file(map);
}

/* Whether both maps have the same text at the same places. */
static bool
maps_equal(const struct mapping *a, size_t na, const struct mapping *b,
	   size_t nb)
{
	size_t i = 0, j = 0;

	for (;; i++, j++) {
		while (i < na && !is_text(&a[i]))
			i++;
		while (j < nb && !is_text(&b[j]))
			j++;
		if (i == na || j == nb)
			return i == na && j == nb;
		if (a[i].lo != b[j].lo || a[i].hi != b[j].hi ||
		    a[i].offset != b[j].offset || !same_file(&a[i], &b[j]))
			return false;
	}
}

static void
text_close(struct stack_files *files)
{
	if (files->text_fd >= 0)
		close(files->text_fd);
	files->text_fd = -1;
}

struct stack_files
files_none(const struct host *host)
{
	return (struct stack_files){ .host = host, .text_fd = -1 };
}

bool
files_changed(struct stack_files *files, pid_t tid, struct stack_files *now)
{
	*now = files_none(files->host);
	if (files->host->maps(tid, &now->maps, &now->nmaps))
		return false;
	text_close(files);
	if (!maps_equal(now->maps, now->nmaps, files->maps, files->nmaps))
		return true;
	files_free(now);
	return false;
}

void
files_free(struct stack_files *files)
{
	if (files->dwfl)
		dwfl_end(files->dwfl);
	for (size_t i = 0; i < files->nfiles; i++)
		free(files->files[i]);
	free(files->files);
	text_close(files);
	mappings_free(files->maps, files->nmaps);
}

const struct mapped_file *
files_of(Dwfl_Module *module)
{
	void **userdata;

	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	return *userdata;
}

Dwfl_Module *
files_module(struct stack_files *files, const struct stack_memory *memory,
	     uint64_t va, bool *stale)
{
	Dwfl_Module *module = dwfl_addrmodule(files->dwfl, va);
	struct mapped_file *file;
	uint8_t head[HEAD_SIZE];

	*stale = false;
	if (!module)
		return NULL;
	file = (struct mapped_file *)files_of(module);
	if (file->checked == memory->walk || !file->has_head)
		return module;
	file->checked = memory->walk;
	*stale = stack_memory_read(memory, file->lo, head, sizeof(head)) ||
		 memcmp(head, file->head, sizeof(head));
	return module;
}

int
files_text(struct stack_files *files, pid_t tid, uint64_t va, void *buf,
	   size_t n)
{
	const struct mapping *map;
	ssize_t got;

	for (size_t i = 0; i < files->nmaps; i++) {
		map = &files->maps[i];
		if (va < map->lo || va >= map->hi || !is_text(map))
			continue;
		if (n > map->hi - va)
			return -1;
		if (files->text_fd < 0 || files->text_lo != map->lo) {
			text_close(files);
			files->text_fd = map_open(files, tid, map);
			files->text_lo = map->lo;
		}
		if (files->text_fd < 0)
			return -1;
		got = pread(files->text_fd, buf, n,
			    (off_t)(va - map->lo + map->offset));
		return got == (ssize_t)n ? 0 : -1;
	}
	return -1;
}
