// Entry points of put, get, p, g, their strided and sized forms, and put with signal.
#include "api/rma.hpp"
#include "api/signal.hpp"
#include "api/typed_define.hpp"

SHMEMX_RMA_TABLE(SHMEMX_DEFINE_CTX)
