/*
 * Memory of a task for emulated instructions.  Never overrides a protection.
 */
#include "monitor/process/owner.h"

static int
owner_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	const struct owner *owner = ctx;

	return owner->host->data_read(owner->tid, va, buf, len);
}

static int
owner_write(void *ctx, uint64_t va, const void *buf, size_t len)
{
	const struct owner *owner = ctx;

	return owner->host->data_write(owner->tid, va, buf, len);
}

struct memory
owner_memory(struct owner *owner)
{
	return (struct memory){ owner_read, owner_write, owner };
}
