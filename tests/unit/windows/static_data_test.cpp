// What maps the executable's data anew runs in a forked child: the test program itself keeps its own.
#include "windows/static_data.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>

#include "base/cache_line.hpp"
#include "base/machine.hpp"
#include "support/child.hpp"
#include "support/node.hpp"

BOOST_AUTO_TEST_SUITE(windows_static_data)

namespace {

using namespace shmemx;
using windows::StaticData;

volatile long initialised = 0x1122334455667788;
volatile long zeroed[5000];
const long constant = 7;
const char* const relocated[] = {"read-only", "after", "relocation"};

bool covers(const StaticData& data, const volatile void* object, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(object);
  const auto base = reinterpret_cast<std::uintptr_t>(data.base());
  return at >= base && at + bytes <= base + data.span_bytes();
}

// The child's executable data in the arena, as shmem_init does it.
struct SharedHere {
  StaticData data = StaticData::of_executable();
  windows::Arena arena = unit::make_arena(2, std::size_t{1} << 20, data.span_bytes());
  Status status =
      data.share(arena.fd(), arena.geometry().blocks_offset + arena.geometry().stride + arena.geometry().static_offset);

  // The object as PE 1's peers see it.
  template <class T>
  T& seen_by_peers(T& object) const {
    return *reinterpret_cast<T*>(arena.statics(NodeIndex{1}) +
                                 (reinterpret_cast<const volatile std::byte*>(&object) - data.base()));
  }
};

// Exit status of a forked child of the child.
int grandchild_status(int (*run)(const SharedHere&), const SharedHere& shared) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(run(shared));
  int status = -1;
  if (::waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

int write_as_grandchild(const SharedHere& shared) {
  if (initialised != 5 || zeroed[4000] != 6) return 1;  // the moment of the fork
  initialised = 50;
  zeroed[4000] = 60;
  zeroed[10] = 70;
  return shared.seen_by_peers(initialised) == 5 && shared.seen_by_peers(zeroed)[10] == 0 ? 0 : 2;
}

}  // namespace

BOOST_AUTO_TEST_CASE(globals_and_statics_of_the_executable_are_covered) {
  static long local = 3;
  const StaticData data = StaticData::of_executable();
  BOOST_REQUIRE(data.base() != nullptr);
  BOOST_CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(data.base()) % page_bytes(), 0U);
  BOOST_CHECK_EQUAL(data.span_bytes() % page_bytes(), 0U);
  BOOST_CHECK(covers(data, &initialised, sizeof initialised));
  BOOST_CHECK(covers(data, zeroed, sizeof zeroed));
  BOOST_CHECK(covers(data, &local, sizeof local));
}

BOOST_AUTO_TEST_CASE(constants_stack_heap_and_libraries_are_not_covered) {
  const StaticData data = StaticData::of_executable();
  int automatic = 0;
  const auto allocated = std::make_unique<int>(0);
  BOOST_CHECK(!covers(data, &constant, sizeof constant));
  BOOST_CHECK(!covers(data, relocated, sizeof relocated));
  BOOST_CHECK(!covers(data, &automatic, sizeof automatic));
  BOOST_CHECK(!covers(data, allocated.get(), sizeof(int)));
  BOOST_CHECK(!covers(data, reinterpret_cast<void*>(&::getpid), 1));
  BOOST_CHECK_EQUAL(std::strlen(relocated[1]), 5U);
}

BOOST_AUTO_TEST_CASE(the_same_executable_has_the_same_digest) {
  BOOST_CHECK_EQUAL(StaticData::of_executable().digest(), StaticData::of_executable().digest());
  BOOST_CHECK_NE(StaticData::of_executable().digest(), 0U);
}

// The digest tells PEs apart whose programs have left out different pages.
BOOST_AUTO_TEST_CASE(pages_over_which_something_is_mapped_are_left_out) {
  const auto end = unit::in_child([] {
    const std::size_t page = page_bytes();
    alignas(kPageBytes) static std::byte pages[4 * kPageBytes];
    const StaticData before = StaticData::of_executable();
    if (::mmap(pages + page, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      return 1;
    const StaticData after = StaticData::of_executable();
    if (after.holes().size() != before.holes().size() + 1 || after.digest() == before.digest()) return 2;
    const auto offset = static_cast<std::uint64_t>(pages + page - after.base());
    for (const auto& hole : after.holes())
      if (hole.begin == offset && hole.end == offset + page) return 0;
    return 3;
  });
  BOOST_CHECK_EQUAL(end.status, 0);
}

BOOST_AUTO_TEST_CASE(sharing_keeps_values_and_addresses) {
  zeroed[4000] = 44;
  const auto end = unit::in_child([] {
    volatile long* const before = &initialised;
    const SharedHere shared;
    if (!shared.status) return 1;
    if (before != &initialised || *before != 0x1122334455667788) return 2;
    if (zeroed[4000] != 44 || zeroed[0] != 0 || zeroed[4999] != 0) return 3;
    return 0;
  });
  BOOST_CHECK_EQUAL(end.status, 0);
  BOOST_CHECK_EQUAL(end.text, "");
}

BOOST_AUTO_TEST_CASE(shared_globals_are_the_memory_that_peers_see) {
  const auto end = unit::in_child([] {
    const SharedHere shared;
    if (!shared.status) return 1;
    if (shared.seen_by_peers(initialised) != 0x1122334455667788) return 2;
    initialised = 12;
    if (shared.seen_by_peers(initialised) != 12) return 3;
    shared.seen_by_peers(zeroed)[4999] = 13;
    if (zeroed[4999] != 13) return 4;
    return 0;
  });
  BOOST_CHECK_EQUAL(end.status, 0);
  BOOST_CHECK_EQUAL(initialised, 0x1122334455667788);
}

BOOST_AUTO_TEST_CASE(a_forked_child_has_its_own_copy_as_of_the_fork) {
  const auto end = unit::in_child([] {
    const SharedHere shared;
    if (!shared.status) return 1;
    initialised = 5;
    shared.seen_by_peers(zeroed)[4000] = 6;
    zeroed[10] = 0;
    if (const int status = grandchild_status(write_as_grandchild, shared); status != 0) return 10 + status;
    if (initialised != 5 || zeroed[4000] != 6 || zeroed[10] != 0) return 2;  // the grandchild wrote its own
    shared.seen_by_peers(initialised) = 8;
    return initialised == 8 ? 0 : 3;  // and ours are still shared
  });
  BOOST_CHECK_EQUAL(end.status, 0);
}

BOOST_AUTO_TEST_CASE(a_failure_to_share_is_reported) {
  const auto end = unit::in_child([] { return StaticData::of_executable().share(-1, 0) ? 1 : 0; });
  BOOST_CHECK_EQUAL(end.status, 0);
}

BOOST_AUTO_TEST_SUITE_END()
