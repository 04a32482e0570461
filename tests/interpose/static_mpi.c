/* Stands for a program into which an MPI has been linked: it is recognised by the names inside. */
#include <string.h>

static const char names[] = "MPI_Win_allocate\0MPIR_Win_allocate_impl";

int main(int argc, char **argv) { return argc > 1 && strcmp(argv[1], names) == 0; }
