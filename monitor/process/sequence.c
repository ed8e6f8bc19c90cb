/*
 * Aborts the restartable sequence (rseq(2)) that a task was stopped in.  The
 * kernel does so itself when the task goes on, since another may have run
 * meanwhile; but it looks only where the task goes on, so a task that makes a
 * system call for pmon first would end its sequence without having begun it
 * anew.  Knows nothing of where programs have sequences: symtab/rseq.c does.
 */
#include "monitor/process/sequence.h"

/* struct rseq_cs of linux/rseq.h. */
struct sequence {
	uint32_t version, flags;
	uint64_t start, len, abort;
};

enum { RSEQ_CS = 8 };	/* offset of struct rseq's member rseq_cs */

void
sequence_abort(const struct run *run, const struct task *task,
	       struct regs *regs)
{
	const struct host *host = run->host;
	uint64_t *pc = &regs->r[run->arch->reg_pc], va;
	struct sequence sequence;
	struct rseq_area area;
	uint32_t signature;

	if (!host->native || host->native->rseq_get(task->tid, &area) ||
	    !area.va ||
	    host->data_read(task->tid, area.va + RSEQ_CS, &va, sizeof(va)) ||
	    !va ||
	    host->data_read(task->tid, va, &sequence, sizeof(sequence)) ||
	    *pc - sequence.start >= sequence.len)
		return;
	/* Without the signature the kernel would end the program. */
	if (!host->data_read(task->tid, sequence.abort - sizeof(signature),
			     &signature, sizeof(signature)) &&
	    signature == area.signature)
		*pc = sequence.abort;
}
