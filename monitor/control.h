/*
 * The control socket of a run: others of the user's processes ask for counts.
 * See man/pmon-control.7.
 */
#ifndef MONITOR_CONTROL_H
#define MONITOR_CONTROL_H

struct run;

/* Open it; if that cannot be, a remark says why, and the run goes on. */
void control_open(struct run *run);
void control_close(struct run *run);

/* Something may have happened there: answer. */
void control_serve(struct run *run);

#endif
