// The same as C++.
#include "interpose_test.c"
