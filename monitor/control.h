/*
 * The control socket of a run, by which other processes of the user (and of
 * root) ask for counts.  See man/pmon-control.7.
 */
#ifndef MONITOR_CONTROL_H
#define MONITOR_CONTROL_H

struct run;

/* Open the socket.  If that fails, a remark says why, and the run goes on. */
void control_open(struct run *run);
/* Hang up on all clients and remove the socket. */
void control_close(struct run *run);

/* Accept clients and answer their requests, as far as they have come. */
void control_serve(struct run *run);

#endif
