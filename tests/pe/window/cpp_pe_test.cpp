// The C++ interface: ownership, typed transfers, exceptions.
#include <shmemx/windows.hpp>

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

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

namespace {

// A window of numbers of this PE, and that of its right neighbour, attached with those of all others.
template <class T>
struct Neighbour {
  explicit Neighbour(std::size_t count, T value) : own(shmemx::window::allocate_array<T>(count)) {
    std::ranges::fill(own.template as<T>(), value);
    all = shmemx::attached_window::attach_all(exchange(own.describe()));
  }
  ~Neighbour() {
    all.clear();
    shmem_barrier_all();
  }
  const shmemx::attached_window& peer() const { return all[static_cast<std::size_t>(right())]; }

  shmemx::window own;
  std::vector<shmemx::attached_window> all;
};

// Calls start(completion), and waits.
template <class Start>
void completed(Start start) {
  shmemx::completion done;
  start(done);
}

std::vector<int> numbers() {
  std::vector<int> data(100);
  std::iota(data.begin(), data.end(), 1000 * me());
  return data;
}

}  // namespace

PE_TEST(blocks_at_equal_distances) {
  const Neighbour<int> neighbour(1000, 0);
  const shmemx::attached_window& peer = neighbour.peer();
  const std::vector<int> data = numbers();
  std::vector<int> back(100);
  const shmemx::block_shape blocks{5, 10};
  peer.put(peer.target<int>(), 15, data.data(), 10, blocks);
  peer.get(back.data() + 45, -5, peer.target<int>(), 15, blocks);  // reversed
  CHECK_EQUAL(back[0], data[90]);
  CHECK_EQUAL(back[45 + 4], data[4]);
  completed([&](auto& done) { peer.put(peer.target<int>(500), 5, data.data(), 10, blocks, done); });
  completed([&](auto& done) { peer.get(back.data(), 5, peer.target<int>(500), 5, blocks, done); });
  CHECK_EQUAL(back[5], data[10]);
  CHECK_EQUAL(back[49], data[94]);
}

PE_TEST(lists_of_pieces) {
  const Neighbour<int> neighbour(1000, 0);
  const shmemx::attached_window& peer = neighbour.peer();
  std::vector<int> data = numbers();
  std::vector<int> back(100);
  const shmemx_iov_t targets[] = {{peer.target<int>(700), 40}, {peer.target<int>(800), 60}};
  const shmemx_iov_t source[] = {{data.data(), 100}};
  const shmemx_iov_t dest[] = {{back.data(), 100}};
  completed([&](auto& done) { peer.put(targets, source, done); });
  completed([&](auto& done) { peer.get(dest, targets, done); });
  CHECK(std::equal(data.begin(), data.begin() + 25, back.begin()));
  const shmemx_iov_t locked[] = {{peer.target<int>(900), 100}};
  completed([&](auto& done) { peer.put_locked(shmemx::lock_kind::exclusive, peer, locked, source, done); });
  CHECK_EQUAL(peer.get(peer.target<int>(924)), data[24]);
  shmemx::flush_pe(right());
  shmemx::flush_all(neighbour.all);
}

PE_TEST(accumulates_of_runs) {
  using shmemx::op;
  using Four = std::array<double, 4>;
  const Neighbour<double> neighbour(200, 1.0);
  const shmemx::attached_window& peer = neighbour.peer();
  double* const target = peer.target<double>();
  const Four ones{1, 2, 3, 4};
  Four old{};
  peer.get_accumulate(op::sum, target, ones, old.data());
  CHECK(old == (Four{1, 1, 1, 1}));
  completed([&](auto& done) { peer.get_accumulate(op::prod, target, ones, old.data(), done); });
  CHECK(old == (Four{2, 3, 4, 5}));
  completed([&](auto& done) { peer.accumulate(shmemx::exclusive(op::sum), target, ones, done); });
  CHECK_EQUAL(peer.get(target + 3), 24.0);
  peer.accumulate(op::sum, target + 10, 3, ones.data(), 2, {1, 2});
  CHECK_EQUAL(peer.get(target + 13), 4.0);
  const shmemx_iov_t targets[] = {{target + 20, 16}, {target + 30, 16}};
  const shmemx_iov_t source[] = {{const_cast<double*>(ones.data()), 32}};
  const shmemx_iov_t result[] = {{old.data(), 32}};
  peer.accumulate<double>(op::sum, targets, source);
  completed([&](auto& done) { peer.accumulate<double>(op::sum, targets, source, done); });
  peer.get_accumulate<double>(op::no_op, targets, source, result);
  CHECK(old == (Four{3, 5, 7, 9}));
}

PE_TEST(pairs_and_arrays_of_integers) {
  using shmemx::op;
  using Pair = shmemx::value_index<double>;
  const Neighbour<Pair> pairs(4, Pair{5.0, 7});
  const Pair less{4.0, 9};
  Pair* const target = pairs.peer().target<Pair>();
  pairs.peer().accumulate(op::minloc, target, std::span(&less, 1));
  CHECK(pairs.peer().get(target) == less);
  pairs.peer().accumulate(op::maxloc, target, std::array{Pair{4.0, 2}, Pair{0.5, 1}});
  CHECK(pairs.peer().get(target) == (Pair{4.0, 2}));
  CHECK(pairs.peer().get(target + 1) == (Pair{5.0, 7}));
  const Neighbour<long> longs(4, 6L);
  const std::array<long, 2> more{5, 6};
  longs.peer().accumulate_array(op::sum, longs.peer().target<long>(), more);
  completed([&](auto& done) { longs.peer().accumulate_array(op::sum, longs.peer().target<long>(), more, done); });
  CHECK_EQUAL(longs.peer().get(longs.peer().target<long>(1)), 18L);
}

PE_TEST(single_elements_without_waiting) {
  const Neighbour<long> neighbour(4, 41L);
  const shmemx::attached_window& peer = neighbour.peer();
  long* const target = peer.target<long>();
  long before = 0;
  long swapped = 0;
  completed([&](auto& done) { peer.fetch(shmemx::op::sum, target, 1L, before, done); });
  CHECK_EQUAL(before, 41L);
  completed([&](auto& done) { peer.compare_swap(target, 42L, 77L, swapped, done); });
  CHECK_EQUAL(swapped, 42L);
  CHECK_EQUAL(peer.get(target), 77L);
}

PE_TEST(waits_and_errors_have_types) {
  const auto own = shmemx::window::allocate_array<std::int32_t>(8);
  std::ranges::fill(own.as<std::int32_t>(), 0);
  const auto all = exchange(own.describe());
  {
    const shmemx::attached_window peer(all[static_cast<std::size_t>(right())]);
    std::int32_t* const mine = own.as<std::int32_t>().data();
    CHECK(!shmemx::test_until(mine, SHMEM_CMP_GT, 0));
    shmem_barrier_all();
    peer.fetch_add(peer.target<std::int32_t>(0), 3);
    shmemx::wait_until(mine, SHMEM_CMP_EQ, 3);
    CHECK(shmemx::test_until(mine, SHMEM_CMP_EQ, 3));
    shmemx::completion granted;
    peer.request_lock(shmemx::lock_kind::shared, granted);
    const shmemx_event_t events[] = {shmemx::event_of(mine, SHMEM_CMP_EQ, 4), shmemx::event_of_message(right(), 1234),
                                     shmemx::event_of(granted)};
    CHECK_EQUAL(shmemx::wait_for_any(events), 2U);
    peer.unlock();
    peer.lock(shmemx::lock_kind::exclusive);
    peer.unlock();
    try {
      peer.get(peer.target<std::int32_t>(8));
      CHECK(false);
    } catch (const shmemx::window_error& error) {
      CHECK(std::string(error.what()).find("PE " + std::to_string(right())) != std::string::npos);
    }
  }
  shmem_barrier_all();
}
