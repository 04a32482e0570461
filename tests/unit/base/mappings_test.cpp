#include "base/mappings.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/lazy_mapping.hpp"
#include "base/machine.hpp"
#include "base/own_stack.hpp"
#include "support/child.hpp"

BOOST_AUTO_TEST_SUITE(base_mappings)

namespace {

using namespace shmemx;

Mapping mapping_of(const void* address) {
  Mapping found;
  BOOST_CHECK(find_mapping(reinterpret_cast<std::uintptr_t>(address), found));
  return found;
}

// Returns a line's number in kB of /proc/self/status.
long status_kb(const char* name) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  char line[256];
  long kb = -1;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, name, std::strlen(name)) == 0) std::sscanf(line + std::strlen(name), "%ld", &kb);
  if (file != nullptr) std::fclose(file);
  return kb;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_mapping_has_its_bounds_protection_and_file) {
  const std::size_t page = page_bytes();
  const int file = ::memfd_create("a name with\nlines and spaces", 0);
  BOOST_REQUIRE(::ftruncate(file, static_cast<off_t>(4 * page)) == 0);
  auto* const shared = static_cast<char*>(::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  BOOST_REQUIRE(::mprotect(shared + page, page, PROT_NONE) == 0);
  BOOST_CHECK_EQUAL(mapping_of(shared).end, reinterpret_cast<std::uintptr_t>(shared + page));
  BOOST_CHECK_EQUAL(mapping_of(shared).protection, PROT_READ | PROT_WRITE);
  BOOST_CHECK_EQUAL(mapping_of(shared + page).protection, PROT_NONE);
  BOOST_CHECK(mapping_of(shared).is_shared && mapping_of(shared).inode != 0);
  BOOST_CHECK(of_same_file(mapping_of(shared), mapping_of(shared + 3 * page)));
  int automatic = 0;
  BOOST_CHECK(!mapping_of(&automatic).is_shared && mapping_of(&automatic).inode == 0);
  BOOST_CHECK_EQUAL(mapping_of(reinterpret_cast<const void*>(&status_kb)).protection, PROT_READ | PROT_EXEC);
  ::munmap(shared + page, 3 * page);
  Mapping none;
  BOOST_CHECK(!find_mapping(reinterpret_cast<std::uintptr_t>(shared + 2 * page), none) || none.inode == 0);
  ::munmap(shared, page);
  ::close(file);
}

BOOST_AUTO_TEST_CASE(mappings_come_in_ascending_order) {
  MappingReader reader;
  std::uintptr_t last = 0;
  int count = 0;
  for (Mapping mapping; reader.next(mapping); ++count) {
    BOOST_REQUIRE_GE(mapping.begin, last);
    BOOST_REQUIRE_LT(mapping.begin, mapping.end);
    last = mapping.end;
  }
  BOOST_CHECK_GT(count, 5);
  BOOST_CHECK(!reader.has_failed());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they make mlock do nothing
BOOST_AUTO_TEST_CASE(a_mapping_takes_memory_on_touch_although_all_future_ones_are_locked) {
  const auto end = unit::in_child([] {
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    if (locks_future_mappings()) return 2;
    if (::mlockall(MCL_FUTURE) != 0) return errno == EPERM || errno == ENOMEM ? 0 : 1;
    if (!locks_future_mappings()) return 3;
    const int file = ::memfd_create("shmemx-test", 0);
    if (::ftruncate(file, kBytes) != 0) return 7;
    for (const int flags : {MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED}) {
      const int mapped = flags == MAP_SHARED ? file : -1;
      const long resident = status_kb("VmRSS:");
      auto* const memory = static_cast<char*>(map_on_touch(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, mapped));
      if (memory == MAP_FAILED) return 4;
      if (status_kb("VmRSS:") - resident > 1024) return 5;
      memory[kBytes - 1] = 1;
      void* const fixed = map_on_touch(memory, kBytes / 2, PROT_READ, flags | MAP_FIXED, mapped);
      if (fixed != memory || memory[0] != 0 || memory[kBytes - 1] != 1) return 6;
      ::munmap(memory, kBytes);
    }
    return 0;
  });
  BOOST_CHECK_EQUAL(end.status, 0);
}
#endif

BOOST_AUTO_TEST_CASE(a_call_on_its_own_stack_returns_what_it_computes) {
  struct Work {
    std::uintptr_t stack = 0;
    bool has_left = true;
    std::string text;
  } work;
  const auto run = [](void* argument) {
    auto& own = *static_cast<Work*>(argument);
    own.stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    own.has_left = has_stack(1);
    own.text = std::to_string(42.5);
  };
  const OwnStack stack(std::size_t{128} << 10);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  BOOST_CHECK(!stack.is_valid() && run != nullptr);
#else
  BOOST_REQUIRE(stack.is_valid());
  BOOST_CHECK(!stack.is_current());
  stack.run(run, &work);
  BOOST_CHECK_EQUAL(work.text, "42.500000");
  BOOST_CHECK(!work.has_left);
  const auto here = reinterpret_cast<std::uintptr_t>(&work);
  BOOST_CHECK(work.stack + (128 << 10) < here || work.stack > here + (128 << 10));
#endif
  BOOST_CHECK(has_stack(std::size_t{64} << 10));
  int calls = 0;
  call_with_stack(std::size_t{1} << 10, [&calls] { ++calls; });
  call_with_stack(std::size_t{1} << 40, [&calls] { ++calls; });  // no memory: it runs here
  BOOST_CHECK_EQUAL(calls, 2);
}

BOOST_AUTO_TEST_SUITE_END()
