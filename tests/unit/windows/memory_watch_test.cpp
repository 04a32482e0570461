#include "windows/memory_watch.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/machine.hpp"

BOOST_AUTO_TEST_SUITE(windows_memory_watch)

using shmemx::page_bytes;
using shmemx::windows::MemoryWatch;

namespace {

constexpr std::size_t kPages = 16;

std::size_t bytes() { return kPages * page_bytes(); }

std::byte* map(int flags = MAP_PRIVATE | MAP_ANONYMOUS, int fd = -1, void* at = nullptr) {
  void* const memory = ::mmap(at, bytes(), PROT_READ | PROT_WRITE, flags, fd, 0);
  BOOST_REQUIRE(memory != MAP_FAILED);
  std::memset(memory, 1, bytes());
  return static_cast<std::byte*>(memory);
}

bool is_allowed() {
  MemoryWatch watch;
  std::byte* const memory = map();
  const bool allowed = watch.watch(memory, bytes()) != 0;
  watch.close();
  ::munmap(memory, bytes());
  return allowed;
}

// Leaves cases out where userfaultfd is not allowed, as with the seccomp filter of some containers.
boost::test_tools::assertion_result can_watch(boost::unit_test::test_unit_id) {
  static const bool allowed = is_allowed();
  boost::test_tools::assertion_result result(allowed);
  result.message() << "the kernel reports no changes of memory here";
  return result;
}
const auto if_allowed = boost::unit_test::precondition(can_watch);

// Returns whether a range is found unchanged after `change`.
template <class Change>
bool survives(Change change) {
  MemoryWatch watch;
  std::byte* const memory = map();
  const std::uint32_t number = watch.watch(memory, bytes());
  BOOST_REQUIRE_NE(number, 0u);
  change(memory);
  const bool unchanged = watch.end_watch(number);
  ::munmap(memory, bytes());
  return unchanged;
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_and_writes_change_nothing, *if_allowed) {
  BOOST_CHECK(survives([](std::byte* memory) {
    std::memset(memory, 7, bytes());
    BOOST_CHECK(memory[bytes() - 1] == std::byte{7});
  }));
}

BOOST_AUTO_TEST_CASE(every_loss_of_pages_is_noted, *if_allowed) {
  const std::size_t page = page_bytes();
  BOOST_CHECK(!survives([](std::byte* memory) { ::munmap(memory, bytes()); }));
  BOOST_CHECK(!survives([page](std::byte* memory) { ::munmap(memory + 3 * page, page); }));
  BOOST_CHECK(
      !survives([](std::byte* memory) { ::munmap(map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, memory), 0); }));
  BOOST_CHECK(!survives([page](std::byte* memory) { ::madvise(memory, page, MADV_DONTNEED); }));
  BOOST_CHECK(!survives([page](std::byte* memory) { ::madvise(memory + page, page, MADV_FREE); }));
  BOOST_CHECK(!survives([](std::byte* memory) {
    void* const moved = ::mremap(memory, bytes(), 2 * bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, memory + (1 << 30));
    if (moved != MAP_FAILED) ::munmap(moved, 2 * bytes());
  }));
}

BOOST_AUTO_TEST_CASE(changes_beside_the_range_are_not, *if_allowed) {
  MemoryWatch watch;
  std::byte* const memory = map();
  const std::size_t page = page_bytes();
  const std::uint32_t middle = watch.watch(memory + 4 * page + 100, 2 * page);  // pages 4 to 6
  BOOST_REQUIRE_NE(middle, 0u);
  ::munmap(memory, 4 * page);
  ::munmap(memory + 7 * page, (kPages - 7) * page);
  BOOST_CHECK(watch.end_watch(middle));
  ::munmap(memory, bytes());
}

BOOST_AUTO_TEST_CASE(ranges_that_overlap_end_one_by_one, *if_allowed) {
  MemoryWatch watch;
  std::byte* const memory = map();
  const std::size_t page = page_bytes();
  const std::uint32_t first = watch.watch(memory, 8 * page);
  const std::uint32_t second = watch.watch(memory + 4 * page, 8 * page);
  const std::uint32_t third = watch.watch(memory + 6 * page, page);
  BOOST_REQUIRE(first != 0 && second != 0 && third != 0);
  BOOST_CHECK(watch.end_watch(second));
  ::madvise(memory + 10 * page, page, MADV_DONTNEED);  // watched by nobody
  BOOST_CHECK(watch.end_watch(third));
  ::madvise(memory + 6 * page, page, MADV_DONTNEED);  // still of the first one
  BOOST_CHECK(!watch.end_watch(first));
  ::munmap(memory, bytes());
}

BOOST_AUTO_TEST_CASE(memory_of_files_and_shared_memory_are_refused, *if_allowed) {
  MemoryWatch watch;
  std::byte* const shared = map(MAP_SHARED | MAP_ANONYMOUS);
  BOOST_CHECK_EQUAL(watch.watch(shared, bytes()), 0u);
  const int fd = ::memfd_create("test", 0);
  BOOST_REQUIRE_EQUAL(::ftruncate(fd, static_cast<off_t>(bytes())), 0);
  std::byte* const of_file = map(MAP_SHARED, fd);
  BOOST_CHECK_EQUAL(watch.watch(of_file, bytes()), 0u);
  std::memset(of_file, 3, bytes());  // faults as before
  ::close(fd);
  ::munmap(of_file, bytes());
  ::munmap(shared, bytes());
}

BOOST_AUTO_TEST_CASE(there_is_a_limit_and_room_afterwards, *if_allowed) {
  MemoryWatch watch;
  std::byte* const memory = map();
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < MemoryWatch::kRanges; ++i) numbers.push_back(watch.watch(memory, page_bytes()));
  BOOST_CHECK_EQUAL(watch.watch(memory, page_bytes()), 0u);
  for (const std::uint32_t number : numbers) BOOST_CHECK(number != 0 && watch.end_watch(number));
  BOOST_CHECK_NE(watch.watch(memory, page_bytes()), 0u);
  watch.close();
  BOOST_CHECK_EQUAL(MemoryWatch::thread(), 0);
  const std::uint32_t again = watch.watch(memory, page_bytes());
  BOOST_CHECK_NE(again, 0u);
  while (MemoryWatch::thread() == 0) std::this_thread::yield();  // it starts
  ::munmap(memory, bytes());
  BOOST_CHECK(!watch.end_watch(again));
}

// The allocator empties and unmaps memory that is watched, also while it holds its own locks.
BOOST_AUTO_TEST_CASE(the_program_allocates_and_frees_watched_memory, *if_allowed) {
  MemoryWatch watch;
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&ends] {
      for (std::size_t size = 1000; !ends; size = size * 5 / 4 % 5000000 + 1) {
        void* const block = std::malloc(size);
        std::memset(block, 1, size);
        std::free(block);
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    const std::size_t size = 1000u + static_cast<std::size_t>(i) * 5000;
    auto* const block = static_cast<std::byte*>(std::malloc(size));
    const std::uint32_t number = watch.watch(block, size);
    BOOST_CHECK_NE(number, 0u);
    std::free(block);
    watch.end_watch(number);
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

BOOST_AUTO_TEST_CASE(a_child_of_fork_is_not_held_up, *if_allowed) {
  MemoryWatch watch;
  std::byte* const memory = map();
  const std::uint32_t number = watch.watch(memory, bytes());
  BOOST_REQUIRE_NE(number, 0u);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    ::munmap(memory, bytes());
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_CHECK_EQUAL(status, 0);
  BOOST_CHECK(watch.end_watch(number));
  ::munmap(memory, bytes());
}

BOOST_AUTO_TEST_SUITE_END()
