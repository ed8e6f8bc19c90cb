/*
 * Relocated functions in a process: their code, and the patches that lead
 * there.
 */
#ifndef MONITOR_PATCH_RELOCATED_H
#define MONITOR_PATCH_RELOCATED_H

#include "monitor/run.h"
#include "relocate/patch_bytes.h"
#include "relocate/relocate.h"

/* Where a function's relocated function and its original are. */
struct relocated_place relocated_place(const struct module *module,
				       const struct func_plan *fplan);
/*
 * Put the original bytes back where the patch still stands; bytes that the
 * program has written since stay.  Whether the patch was undone.
 */
bool patch_undo(struct run *run, const struct space *space, pid_t tid,
		const struct module *module, const struct code_patch *patch);
/*
 * Write the code of a function's relocated function, before anything leads
 * there; and write its entry patches, once the traps that lead there are.  If
 * that cannot be done, the relocated function is lost: nothing leads to it.
 */
void relocated_code(struct run *run, struct space *space, pid_t tid,
		    const struct module *module, uint32_t fplan);
void relocated_enable(struct run *run, struct space *space, pid_t tid,
		      const struct module *module, uint32_t fplan);
/*
 * Not all of the text that was buffered could be written.  Lose the relocated
 * functions whose code is missing, or with `entries` whose entry patches are,
 * though the memory is there.
 */
void relocated_check(struct run *run, struct space *space, pid_t tid,
		     const struct module *module, bool entries);
/* Call relocated_revert for all relocated functions of the module. */
void relocated_unplant(struct run *run, struct space *space, pid_t tid,
		       const struct module *module);
/*
 * Undo the entry patches of the relocated function, those that are traps too,
 * and the redirected calls to it.  Tasks that are in it may stay.
 */
void relocated_revert(struct run *run, struct space *space, pid_t tid,
		      const struct module *module, uint32_t fplan);

/* The function plans, of several looked at, whose relocated functions are lost. */
struct lost {
	bool *is;		/* by function plan; NULL: there are none */
};

/* Note the function plan if its relocated function is lost. */
void lost_note(const struct plan *plan, struct lost *lost, uint32_t fplan);
/*
 * Remove all traps that lead to those that were noted, whether or not entry
 * patches know the traps; relocated_revert has been called.  A hook's trap
 * stays.  One look at all sites is for all functions: a process may have lost
 * 100,000 at once.
 */
void lost_end(struct run *run, const struct space *space, pid_t tid,
	      const struct module *module, struct lost *lost);

/*
 * Remove all jumps and traps that lead to relocated functions of the module,
 * and the redirected calls between them.
 */
void relocated_remove(struct run *run, struct space *space, pid_t tid,
		      struct module *module);
/*
 * Make of `bytes`, the text [lo, lo + n) as it is in the file, what it is with
 * the entry patches and redirected calls of all relocated functions, but without
 * traps.
 */
void relocated_apply(const struct module *module, uint64_t lo, size_t n,
		     uint8_t *bytes);
/*
 * Some entry patches of the function have become traps: undo the jumps that
 * were there before.  The relocated function stays in use.
 */
void relocated_reopen(struct run *run, struct space *space, pid_t tid,
		      const struct module *module, uint32_t fplan);

#endif
