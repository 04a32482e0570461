#include "rma/cma.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <numeric>
#include <vector>

#include "../../support/pattern.hpp"
#include "rma/covered_read.hpp"

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

// Reads the parts of `from` to those of `to`, in `dest`, and compares with what the cursors copy.
void check_covered_read(const Shape& from, const Shape& to, std::vector<std::byte>& dest) {
  std::vector<std::byte> packed(from.bytes);
  std::fill(dest.begin(), dest.end(), std::byte{0});
  Cursor(from).gather(packed.data(), packed.size());
  Cursor(to).scatter(packed.data(), packed.size());
  const std::vector<std::byte> wanted = dest;
  std::fill(dest.begin(), dest.end(), std::byte{0});
  BOOST_REQUIRE_EQUAL(covered_read(::getpid(), PairWalk(from, to)), 0);
  BOOST_TEST((dest == wanted));
}

BOOST_AUTO_TEST_CASE(scattered_memory_is_read_with_its_gaps) {
  const auto source = test_support::pattern<std::byte>(1'500'000, 0);
  std::vector<std::byte> dest(400'000);
  constexpr struct {
    std::size_t bytes;
    std::ptrdiff_t step;
    std::size_t count;
  } kBlocks[] = {{8, 32, 5000},    {5, 13, 3001},       {100, 3000, 280}, {16, 5000, 280},
                 {4000, 4001, 90}, {20'000, 21'000, 3}, {8, 0, 10}};
  for (const auto& [bytes, step, count] : kBlocks)
    check_covered_read(Shape::strided(source.data() + 3, bytes, step, count),
                       Shape::contiguous(dest.data() + 1, bytes * count), dest);
  const Shape whole = Shape::contiguous(dest.data() + 1, 40'000);
  check_covered_read(Shape::strided(source.data() + 1'200'000, 8, -200, 5000), whole, dest);
  check_covered_read(Shape::strided(source.data(), 8, 24, 5000), Shape::strided(dest.data(), 8, 72, 5000), dest);
}

// Places of several lengths, empty ones, and some that lie in front of others.
BOOST_AUTO_TEST_CASE(lists_are_read_with_their_gaps) {
  const auto source = test_support::pattern<std::byte>(1'500'000, 0);
  std::vector<std::byte> dest(60'000);
  std::vector<Place> from;
  std::size_t total = 0;
  for (std::size_t i = 0; i < 1300; ++i) {
    const std::size_t bytes = i % 7 == 3 ? 0 : 1 + i % 40;
    const std::size_t at = i % 11 == 5 ? 900'000 + 100 * i : 61 * i + (i / 100) * 6000;
    from.push_back({const_cast<std::byte*>(source.data()) + at, bytes});
    total += bytes;
  }
  check_covered_read(Shape::of_list(from.data(), from.size()), Shape::contiguous(dest.data(), total), dest);
  from.push_back({reinterpret_cast<std::byte*>(8), 4});
  const Shape wrong = Shape::of_list(from.data(), from.size());
  BOOST_CHECK_EQUAL(covered_read(::getpid(), PairWalk(wrong, Shape::contiguous(dest.data(), total + 4))), -EFAULT);
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
