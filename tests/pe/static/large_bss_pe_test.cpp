// Static data that the program does not touch takes no memory, however large it is: shmem_init reads, copies and
// writes no page of it.
#include <cstdio>
#include <cstring>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

// The small code model addresses 2 GiB of static data in all.
constexpr std::size_t kBytes = (std::size_t{2} << 30) - (64u << 20);
constexpr long kMostKib = 64 * 1024;

char untouched[kBytes];

long resident_kib() {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  char line[256];
  long kib = -1;
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, "VmRSS:", 6) == 0) std::sscanf(line + 6, "%ld", &kib);
  std::fclose(file);
  return kib;
}

}  // namespace

PE_TEST(untouched_static_data_takes_no_memory) {
  CHECK(resident_kib() > 0);
  CHECK(resident_kib() < kMostKib);
}

PE_TEST(both_ends_are_symmetric_and_only_touched_pages_take_memory) {
  for (const std::size_t at : {std::size_t{0}, kBytes / 2, kBytes - 1}) {
    shmem_char_p(&untouched[at], static_cast<char>(me() % 100 + 1), right());
    shmem_barrier_all();
    CHECK_EQUAL(int{untouched[at]}, left() % 100 + 1);
    CHECK_EQUAL(int{shmem_char_g(&untouched[at], right())}, me() % 100 + 1);
  }
  CHECK_EQUAL(int{shmem_char_g(&untouched[kBytes / 3], right())}, 0);
  CHECK(resident_kib() < kMostKib);
}
