// The same as C++.
#include "constants_test.c"
