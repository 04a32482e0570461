// Windows that are sets of ranges; windows without memory; many windows attached at once; what errors say.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "window_support.hpp"

namespace {

using namespace window_test;

// A set on each PE, attached by all. Construction and destruction are collective.
class Sets {
 public:
  Sets() {
    CHECK_EQUAL(shmemx_window_expose_ranges(&own), SHMEMX_SUCCESS);
    shmemx_window_description_t mine{};
    CHECK_EQUAL(shmemx_window_describe(own, &mine), SHMEMX_SUCCESS);
    const auto all = exchange(mine);
    of.resize(all.size());
    CHECK_EQUAL(shmemx_window_attach_all(all.data(), all.size(), of.data()), SHMEMX_SUCCESS);
  }
  ~Sets() {
    shmem_barrier_all();
    for (const shmemx_window_t window : of) CHECK_EQUAL(shmemx_window_detach(window), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
  }
  Sets(const Sets&) = delete;
  Sets& operator=(const Sets&) = delete;
  shmemx_window_t at(int pe) const { return of[static_cast<std::size_t>(pe)]; }

  shmemx_window_t own = SHMEMX_WINDOW_INVALID;
  std::vector<shmemx_window_t> of;
};

// The addresses that all PEs give, in their order.
std::vector<std::byte*> exchange_addresses(void* mine) {
  const Symmetric<void*> slot;
  *slot = mine;
  shmem_barrier_all();
  std::vector<std::byte*> all(static_cast<std::size_t>(pes()));
  for (int pe = 0; pe < pes(); ++pe) shmem_getmem(&all[static_cast<std::size_t>(pe)], slot.get(), sizeof mine, pe);
  shmem_barrier_all();
  return all;
}

int put_word(shmemx_window_t window, std::byte* target, std::uint64_t value) {
  return shmemx_window_put(window, target, &value, sizeof value);
}
std::uint64_t get_word(shmemx_window_t window, const std::byte* target) {
  std::uint64_t value = 0;
  CHECK_EQUAL(shmemx_window_get(window, &value, target, sizeof value), SHMEMX_SUCCESS);
  return value;
}

}  // namespace

PE_TEST(ranges_come_and_go) {
  const Sets sets;
  std::vector<std::uint64_t> words(8192, 7);
  auto* const memory = reinterpret_cast<std::byte*>(words.data());
  std::byte* const theirs = exchange_addresses(memory)[static_cast<std::size_t>(right())];
  const shmemx_window_t window = sets.at(right());
  CHECK_EQUAL(shmemx_window_bytes(window), SIZE_MAX);
  CHECK(shmemx_window_base(window) == nullptr);
  CHECK_EQUAL(put_word(window, theirs, 1), int{SHMEMX_ERR_RANGE});
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_add_range(sets.own, memory, 800), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_add_range(sets.own, memory + 800, 8192 * 8 - 800), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(put_word(window, theirs + 8, static_cast<std::uint64_t>(me())), SHMEMX_SUCCESS);
  CHECK_EQUAL(get_word(window, theirs + 8), static_cast<std::uint64_t>(me()));
  const std::uint64_t one = 1;
  std::uint64_t old = 0;
  CHECK_EQUAL(shmemx_window_fetch_op(window, theirs + 16, &one, &old, SHMEMX_UINT64, SHMEMX_OP_SUM), SHMEMX_SUCCESS);
  CHECK_EQUAL(old, 7U);
  std::vector<std::uint64_t> ones(8000, 1);  // across the border of the two ranges
  CHECK_EQUAL(shmemx_window_accumulate(window, theirs + 24, ones.data(), ones.size(), SHMEMX_UINT64, SHMEMX_OP_SUM),
              SHMEMX_SUCCESS);
  CHECK_EQUAL(get_word(window, theirs + 800), 8U);
  std::vector<std::uint64_t> all(8192);
  long counter = 0;
  CHECK_EQUAL(shmemx_window_get_nbi(window, all.data(), theirs, all.size() * 8, &counter), SHMEMX_SUCCESS);
  shmemx_window_wait(&counter);
  CHECK_EQUAL(all[8002], 8U);
  CHECK_EQUAL(all[8003], 7U);
  CHECK_EQUAL(put_word(window, theirs + 8192 * 8 - 4, 1), int{SHMEMX_ERR_RANGE});
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_remove_range(sets.own, memory + 8), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_remove_range(sets.own, memory), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(put_word(window, theirs, 1), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(put_word(window, theirs + 796, 1), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(put_word(window, theirs + 800, 1), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(words[0], 7U);
}

// The first access finds out, without a fault of the owner; when the memory is there, it is accessed.
PE_TEST(memory_that_is_not_mapped_is_not_accessed) {
  const Sets sets;
  const std::size_t bytes = 8 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  ::munmap(static_cast<std::byte*>(memory) + bytes / 2, bytes / 2);
  CHECK_EQUAL(shmemx_window_add_range(sets.own, memory, bytes), SHMEMX_SUCCESS);
  std::byte* const theirs = exchange_addresses(memory)[static_cast<std::size_t>(right())];
  const shmemx_window_t window = sets.at(right());
  CHECK_EQUAL(put_word(window, theirs, 1), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(put_word(window, theirs + bytes - 8, 1), int{SHMEMX_ERR_RANGE});
  shmem_barrier_all();
  void* const again = ::mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  CHECK(again == memory);
  shmem_barrier_all();
  CHECK_EQUAL(put_word(window, theirs + bytes - 8, 9), SHMEMX_SUCCESS);
  CHECK_EQUAL(get_word(window, theirs + bytes - 8), 9U);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_remove_range(sets.own, memory), SHMEMX_SUCCESS);
  ::munmap(memory, bytes);
}

PE_TEST(overlapping_and_wrong_ranges_are_refused) {
  const Sets sets;
  alignas(8) std::byte memory[256];
  CHECK_EQUAL(shmemx_window_add_range(sets.own, memory + 64, 64), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_add_range(sets.own, memory, 64), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_add_range(sets.own, memory + 64, 1), int{SHMEMX_ERR_OVERLAP});
  CHECK_EQUAL(shmemx_window_add_range(sets.own, memory + 127, 2), int{SHMEMX_ERR_OVERLAP});
  CHECK_EQUAL(shmemx_window_add_range(sets.own, memory + 32, 128), int{SHMEMX_ERR_OVERLAP});
  CHECK_EQUAL(shmemx_window_add_range(sets.own, memory + 70, 0), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_add_range(sets.own, nullptr, 8), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_add_range(sets.at(me()), memory, 8), int{SHMEMX_ERR_WINDOW});
  shmemx_window_t plain = SHMEMX_WINDOW_INVALID;
  CHECK_EQUAL(shmemx_window_expose(memory, sizeof memory, &plain), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_add_range(plain, memory, 8), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_remove_range(plain, memory), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_free(plain), SHMEMX_SUCCESS);
}

// As many pieces as MPI programs attach; the window is found again in any of them.
PE_TEST(sets_have_many_ranges) {
  constexpr std::size_t kRanges = 65'536;
  const Sets sets;
  std::vector<std::uint64_t> words(2 * kRanges);  // every other word is a range
  auto* const memory = reinterpret_cast<std::byte*>(words.data());
  Random random(static_cast<std::uint64_t>(me()) + 5);
  for (std::size_t i = 0; i < kRanges; ++i)
    if (shmemx_window_add_range(sets.own, memory + 16 * i, 8) != SHMEMX_SUCCESS) return static_cast<void>(CHECK(false));
  std::byte* const theirs = exchange_addresses(memory)[static_cast<std::size_t>(right())];
  for (int i = 0; i < 300; ++i) {
    const std::size_t k = random.next() % kRanges;
    CHECK_EQUAL(put_word(sets.at(right()), theirs + 16 * k, k + 1), SHMEMX_SUCCESS);
    CHECK_EQUAL(put_word(sets.at(right()), theirs + 16 * k + 8, 1), int{SHMEMX_ERR_RANGE});
    CHECK_EQUAL(get_word(sets.at(right()), theirs + 16 * k), k + 1);
  }
  shmem_barrier_all();
  for (std::size_t i = 0; i < kRanges; ++i) {
    if (words[2 * i] != 0 && words[2 * i] != i + 1) return static_cast<void>(CHECK(false));
    if (words[2 * i + 1] != 0) return static_cast<void>(CHECK(false));
  }
}

PE_TEST(errors_name_owner_and_address) {
  const Sets sets;
  const Windows windows(64);
  std::byte* const base = windows.address(right());
  char text[64];
  CHECK_EQUAL(put_word(windows.at(right()), base + 60, 1), int{SHMEMX_ERR_RANGE});
  std::snprintf(text, sizeof text, "8 bytes at %p of PE %d", static_cast<void*>(base + 60), right());
  CHECK(std::string(shmemx_error_detail()).find(text) == 0);
  auto* const nowhere = reinterpret_cast<std::byte*>(std::uintptr_t{0x12345678});
  CHECK_EQUAL(put_word(sets.at(right()), nowhere, 1), int{SHMEMX_ERR_RANGE});
  std::snprintf(text, sizeof text, "8 bytes at 0x12345678 of PE %d are not in any range", right());
  CHECK(std::string(shmemx_error_detail()).find(text) == 0);
  std::uint64_t value = 0;
  CHECK_EQUAL(shmemx_window_get_nbi(sets.at(right()), &value, nowhere + 16, 4, nullptr), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_flush(sets.at(right())), int{SHMEMX_ERR_RANGE});
  std::snprintf(text, sizeof text, "4 bytes at 0x12345688 of PE %d are not in any range", right());
  CHECK(std::string(shmemx_error_detail()).find(text) == 0);
  CHECK_EQUAL(shmemx_window_flush(sets.at(right())), SHMEMX_SUCCESS);
}

PE_TEST(errors_tell_that_a_range_was_removed) {
  std::vector<std::uint64_t> words(64, 7);
  std::byte* const theirs = exchange_addresses(words.data())[static_cast<std::size_t>(right())];
  const auto is_removed = [] {
    return std::string(shmemx_error_detail()).find("it had removed a range there ") != std::string::npos;
  };
  for (int round = 0; round < 2; ++round) {  // the second set knows nothing of the first one's ranges
    const Sets sets;
    CHECK_EQUAL(put_word(sets.at(right()), theirs, 1), int{SHMEMX_ERR_RANGE});
    CHECK(!is_removed());
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_add_range(sets.own, words.data(), 512), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_remove_range(sets.own, words.data()), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK_EQUAL(put_word(sets.at(right()), theirs + 504, 1), int{SHMEMX_ERR_RANGE});
    CHECK(is_removed());
    std::uint64_t value = 0;
    CHECK_EQUAL(shmemx_window_get_nbi(sets.at(right()), &value, theirs, 8, nullptr), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_flush(sets.at(right())), int{SHMEMX_ERR_RANGE});
    CHECK(is_removed());
    CHECK_EQUAL(put_word(sets.at(right()), theirs + 512, 1), int{SHMEMX_ERR_RANGE});
    CHECK(!is_removed());
  }
}

PE_TEST(windows_without_memory_can_be_used) {
  const Windows windows(nullptr, 0);
  CHECK_EQUAL(shmemx_window_bytes(windows.at(right())), 0U);
  CHECK_EQUAL(put_word(windows.at(right()), nullptr, 1), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_put(windows.at(right()), nullptr, windows.of.data(), 0), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_lock(windows.at(right()), SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_unlock(windows.at(right())), SHMEMX_SUCCESS);
}

// One bad description: nothing is attached. A stale one is found by the first operation, if not before.
PE_TEST(many_windows_are_attached_at_once) {
  std::array<std::uint64_t, 16> memory{};
  std::vector<shmemx_window_t> own(8);
  const Symmetric<shmemx_window_description_t> slots(8);
  for (std::size_t i = 0; i < own.size(); ++i) {
    CHECK_EQUAL(shmemx_window_expose(&memory[2 * i], 16, &own[i]), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_describe(own[i], &slots.get()[i]), SHMEMX_SUCCESS);
  }
  shmem_barrier_all();
  std::vector<shmemx_window_description_t> theirs(8);
  shmem_getmem(theirs.data(), slots.get(), sizeof theirs[0] * 8, right());
  std::vector<shmemx_window_t> windows(8);
  theirs[7].words[3] ^= 1;
  CHECK_EQUAL(shmemx_window_attach_all(theirs.data(), 8, windows.data()), int{SHMEMX_ERR_DESCRIPTION});
  for (const shmemx_window_t window : windows) CHECK(window == SHMEMX_WINDOW_INVALID);
  theirs[7].words[3] ^= 1;
  CHECK_EQUAL(shmemx_window_attach_all(theirs.data(), 8, windows.data()), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_attach_all(nullptr, 0, nullptr), SHMEMX_SUCCESS);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK_EQUAL(put_word(windows[i], static_cast<std::byte*>(shmemx_window_base(windows[i])), i + 1), SHMEMX_SUCCESS);
  for (const shmemx_window_t window : windows) CHECK_EQUAL(shmemx_window_detach(window), SHMEMX_SUCCESS);
  shmem_barrier_all();
  for (std::size_t i = 0; i < 8; ++i) CHECK_EQUAL(memory[2 * i], i + 1);
  CHECK_EQUAL(shmemx_window_free(own[3]), SHMEMX_SUCCESS);
  shmem_barrier_all();
  int code = shmemx_window_attach_all(&theirs[3], 1, windows.data());
  if (code == SHMEMX_SUCCESS) {
    code = put_word(windows[0], static_cast<std::byte*>(shmemx_window_base(windows[0])), 1);
    CHECK_EQUAL(shmemx_window_detach(windows[0]), SHMEMX_SUCCESS);
  }
  CHECK_EQUAL(code, int{SHMEMX_ERR_STALE});
  shmem_barrier_all();
  for (std::size_t i = 0; i < 8; ++i)
    if (i != 3) CHECK_EQUAL(shmemx_window_free(own[i]), SHMEMX_SUCCESS);
}

namespace {

// Reserved address space; ThreadSanitizer does not always leave as much.
#if defined(__SANITIZE_THREAD__)
constexpr std::size_t kDisplacement = std::size_t{1} << 34;
#else
constexpr std::size_t kDisplacement = std::size_t{1} << 40;
#endif

}  // namespace

PE_TEST(large_displacements_work) {
  constexpr std::size_t kPage = 4096;
  void* const space = ::mmap(nullptr, kDisplacement + kPage, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(space != MAP_FAILED);
  {
    const Windows windows(static_cast<std::byte*>(space) + kDisplacement, kPage);  // clears its memory
    shmemx_window_t own = SHMEMX_WINDOW_INVALID;
    CHECK_EQUAL(shmemx_window_expose(space, kDisplacement + kPage, &own), SHMEMX_SUCCESS);
    shmemx_window_description_t mine{};
    shmemx_window_describe(own, &mine);
    const shmemx_window_description_t theirs = exchange(mine)[static_cast<std::size_t>(right())];
    shmemx_window_t window = SHMEMX_WINDOW_INVALID;
    CHECK_EQUAL(shmemx_window_attach(&theirs, &window), SHMEMX_SUCCESS);
    std::byte* const there = static_cast<std::byte*>(shmemx_window_base(window)) + kDisplacement;
    CHECK_EQUAL(put_word(window, there + 8, 42), SHMEMX_SUCCESS);
    CHECK_EQUAL(get_word(window, there + 8), 42U);
    const std::uint64_t one = 1;
    std::uint64_t old = 0;
    CHECK_EQUAL(shmemx_window_fetch_op(window, there + 8, &one, &old, SHMEMX_UINT64, SHMEMX_OP_SUM), SHMEMX_SUCCESS);
    CHECK_EQUAL(old, 42U);
    CHECK_EQUAL(put_word(window, there + kPage - 4, 1), int{SHMEMX_ERR_RANGE});
    CHECK_EQUAL(shmemx_window_put_strided(window, there, -static_cast<std::ptrdiff_t>(kDisplacement), &one, 0, 8, 2),
                SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK_EQUAL(*static_cast<std::uint64_t*>(space), 1U);
    CHECK_EQUAL(windows.mine<std::uint64_t>()[1], 43U);
    CHECK_EQUAL(shmemx_window_detach(window), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
  }
  ::munmap(space, kDisplacement + kPage);
}

namespace {

constexpr std::size_t kMapped = std::size_t{4} << 20;

void* map(int flags, int fd = -1) { return ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, flags, fd, 0); }

// A file that has `kMapped` bytes and no name.
void* map_file(int fd) {
  CHECK(fd >= 0);
  CHECK_EQUAL(::ftruncate(fd, kMapped), 0);
  void* const memory = map(MAP_SHARED, fd);
  ::close(fd);
  return memory;
}

}  // namespace

// Pages of a pool are tested where all PEs get some.
PE_TEST(files_and_huge_pages_are_memory) {
  void* const advised = map(MAP_PRIVATE | MAP_ANONYMOUS);
  ::madvise(advised, kMapped, MADV_HUGEPAGE);
  std::vector<void*> kinds = {advised, map_file(::memfd_create("window", 0)),
                              map_file(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600))};
  const Symmetric<int> missing;
  for (const int flags : {MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB}) {
    void* const memory = map(flags);
    *missing = 0;
    shmem_barrier_all();
    if (memory == MAP_FAILED) shmem_int_atomic_inc(missing.get(), 0);
    shmem_barrier_all();
    if (shmem_int_g(missing.get(), 0) == 0)
      kinds.push_back(memory);
    else if (memory != MAP_FAILED)
      ::munmap(memory, kMapped);
    shmem_barrier_all();
  }
  for (void* const memory : kinds) {
    const Windows windows(memory, kMapped);
    const std::vector<std::byte> data(kMapped, std::byte(me() + 1));
    const shmemx_window_t window = windows.at(right());
    CHECK_EQUAL(shmemx_window_put(window, windows.address(right()), data.data(), kMapped), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK(windows.base[0] == std::byte(left() + 1));
    CHECK(windows.base[kMapped - 1] == std::byte(left() + 1));
    shmem_barrier_all();  // before the word changes
    const std::int64_t one = 1;
    auto* const word = windows.address<std::int64_t>(right(), kMapped / 8 - 1);
    std::int64_t before = 0;
    std::int64_t after = 0;
    CHECK_EQUAL(shmemx_window_fetch_op(window, word, &one, &before, SHMEMX_INT64, SHMEMX_OP_SUM), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_get(window, &after, word, sizeof after), SHMEMX_SUCCESS);
    CHECK_EQUAL(after, before + 1);
  }
  for (void* const memory : kinds) ::munmap(memory, kMapped);
}
