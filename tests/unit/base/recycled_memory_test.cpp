#include "base/recycled_memory.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/cache_line.hpp"

BOOST_AUTO_TEST_SUITE(base_recycled_memory)

namespace {

using namespace shmemx;

constexpr std::size_t kLong = std::size_t{512} << 10;

// Makes the process forget what earlier tests returned.
void fill_with(std::size_t bytes) {
  std::vector<RecycledMemory> pieces;
  for (std::size_t i = 0; i < kMostRecycledPieces; ++i) pieces.push_back(take_memory(bytes));
}

}  // namespace

BOOST_AUTO_TEST_CASE(memory_begins_at_cache_lines) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, kLong, std::size_t{9} << 20}) {
    const RecycledMemory memory = take_memory(bytes);
    BOOST_REQUIRE(memory != nullptr);
    BOOST_CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(memory.get()) % kCacheLine, 0);
    std::memset(memory.get(), 0x5a, bytes);
  }
}

#if !defined(__SANITIZE_ADDRESS__)  // with it nothing is kept
BOOST_AUTO_TEST_CASE(long_memory_is_taken_again) {
  fill_with(kLeastRecycledBytes);
  RecycledMemory memory = take_memory(kLong);
  const std::byte* const at = memory.get();
  memory.reset();
  const RecycledMemory again = take_memory(kLong - 1000);
  BOOST_CHECK_EQUAL(again.get(), at);
  const RecycledMemory other = take_memory(kLong);
  BOOST_CHECK_NE(other.get(), at);
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their allocators end the process
BOOST_AUTO_TEST_CASE(a_try_without_memory_returns_null) {
  const volatile std::size_t most = PTRDIFF_MAX - (std::size_t{1} << 20);  // volatile: the compiler judges no size
  BOOST_CHECK(try_take_memory(most) == nullptr);
  BOOST_CHECK(try_take_memory(kLong) != nullptr);
}
#endif

BOOST_AUTO_TEST_CASE(short_requests_take_no_long_memory) {
  fill_with(kLeastRecycledBytes);
  RecycledMemory memory = take_memory(kMostRecycledBytes);
  const std::byte* const at = memory.get();
  memory.reset();
  BOOST_CHECK_NE(take_memory(kLeastRecycledBytes).get(), at);
}

BOOST_AUTO_TEST_CASE(no_more_is_kept_than_the_limit) {
  for (const std::size_t bytes : {kLeastRecycledBytes, kLong, kMostRecycledBytes / 2 + 1, kMostRecycledBytes,
                                  kMostRecycledBytes + 1, std::size_t{1000}}) {
    fill_with(bytes);
    BOOST_CHECK_LE(recycled_bytes(), kMostRecycledBytes);
  }
}

BOOST_AUTO_TEST_CASE(threads_take_and_return_memory) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (std::size_t i = 0; i < 500; ++i) {
        const std::size_t bytes = kLeastRecycledBytes << (i % 5);
        const RecycledMemory memory = take_memory(bytes);
        memory[0] = memory[bytes - 1] = static_cast<std::byte>(thread);
        std::this_thread::yield();
        if (memory[0] != memory[bytes - 1]) std::abort();
      }
    });
  }
  threads.clear();
  BOOST_CHECK_LE(recycled_bytes(), kMostRecycledBytes);
}

BOOST_AUTO_TEST_SUITE_END()
