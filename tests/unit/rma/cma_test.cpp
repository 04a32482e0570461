#include "rma/cma.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <numeric>
#include <vector>

using namespace shmemx::rma;

namespace {

std::vector<std::byte> counted(std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + i / 256);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rma_cma)

// The process reads and writes itself: the kernel always allows that.
BOOST_AUTO_TEST_CASE(bytes_go_from_places_to_places) {
  for (const auto move : {cma_read, cma_write}) {
    auto source = counted(3000);
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

BOOST_AUTO_TEST_CASE(the_probe_knows_the_process_and_is_asked_once) {
  const CmaProbe own = own_cma_probe();
  CmaPeer right;
  BOOST_TEST(right.pid(own, cma_read) == ::getpid());
  CmaProbe other = own;
  ++other.value;
  CmaPeer wrong;
  BOOST_TEST(wrong.pid(other, cma_read) == 0);
  BOOST_TEST(wrong.pid(own, cma_read) == 0);  // not asked again
  CmaPeer nobody;
  other = own;
  other.pid = 0;
  BOOST_TEST(nobody.pid(other, cma_read) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
