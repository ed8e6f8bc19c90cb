/*
 * The control socket of a run: others of the user's processes ask for counts.
 * See man/pmon-control.7.
 */
#ifndef MONITOR_CONTROL_H
#define MONITOR_CONTROL_H

#include <sys/types.h>

struct run;

/*
 * Where the socket of pmon's process `pid` is, of user `uid`: in
 * $XDG_RUNTIME_DIR/pmon or, if that is not set, in /tmp/pmon-UID.  Number
 * `which` of the places, NULL behind the last; owned by the caller.
 */
char *control_path(pid_t pid, uid_t uid, unsigned which);

/* Open it; if that cannot be there is none, and the run goes on. */
void control_open(struct run *run);
void control_close(struct run *run);

/* Something may have happened there: answer. */
void control_serve(struct run *run);

#endif
