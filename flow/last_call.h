/*
 * Whether control may go on behind a call that ends a function.  For flow/
 * only.  Pure.
 */
#ifndef FLOW_LAST_CALL_H
#define FLOW_LAST_CALL_H

#include "flow/returns.h"

/*
 * Whether control cannot come back from the call before `end`, where the code
 * of the function at entry ends and another function follows: it would come
 * into that function with more on the stack than a return address.  False
 * if that is not certain.
 */
bool last_call_stays(const struct returns_input *in, uint64_t entry,
		     uint64_t end);

#endif
