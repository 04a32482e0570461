// The C++ interface: ownership, typed transfers, exceptions.
#include <shmemx/windows.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

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
