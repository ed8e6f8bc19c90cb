/*
 * Where control sockets are, and that of this process.
 */
#ifndef MONITOR_PLACE_H
#define MONITOR_PLACE_H

#include <sys/types.h>

/*
 * Where the socket of pmon's process `pid` may be, of user `uid`: in
 * $XDG_RUNTIME_DIR/pmon, in /tmp/pmon-UID, in /run/user/UID/pmon.  Number
 * `which` of the places, NULL behind the last; owned by the caller.
 */
char *place_path(pid_t pid, uid_t uid, unsigned which);

/*
 * Listen at the first place that can be used.  The socket and its path, owned
 * by the caller; or -1 with the message, which says why of each place.
 */
int place_listen(char **path);

/*
 * Is there a place where a pmon of this user may listen?  0, or -1 with the
 * message that place_listen has.  A directory that is not there might be made.
 */
int place_check(uid_t uid);

#endif
