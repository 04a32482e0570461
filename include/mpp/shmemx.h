/* The place of shmemx.h before OpenSHMEM 1.1; deprecated, still required by the standard. */
#include "../shmemx.h"
