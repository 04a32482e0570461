#include "am/net_peers.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(am_net_peers)

namespace {

using namespace shmemx;
using am::NetPeers;

struct Fixture {
  Fixture() { peers.open(4, &unflushed); }
  void send(int pe, bool counted = true) { peers.note_sent(pe, peers[pe], counted); }
  nemesis::UnflushedPes unflushed;
  NetPeers peers;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_pe_is_idle_when_it_has_executed_what_is_counted) {
  Fixture f;
  BOOST_CHECK(f.peers.is_idle(1));
  f.send(1, false);
  BOOST_CHECK(f.peers.is_idle(1));
  f.send(1);
  f.send(1, false);
  BOOST_CHECK(!f.peers.is_idle(1));
  BOOST_CHECK(f.peers.note_executed(1, 2));
  BOOST_CHECK(f.peers.is_idle(1) && !f.peers.has_executed(1, 3));
}

BOOST_AUTO_TEST_CASE(an_older_number_changes_nothing) {
  Fixture f;
  for (int i = 0; i < 3; ++i) f.send(1);
  BOOST_CHECK(f.peers.note_executed(1, 3) && !f.peers.note_executed(1, 2));
  BOOST_CHECK(f.peers.is_idle(1));
}

// A flush may ask for a message that billions of others have followed.
BOOST_AUTO_TEST_CASE(numbers_wrap) {
  Fixture f;
  f.peers[1].sent = f.peers[1].executed = ~nemesis::Number{0} - 1;
  for (int i = 0; i < 3; ++i) f.send(1);
  BOOST_CHECK(!f.peers.has_executed(1, ~nemesis::Number{0}));
  BOOST_CHECK(f.peers.note_executed(1, 0));
  BOOST_CHECK(f.peers.has_executed(1, 0) && !f.peers.has_executed(1, 1));
}

BOOST_AUTO_TEST_CASE(lists_have_each_pe_once) {
  Fixture f;
  for (const int pe : {2, 1, 2, 1}) f.send(pe, pe == 1);
  f.peers.note_contact(3, f.peers[3]);
  BOOST_CHECK((f.peers.contacts() == std::vector<std::int32_t>{2, 1, 3}));
  BOOST_CHECK_EQUAL(f.unflushed.size(), 1u);
}

BOOST_AUTO_TEST_SUITE_END()
