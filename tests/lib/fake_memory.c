/*
 * The memory of the fake host's processes: mappings of a program, its stack,
 * and what is mapped later.  Knows no task.
 */
#include "tests/lib/fake_kernel.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "util/fail.h"
#include "util/mem.h"

enum {
	STACK_SIZE = 1 << 16,
};

static const uint64_t MAP_FIRST = 0x7f0000000000;

static struct fake_bytes *
bytes_new(size_t size)
{
	struct fake_bytes *bytes = mem_alloc(sizeof(*bytes));

	*bytes = (struct fake_bytes){
		.refs = 1,
		.p = mem_alloc(size),
		.size = size,
	};
	return bytes;
}

static void
bytes_drop(struct fake_bytes *bytes)
{
	if (--bytes->refs)
		return;
	if (bytes->mapped)
		munmap(bytes->p, bytes->size);
	else
		free(bytes->p);
	free(bytes);
}

static struct fake_region *
region_add(struct fake_mm *mm, uint64_t va, struct fake_bytes *bytes,
	   const char *path)
{
	struct fake_region *region = vec_push(mm->regions, mm->n);

	*region = (struct fake_region){ .bytes = bytes };
	region->map = (struct mapping){
		.lo = va,
		.hi = va + bytes->size,
		.read = true,
		.path = mem_strdup(path),
	};
	return region;
}

static void
region_drop(struct fake_mm *mm, size_t i)
{
	bytes_drop(mm->regions[i].bytes);
	free(mm->regions[i].map.path);
	memmove(mm->regions + i, mm->regions + i + 1,
		(--mm->n - i) * sizeof(*mm->regions));
}

/* Map the part of the file that the header tells of. */
static void
segment_load(struct fake_mm *mm, const char *path, FILE *f,
	     const Elf64_Phdr *phdr)
{
	uint64_t lo = phdr->p_vaddr / PAGE * PAGE;
	uint64_t hi = (phdr->p_vaddr + phdr->p_memsz + PAGE - 1) / PAGE * PAGE;
	struct fake_bytes *bytes = bytes_new(hi - lo);
	struct fake_region *region = region_add(mm, lo, bytes, path);
	struct stat st;

	must(!fseek(f, (long)phdr->p_offset, SEEK_SET));
	must(fread(bytes->p + (phdr->p_vaddr - lo), 1, phdr->p_filesz, f) ==
	     phdr->p_filesz);
	must(!fstat(fileno(f), &st));
	region->map.offset = phdr->p_offset / PAGE * PAGE;
	region->map.dev = st.st_dev;
	region->map.ino = st.st_ino;
	region->map.write = phdr->p_flags & PF_W;
	region->map.exec = phdr->p_flags & PF_X;
}

struct fake_mm *
fake_mm_load(const char *path)
{
	struct fake_mm *mm = mem_alloc(sizeof(*mm));
	FILE *f = fopen(path, "re");
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;

	must(f && fread(&ehdr, sizeof(ehdr), 1, f) == 1);
	*mm = (struct fake_mm){ .refs = 1, .users = 1, .next = MAP_FIRST };
	for (size_t i = 0; i < ehdr.e_phnum; i++) {
		must(!fseek(f, (long)(ehdr.e_phoff + i * sizeof(phdr)),
			    SEEK_SET));
		must(fread(&phdr, sizeof(phdr), 1, f) == 1);
		if (phdr.p_type != PT_LOAD)
			continue;
		segment_load(mm, path, f, &phdr);
		if (!phdr.p_offset)
			fake.phdr = phdr.p_vaddr + ehdr.e_phoff;
	}
	fclose(f);
	fake.entry = ehdr.e_entry;
	fake.phnum = ehdr.e_phnum;
	region_add(mm, FAKE_STACK_TOP - STACK_SIZE, bytes_new(STACK_SIZE),
		   "[stack]")
		->map.write = true;
	return mm;
}

struct fake_mm *
fake_mm_copy(const struct fake_mm *mm)
{
	struct fake_mm *copy = mem_alloc(sizeof(*copy));

	*copy = (struct fake_mm){ .refs = 1, .users = 1, .next = mm->next };
	for (size_t i = 0; i < mm->n; i++) {
		const struct fake_region *from = &mm->regions[i];
		struct fake_region *to = vec_push(copy->regions, copy->n);

		*to = *from;
		to->map.path = mem_strdup(from->map.path);
		if (from->map.shared) {
			to->bytes->refs++;
			continue;
		}
		to->bytes = bytes_new(from->bytes->size);
		memcpy(to->bytes->p, from->bytes->p, from->bytes->size);
	}
	return copy;
}

void
fake_mm_drop(struct fake_mm *mm)
{
	if (--mm->refs)
		return;
	while (mm->n)
		region_drop(mm, mm->n - 1);
	free(mm->regions);
	free(mm);
}

static struct fake_region *
region_find(const struct fake_mm *mm, uint64_t va)
{
	for (size_t i = 0; i < mm->n; i++)
		if (va - mm->regions[i].map.lo < mm->regions[i].bytes->size)
			return &mm->regions[i];
	return NULL;
}

bool
fake_mm_move(struct fake_mm *mm, uint64_t va, void *buf, size_t n, bool write,
	     bool data)
{
	struct fake_region *region;
	uint8_t *at = buf, *p;
	size_t part;

	for (; n; n -= part, va += part, at += part) {
		region = region_find(mm, va);
		if (!region || !mm->users ||
		    (data && !(write ? region->map.write : region->map.read)))
			return false;
		part = region->map.hi - va < n ? region->map.hi - va : n;
		p = region->bytes->p + (va - region->map.lo);
		memcpy(write ? p : at, write ? at : p, part);
	}
	return true;
}

/* A descriptor of the test's own: the file is mapped here, too. */
static struct fake_bytes *
bytes_of_file(int fd, size_t size)
{
	struct fake_bytes *bytes = mem_alloc(sizeof(*bytes));

	*bytes = (struct fake_bytes){ .refs = 1, .size = size, .mapped = true };
	bytes->p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_NORESERVE, fd, 0);
	must(bytes->p != MAP_FAILED);
	return bytes;
}

int64_t
fake_mm_map(struct fake_mm *mm, const uint64_t args[6])
{
	size_t size = (args[1] + PAGE - 1) / PAGE * PAGE;
	bool anonymous = args[3] & MAP_ANONYMOUS;
	uint64_t va = args[0] ? args[0] : mm->next;
	struct fake_region *region;
	struct stat st = { 0 };

	for (uint64_t at = va; at < va + size; at += PAGE)
		if (args[0] && region_find(mm, at))
			return -17;	/* EEXIST */
	if (!args[0])
		mm->next += size + PAGE;
	must(anonymous || !fstat((int)args[4], &st));
	region = region_add(mm, va,
			    anonymous ? bytes_new(size) :
					bytes_of_file((int)args[4], size),
			    anonymous ? "" : "/memfd: (deleted)");
	region->map.dev = st.st_dev;
	region->map.ino = st.st_ino;
	region->map.write = args[2] & PROT_WRITE;
	region->map.exec = args[2] & PROT_EXEC;
	region->map.shared = args[3] & MAP_SHARED;
	return (int64_t)va;
}

int64_t
fake_mm_unmap(struct fake_mm *mm, uint64_t va, uint64_t size)
{
	for (size_t i = 0; i < mm->n; i++)
		if (mm->regions[i].map.lo == va) {
			must(mm->regions[i].bytes->size ==
			     (size + PAGE - 1) / PAGE * PAGE);
			region_drop(mm, i);
			return 0;
		}
	return -22;	/* EINVAL */
}

int
fake_mm_maps(const struct fake_mm *mm, struct mapping **maps, size_t *n)
{
	*maps = NULL;
	*n = 0;
	if (!mm->users)
		return HOST_GONE;
	/* Ascending, as the kernel tells them. */
	for (uint64_t from = 0;;) {
		const struct mapping *next = NULL;

		for (size_t i = 0; i < mm->n; i++) {
			const struct mapping *map = &mm->regions[i].map;

			if (map->lo >= from && (!next || map->lo < next->lo))
				next = map;
		}
		if (!next)
			return HOST_OK;
		*vec_push(*maps, *n) = *next;
		(*maps)[*n - 1].path = mem_strdup(next->path);
		from = next->hi;
	}
}

bool
fake_mm_changed(const struct fake_mm *mm)
{
	struct fake_mm *own = fake_mm_load(fake.program);
	bool changed = mm->n != own->n;

	for (size_t i = 0; i < mm->n && !changed; i++)
		changed = mm->regions[i].map.lo != own->regions[i].map.lo ||
			  (own->regions[i].map.exec &&
			   memcmp(mm->regions[i].bytes->p,
				  own->regions[i].bytes->p,
				  own->regions[i].bytes->size) != 0);
	fake_mm_drop(own);
	return changed;
}
