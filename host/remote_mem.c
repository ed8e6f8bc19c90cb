/*
 * Memory of a program behind a GDB stub.  A simulator's is reached through the
 * simulator's process, since a stub refuses to write what the program could
 * not.  The stub forgets its translations at every stop, so nothing stale is
 * executed.  Without a simulator memory is reached by packets.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "host/procfs.h"
#include "host/remote_state.h"
#include "util/fail.h"
#include "util/mem.h"

static bool
narrow(void)
{
	return remote.arch->elf_class == ELFCLASS32;
}

/* Can the program have memory there?  *at is where the simulator has it. */
static bool
place_find(uint64_t va, size_t n, uint64_t *at)
{
	uint64_t end;

	if (__builtin_add_overflow(va, n, &end) ||
	    (narrow() && end > UINT64_C(1) << 32))
		return false;
	return !__builtin_add_overflow(va, remote.base, at);
}

static uint64_t
word_get(const uint8_t *p, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 |
			p[remote.arch->big_endian ? i : size - 1 - i];
	return value;
}

uint64_t
remote_auxv(pid_t tid, uint64_t type)
{
	size_t size = narrow() ? 4 : 8, got = 0;
	const uint8_t *p = (const uint8_t *)remote.link.reply + 1;
	int n = remote_ask("qXfer:auxv:read::0,%zx", remote.packet_max - 16);

	if (n < 1 || (*remote.link.reply != 'l' && *remote.link.reply != 'm'))
		return 0;
	for (; got + 2 * size <= (size_t)n - 1; got += 2 * size)
		if (word_get(p + got, size) == type)
			return word_get(p + got + size, size);
	return 0;
}

/* Does memory at va hold what the file has at the offset? */
static bool
base_fits(const char *path, uint64_t offset, uint64_t va)
{
	uint8_t file[32], memory[32];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool fits = fd >= 0 &&
		    pread(fd, file, sizeof(file), (off_t)offset) ==
			    sizeof(file) &&
		    remote_mem_read(remote.mem, 0, va, memory,
				    sizeof(memory)) == HOST_OK &&
		    !memcmp(file, memory, sizeof(file));

	if (fd >= 0)
		close(fd);
	return fits;
}

/* Find remote.base: 0, or where the simulator has mapped the program's file. */
static bool
base_find(const char *path, uint64_t offset, uint64_t va)
{
	struct mapping *maps;
	struct stat st;
	bool found = false;
	size_t n;

	remote.base = 0;
	if (base_fits(path, offset, va))
		return true;
	if (stat(path, &st) || procfs_maps(remote.simulator, &maps, &n))
		return false;
	for (size_t i = 0; i < n && !found; i++) {
		const struct mapping *map = &maps[i];

		if (map->ino != st.st_ino || map->offset > offset ||
		    offset - map->offset >= map->hi - map->lo)
			continue;
		remote.base = map->lo + (offset - map->offset) - va;
		found = base_fits(path, offset, va);
	}
	mappings_free(maps, n);
	return found;
}

/* Find the offset of the program headers in the file. */
static int
headers_offset(const char *path, uint64_t *offset)
{
	uint8_t head[sizeof(Elf64_Ehdr)] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

	if (n < 0)
		fail("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -1;
	*offset = narrow() ? word_get(head + offsetof(Elf32_Ehdr, e_phoff), 4) :
			     word_get(head + offsetof(Elf64_Ehdr, e_phoff), 8);
	return 0;
}

int
remote_mem_find(const char *path)
{
	uint64_t offset, va = remote_auxv(0, AT_PHDR);
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/mem", (int)remote.simulator);
	remote.mem = open(name, O_RDWR | O_CLOEXEC);
	if (remote.mem < 0)
		return fail("%s: %s", name, strerror(errno));
	if (headers_offset(path, &offset))
		return -1;
	if (!va || !base_find(path, offset, va))
		return fail("%s: cannot be found in the simulator's memory",
			    path);
	return 0;
}

int
remote_mem_open(pid_t tid)
{
	return remote.ended ? HOST_GONE : 0;
}

void
remote_mem_close(int mem)
{
}

static int
packets_read(uint64_t va, uint8_t *buf, size_t n)
{
	size_t max = remote.packet_max / 2 - 16;

	while (n) {
		size_t part = n < max ? n : max;
		int len = remote_ask("m%" PRIx64 ",%zx", va, part);
		const char *p = remote.link.reply;

		if (len != (int)(2 * part))
			return HOST_GONE;
		for (size_t i = 0; i < part; i++, p += 2) {
			int byte = remote_byte(p);

			if (byte < 0)
				return HOST_GONE;
			buf[i] = (uint8_t)byte;
		}
		if (remote.breaks)
			remote_breaks_show(va, buf, part);
		va += part;
		buf += part;
		n -= part;
	}
	return HOST_OK;
}

/* Write text of which only breakpoints can change. */
static int
breaks_write(uint64_t va, const uint8_t *buf, size_t n)
{
	uint8_t *now = mem_alloc(n);
	int err = packets_read(va, now, n);

	if (!err)
		err = remote_breaks_write(va, now, buf, n);
	free(now);
	return err;
}

static int
packets_write(uint64_t va, const uint8_t *buf, size_t n)
{
	size_t max = remote.packet_max / 2 - 32;

	while (n) {
		size_t part = n < max ? n : max;
		char *packet = mem_alloc(2 * part + 64);
		int len = sprintf(packet, "M%" PRIx64 ",%zx:", va, part);
		bool ok;

		for (size_t i = 0; i < part; i++)
			len += sprintf(packet + len, "%02x", buf[i]);
		ok = remote_ok(remote_ask_bytes(packet, (size_t)len));
		free(packet);
		if (!ok)
			return HOST_GONE;
		va += part;
		buf += part;
		n -= part;
	}
	return HOST_OK;
}

int
remote_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n)
{
	uint64_t at;

	if (!remote.simulator)
		return packets_read(va, buf, n);
	if (!place_find(va, n, &at) ||
	    pread(remote.mem, buf, n, (off_t)at) != (ssize_t)n)
		return HOST_GONE;
	return HOST_OK;
}

int
remote_mem_write(int mem, pid_t tid, uint64_t va, const void *buf, size_t n)
{
	uint64_t at;

	if (!remote.simulator)
		return remote.breaks ? breaks_write(va, buf, n) :
				       packets_write(va, buf, n);
	if (!place_find(va, n, &at) ||
	    pwrite(remote.mem, buf, n, (off_t)at) != (ssize_t)n)
		return HOST_GONE;
	return HOST_OK;
}

int
remote_data_read(pid_t tid, uint64_t va, void *buf, size_t n)
{
	struct iovec local = { buf, n }, other = { .iov_len = n };
	uint64_t at;

	if (!remote.simulator)
		return packets_read(va, buf, n);
	if (!place_find(va, n, &at))
		return HOST_GONE;
	other.iov_base = (void *)at;
	return process_vm_readv(remote.simulator, &local, 1, &other, 1, 0) ==
			       (ssize_t)n ?
		       HOST_OK :
		       HOST_GONE;
}

int
remote_data_write(pid_t tid, uint64_t va, const void *buf, size_t n)
{
	struct iovec local = { (void *)buf, n }, other = { .iov_len = n };
	uint64_t at;

	if (!remote.simulator)
		return packets_write(va, buf, n);
	if (!place_find(va, n, &at))
		return HOST_GONE;
	other.iov_base = (void *)at;
	return process_vm_writev(remote.simulator, &local, 1, &other, 1, 0) ==
			       (ssize_t)n ?
		       HOST_OK :
		       HOST_GONE;
}

/*
 * The simulator's mappings that are the program's, at the program's addresses.
 * Mappings that nobody may access are only reserved by the simulator.
 */
int
remote_maps(pid_t tid, struct mapping **maps, size_t *n)
{
	size_t kept = 0;

	*maps = NULL;
	*n = 0;
	if (!remote.simulator || procfs_maps(remote.simulator, maps, n))
		return HOST_GONE;
	for (size_t i = 0; i < *n; i++) {
		struct mapping *map = &(*maps)[i];
		uint64_t at;

		if (map->lo < remote.base ||
		    (narrow() && !map->read && !map->write && !map->exec) ||
		    !place_find(map->lo - remote.base, map->hi - map->lo,
				&at)) {
			free(map->path);
			continue;
		}
		map->lo -= remote.base;
		map->hi -= remote.base;
		(*maps)[kept++] = *map;
	}
	*n = kept;
	return HOST_OK;
}
