// The pages of the symmetric heap, over several initialisations of the library: a program with a scenario as its
// argument. Exit status 0 is success.
#include <shmem.h>
#include <shmemx.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "../../support/expect.hpp"

namespace {

using test_support::failures;

long static_word = 1;

constexpr std::size_t kBytes = std::size_t{1} << 20;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// shmem_calloc returns zeros although the same memory was filled before an earlier shmem_finalize, and the program has
// locked a page of it, so that the kernel refuses MADV_REMOVE.
void zeros_after_finalize() {
  shmem_init();
  auto* const filled = static_cast<unsigned char*>(shmem_malloc(kBytes));
  EXPECT(filled != nullptr);
  if (filled == nullptr) return;
  std::memset(filled, 0xff, kBytes);
  auto* const page = filled + page_bytes() - reinterpret_cast<std::uintptr_t>(filled) % page_bytes();
  const bool locked = mlock(page, page_bytes()) == 0;
  if (!locked) std::printf("no page can be locked here\n");
  shmem_free(filled);
  shmem_finalize();

  shmem_init();
  auto* const zeros = static_cast<unsigned char*>(shmem_calloc(kBytes, 1));
  EXPECT(zeros == filled);
  if (zeros != nullptr) EXPECT(std::count(zeros, zeros + kBytes, 0) == static_cast<std::ptrdiff_t>(kBytes));
  shmem_finalize();
}

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uint64_t offset = 0;  // in the file
  std::string file;          // device and inode
  bool dumped = true;        // by a core dump

  bool holds(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return begin <= at && at < end;
  }
};

// Empty if the kernel does not report which mappings a core dump holds.
std::vector<Mapping> mappings() {
  std::vector<Mapping> all;
  std::ifstream smaps("/proc/self/smaps");
  bool has_flags = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long begin = 0, end = 0, offset = 0;
    char device[32] = "", inode[32] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx %31s %31s", &begin, &end, &offset, device, inode) == 5) {
      all.push_back({begin, end, offset, std::string(device) + " " + inode, true});
    } else if (line.rfind("VmFlags:", 0) == 0) {
      has_flags = true;
      all.back().dumped = line.find(" dd") == std::string::npos;
    }
  }
  if (!has_flags) all.clear();
  return all;
}

const Mapping* mapping_of(const std::vector<Mapping>& all, const void* address) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Mapping& one) { return one.holds(address); });
  return found == all.end() ? nullptr : &*found;
}

bool is_dumped(const void* address) {
  const std::vector<Mapping> all = mappings();
  const Mapping* const mapping = mapping_of(all, address);
  return mapping != nullptr && mapping->dumped;
}

// Bytes of the PEs' shared file, which `heap` lies in, that a core dump would hold beside header and static data.
std::size_t dumped_bytes(const void* heap) {
  const std::vector<Mapping> all = mappings();
  const Mapping* const own = mapping_of(all, heap);
  if (own == nullptr) return ~std::size_t{0};
  std::size_t bytes = 0;
  for (const Mapping& mapping : all) {
    if (mapping.file == own->file && mapping.dumped && mapping.offset != 0 && !mapping.holds(&static_word))
      bytes += mapping.end - mapping.begin;
  }
  return bytes;
}

// A core dump holds the static data and what was allocated of the PE's own heap and windows, and no more of the PEs'
// shared memory.
void dumped() {
  if (mappings().empty()) {
    std::printf("this kernel does not report which mappings a core dump holds\n");
    return;
  }
  constexpr std::size_t kStep = std::size_t{2} << 20;
  shmem_init();
  auto* const small = static_cast<std::byte*>(shmem_malloc(kBytes));
  EXPECT(is_dumped(small) && is_dumped(small + kBytes - 1));
  EXPECT(is_dumped(&static_word));
  EXPECT(dumped_bytes(small) <= kStep);
  for (int pe = 0; pe < shmem_n_pes(); ++pe) {
    const void* const theirs = shmem_ptr(small, pe);
    if (pe != shmem_my_pe() && theirs != nullptr) EXPECT(!is_dumped(theirs));
  }
  auto* const large = static_cast<std::byte*>(shmem_malloc(8 * kBytes));
  EXPECT(is_dumped(large) && is_dumped(large + 8 * kBytes - 1));
  EXPECT(dumped_bytes(small) <= 9 * kBytes + kStep);
  void* memory = nullptr;
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  EXPECT(shmemx_window_allocate(3 * kBytes, &memory, &window) == SHMEMX_SUCCESS);
  EXPECT(is_dumped(memory) && is_dumped(static_cast<std::byte*>(memory) + 3 * kBytes - 1));
  EXPECT(dumped_bytes(small) <= 12 * kBytes + 2 * kStep);
  shmemx_window_free(window);
  shmem_finalize();
  EXPECT(!is_dumped(small));
  EXPECT(is_dumped(&static_word));
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } scenarios[] = {{"zeros_after_finalize", zeros_after_finalize}, {"dumped", dumped}};
  for (const auto& scenario : scenarios) {
    if (argc > 1 && std::strcmp(argv[1], scenario.name) == 0) {
      scenario.run();
      return failures == 0 ? 0 : 1;
    }
  }
  std::fprintf(stderr, "pages: unknown scenario\n");
  return 2;
}
