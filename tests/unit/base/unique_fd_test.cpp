#include "base/unique_fd.hpp"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(base_unique_fd)

namespace {

using shmemx::UniqueFd;

int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_descriptor_is_closed_at_the_end_of_its_owner) {
  int number = -1;
  {
    const UniqueFd fd(open_null());
    number = fd.get();
    BOOST_REQUIRE(fd.valid());
    BOOST_CHECK(is_open(number));
  }
  BOOST_CHECK(!is_open(number));
}

BOOST_AUTO_TEST_CASE(a_move_transfers_ownership_and_closes_the_old_descriptor) {
  UniqueFd first(open_null());
  UniqueFd second(open_null());
  const int kept = first.get();
  const int closed = second.get();
  second = std::move(first);
  BOOST_CHECK_EQUAL(second.get(), kept);
  BOOST_CHECK(!first.valid());
  BOOST_CHECK(is_open(kept));
  BOOST_CHECK(!is_open(closed));
  UniqueFd& same = second;
  second = std::move(same);
  BOOST_CHECK(is_open(kept));
  const UniqueFd third(std::move(second));
  BOOST_CHECK_EQUAL(third.get(), kept);
  BOOST_CHECK(!second.valid());
}

BOOST_AUTO_TEST_CASE(a_released_descriptor_stays_open) {
  int number = -1;
  {
    UniqueFd fd(open_null());
    number = fd.release();
    BOOST_CHECK(!fd.valid());
  }
  BOOST_CHECK(is_open(number));
  ::close(number);
}

BOOST_AUTO_TEST_SUITE_END()
