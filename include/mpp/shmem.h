/* The place of shmem.h before OpenSHMEM 1.1; deprecated, still required by the standard. */
#include "../shmem.h"
