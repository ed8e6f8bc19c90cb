/*
 * What the host of simulated VAXes can do beyond struct host: count inside the
 * machine, and Bishop's cycle in one message.  There is one program at a time.
 */
#ifndef HOST_SIMH_H
#define HOST_SIMH_H

#include "host/host.h"

/* An instruction to be counted inside the machine. */
struct simh_site {
	uint64_t va;
	uint64_t next;		/* of a branch, to tell if it was taken: where
				   it goes if not; else 0 */
	uint64_t hits, taken;
};

/*
 * Before the program has run: count these inside the machine, ascending
 * addresses, no event tells of them.  0 or -1 with the message set.
 */
int simh_count(const struct simh_site *sites, size_t n);
/*
 * Set hits and taken of the same sites; also after the program's end.
 * HOST_OK, or HOST_GONE if the simulator was killed, or HOST_ERROR with the
 * message set.
 */
int simh_counts(struct simh_site *sites, size_t n);

/*
 * The program is stopped by a trap, which was written over the byte `orig`:
 * do its instruction, set the trap again, and go on, like resume.
 */
int simh_pass(uint8_t orig);

/* A command to the simulator's console; its answer's lines are left there. */
int simh_command(const char *command);
/* The i-th line of the answer, or NULL. */
const char *simh_answer(size_t i);

/* What is to be told of the run; owned by the host until simh_close. */
char *const *simh_remarks(size_t *n);

/* End the simulator, if there is one, and forget the program. */
void simh_close(void);

extern const struct host host_simh;

#endif
