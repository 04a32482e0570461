#include "rma/cma.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <numeric>
#include <vector>

#include "../../support/pattern.hpp"

BOOST_AUTO_TEST_SUITE(rma_cma)

using namespace shmemx::rma;

// The process reads and writes its own memory, which the kernel always permits.
BOOST_AUTO_TEST_CASE(lists_are_copied_to_lists) {
  for (const auto move : {cma_read, cma_write}) {
    auto source = test_support::pattern<std::byte>(3000, 0);
    std::vector<std::byte> dest(3000);
    const Shape blocks = Shape::strided(source.data(), 10, 30, 100);
    const Shape whole = Shape::contiguous(dest.data(), 1000);
    Cursor from(blocks);
    Cursor to(whole);
    std::size_t moved = 0;
    while (from.left() != 0) {
      const long bytes = move == cma_read ? move(::getpid(), to, from, 700) : move(::getpid(), from, to, 700);
      BOOST_REQUIRE(bytes > 0 && bytes <= 700);
      moved += static_cast<std::size_t>(bytes);
      BOOST_REQUIRE_EQUAL(from.passed(), moved);
      BOOST_REQUIRE_EQUAL(to.passed(), moved);
    }
    std::vector<std::byte> expected(1000);
    Cursor(blocks).gather(expected.data(), expected.size());
    dest.resize(1000);
    BOOST_TEST((dest == expected));
  }
}

BOOST_AUTO_TEST_CASE(bad_addresses_are_errors) {
  std::byte byte{};
  Cursor local(Shape::contiguous(&byte, 1));
  Cursor remote(Shape::contiguous(reinterpret_cast<void*>(8), 1));
  BOOST_TEST(cma_read(::getpid(), local, remote, 1) == -EFAULT);
  BOOST_TEST(local.passed() + remote.passed() == 0U);
}

BOOST_AUTO_TEST_CASE(the_probe_identifies_the_process_and_is_checked_once) {
  const CmaProbe own = own_cma_probe();
  CmaPeer right;
  BOOST_TEST(right.pid(own, cma_read) == ::getpid());
  CmaProbe other = own;
  ++other.value;
  CmaPeer wrong;
  BOOST_TEST(wrong.pid(other, cma_read) == 0);
  BOOST_TEST(wrong.pid(own, cma_read) == 0);  // not checked again
  CmaPeer no_process;
  other = own;
  other.pid = 0;
  BOOST_TEST(no_process.pid(other, cma_read) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
