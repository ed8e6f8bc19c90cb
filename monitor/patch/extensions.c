/*
 * Keeps the log of extensions, and frees those that no space needs any more.
 * Plants nothing.
 */
#include "monitor/patch/extensions.h"

#include <stdlib.h>

#include "monitor/process/space.h"
#include "util/mem.h"

enum { PRUNE_MIN = 64 };

static void
extension_free(struct extension *ext)
{
	ext->module->logged--;
	module_drop(ext->module);
	free(ext->planted);
	free(ext->retired);
}

/* Free the extensions of modules that no space has any more. */
static void
extensions_prune(struct extensions *log)
{
	size_t n = 0;

	if (log->n < log->max)
		return;
	for (size_t i = 0; i < log->n; i++) {
		struct extension *ext = &log->list[i];

		if (ext->module->refs == ext->module->logged)
			extension_free(ext);
		else
			log->list[n++] = *ext;
	}
	log->n = n;
	log->max = 2 * n + PRUNE_MIN;
}

static void
extension_push(struct extensions *log, struct extension ext)
{
	size_t n = log->max;

	/* vec_push cannot be used: pruning leaves any number of extensions. */
	if (log->n >= log->room) {
		log->room = n > log->n ? n : log->n + 1;
		log->list = mem_grow(log->list, log->room, sizeof(ext));
	}
	log->list[log->n++] = ext;
}

void
extension_log(struct run *run, struct extension ext)
{
	if (!run->extensions)
		run->extensions = mem_alloc(sizeof(*run->extensions));
	extensions_prune(run->extensions);
	ext.module->refs++;
	ext.module->logged++;
	extension_push(run->extensions, ext);
}

void
extensions_free(struct run *run)
{
	struct extensions *log = run->extensions;

	if (!log)
		return;
	for (size_t i = 0; i < log->n; i++)
		extension_free(&log->list[i]);
	free(log->list);
	free(log);
}
