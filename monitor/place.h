/*
 * Where control sockets are: their paths, and making the one of this process.
 */
#ifndef MONITOR_PLACE_H
#define MONITOR_PLACE_H

#include <sys/types.h>

#include "util/fail.h"

/*
 * A path where the pmon with process id `pid`, of user `uid`, may have its
 * socket; owned by the caller.  The directories are $XDG_RUNTIME_DIR/pmon (of
 * one's own user only), /tmp/pmon-UID and /run/user/UID/pmon; `which` counts
 * from 0.  NULL if there are no more.
 */
char *place_path(pid_t pid, uid_t uid, unsigned which);

/*
 * Listen in the first directory that can be used.  The socket and *path, owned
 * by the caller; or -1 with a message that gives each directory's fault.
 */
int place_listen(char **path) MUST_CHECK;

/*
 * Could a pmon of this user listen anywhere?  0, or -1 with the message of
 * place_listen.  A directory that does not exist counts as usable.
 */
int place_check(uid_t uid) MUST_CHECK;

#endif
