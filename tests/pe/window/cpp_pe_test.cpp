// The C++ interface: ownership, typed transfers, exceptions.
#include <shmemx/windows.hpp>

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <optional>
#include <shared_mutex>

#include "window_support.hpp"

namespace {

using namespace window_test;

static_assert(!std::is_copy_constructible_v<shmemx::window> && std::is_nothrow_move_constructible_v<shmemx::window>);
static_assert(!std::is_copy_assignable_v<shmemx::attached_window> &&
              std::is_nothrow_move_assignable_v<shmemx::attached_window>);
static_assert(!std::is_move_constructible_v<shmemx::completion>);

template <class Call>
int code_of(Call call) {
  try {
    call();
  } catch (const shmemx::window_error& error) {
    return error.code();
  }
  return SHMEMX_SUCCESS;
}

}  // namespace

PE_TEST(typed_transfers_work) {
  const auto own = shmemx::window::allocate_array<double>(100);
  CHECK_EQUAL(own.as<double>().size(), 100U);
  std::ranges::fill(own.as<double>(), -1.0);
  const auto all = exchange(own.describe());
  {
    const shmemx::attached_window peer(all[static_cast<std::size_t>(right())]);
    CHECK_EQUAL(peer.owner(), right());
    std::vector<double> data(50);
    std::iota(data.begin(), data.end(), me() * 100.0);
    peer.put(peer.target<double>(10), data);
    peer.put(peer.target<double>(99), 3.5);
    std::array<double, 50> back{};
    {
      shmemx::completion done;
      peer.get(std::span(back), peer.target<double>(10), done);
    }
    CHECK(std::ranges::equal(back, data));
    CHECK_EQUAL(peer.get(peer.target<double>(99)), 3.5);
    CHECK_EQUAL(peer.fetch_add(peer.target<double>(0), 0.5), -1.0);
    CHECK_EQUAL(peer.exchange(peer.target<double>(0), 8), -0.5);
    CHECK_EQUAL(peer.load(peer.target<double>(0)), 8.0);
    peer.accumulate(shmemx::op::max, peer.target<double>(98), std::array{7.0, 1.0});
    CHECK_EQUAL(peer.get(peer.target<double>(98)), 7.0);
    CHECK_EQUAL(peer.get(peer.target<double>(99)), 3.5);
    CHECK_EQUAL(peer.compare_swap(peer.target<long>(1), 5, 6), peer.get(peer.target<long>(1)));
    peer.flush();
    CHECK_EQUAL(code_of([&] { peer.put(peer.target<double>(100), 1.0); }), int{SHMEMX_ERR_RANGE});
  }
  shmem_barrier_all();
}

PE_TEST(elements_locks_and_ranges_have_types) {
  const auto own = shmemx::window::allocate_array<std::complex<double>>(4);
  std::ranges::fill(own.as<std::complex<double>>(), 0.0);
  std::vector<std::int16_t> memory(8, 3);
  shmemx::range_window set;
  set.add(std::span(memory));
  const Symmetric<void*> base;
  *base = memory.data();
  const auto all = exchange(own.describe());
  const auto sets = exchange(set.describe());
  {
    const shmemx::attached_window peer(all[static_cast<std::size_t>(right())]);
    const shmemx::attached_window theirs(sets[static_cast<std::size_t>(right())]);
    {
      const std::unique_lock lock(peer);
      peer.accumulate(shmemx::op::sum, peer.target<std::complex<double>>(1), std::array{std::complex<double>(1, 2)});
      peer.flush_local();
    }
    const std::shared_lock shared(peer);
    CHECK(peer.try_lock_shared());
    peer.unlock_shared();
    CHECK_EQUAL(code_of([&] { peer.lock(); }), int{SHMEMX_ERR_LOCK});
    CHECK(peer.load(peer.target<std::complex<double>>(1)) == std::complex<double>(1, 2));
    void* address = nullptr;
    shmem_getmem(&address, base.get(), sizeof address, right());
    auto* const target = static_cast<std::int16_t*>(address);
    CHECK_EQUAL(theirs.fetch_add(target + 1, 4), std::int16_t{3});
    CHECK_EQUAL(theirs.compare_swap(target + 1, 7, 8), std::int16_t{7});
    CHECK_EQUAL(code_of([&] { theirs.get(target + 8); }), int{SHMEMX_ERR_RANGE});
  }
  shmem_barrier_all();
  CHECK_EQUAL(memory[1], std::int16_t{8});
  set.remove(memory.data());
}

PE_TEST(owners_can_be_moved_and_destroyed) {
  std::vector<int> memory(10, 1);
  std::optional<shmemx::window> own(std::in_place, std::span(memory));
  shmemx::window_description description = own->describe();
  shmemx::attached_window first(description);
  shmemx::attached_window second = std::move(first);
  CHECK(first.handle() == SHMEMX_WINDOW_INVALID);
  CHECK_EQUAL(second.get(second.target<int>(9)), 1);
  shmemx::window moved = std::move(*own);
  own.reset();
  CHECK_EQUAL(second.get(second.target<int>(9)), 1);
  moved = shmemx::window::allocate(8);
  CHECK_EQUAL(code_of([&] { second.get(second.target<int>(9)); }), int{SHMEMX_ERR_STALE});
  CHECK_EQUAL(code_of([&] { const shmemx::attached_window late(description); }), int{SHMEMX_ERR_STALE});
  second = shmemx::attached_window(moved.describe());
  CHECK_EQUAL(second.size_bytes(), 8U);
  const int* const local = second.local(second.target<int>());
  CHECK(local == moved.data());
}
