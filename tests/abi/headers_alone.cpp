// The same as C++.
#include "headers_alone.c"
