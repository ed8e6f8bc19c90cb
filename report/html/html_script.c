/*
 * Writes values as JavaScript.  Knows nothing of their meaning.  A string can
 * end neither itself nor the script element of a page, whatever it holds.
 */
#include "report/html/html_script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/html_pack.h"
#include "report/printable.h"
#include "util/fail.h"
#include "util/mem.h"

/* A double holds all integers up to this exactly. */
static const uint64_t EXACT_MAX = 1ULL << 53;

/* Longer values are compressed. */
enum { PACK_LEAST = 16 << 10 };

void
script_open(struct script *script, struct html_dir *dir,
	    struct script_reasons *reasons, const char *name)
{
	*script = (struct script){ .dir = dir, .reasons = reasons };
	script->name = mem_strdup(name);
	script->out = open_memstream(&script->value, &script->value_size);
	must(script->out);
	script->scratch = open_memstream(&script->text, &script->size);
	must(script->scratch);
}

void
script_close(struct script *script)
{
	char *path = mem_printf("data/%s.js", script->name);
	FILE *out = html_dir_file(script->dir, path);

	fclose(script->out);
	if (script->value_size < PACK_LEAST) {
		fprintf(out, "pmon.put(\"%s\",%s);\n", script->name,
			script->value);
	} else {
		fprintf(out, "pmon.put_packed(\"%s\",", script->name);
		html_pack(script->value, script->value_size, out);
		fputs(");\n", out);
	}
	html_dir_file_close(script->dir, out);
	fclose(script->scratch);
	free(script->text);
	free(script->value);
	free(script->name);
	free(path);
}

/* Write the comma before a value, unless it is the first. */
static void
value_begin(struct script *script)
{
	if (script->comma)
		putc(',', script->out);
	script->comma = true;
}

void
script_begin(struct script *script, char bracket)
{
	value_begin(script);
	putc(bracket, script->out);
	script->comma = false;
}

void
script_end(struct script *script, char bracket)
{
	putc(bracket, script->out);
	script->comma = true;
}

void
script_key(struct script *script, const char *key)
{
	value_begin(script);
	fprintf(script->out, "\"%s\":", key);
	script->comma = false;
}

void
script_key_begin(struct script *script, const char *key, char bracket)
{
	script_key(script, key);
	script_begin(script, bracket);
}

void
script_number(struct script *script, uint64_t n)
{
	const char *quote = n > EXACT_MAX ? "\"" : "";

	value_begin(script);
	fprintf(script->out, "%s%" PRIu64 "%s", quote, n, quote);
}

void
script_addr(struct script *script, uint64_t addr)
{
	value_begin(script);
	fprintf(script->out, "\"%" PRIx64 "\"", addr);
}

static size_t
reason_index(struct script_reasons *reasons, const char *why)
{
	size_t i;

	for (i = 0; i < reasons->n; i++)
		if (strcmp(reasons->whys[i], why) == 0)
			return i;
	*vec_push(reasons->whys, reasons->n) = why;
	return i;
}

void
script_figure(struct script *script, const struct figure *figure)
{
	if (!figure->why) {
		script_number(script, figure->n);
		return;
	}
	value_begin(script);
	fprintf(script->out, "-%zu",
		reason_index(script->reasons, figure->why) + 1);
}

void
script_null(struct script *script)
{
	value_begin(script);
	fputs("null", script->out);
}

void
script_minus(struct script *script)
{
	value_begin(script);
	fputs("-1", script->out);
}

static void
escaped_put(struct script *script, const char *s, size_t len)
{
	rewind(script->scratch);
	text_print(script->scratch, s, len, WIDTH_ALL);
	/* The stream may still hold the rest of a longer string. */
	putc('\0', script->scratch);
	fflush(script->scratch);
	for (const char *c = script->text; *c; c++) {
		if (*c == '"' || *c == '\\')
			putc('\\', script->out);
		if (*c == '<')
			fputs("\\u003c", script->out);
		else
			putc(*c, script->out);
	}
}

void
script_string(struct script *script, const char *s)
{
	value_begin(script);
	putc('"', script->out);
	escaped_put(script, s, strlen(s));
	putc('"', script->out);
}

void
script_lines_begin(struct script *script)
{
	value_begin(script);
	putc('"', script->out);
}

void
script_line(struct script *script, const char *s, size_t len)
{
	escaped_put(script, s, len);
	fputs("\\n", script->out);
}

void
script_lines_end(struct script *script)
{
	putc('"', script->out);
}
