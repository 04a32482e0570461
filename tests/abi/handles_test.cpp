// The same as C++.
#include "handles_test.c"
