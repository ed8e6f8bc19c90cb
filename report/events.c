/*
 * Parses events.  Knows no program.
 */
#include "report/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "util/mem.h"

enum { WEIGHT_MAX = 1000000 };

/* The classes of instructions, as insns:NAME and in the set "mix". */
static const struct {
	const char *name;	/* NULL: of "insns" alone */
	const char *many;	/* the event's name in the set */
	unsigned insns;		/* 0: branches taken */
} classes[] = {
	{ NULL, "insns", INSNS_ALL },
	{ "load", "loads", INSN_LOADS },
	{ "store", "stores", INSN_STORES },
	{ "branch", "branches", INSNS_BRANCH },
	{ "taken", "taken", 0 },
	{ "jump", "jumps", INSNS_JUMP },
	{ "call", "calls", INSNS_CALLS },
	{ "return", "returns", INSNS_RETURN },
	{ "indirect", "indirect", INSNS_INDIRECT },
	{ "div", "div", INSN_DIVIDES },
	{ "float", "float", INSN_FLOATS },
	{ "vector", "vector", INSN_VECTORS },
	{ "atomic", "atomic", INSN_ATOMIC },
	{ "string", "string", INSN_STRING },
	{ "syscall", "syscalls", INSNS_SYSCALL },
};

enum { NCLASSES = sizeof(classes) / sizeof(classes[0]) };

static const char all_insns[] = "insns";

static const struct {
	const char *prefix;
	enum element kind;
} elements[] = {
	{ "func:", ELEMENT_FUNC },   { "line:", ELEMENT_LINE },
	{ "block:", ELEMENT_BLOCK }, { "edge:", ELEMENT_EDGE },
	{ "call:", ELEMENT_CALL },
};

enum { NELEMENTS = sizeof(elements) / sizeof(elements[0]) };

/* ---- elements */

static bool
begins(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The length of a weight and its '*', or 0. */
static size_t
weight_length(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n && s[n] == '*' ? n + 1 : 0;
}

static bool
term_begins(const char *s)
{
	s += weight_length(s);
	for (size_t i = 0; i < NELEMENTS; i++)
		if (begins(s, elements[i].prefix))
			return true;
	return begins(s, all_insns);
}

static int
class_refuse(const char *s)
{
	char *names = mem_strdup("");

	for (size_t i = 0; i < NCLASSES; i++)
		if (classes[i].name)
			names = mem_join(names, classes[i].name);
	fail("--event: unknown instructions \"%s\"; choose from %s", s, names);
	free(names);
	return -1;
}

static int
insns_parse(struct event_term *term, const char *s)
{
	s += strlen(all_insns);
	if (*s && *s != ':')
		return fail(
			"--event: \"%s\" is no event: insns may be followed "
			"by a colon and a class of instructions",
			term->text);
	for (size_t i = 0; i < NCLASSES; i++) {
		const char *name = classes[i].name;

		if (*s ? name && !strcmp(s + 1, name) : !name) {
			term->kind = classes[i].insns ? ELEMENT_INSNS :
							ELEMENT_TAKEN;
			term->insns = classes[i].insns;
			return 0;
		}
	}
	return class_refuse(s + 1);
}

/* Parse a whole number that is all of s: 0, or -1 without a message. */
static int
number_parse(const char *s, uint64_t max, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(s, &end, strncmp(s, "0x", 2) ? 10 : 16);
	return *s < '0' || *s > '9' || *end || errno || *n > max ? -1 : 0;
}

/* Parse FUNC, or FUNC+OFFSET if `offset` is not NULL, up to `end`. */
static int
place_parse(const struct event_term *term, const char *s, const char *end,
	    struct selection *of, uint64_t *offset)
{
	char *name = mem_strndup(s, (size_t)(end - s));
	char *plus = offset ? strrchr(name, '+') : NULL;
	int err = 0;

	if (plus && !number_parse(plus + 1, UINT32_MAX, offset))
		*plus = '\0';
	if (!*name)
		err = fail("--event: \"%s\" lacks a function's name",
			   term->text);
	else
		select_glob(&of->funcs, name);
	free(name);
	return err;
}

/* FILE:LINE */
static int
line_parse(struct event_term *term, const char *s)
{
	const char *colon = strrchr(s, ':');
	uint64_t line;
	char *file;

	if (!colon || colon == s ||
	    number_parse(colon + 1, UINT32_MAX, &line) || !line)
		return fail("--event: \"%s\" is not line:FILE:NUMBER",
			    term->text);
	file = mem_strndup(s, (size_t)(colon - s));
	select_glob(&term->of.files, file);
	free(file);
	term->line = (uint32_t)line;
	return 0;
}

/* FROM->TO */
static int
pair_parse(struct event_term *term, const char *s)
{
	bool edge = term->kind == ELEMENT_EDGE;
	const char *arrow = strstr(s, "->");

	/* operator-> and operator->* are names. */
	while (arrow && arrow - s >= 8 && begins(arrow - 8, "operator"))
		arrow = strstr(arrow + 2, "->");
	if (!arrow)
		return fail("--event: \"%s\" is not %s", term->text,
			    edge ? "edge:FUNC+OFFSET->FUNC+OFFSET" :
				   "call:FUNC->FUNC");
	if (place_parse(term, s, arrow, &term->of, edge ? &term->offset : NULL))
		return -1;
	return place_parse(term, arrow + 2, s + strlen(s), &term->to,
			   edge ? &term->to_offset : NULL);
}

static int
element_parse(struct event_term *term)
{
	const char *s = term->text;
	size_t i = 0;

	if (begins(s, all_insns))
		return insns_parse(term, s);
	while (i < NELEMENTS && !begins(s, elements[i].prefix))
		i++;
	if (i == NELEMENTS)
		return fail("--event: \"%s\" is no event; choose from insns, "
			    "insns:CLASS, func:, line:, block:, edge:, call:, "
			    "mix",
			    s);
	term->kind = elements[i].kind;
	s += strlen(elements[i].prefix);
	if (term->kind == ELEMENT_LINE)
		return line_parse(term, s);
	if (term->kind == ELEMENT_EDGE || term->kind == ELEMENT_CALL)
		return pair_parse(term, s);
	return place_parse(term, s, s + strlen(s), &term->of,
			   term->kind == ELEMENT_BLOCK ? &term->offset : NULL);
}

/* ---- events */

static void
event_free(struct event_def *event)
{
	for (size_t i = 0; i < event->nterms; i++) {
		free(event->terms[i].text);
		select_free(&event->terms[i].of);
		select_free(&event->terms[i].to);
	}
	free(event->terms);
	free(event->name);
	select_free(&event->where);
}

/* Parse one term, of s up to `end`. */
static int
term_parse(struct event_def *event, const char *s, const char *end)
{
	struct event_term *term = vec_push(event->terms, event->nterms);
	size_t len = weight_length(s);

	*term = (struct event_term){
		.weight = 1,
		.text = mem_strndup(s + len, (size_t)(end - s) - len),
	};
	if (len) {
		char *digits = mem_strndup(s, len - 1);
		int err = number_parse(digits, WEIGHT_MAX, &term->weight);

		free(digits);
		if (err || !term->weight)
			return fail("--event: a weight must be at least 1 and "
				    "at most %d: \"%.*s\"",
				    WEIGHT_MAX, (int)(end - s), s);
	}
	return element_parse(term);
}

/* A '+' that no term follows belongs to a name or an offset. */
static int
sum_parse(struct event_def *event, const char *s, const char *end)
{
	for (;;) {
		const char *plus = s;

		do
			plus = memchr(plus + 1, '+', (size_t)(end - plus - 1));
		while (plus && !term_begins(plus + 1));
		if (term_parse(event, s, plus ? plus : end))
			return -1;
		if (!plus)
			return 0;
		s = plus + 1;
	}
}

static int
where_parse(struct event_def *event, const char *s, const char *arg)
{
	struct globs *globs = &event->where.funcs;

	if (begins(s, "func:"))
		s += strlen("func:");
	else if (begins(s, "file:") && (s += strlen("file:")))
		globs = &event->where.files;
	else if (begins(s, "object:") && (s += strlen("object:")))
		globs = &event->where.objects;
	if (!*s)
		return fail("--event: \"%s\" does not say where", arg);
	select_glob(globs, s);
	return 0;
}

/* The length of NAME, if s begins with NAME=, or 0. */
static size_t
name_length(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_-."
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	return s[n] == '=' ? n : 0;
}

static int
event_parse(struct event_def *event, const char *arg)
{
	size_t len = name_length(arg);
	const char *expr = len ? arg + len + 1 : arg;
	const char *where = strrchr(expr, '@');
	const char *end = where ? where : expr + strlen(expr);

	event->name = len ? mem_strndup(arg, len) : mem_strdup(arg);
	if (expr == end)
		return fail("--event: \"%s\" counts nothing", arg);
	if (sum_parse(event, expr, end))
		return -1;
	return where ? where_parse(event, where + 1, arg) : 0;
}

void
events_add_mix(struct events *events)
{
	for (size_t i = 0; i < NCLASSES; i++) {
		struct event_def *event = vec_push(events->events, events->n);

		*event = (struct event_def){
			.name = mem_strdup(classes[i].many),
		};
		*vec_push(event->terms, event->nterms) = (struct event_term){
			.weight = 1,
			.kind = classes[i].insns ? ELEMENT_INSNS :
						   ELEMENT_TAKEN,
			.insns = classes[i].insns,
			.text = classes[i].name ? mem_printf("%s:%s", all_insns,
							     classes[i].name) :
						  mem_strdup(all_insns),
		};
	}
}

/* 0, or -1 with the message if there is an event of the name. */
static int
name_check(const struct events *events, const char *name)
{
	for (size_t i = 0; i < events->n; i++)
		if (!strcmp(events->events[i].name, name))
			return fail("--event: two events are named \"%s\"",
				    name);
	return 0;
}

int
events_add(struct events *events, const char *arg)
{
	struct event_def event = { 0 };

	if (!strcmp(arg, "mix")) {
		for (size_t i = 0; i < NCLASSES; i++)
			if (name_check(events, classes[i].many))
				return -1;
		events_add_mix(events);
		return 0;
	}
	if (event_parse(&event, arg) || name_check(events, event.name)) {
		event_free(&event);
		return -1;
	}
	*vec_push(events->events, events->n) = event;
	return 0;
}

void
events_free(struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		event_free(&events->events[i]);
	free(events->events);
	for (size_t i = 0; i < events->nlimits; i++) {
		free(events->limits[i].event);
		free(events->limits[i].text);
	}
	free(events->limits);
	*events = (struct events){ 0 };
}

unsigned
term_unit(const struct event_term *term)
{
	static const unsigned units[] = {
		[ELEMENT_INSNS] = 1 << UNIT_INSN,
		[ELEMENT_TAKEN] = 1 << UNIT_EDGE,
		[ELEMENT_FUNC] = 1 << UNIT_FUNC,
		[ELEMENT_LINE] = 1 << UNIT_LINE,
		[ELEMENT_BLOCK] = 1 << UNIT_INSN,
		[ELEMENT_EDGE] = 1 << UNIT_EDGE,
		[ELEMENT_CALL] = 1 << UNIT_CALL,
	};

	return units[term->kind];
}

unsigned
events_units(const struct events *events)
{
	unsigned all = 0;

	for (size_t i = 0; i < events->n; i++)
		for (size_t k = 0; k < events->events[i].nterms; k++)
			all |= term_unit(&events->events[i].terms[k]);
	return all;
}

bool
event_in_funcs(const struct event_def *event)
{
	for (size_t k = 0; k < event->nterms; k++)
		if (event->terms[k].kind == ELEMENT_FUNC ||
		    event->terms[k].kind == ELEMENT_LINE)
			return false;
	return true;
}

bool
events_lines(const struct events *events)
{
	bool any = false;

	for (size_t i = 0; i < events->n; i++) {
		any |= events->events[i].where.files.n != 0;
		for (size_t k = 0; k < events->events[i].nterms; k++)
			any |= events->events[i].terms[k].kind == ELEMENT_LINE;
	}
	return any;
}
