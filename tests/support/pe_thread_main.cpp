// main() of the tests that need SHMEM_THREAD_MULTIPLE.
#include "pe_test.hpp"

int main(int argc, char** argv) {
  int provided = -1;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0 || provided != SHMEM_THREAD_MULTIPLE) return 3;
  const int failures = pe_test::run_all(argv[0], argc > 1 ? argv[1] : nullptr);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
