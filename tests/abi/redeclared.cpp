// The same as C++.
#include "redeclared.c"
