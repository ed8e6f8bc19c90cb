/*
 * A pager between pmprint and the terminal.
 */
#ifndef PRINT_PAGER_H
#define PRINT_PAGER_H

#include <stdbool.h>

#include "report/report.h"

/*
 * Have what is printed from now on shown by the user's pager, if the standard
 * output is a terminal: $PMON_PAGER, or $PAGER, or less(1), and none if that is
 * empty or "cat".  Reports are then made for that terminal.
 */
void pager_open(struct report_options *opts);
/* Standard error, though the pager may have taken it: what pmprint is doing. */
int pager_error(void);
/* Wait until the user has left the pager.  Nothing if there is none. */
void pager_close(void);

#endif
