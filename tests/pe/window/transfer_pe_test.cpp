// Windows of every kind of memory, and put and get of every shape, by the path that SHMEMX_WINDOW_PATH selects.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "window_support.hpp"

namespace {

using namespace window_test;

constexpr std::size_t kBytes = 100'000;  // many cells long, and not a multiple of their size
alignas(64) std::byte global_memory[kBytes];

void fill(std::byte* at, std::size_t bytes, std::size_t seed) {
  for (std::size_t i = 0; i < bytes; ++i) at[i] = pattern(i, seed);
}
bool holds(const std::byte* at, std::size_t bytes, std::size_t seed) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (at[i] != pattern(i, seed)) return false;
  }
  return true;
}

// Every PE puts into a part of each PE's window; the owner checks it, and the PE gets it back.
void check_put_and_get(const Windows& windows, std::size_t bytes) {
  const auto n = static_cast<std::size_t>(pes());
  const std::size_t part = bytes / n;
  std::vector<std::byte> data(part);
  for (int pe = 0; pe < pes(); ++pe) {
    fill(data.data(), part, static_cast<std::size_t>(me() * 16 + pe));
    CHECK_EQUAL(shmemx_window_put(windows.at(pe), windows.address(pe, part * static_cast<std::size_t>(me())),
                                  data.data(), part),
                SHMEMX_SUCCESS);
  }
  shmem_barrier_all();
  for (std::size_t from = 0; from < n; ++from)
    CHECK(holds(windows.base + part * from, part, from * 16 + static_cast<std::size_t>(me())));
  for (int pe = 0; pe < pes(); ++pe) {
    std::fill(data.begin(), data.end(), std::byte{0});
    const auto from = static_cast<std::size_t>(right());
    CHECK_EQUAL(shmemx_window_get(windows.at(pe), data.data(), windows.address(pe, part * from), part), SHMEMX_SUCCESS);
    CHECK(holds(data.data(), part, from * 16 + static_cast<std::size_t>(pe)));
  }
  shmem_barrier_all();
}

bool is_forced(const char* path) {
  const char* const value = std::getenv("SHMEMX_WINDOW_PATH");
  return value != nullptr && std::strcmp(value, path) == 0;
}
bool on_queue_path() {
  const char* const value = std::getenv("SHMEMX_NODE_PATH");
  return value != nullptr && std::strcmp(value, "queue") == 0;
}

// The shared team holds the PEs of the node whose memory is mapped.
bool is_on_another_node(int pe) {
  return !on_queue_path() && shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) < 0;
}

}  // namespace

PE_TEST(allocated_memory_is_a_window) {
  const Windows windows(kBytes);
  CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(windows.base) % 4096, 0U);
  check_put_and_get(windows, kBytes);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{64}, std::size_t{4096}})
    check_put_and_get(windows, bytes * static_cast<std::size_t>(pes()));
}

// Several messages of the largest size, if the path uses messages.
PE_TEST(tens_of_megabytes_are_transferred) {
  const std::size_t many = std::size_t{pes() <= 3 ? 40U : 12U} << 20;
  const std::unique_ptr<std::byte[]> memory(new std::byte[many]);
  const Windows windows(memory.get(), many);
  const std::unique_ptr<std::byte[]> data(new std::byte[many]);
  fill(data.get(), many, static_cast<std::size_t>(me()));
  CHECK_EQUAL(shmemx_window_put(windows.at(right()), windows.address(right()), data.get(), many), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK(holds(memory.get(), many, static_cast<std::size_t>(left())));
  std::memset(data.get(), 0, many);
  long counter = 0;
  const std::size_t part = many / 4 + 3;
  for (std::size_t at = 0; at < many; at += part) {
    CHECK_EQUAL(shmemx_window_get_nbi(windows.at(right()), data.get() + at, windows.address(right(), at),
                                      std::min(part, many - at), &counter),
                SHMEMX_SUCCESS);
  }
  shmemx_window_wait(&counter);
  CHECK(holds(data.get(), many, static_cast<std::size_t>(me())));
}

PE_TEST(a_malloced_buffer_is_a_window) {
  const std::unique_ptr<std::byte[]> memory(new std::byte[kBytes]);
  const Windows windows(memory.get(), kBytes);
  check_put_and_get(windows, kBytes);
}

PE_TEST(symmetric_heap_is_a_window) {
  const Symmetric<std::byte> memory(kBytes);
  const Windows windows(memory.get(), kBytes);
  check_put_and_get(windows, kBytes);
}

PE_TEST(global_data_are_a_window) {
  const Windows windows(global_memory, kBytes);
  check_put_and_get(windows, kBytes);
}

PE_TEST(the_stack_is_a_window) {
  std::byte memory[5000];
  const Windows windows(memory, sizeof memory);
  check_put_and_get(windows, sizeof memory);
}

PE_TEST(a_large_window_grows_the_area) {
  constexpr std::size_t kLarge = std::size_t{100} << 20;  // more than the first segment holds
  const Windows windows(kLarge);
  std::byte last = std::byte{0};
  const std::byte value{static_cast<unsigned char>(me() + 1)};
  CHECK_EQUAL(shmemx_window_put(windows.at(right()), windows.address(right(), kLarge - 1), &value, 1), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_get(windows.at(me()), &last, windows.address(me(), kLarge - 1), 1), SHMEMX_SUCCESS);
  CHECK_EQUAL(static_cast<int>(last), left() + 1);
}

// Its memory belongs to the first window, which is there after the second one has been freed.
PE_TEST(a_part_of_an_allocated_window_has_the_path_of_the_whole) {
  const Windows windows(20'000);
  {
    const Windows part(windows.base + 100, 9000);
    for (int pe = 0; pe < pes(); ++pe) CHECK_EQUAL(shmemx_window_path(part.at(pe)), shmemx_window_path(windows.at(pe)));
    check_put_and_get(part, 9000);
  }
  check_put_and_get(windows, 20'000);
}

PE_TEST(windows_report_their_properties) {
  const Windows windows(1000);
  CHECK(shmemx_window_base(windows.own) == windows.base);
  CHECK_EQUAL(shmemx_window_bytes(windows.own), 1000U);
  CHECK_EQUAL(shmemx_window_owner(windows.own), me());
  CHECK_EQUAL(shmemx_window_path(windows.own), int{SHMEMX_WINDOW_MAPPED});
  for (int pe = 0; pe < pes(); ++pe) {
    CHECK_EQUAL(shmemx_window_bytes(windows.at(pe)), 1000U);
    CHECK_EQUAL(shmemx_window_owner(windows.at(pe)), pe);
    const int path = shmemx_window_path(windows.at(pe));
    if (pe == me()) {
      CHECK_EQUAL(path, int{SHMEMX_WINDOW_MAPPED});
    } else if (is_forced("messages") || is_on_another_node(pe) ||
               (on_queue_path() && !is_forced("mapped") && !is_forced("cma"))) {
      CHECK_EQUAL(path, int{SHMEMX_WINDOW_MESSAGES});
    } else if (is_forced("cma")) {
      CHECK(path == SHMEMX_WINDOW_CMA || path == SHMEMX_WINDOW_MESSAGES);
    } else {
      CHECK_EQUAL(path, int{SHMEMX_WINDOW_MAPPED});
    }
    void* const local = shmemx_window_ptr(windows.at(pe), windows.address(pe, 10), 990);
    CHECK_EQUAL(local != nullptr, path == SHMEMX_WINDOW_MAPPED);
    CHECK(shmemx_window_ptr(windows.at(pe), windows.address(pe, 10), 991) == nullptr);
  }
}

PE_TEST(lists_transfer_what_a_model_transfers) {
  constexpr std::size_t kSize = 20'000;
  const Windows windows(kSize);
  Random random(static_cast<std::uint64_t>(me()) + 5);
  std::vector<std::byte> model(kSize, std::byte{0});
  const int peer = right();
  for (int round = 0; round < 40; ++round) {
    // The total length is divided differently on the two sides; pieces do not overlap at the target.
    std::vector<std::byte> data(kSize);
    fill(data.data(), kSize, random.below(1000));
    std::vector<shmemx_iov_t> targets;
    std::vector<shmemx_iov_t> locals;
    std::size_t total = 0;
    std::vector<std::size_t> offsets;
    for (std::size_t at = random.below(50); at < kSize && targets.size() < 200;) {
      const std::size_t bytes = std::min(random.below<std::size_t>(round % 2 == 0 ? 40 : 3000), kSize - at);
      targets.push_back({windows.address(peer, at), bytes});
      offsets.push_back(at);
      total += bytes;
      at += bytes + random.below(100);
    }
    for (std::size_t at = 0; at < total;) {
      const std::size_t bytes = std::min(random.below<std::size_t>(500), total - at);
      locals.push_back({data.data() + at, bytes});
      at += bytes;
    }
    CHECK_EQUAL(shmemx_window_putv(windows.at(peer), targets.data(), targets.size(), locals.data(), locals.size()),
                SHMEMX_SUCCESS);
    std::size_t done = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(done), targets[i].bytes,
                  model.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
      done += targets[i].bytes;
    }
    std::vector<std::byte> back(kSize, std::byte{0});
    std::vector<shmemx_iov_t> dests{{back.data(), total / 3}, {back.data() + total / 3, total - total / 3}};
    CHECK_EQUAL(shmemx_window_getv(windows.at(peer), dests.data(), dests.size(), targets.data(), targets.size()),
                SHMEMX_SUCCESS);
    CHECK(std::equal(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(total), data.begin()));
  }
  std::vector<std::byte> whole(kSize);
  CHECK_EQUAL(shmemx_window_get(windows.at(peer), whole.data(), windows.address(peer), kSize), SHMEMX_SUCCESS);
  CHECK(whole == model);
}

PE_TEST(strided_blocks_are_transferred) {
  constexpr std::size_t kRows = 60;
  constexpr std::size_t kRowBytes = 100;
  const Windows windows(kRows * kRowBytes);
  const int peer = right();
  std::byte column[kRows * 8];
  fill(column, sizeof column, 3);
  CHECK_EQUAL(shmemx_window_put_strided(windows.at(peer), windows.address(peer, 16), kRowBytes, column, 8, 8, kRows),
              SHMEMX_SUCCESS);
  shmem_barrier_all();
  for (std::size_t row = 0; row < kRows; ++row) {
    CHECK(std::equal(column + row * 8, column + row * 8 + 8, windows.base + row * kRowBytes + 16));
    CHECK(windows.base[row * kRowBytes + 15] == std::byte{0} && windows.base[row * kRowBytes + 24] == std::byte{0});
  }
  // With a negative stride on one side.
  std::byte back[sizeof column];
  CHECK_EQUAL(shmemx_window_get_strided(windows.at(peer), back + sizeof back - 8, -8, windows.address(peer, 16),
                                        kRowBytes, 8, kRows),
              SHMEMX_SUCCESS);
  for (std::size_t row = 0; row < kRows; ++row)
    CHECK(std::equal(column + row * 8, column + row * 8 + 8, back + sizeof back - 8 - row * 8));
}

PE_TEST(counters_are_zero_after_completion) {
  constexpr std::size_t kCount = 2000;
  const Windows windows(kCount * sizeof(long));
  std::vector<long> data(kCount);
  for (std::size_t i = 0; i < kCount; ++i) data[i] = static_cast<long>(i) + 100'000L * me();
  long counter = 0;
  for (std::size_t i = 0; i < kCount; ++i)
    CHECK_EQUAL(
        shmemx_window_put_nbi(windows.at(right()), windows.address<long>(right(), i), &data[i], sizeof(long), &counter),
        SHMEMX_SUCCESS);
  CHECK(__atomic_load_n(&counter, __ATOMIC_RELAXED) >= 0);
  shmemx_window_wait(&counter);
  CHECK_EQUAL(counter, 0L);
  shmem_barrier_all();
  bool same = true;
  for (std::size_t i = 0; i < kCount; ++i)
    same = same && windows.mine<long>()[i] == static_cast<long>(i) + 100'000L * left();
  CHECK(same);
  std::vector<long> back(kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    shmemx_window_get_nbi(windows.at(right()), &back[i], windows.address<long>(right(), i), sizeof(long), &counter);
  while (shmemx_window_test(&counter) == 0) {
  }
  CHECK(back == data);
}

PE_TEST(flush_completes_operations_without_a_counter) {
  constexpr std::size_t kSize = 300'000;
  const Windows windows(kSize);
  std::vector<std::byte> data(kSize);
  fill(data.data(), kSize, static_cast<std::size_t>(me()) + 9);
  const shmemx_iov_t local{data.data(), kSize};
  const shmemx_iov_t target{windows.address(right()), kSize};
  CHECK_EQUAL(shmemx_window_putv_nbi(windows.at(right()), &target, 1, &local, 1, nullptr), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_flush(windows.at(right())), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK(holds(windows.base, kSize, static_cast<std::size_t>(left()) + 9));
  std::vector<std::byte> back(kSize);
  const shmemx_iov_t dest{back.data(), kSize};
  CHECK_EQUAL(shmemx_window_getv_nbi(windows.at(right()), &dest, 1, &target, 1, nullptr), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_flush_pe(-1), SHMEMX_SUCCESS);
  CHECK(back == data);
  CHECK_EQUAL(shmemx_window_flush_pe(right()), SHMEMX_SUCCESS);
}

// All PEs to all PEs at once, more than the channel holds.
PE_TEST(all_put_to_all_at_once) {
  constexpr std::size_t kPart = 200'000;
  const auto n = static_cast<std::size_t>(pes());
  const Windows windows(kPart * n);
  std::vector<std::byte> data(kPart);
  fill(data.data(), kPart, static_cast<std::size_t>(me()));
  long counter = 0;
  for (int pe = 0; pe < pes(); ++pe)
    shmemx_window_put_nbi(windows.at(pe), windows.address(pe, kPart * static_cast<std::size_t>(me())), data.data(),
                          kPart, &counter);
  shmemx_window_wait(&counter);
  shmem_barrier_all();
  for (std::size_t from = 0; from < n; ++from) CHECK(holds(windows.base + kPart * from, kPart, from));
}
