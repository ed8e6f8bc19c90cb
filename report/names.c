/*
 * Names of functions as they are shown.
 */
#include "report/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "util/demangle.h"
#include "util/fail.h"
#include "util/mem.h"

/* Longer names than that only a bad joke has. */
enum { SHORTEN_MAX = 8 << 10 };

char *
name_shown(const char *name, bool demangled)
{
	char *text = NULL;

	if (!name)
		return mem_strdup("?");
	if (demangled)
		text = demangle(name);
	return text ? text : mem_strdup(name);
}

char *
name_with_aliases(const struct func *func, bool demangled)
{
	char *name = name_shown(func->name, demangled), *text, *alias;
	size_t i, size;
	FILE *out;

	if (!func->naliases)
		return name;
	out = open_memstream(&text, &size);
	must(out);
	fputs(name, out);
	for (i = 0; i < func->naliases; i++) {
		alias = name_shown(func->aliases[i], demangled);
		/* Constructors of several kinds are called the same. */
		if (strcmp(alias, name) != 0)
			fprintf(out, " (= %s)", alias);
		free(alias);
	}
	free(name);
	fclose(out);
	return text;
}

/* Length of "operator" and its symbol at s, which is no bracket; or 0. */
static size_t
operator_length(const char *name, const char *s)
{
	static const char word[] = "operator";
	size_t len = sizeof(word) - 1;

	if (strncmp(s, word, len) != 0 ||
	    (s > name && (isalnum((unsigned char)s[-1]) || s[-1] == '_')))
		return 0;
	if (strncmp(s + len, "()", 2) == 0)
		return len + 2;
	return len + strspn(s + len, "<>=-");
}

/* The bracket that closes the one at s, or NULL. */
static const char *
bracket_end(const char *name, const char *s)
{
	size_t depth = 0, skip;

	while (*s) {
		skip = operator_length(name, s);
		if (skip) {
			s += skip;
			continue;
		}
		if (*s == '<' || *s == '(')
			depth++;
		else if ((*s == '>' || *s == ')') && --depth == 0)
			return s;
		s++;
	}
	return NULL;
}

char *
name_shorten(const char *name, size_t width)
{
	char *text = mem_alloc(strlen(name) + 1), *to = text;
	const char *s = name, *end;
	size_t skip;

	if (strlen(name) > SHORTEN_MAX ||
	    text_width(name, strlen(name)) <= width)
		return strcpy(text, name);
	while (*s) {
		skip = operator_length(name, s);
		memcpy(to, s, skip);
		s += skip;
		to += skip;
		if (!skip)
			*to++ = *s++;
		if (skip || (s[-1] != '<' && s[-1] != '(') ||
		    strncmp(s - 1, "(= ", 3) == 0 ||
		    strncmp(s - 1, "(anonymous", 10) == 0)
			continue;
		end = bracket_end(name, s - 1);
		if (!end)
			continue;
		if (end - s > 3) {
			to = stpcpy(to, "...");
			s = end;
		}
	}
	*to = '\0';
	return text;
}
