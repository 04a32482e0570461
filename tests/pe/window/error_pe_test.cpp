// Ranges, lists, descriptions and handles that are refused. No memory outside a window is touched.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "window_support.hpp"

namespace {

using namespace window_test;

constexpr std::size_t kBytes = 256;
constexpr std::size_t kGuard = 64;

bool all_zero(const std::byte* at, std::size_t bytes) {
  return std::all_of(at, at + bytes, [](std::byte b) { return b == std::byte{0}; });
}

template <class... Fields>
int attach_changed(const shmemx_window_description_t& good, std::size_t bit) {
  shmemx_window_description_t bad = good;
  bad.words[bit / 64] ^= std::uint64_t{1} << bit % 64;
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  const int code = shmemx_window_attach(&bad, &window);
  CHECK(window == SHMEMX_WINDOW_INVALID);
  return code;
}

}  // namespace

PE_TEST(nothing_outside_a_window_is_touched) {
  alignas(64) std::byte memory[kGuard + kBytes + kGuard] = {};
  const Windows windows(memory + kGuard, kBytes);
  const int peer = right();
  const shmemx_window_t window = windows.at(peer);
  std::byte* const base = windows.address(peer);
  std::vector<std::byte> ones(2 * kBytes, std::byte{1});
  CHECK_EQUAL(shmemx_window_put(window, base + 1, ones.data(), kBytes), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put(window, base - 1, ones.data(), 1), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put(window, base + kBytes, ones.data(), 1), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put(window, base - 8, ones.data(), kBytes + 16), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put(window, base + 8, ones.data(), std::numeric_limits<std::size_t>::max() - 4),
              int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put(window, nullptr, ones.data(), 1), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put(window, base, nullptr, 1), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_get(window, ones.data(), base + kBytes - 1, 2), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put_strided(window, base, 8, ones.data(), 8, 8, kBytes / 8 + 1), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put_strided(window, base, -8, ones.data(), 8, 8, 2), int{SHMEMX_ERR_RANGE});
  const std::int64_t value = 1;
  std::int64_t old = 0;
  CHECK_EQUAL(shmemx_window_fetch_op(window, base + kBytes - 4, &value, &old, SHMEMX_INT64, SHMEMX_OP_SUM),
              int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_accumulate(window, base, ones.data(), kBytes / 4 + 1, SHMEMX_INT32, SHMEMX_OP_SUM),
              int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_accumulate(window, base, ones.data(), std::numeric_limits<std::size_t>::max() / 4,
                                       SHMEMX_INT64, SHMEMX_OP_SUM),
              int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put(window, base + kBytes, ones.data(), 0), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK(all_zero(memory, sizeof memory));
}

PE_TEST(a_bad_list_moves_nothing) {
  alignas(64) std::byte memory[kGuard + kBytes + kGuard] = {};
  const Windows windows(memory + kGuard, kBytes);
  const shmemx_window_t window = windows.at(right());
  std::byte* const base = windows.address(right());
  std::byte ones[kBytes];
  std::fill(std::begin(ones), std::end(ones), std::byte{1});
  const shmemx_iov_t local[2] = {{ones, 16}, {ones + 16, 16}};
  const shmemx_iov_t past[2] = {{base, 16}, {base + kBytes - 8, 16}};
  const shmemx_iov_t shorter[2] = {{base, 16}, {base + 32, 15}};
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  const shmemx_iov_t overflow[2] = {{base, kHuge - 7}, {base + 8, 40}};  // 32 when it wraps
  const shmemx_iov_t fine[2] = {{base, 16}, {base + 32, 16}};
  const shmemx_iov_t null_piece[2] = {{ones, 16}, {nullptr, 16}};
  CHECK_EQUAL(shmemx_window_putv(window, past, 2, local, 2), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_putv(window, shorter, 2, local, 2), int{SHMEMX_ERR_LIST});
  CHECK_EQUAL(shmemx_window_putv(window, overflow, 2, local, 2), int{SHMEMX_ERR_LIST});
  CHECK_EQUAL(shmemx_window_putv(window, fine, 2, local, 1), int{SHMEMX_ERR_LIST});
  CHECK_EQUAL(shmemx_window_putv(window, fine, 2, null_piece, 2), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_putv(window, nullptr, 2, local, 2), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_put_strided(window, base, 8, ones, 8, kHuge / 2, 3), int{SHMEMX_ERR_LIST});
  CHECK_EQUAL(shmemx_window_putv(window, fine, 0, local, 0), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_getv(window, fine, 0, local, 0), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK(all_zero(memory, sizeof memory));
}

PE_TEST(types_and_operators_must_exist) {
  const Windows windows(64);
  std::int64_t value = 1;
  std::int64_t old = 0;
  void* const at = windows.address(right());
  for (const int type : {-1, 0, 28, 1000}) {
    CHECK_EQUAL(shmemx_window_fetch_op(windows.at(right()), at, &value, &old, type, SHMEMX_OP_SUM),
                int{SHMEMX_ERR_ARGUMENT});
    CHECK_EQUAL(shmemx_window_compare_swap(windows.at(right()), at, &value, &value, &old, type),
                int{SHMEMX_ERR_ARGUMENT});
  }
  for (const int op : {-1, 0, 13, 15, 32, 255, 256, 512, SHMEMX_OP_SUM + SHMEMX_OP_EXCLUSIVE})
    CHECK_EQUAL(shmemx_window_fetch_op(windows.at(right()), at, &value, &old, SHMEMX_INT64, op),
                int{SHMEMX_ERR_ARGUMENT});
  for (const int op : {-1, 0, 13, 15, 32, 256, 512, 513})
    CHECK_EQUAL(shmemx_window_accumulate(windows.at(right()), at, &value, 1, SHMEMX_INT64, op),
                int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_accumulate(windows.at(right()), at, nullptr, 1, SHMEMX_INT64, SHMEMX_OP_SUM),
              int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_fetch_op(windows.at(right()), at, &value, nullptr, SHMEMX_INT64, SHMEMX_OP_SUM),
              int{SHMEMX_ERR_ARGUMENT});
}

// Any changed bit, random bytes, and the description of a window that has been freed.
PE_TEST(forged_and_stale_descriptions_are_refused) {
  shmemx_window_t own = SHMEMX_WINDOW_INVALID;
  void* address = nullptr;
  CHECK_EQUAL(shmemx_window_allocate(kBytes, &address, &own), SHMEMX_SUCCESS);
  shmemx_window_description_t mine{};
  CHECK_EQUAL(shmemx_window_describe(own, &mine), SHMEMX_SUCCESS);
  const shmemx_window_description_t good = exchange(mine)[static_cast<std::size_t>(right())];
  for (std::size_t bit = 0; bit < sizeof good * 8; ++bit) {
    const Note note("bit " + std::to_string(bit));
    CHECK_EQUAL(attach_changed(good, bit), int{SHMEMX_ERR_DESCRIPTION});
  }
  Random random(3);
  for (int i = 0; i < 5000; ++i) {
    shmemx_window_description_t description;
    for (auto& word : description.words) word = random.next();
    if (i % 2 == 0) description.words[0] = good.words[0];
    shmemx_window_t window = SHMEMX_WINDOW_INVALID;
    CHECK_EQUAL(shmemx_window_attach(&description, &window), int{SHMEMX_ERR_DESCRIPTION});
  }
  const shmemx_window_description_t zero{};
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  CHECK_EQUAL(shmemx_window_attach(&zero, &window), int{SHMEMX_ERR_DESCRIPTION});
  CHECK_EQUAL(shmemx_window_attach(nullptr, &window), int{SHMEMX_ERR_ARGUMENT});
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
  // The next window reuses the slot of the last one; the old description must not match it.
  CHECK_EQUAL(shmemx_window_allocate(kBytes, &address, &own), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_attach(&good, &window), int{SHMEMX_ERR_STALE});
  CHECK(window == SHMEMX_WINDOW_INVALID);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
}

PE_TEST(users_get_an_error_after_the_owner_has_freed) {
  std::vector<std::byte> memory(kBytes);
  for (const bool allocated : {true, false}) {
    shmemx_window_t own = SHMEMX_WINDOW_INVALID;
    void* address = memory.data();
    CHECK_EQUAL(
        allocated ? shmemx_window_allocate(kBytes, &address, &own) : shmemx_window_expose(address, kBytes, &own),
        SHMEMX_SUCCESS);
    shmemx_window_description_t mine{};
    shmemx_window_describe(own, &mine);
    const shmemx_window_description_t theirs = exchange(mine)[static_cast<std::size_t>(right())];
    shmemx_window_t window = SHMEMX_WINDOW_INVALID;
    CHECK_EQUAL(shmemx_window_attach(&theirs, &window), SHMEMX_SUCCESS);
    void* const at = shmemx_window_base(window);
    std::int64_t value = 5;
    CHECK_EQUAL(shmemx_window_put(window, at, &value, sizeof value), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_put(window, at, &value, sizeof value), int{SHMEMX_ERR_STALE});
    CHECK_EQUAL(shmemx_window_get(window, &value, at, sizeof value), int{SHMEMX_ERR_STALE});
    CHECK_EQUAL(shmemx_window_fetch_op(window, at, &value, &value, SHMEMX_INT64, SHMEMX_OP_SUM), int{SHMEMX_ERR_STALE});
    CHECK_EQUAL(shmemx_window_accumulate(window, at, &value, 1, SHMEMX_INT64, SHMEMX_OP_SUM), int{SHMEMX_ERR_STALE});
    CHECK(shmemx_window_ptr(window, at, 1) == nullptr);
    long counter = 0;
    CHECK_EQUAL(shmemx_window_put_nbi(window, at, &value, sizeof value, &counter), int{SHMEMX_ERR_STALE});
    CHECK_EQUAL(counter, 0L);
    CHECK_EQUAL(shmemx_window_detach(window), SHMEMX_SUCCESS);
    shmem_barrier_all();
  }
}

PE_TEST(handles_end_with_detach_and_free) {
  shmemx_window_t own = SHMEMX_WINDOW_INVALID;
  void* address = nullptr;
  CHECK_EQUAL(shmemx_window_allocate(kBytes, &address, &own), SHMEMX_SUCCESS);
  shmemx_window_description_t mine{};
  shmemx_window_describe(own, &mine);
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  CHECK_EQUAL(shmemx_window_attach(&mine, &window), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_detach(own), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_free(window), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_describe(window, &mine), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_detach(window), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_detach(window), int{SHMEMX_ERR_WINDOW});
  int value = 0;
  CHECK_EQUAL(shmemx_window_put(window, address, &value, sizeof value), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_flush(window), int{SHMEMX_ERR_WINDOW});
  CHECK(shmemx_window_base(window) == nullptr);
  CHECK_EQUAL(shmemx_window_owner(window), -1);
  CHECK_EQUAL(shmemx_window_bytes(window), 0U);
  CHECK_EQUAL(shmemx_window_path(window), 0);
  // The next window reuses the slot; the old handle stays invalid.
  shmemx_window_t next = SHMEMX_WINDOW_INVALID;
  CHECK_EQUAL(shmemx_window_attach(&mine, &next), SHMEMX_SUCCESS);
  CHECK(next != window);
  CHECK_EQUAL(shmemx_window_put(window, address, &value, sizeof value), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_detach(next), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_free(own), int{SHMEMX_ERR_WINDOW});
  Random random(11);
  for (int i = 0; i < 1000; ++i) {
    const auto wild = reinterpret_cast<shmemx_window_t>(static_cast<std::uintptr_t>(random.next() >> i % 60));
    CHECK_EQUAL(shmemx_window_put(wild, address, &value, sizeof value), int{SHMEMX_ERR_WINDOW});
  }
}

PE_TEST(only_mapped_memory_can_be_exposed) {
  shmemx_window_t own = SHMEMX_WINDOW_INVALID;
  CHECK_EQUAL(shmemx_window_expose(nullptr, 8, &own), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_expose(reinterpret_cast<void*>(std::uintptr_t{4096}), 8, &own), int{SHMEMX_ERR_ARGUMENT});
  int value = 0;
  CHECK_EQUAL(shmemx_window_expose(&value, std::size_t{1} << 46, &own), int{SHMEMX_ERR_ARGUMENT});
  void* address = &value;
  CHECK_EQUAL(shmemx_window_allocate(std::size_t{1} << 45, &address, &own), int{SHMEMX_ERR_MEMORY});
  CHECK(address == nullptr && own == SHMEMX_WINDOW_INVALID);
  CHECK_EQUAL(shmemx_window_allocate(8, nullptr, &own), int{SHMEMX_ERR_ARGUMENT});
  CHECK(std::strlen(shmemx_error_text(SHMEMX_ERR_STALE)) > 0);
  CHECK(std::strcmp(shmemx_error_text(12345), "unknown error") == 0);
}

PE_TEST(transfers_to_an_empty_window_are_refused) {
  const Windows windows(0);
  int value = 0;
  CHECK_EQUAL(shmemx_window_put(windows.at(right()), windows.address(right()), &value, 0), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_put(windows.at(right()), windows.address(right()), &value, 1), int{SHMEMX_ERR_RANGE});
}
