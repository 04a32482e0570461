// main() of the tests that start and end the library once.
#include "pe_test.hpp"

int main(int argc, char** argv) {
  shmem_init();
  const int failures = pe_test::run_all(argv[0], argc > 1 ? argv[1] : nullptr);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
