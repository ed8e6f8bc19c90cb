/*
 * What the host of simulated VAXes offers beyond struct host: counting inside
 * the machine, and Bishop's cycle in one message.  There is one program at a
 * time.
 */
#ifndef HOST_SIMH_H
#define HOST_SIMH_H

#include "host/host.h"

/* An instruction that is counted inside the machine. */
struct simh_site {
	uint64_t va;
	uint64_t next;		/* to tell whether a branch was taken: where it
				   goes if not; else 0 */
	uint64_t hits, taken;
};

/*
 * Before the program has run: count these sites, by ascending address, inside
 * the machine.  No events report them.  0, or -1 with the message set.
 */
int simh_count(const struct simh_site *sites, size_t n);
/*
 * Set hits and taken of the same sites; works after the program's end, too.
 * HOST_OK, HOST_GONE if the simulator was killed, or HOST_ERROR with the
 * message set.
 */
int simh_counts(struct simh_site *sites, size_t n);

/*
 * The program is stopped at a trap that was written over the byte `orig`: run
 * the instruction, set the trap again, and go on.  Takes the place of resume.
 * HOST_OK or HOST_GONE.
 */
int simh_pass(uint8_t orig);

/*
 * Give the simulator's console a command and keep the lines of its answer.
 * HOST_OK or HOST_GONE.
 */
int simh_command(const char *command);
/* Line i of the answer, or NULL. */
const char *simh_answer(size_t i);

/*
 * Remarks on the run for the user, n of them; the host owns them until
 * simh_close.
 */
char *const *simh_remarks(size_t *n);

/* End the simulator, if one runs, and forget the program. */
void simh_close(void);

extern const struct host host_simh;

#endif
