/*
 * What the host of simulated VAXes offers beyond struct host: Bishop's cycle in
 * one message, and the simulator's console.  There is one program at a time.
 */
#ifndef HOST_SIMH_H
#define HOST_SIMH_H

#include "host/host.h"

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

extern const struct host host_simh;

#endif
