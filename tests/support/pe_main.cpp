// main() of the tests that initialise the library once.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "pe_test.hpp"

namespace {

std::atomic<bool> in_finalize{false};

// The last thread of a process ends it silently, with status 0: no other thread may be taken for the last one.
void check_where_it_ends() {
  if (!in_finalize.load()) return;
  std::fprintf(stderr, "the process ends inside shmem_finalize\n");
  std::fflush(stderr);
  _exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  std::atexit(check_where_it_ends);
  shmem_init();
  const int failures = pe_test::run_all(argv[0], argc > 1 ? argv[1] : nullptr);
  in_finalize = true;
  shmem_finalize();
  in_finalize = false;
  return failures == 0 ? 0 : 1;
}
