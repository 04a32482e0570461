// Long puts and gets on public windows of PEs on other nodes, which go by the network's own put and get where it has
// them, and what becomes of them when the owner frees the window.
#include <shmem.h>
#include <shmemx.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "../support/file_mark.hpp"
#include "../support/pe_test.hpp"

namespace {

constexpr std::size_t kLong = std::size_t{1} << 20;

std::uint64_t value_of(std::size_t i, int salt) { return i * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(salt); }

std::vector<std::uint64_t> pattern(std::size_t bytes, int salt) {
  std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = value_of(i, salt);
  return words;
}
bool holds(const void* memory, std::size_t bytes, int salt) {
  const auto* const words = static_cast<const std::uint64_t*>(memory);
  for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) {
    if (words[i] != value_of(i, salt)) return false;
  }
  return true;
}

int me() { return shmem_my_pe(); }
int left() { return (me() + shmem_n_pes() - 1) % shmem_n_pes(); }

// Each PE has a window, and attaches the one of its right neighbour.
struct Windows {
  explicit Windows(std::size_t bytes) {
    static shmemx_window_description_t mine, description;
    CHECK_EQUAL(shmemx_window_allocate(bytes, &memory, &own), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_describe(own, &mine), SHMEMX_SUCCESS);
    shmem_putmem(&description, &mine, sizeof mine, left());
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_attach(&description, &theirs), SHMEMX_SUCCESS);
    base = static_cast<char*>(shmemx_window_base(theirs));
    shmem_barrier_all();
  }
  void end() {
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_detach(theirs), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
  }
  void* memory = nullptr;
  shmemx_window_t own{}, theirs{};
  char* base = nullptr;
};

}  // namespace

PE_TEST(long_blocks_arrive_whole) {
  Windows windows(4 * kLong);
  const auto data = pattern(2 * kLong, me());
  CHECK_EQUAL(shmemx_window_put(windows.theirs, windows.base + 64, data.data(), 2 * kLong), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK(holds(static_cast<char*>(windows.memory) + 64, 2 * kLong, left()));
  std::vector<std::uint64_t> back(2 * kLong / 8);
  CHECK_EQUAL(shmemx_window_get(windows.theirs, back.data(), windows.base + 64, 2 * kLong), SHMEMX_SUCCESS);
  CHECK(holds(back.data(), 2 * kLong, me()));
  CHECK_EQUAL(shmemx_window_get(windows.theirs, back.data(), windows.base + 3 * kLong, 2 * kLong), SHMEMX_ERR_RANGE);
  windows.end();
}

PE_TEST(nonblocking_ones_are_counted_and_flushed) {
  Windows windows(4 * kLong);
  const auto data = pattern(kLong, me());
  std::vector<std::uint64_t> back(kLong / 8);
  long counter = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t block = 0; block < 4; ++block)
      CHECK_EQUAL(shmemx_window_put_nbi(windows.theirs, windows.base + block * kLong, data.data(), kLong, &counter),
                  SHMEMX_SUCCESS);
    shmemx_window_wait(&counter);
    CHECK_EQUAL(counter, 0);
    CHECK_EQUAL(shmemx_window_get_nbi(windows.theirs, back.data(), windows.base + kLong, kLong, nullptr),
                SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_flush(windows.theirs), SHMEMX_SUCCESS);
    CHECK(holds(back.data(), kLong, me()));
  }
  windows.end();
}

// Short pieces and long ones in one list.
PE_TEST(lists_mix_messages_and_transfers) {
  Windows windows(4 * kLong);
  const auto data = pattern(kLong + 128, me());
  const shmemx_iov_t targets[] = {{windows.base, 64}, {windows.base + 4096, kLong}, {windows.base + 3 * kLong, 64}};
  const shmemx_iov_t source = {const_cast<std::uint64_t*>(data.data()), kLong + 128};
  CHECK_EQUAL(shmemx_window_putv(windows.theirs, targets, 3, &source, 1), SHMEMX_SUCCESS);
  std::vector<std::uint64_t> back(data.size());
  const shmemx_iov_t dest = {back.data(), kLong + 128};
  CHECK_EQUAL(shmemx_window_getv(windows.theirs, &dest, 1, targets, 3), SHMEMX_SUCCESS);
  CHECK(back == data);
  windows.end();
}

// Windows over the same private memory, one after the other, as in the steps of a program. What is registered with the
// network for one may be used again by the next, but not if the program has replaced or emptied the memory meanwhile.
PE_TEST(windows_over_the_same_memory_follow_each_other) {
  constexpr int kReadWrite = PROT_READ | PROT_WRITE;
  constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  static shmemx_window_description_t mine, description;
  void* const memory = ::mmap(nullptr, 2 * kLong, kReadWrite, kPrivate, -1, 0);
  CHECK(memory != MAP_FAILED);
  for (int round = 0; round < 24; ++round) {
    const int salt = 100 * round;
    if (round % 4 == 1) CHECK(::mmap(memory, 2 * kLong, kReadWrite, kPrivate | MAP_FIXED, -1, 0) == memory);
    if (round % 4 == 2) CHECK_EQUAL(::madvise(memory, kLong, MADV_DONTNEED), 0);
    shmemx_window_t own{}, theirs{};
    CHECK_EQUAL(shmemx_window_expose(memory, round % 3 == 0 ? kLong : 2 * kLong, &own), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_describe(own, &mine), SHMEMX_SUCCESS);
    shmem_putmem(&description, &mine, sizeof mine, left());
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_attach(&description, &theirs), SHMEMX_SUCCESS);
    const auto data = pattern(kLong, me() + salt);
    CHECK_EQUAL(shmemx_window_put(theirs, shmemx_window_base(theirs), data.data(), kLong), SHMEMX_SUCCESS);
    std::vector<std::uint64_t> back(data.size());
    CHECK_EQUAL(shmemx_window_get(theirs, back.data(), shmemx_window_base(theirs), kLong), SHMEMX_SUCCESS);
    CHECK(back == data);
    shmem_barrier_all();
    CHECK(holds(memory, kLong, left() + salt));
    CHECK_EQUAL(shmemx_window_detach(theirs), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
  }
  CHECK_EQUAL(::munmap(memory, 2 * kLong), 0);
}

// A set whose ranges come and go: long blocks go by the network there, too, also across the border of two ranges, and
// nothing of a range that has been removed is reached.
PE_TEST(ranges_of_a_set_come_and_go) {
  static shmemx_window_description_t mine, description;
  static char* base;
  std::vector<std::uint64_t> memory(3 * kLong / 8, 1);
  shmemx_window_t own{}, theirs{};
  CHECK_EQUAL(shmemx_window_expose_ranges(&own), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_describe(own, &mine), SHMEMX_SUCCESS);
  shmem_putmem(&description, &mine, sizeof mine, left());
  auto* const address = reinterpret_cast<char*>(memory.data());
  shmem_putmem(&base, &address, sizeof address, left());
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_attach(&description, &theirs), SHMEMX_SUCCESS);
  for (int round = 0; round < 12; ++round) {
    CHECK_EQUAL(shmemx_window_add_range(own, address, kLong), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_add_range(own, address + kLong, kLong), SHMEMX_SUCCESS);
    shmem_barrier_all();
    const auto data = pattern(2 * kLong, me() + 100 * round);
    CHECK_EQUAL(shmemx_window_put(theirs, base, data.data(), 2 * kLong), SHMEMX_SUCCESS);
    std::vector<std::uint64_t> back(data.size());
    CHECK_EQUAL(shmemx_window_get(theirs, back.data(), base, 2 * kLong), SHMEMX_SUCCESS);
    CHECK(back == data);
    CHECK_EQUAL(shmemx_window_put(theirs, base + kLong, data.data(), 2 * kLong), SHMEMX_ERR_RANGE);
    CHECK_EQUAL(shmemx_window_put(theirs, base + kLong, data.data() + kLong / 8, kLong), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK(holds(address, 2 * kLong, left() + 100 * round));
    CHECK_EQUAL(shmemx_window_remove_range(own, address), SHMEMX_SUCCESS);
    std::fill_n(memory.begin(), kLong / 8, 7U);
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_put(theirs, base, data.data(), kLong), SHMEMX_ERR_RANGE);
    CHECK_EQUAL(shmemx_window_get(theirs, back.data(), base + kLong, kLong), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK(std::all_of(memory.begin(), memory.begin() + kLong / 8, [](std::uint64_t word) { return word == 7; }));
    CHECK_EQUAL(shmemx_window_remove_range(own, address + kLong), SHMEMX_SUCCESS);
  }
  CHECK_EQUAL(shmemx_window_detach(theirs), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
}

// The owner frees while transfers are under way: it waits for them, and what starts later is stale. The memory is used
// again at once, so that a late transfer would be seen.
PE_TEST(a_freed_window_is_stale_and_its_memory_is_left_alone) {
  const auto data = pattern(kLong, me());
  for (int round = 0; round < 10; ++round) {
    Windows windows(kLong);
    CHECK_EQUAL(shmemx_window_put(windows.theirs, windows.base, data.data(), kLong), SHMEMX_SUCCESS);
    shmem_barrier_all();
    // The program orders its stores to a mapped window before the free.
    for (int i = 0; i < 4 && shmemx_window_path(windows.theirs) != SHMEMX_WINDOW_MAPPED; ++i) {
      const int code = shmemx_window_put_nbi(windows.theirs, windows.base, data.data(), kLong, nullptr);
      CHECK(code == SHMEMX_SUCCESS || code == SHMEMX_ERR_STALE);  // the owner may be ahead
    }
    CHECK_EQUAL(shmemx_window_free(windows.own), SHMEMX_SUCCESS);
    Windows next(kLong);
    const auto own = pattern(kLong, -1);
    std::copy(own.begin(), own.end(), static_cast<std::uint64_t*>(next.memory));
    const int code = shmemx_window_flush(windows.theirs);
    CHECK(code == SHMEMX_SUCCESS || code == SHMEMX_ERR_STALE);
    CHECK_EQUAL(shmemx_window_put(windows.theirs, windows.base, data.data(), kLong), SHMEMX_ERR_STALE);
    CHECK_EQUAL(shmemx_window_get(windows.theirs, const_cast<std::uint64_t*>(data.data()), windows.base, kLong),
                SHMEMX_ERR_STALE);
    shmem_barrier_all();
    CHECK(holds(next.memory, kLong, -1));
    CHECK_EQUAL(shmemx_window_detach(windows.theirs), SHMEMX_SUCCESS);
    next.end();
  }
}

// While the owner computes without progress, until the call has returned, the data cannot leave: more than sockets
// buffer.
PE_TEST(a_nonblocking_put_returns_before_its_data_have_left) {
  const char* const progress = std::getenv("SHMEMX_PROGRESS");
  const bool is_off = progress != nullptr && std::string_view(progress) == "off";
  CHECK(is_off || shmem_n_pes() > 0);
  if (!is_off) return;
  constexpr int kMostLooks = 60'000;
  constexpr std::size_t kHuge = 64 * kLong;
  const pe_test::FileMark has_returned;
  Windows windows(kHuge);
  const auto data = pattern(kHuge, me());
  std::vector<std::uint64_t> first(8);
  CHECK_EQUAL(shmemx_window_put(windows.theirs, windows.base, data.data(), 64), SHMEMX_SUCCESS);
  shmem_barrier_all();
  for (int look = 0; me() != 0 && look < kMostLooks && !has_returned.is_there(); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(me() == 0 || has_returned.is_there());
  if (me() == 0) {
    long counter = 0;
    CHECK_EQUAL(shmemx_window_put_nbi(windows.theirs, windows.base, data.data(), kHuge, &counter), SHMEMX_SUCCESS);
    CHECK_EQUAL(counter, 1);
    has_returned.write();
    shmemx_window_wait(&counter);
  }
  shmem_barrier_all();
  if (left() == 0) CHECK(holds(windows.memory, kHuge, 0));
  windows.end();
}
