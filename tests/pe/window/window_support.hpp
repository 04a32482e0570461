// Helpers of the tests of windows: one window on each PE, attached by all, and random numbers with a seed.
#pragma once

#include <shmemx/windows.h>

#include <cstring>
#include <vector>

#include "../../support/pattern.hpp"
#include "../../support/pe_test.hpp"
#include "../../support/random.hpp"

namespace window_test {

using namespace pe_test;

enum class Memory { allocated, malloced, heap, global, stack };

// Distributes the description to all PEs; collective.
inline std::vector<shmemx_window_description_t> exchange(const shmemx_window_description_t& mine) {
  Symmetric<shmemx_window_description_t> slot;
  *slot = mine;
  shmem_barrier_all();
  std::vector<shmemx_window_description_t> all(static_cast<std::size_t>(pes()));
  for (int pe = 0; pe < pes(); ++pe) shmem_getmem(&all[static_cast<std::size_t>(pe)], slot.get(), sizeof mine, pe);
  shmem_barrier_all();
  return all;
}

// A window on each PE, all of them attached on every PE. Construction and destruction are collective.
class Windows {
 public:
  explicit Windows(std::size_t bytes) : bytes_(bytes) {
    void* address = nullptr;
    CHECK_EQUAL(shmemx_window_allocate(bytes, &address, &own), SHMEMX_SUCCESS);
    base = static_cast<std::byte*>(address);
    open();
  }
  Windows(void* address, std::size_t bytes) : base(static_cast<std::byte*>(address)), bytes_(bytes) {
    CHECK_EQUAL(shmemx_window_expose(address, bytes, &own), SHMEMX_SUCCESS);
    open();
  }
  ~Windows() {
    shmem_barrier_all();
    for (const shmemx_window_t window : of) CHECK_EQUAL(shmemx_window_detach(window), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
  }
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;

  shmemx_window_t at(int pe) const { return of[static_cast<std::size_t>(pe)]; }
  // Returns an address in PE `pe`'s window, in that PE's address space.
  template <class T = std::byte>
  T* address(int pe, std::size_t index = 0) const {
    return static_cast<T*>(shmemx_window_base(at(pe))) + index;
  }
  template <class T>
  T* mine() const {
    return reinterpret_cast<T*>(base);
  }

  shmemx_window_t own = SHMEMX_WINDOW_INVALID;
  std::byte* base = nullptr;
  std::vector<shmemx_window_t> of;

 private:
  void open() {
    if (bytes_ != 0) std::memset(base, 0, bytes_);
    shmemx_window_description_t mine{};
    CHECK_EQUAL(shmemx_window_describe(own, &mine), SHMEMX_SUCCESS);
    for (const auto& description : exchange(mine)) {
      of.push_back(SHMEMX_WINDOW_INVALID);
      CHECK_EQUAL(shmemx_window_attach(&description, &of.back()), SHMEMX_SUCCESS);
    }
  }
  std::size_t bytes_;
};

inline std::byte pattern(std::size_t i, std::size_t seed) { return std::byte{test_support::pattern_byte(seed, i)}; }

}  // namespace window_test
