// The same as C++.
#include "hostile_macros.c"
