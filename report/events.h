/*
 * Events that the user names (--event): weighted sums over elements of the
 * program, such as all loads, the calls of a function, or the times that a line
 * ran.  A profile of edges gives such a sum exactly (Ball, "Efficiently
 * Counting Program Events with Support for On-line Queries", 1994, whose events
 * these are).  This file's owners parse them; event_sums.h adds them up.
 */
#ifndef REPORT_EVENTS_H
#define REPORT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/select.h"
#include "util/fail.h"

enum element {
	ELEMENT_INSNS,		/* instructions of some class */
	ELEMENT_TAKEN,		/* conditional branches taken */
	ELEMENT_FUNC,		/* calls of a function */
	ELEMENT_LINE,		/* times a line ran */
	ELEMENT_BLOCK,		/* times an instruction of a function ran */
	ELEMENT_EDGE,		/* times control went from one to another */
	ELEMENT_CALL,		/* calls from one function of another */
};

/* Which instructions; or those of a set of enum insn_class. */
enum insn_set {
	INSNS_ALL = 1 << 8,
	INSNS_BRANCH = 1 << 9,	/* conditional */
	INSNS_JUMP = 1 << 10,	/* not conditional */
	INSNS_CALLS = 1 << 11,
	INSNS_RETURN = 1 << 12,
	INSNS_INDIRECT = 1 << 13,	/* jumps and calls, not returns */
	INSNS_SYSCALL = 1 << 14,
};

/* weight * what is counted. */
struct event_term {
	uint64_t weight;
	enum element kind;
	unsigned insns;		/* ELEMENT_INSNS: enum insn_set or insn_class */
	char *text;		/* as given, without the weight */
	/* The function, or the file; of an edge and a call the second one. */
	struct selection of, to;
	uint64_t offset, to_offset;	/* in the functions */
	uint32_t line;
};

struct event_def {
	char *name;
	struct event_term *terms;
	size_t nterms;
	struct selection where;	/* one glob of functions, files or objects; or
				   empty */
};

/* A limit of an event, or of its change from one run to another. */
struct event_limit {
	char *text, *event;	/* as given, and the event's name */
	bool less;		/* passed if less than that; else if more */
	bool change, down, percent;
	uint64_t n;		/* 1/1000 percent if that is meant */
};

struct events {
	struct event_def *events;
	size_t n;
	struct event_limit *limits;	/* event_limits.h */
	size_t nlimits;
};

/*
 * Add the event of one argument, [NAME=]EXPR[@WHERE], or the ready-made set
 * that it names.  0, or -1 with the message set.
 */
MUST_CHECK int events_add(struct events *events, const char *arg);
/* Add the set of all classes of instructions. */
void events_add_mix(struct events *events);
void events_free(struct events *events);

/* The unit that must be counted for a term, for all: 1 << enum unit_kind. */
unsigned term_unit(const struct event_term *term);
unsigned events_units(const struct events *events);
/* Does each function have its part of the event?  Calls and lines do not tell. */
bool event_in_funcs(const struct event_def *event);
/* Whether an event needs to know of lines. */
bool events_lines(const struct events *events);

#endif
