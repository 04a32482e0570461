// The registration cache, over a network that writes down what it registers (played_network.hpp).
#include "onesided/registrations.hpp"

#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "base/machine.hpp"
#include "rdma_life.hpp"

BOOST_AUTO_TEST_SUITE(onesided_registrations)

namespace {

using namespace shmemx;
using onesided::Registrations;
using unit::kLong;
using unit::kOther;
using unit::Life;
using unit::Log;
using Memory = Registrations::Memory;

// Memory of a program, mapped at the same place each time.
struct Program {
  static constexpr std::size_t kBytes = 64 * kLong;

  Program() : memory(static_cast<std::byte*>(map(nullptr, 0))) {}
  ~Program() { ::munmap(memory, kBytes); }
  static void* map(void* at, int more) {
    return ::mmap(at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);
  }
  void unmap() { ::munmap(memory, kBytes); }
  void map_again() { BOOST_REQUIRE(map(memory, MAP_FIXED) == memory); }

  std::byte* memory;
};

// The cache by itself, limited to four ranges of kLong.
struct Cache {
  Cache() { registrations.set_limit(4 * kLong); }
  ~Cache() { registrations.clear(); }
  bool use(std::size_t at, std::size_t bytes = kLong, Memory memory = Memory::stays) {
    if (!registrations.acquire(life.network, program.memory + at, bytes)) return false;
    registrations.release(life.network, program.memory + at, memory);
    return true;
  }
  std::size_t made() const { return static_cast<std::size_t>(registrations.counts().made); }
  std::size_t ended() const { return life.network.count("unregister"); }

  Life life;
  Program program;
  Registrations registrations;
};

bool is_watched() {
  Program program;
  windows::MemoryWatch watch;
  return watch.watch(program.memory, kLong) != 0;
}

// Leaves cases out where the kernel does not report changes of memory: nothing stays registered there.
boost::test_tools::assertion_result can_watch(boost::unit_test::test_unit_id) {
  static const bool allowed = is_watched();
  boost::test_tools::assertion_result result(allowed);
  result.message() << "the kernel reports no changes of memory here";
  return result;
}
const auto if_watched = boost::unit_test::precondition(can_watch);

}  // namespace

BOOST_AUTO_TEST_CASE(a_range_is_registered_once, *if_watched) {
  Cache cache;
  for (int i = 0; i < 100; ++i) BOOST_CHECK(cache.use(0));
  BOOST_CHECK_EQUAL(cache.made(), 1u);
  BOOST_CHECK_EQUAL(cache.registrations.counts().reused, 99u);
  BOOST_CHECK(cache.use(0, kLong / 2));  // the longer one covers it
  BOOST_CHECK_EQUAL(cache.made(), 1u);
  BOOST_CHECK(cache.use(0, 2 * kLong));
  BOOST_CHECK_EQUAL(cache.made(), 2u);
  BOOST_CHECK_EQUAL(cache.ended(), 1u);
  BOOST_CHECK_EQUAL(cache.registrations.idle_bytes(), 2 * kLong);
}

BOOST_AUTO_TEST_CASE(memory_that_was_unmapped_is_registered_anew, *if_watched) {
  Cache cache;
  BOOST_CHECK(cache.use(0) && cache.use(2 * kLong));
  cache.program.unmap();
  cache.program.map_again();
  BOOST_CHECK(cache.use(0));
  BOOST_CHECK_EQUAL(cache.made(), 3u);
  ::madvise(cache.program.memory, page_bytes(), MADV_DONTNEED);
  BOOST_CHECK(cache.use(0));
  BOOST_CHECK_EQUAL(cache.made(), 4u);
  BOOST_CHECK_EQUAL(cache.registrations.counts().changed, 2u);
  BOOST_CHECK_EQUAL(cache.ended(), 2u);
}

BOOST_AUTO_TEST_CASE(what_was_used_longest_ago_ends_first, *if_watched) {
  Cache cache;
  for (std::size_t i = 0; i < 4; ++i) BOOST_CHECK(cache.use(2 * i * kLong));
  BOOST_CHECK(cache.use(0));
  BOOST_CHECK_EQUAL(cache.made(), 4u);
  BOOST_CHECK(cache.use(8 * kLong));  // in place of the second
  BOOST_CHECK_EQUAL(cache.ended(), 1u);
  BOOST_CHECK(cache.use(0) && cache.use(4 * kLong) && cache.use(6 * kLong));
  BOOST_CHECK_EQUAL(cache.made(), 5u);
  BOOST_CHECK(cache.use(2 * kLong));
  BOOST_CHECK_EQUAL(cache.made(), 6u);
  BOOST_CHECK_EQUAL(cache.registrations.idle_bytes(), 4 * kLong);
  BOOST_CHECK(cache.use(0, 5 * kLong));  // longer than all that may stay
  BOOST_CHECK_LE(cache.registrations.idle_bytes(), 4 * kLong);
}

BOOST_AUTO_TEST_CASE(what_stays_makes_room_for_what_is_needed, *if_watched) {
  Cache cache;
  cache.life.network.most_registered = 2;
  BOOST_CHECK(cache.use(0) && cache.use(2 * kLong) && cache.use(4 * kLong));
  BOOST_CHECK_EQUAL(cache.made(), 3u);
  cache.registrations.clear();
  BOOST_CHECK_EQUAL(cache.ended(), 3u);
  cache.life.network.registers = false;
  BOOST_CHECK(!cache.use(0));
}

BOOST_AUTO_TEST_CASE(memory_that_ends_is_unregistered) {
  Cache cache;
  BOOST_CHECK(cache.use(0, kLong, Memory::ends));
  BOOST_CHECK_EQUAL(cache.ended(), 1u);
  BOOST_CHECK(cache.use(0, kLong, Memory::ends));
  BOOST_CHECK_EQUAL(cache.made(), 2u);
  cache.registrations.set_limit(0);
  BOOST_CHECK(cache.use(0));
  BOOST_CHECK_EQUAL(cache.ended(), 3u);
}

BOOST_AUTO_TEST_CASE(a_range_in_use_is_shared_but_not_made_longer) {
  Cache cache;
  Registrations& ranges = cache.registrations;
  std::byte* const base = cache.program.memory;
  BOOST_REQUIRE(ranges.acquire(cache.life.network, base, 2 * kLong));
  BOOST_CHECK(ranges.acquire(cache.life.network, base, kLong));
  BOOST_CHECK(!ranges.acquire(cache.life.network, base, 3 * kLong));
  ranges.release(cache.life.network, base, Memory::ends);
  BOOST_CHECK_EQUAL(cache.ended(), 0u);
  ranges.release(cache.life.network, base, Memory::ends);
  BOOST_CHECK_EQUAL(cache.ended(), 1u);
}

// Through windows, as the library uses it.
BOOST_AUTO_TEST_CASE(windows_over_the_same_memory_are_registered_once, *if_watched) {
  Life life;
  Program program;
  for (int i = 0; i < 10; ++i) {
    windows::WindowName name;
    BOOST_REQUIRE(windows::expose(program.memory, 2 * kLong, name));
    life.network.request_key({name, kLong, 1, 0});
    BOOST_CHECK(windows::withdraw(name));
    onesided::revoke_keys("free", name, {}, Memory::stays);
    BOOST_CHECK_EQUAL(life.network.answers.back().is_open, 1u);
  }
  BOOST_CHECK_EQUAL(life.network.count("register " + std::to_string(2 * kLong)), 1u);
  BOOST_CHECK_EQUAL(life.network.count("unregister"), 0u);
}

BOOST_AUTO_TEST_SUITE_END()
