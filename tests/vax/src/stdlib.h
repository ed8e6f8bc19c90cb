/* What bzip2 wants of it is in lib.h. */
#include "lib.h"
