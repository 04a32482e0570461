#include "../../support/fake_transport.hpp"

#include <boost/test/unit_test.hpp>

#include "../../support/pattern.hpp"

BOOST_AUTO_TEST_SUITE(support_fake_transport)

namespace {

using shmemx::transport::Sent;
using shmemx::transport::Urgency;
using test_support::FakeTransport;

}  // namespace

BOOST_AUTO_TEST_CASE(messages_are_recorded_unless_they_are_refused) {
  FakeTransport fake("fake");
  const auto content = test_support::pattern<std::byte>(20, 1);
  const auto header = shmemx::transport::Bytes(content).first(8);
  const auto payload = shmemx::transport::Bytes(content).subspan(8);
  BOOST_CHECK(fake.send(2, {7, 0, 8, 0}, header, payload, nullptr, Urgency::now) == Sent::yes);
  fake.is_full = true;
  BOOST_CHECK(fake.send(3, {7, 0, 8, 0}, header, payload, nullptr, Urgency::now) == Sent::no);
  BOOST_REQUIRE_EQUAL(fake.sent.size(), 1U);
  BOOST_CHECK_EQUAL(fake.sent[0].pe, 2);
  BOOST_CHECK_EQUAL(fake.sent[0].handler, 7U);
  BOOST_CHECK(fake.contents[0] == content);
}

BOOST_AUTO_TEST_SUITE_END()
