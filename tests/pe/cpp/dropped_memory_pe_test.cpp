// The C++ interface: arrays that PEs destroy at different times, in different orders, or by an exception of one of
// them.
#include <shmemx.h>

#include <shmemx/shmemx.hpp>

#include <optional>
#include <stdexcept>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

std::size_t live_blocks() {
  shmemx_heap_info_t info;
  shmemx_heap_query(&info);
  return info.live_blocks;
}

// Frees what other cases have left. The words for votes are allocated from then on.
void begin_anew() {
  shmemx::symmetric_array<int>(1).free();
  shmemx::free_dropped();
}

}  // namespace

PE_TEST(arrays_go_in_any_order) {
  begin_anew();
  std::vector<std::optional<shmemx::symmetric_array<int>>> arrays(3);
  for (auto& array : arrays) array.emplace(10);
  const std::size_t before = live_blocks();
  for (int i = 0; i < 3; ++i) arrays[static_cast<std::size_t>((i + me()) % 3)].reset();
  CHECK_EQUAL(live_blocks(), before);
  CHECK_EQUAL(shmemx::free_dropped(), 3U);
  CHECK_EQUAL(live_blocks(), before - 3);
  CHECK_EQUAL(shmemx::free_dropped(), 0U);
}

// What one PE has dropped the others still reach, there too.
PE_TEST(memory_lives_until_all_have_dropped_it) {
  begin_anew();
  std::optional<shmemx::symmetric_array<long>> array(std::in_place, 4);
  const shmemx::symmetric_ptr<long> at = array->ptr();
  shmemx::free_dropped();
  const bool is_last = me() == pes() - 1;
  if (is_last) array.reset();
  CHECK_EQUAL(shmemx::free_dropped(), pes() == 1 ? 1U : 0U);
  const shmemx::symmetric_array<long> other(4);
  CHECK(pes() == 1 || other.data() != at.get());
  if (!is_last) shmemx::atomic_add(at + 1, 1L, pes() - 1);
  shmemx::barrier_all();
  if (pes() > 1 && is_last) CHECK_EQUAL(at[1], pes() - 1L);
  array.reset();
  CHECK_EQUAL(shmemx::free_dropped(), pes() == 1 ? 0U : 1U);
}

PE_TEST(constructors_free_what_was_dropped) {
  begin_anew();
  const std::size_t before = live_blocks();
  for (int i = 0; i < 10; ++i) {
    const shmemx::symmetric_array<char> again(1000);
    CHECK_EQUAL(live_blocks(), before + 1);
  }
  shmemx::symmetric_array<int> moved(3);
  moved = shmemx::symmetric_array<int>(4);
  CHECK_EQUAL(live_blocks(), before + 2);
  CHECK_EQUAL(shmemx::free_dropped(), 1U);
  CHECK_EQUAL(live_blocks(), before + 1);
}

PE_TEST(an_array_is_freed_where_the_program_says) {
  begin_anew();
  const std::size_t before = live_blocks();
  shmemx::symmetric_array<int> array(3);
  shmemx::symmetric_array<int> other(3);
  array.free();
  CHECK(array.empty() && array.data() == nullptr);
  array.free();
  CHECK_EQUAL(live_blocks(), before + 1);
  other.free();
  CHECK_EQUAL(live_blocks(), before);
  CHECK_EQUAL(shmemx::free_dropped(), 0U);
}

// An exception of one PE does not make it wait for the others, and nothing is lost.
PE_TEST(unwinding_loses_no_memory) {
  begin_anew();
  const std::size_t before = live_blocks();
  const auto fail_on_one = [] {
    const shmemx::symmetric_array<int> array(5);
    const shmemx::symmetric_array<int> second(5);
    if (me() == pes() - 1) throw std::runtime_error("of one PE");
  };
  bool caught = false;
  try {
    fail_on_one();
  } catch (const std::runtime_error&) {
    caught = true;
  }
  CHECK_EQUAL(caught, me() == pes() - 1);
  CHECK_EQUAL(shmemx::free_dropped(), 2U);
  CHECK_EQUAL(live_blocks(), before);
}

PE_TEST(there_may_be_many_arrays) {
  begin_anew();
  const std::size_t before = live_blocks();
  std::vector<shmemx::symmetric_array<char>> arrays;
  for (int i = 0; i < 600; ++i) arrays.emplace_back(1);
  // An odd one stays: it is in the second round of votes.
  if (me() == 0) std::swap(arrays[0], arrays[599]);
  arrays.erase(arrays.begin() + 1, arrays.end());
  CHECK_EQUAL(shmemx::free_dropped(), pes() == 1 ? 599U : 598U);
  arrays.clear();
  CHECK_EQUAL(shmemx::free_dropped(), pes() == 1 ? 1U : 2U);
  CHECK_EQUAL(live_blocks(), before);
}
