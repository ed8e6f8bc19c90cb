/*
 * What detours.c and detour_at.c agree upon: a page of memory that is not there
 * before it is given, by the userfaultfd(2) PAGE_FD; and what SIGUSR1 tells.
 */
#ifndef DETOURS_H
#define DETOURS_H

enum { PAGE_FD = 100, PAGE_AT = 0x70000000, PAGE_SIZE = 4096, USER_VALUE = 42 };

#define PAGE_TEXT "done"

#endif
