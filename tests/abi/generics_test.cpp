// The same calls through the C++ overloads.
#include "generics_test.c"
