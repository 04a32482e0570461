// The PMI-1 client with a server that follows the protocol, and with ones that do not.
#include <boost/test/unit_test.hpp>
#include <string>

#include "../support/pmi1_server.hpp"
#include "bootstrap/pmi1.hpp"
#include "fake_server.hpp"

BOOST_AUTO_TEST_SUITE(pmi1)

namespace boot = shmemx::bootstrap;

namespace {

// Serves one client until it finalizes, aborts or closes the connection.
class Server : public launch_test::FakeServer {
 public:
  explicit Server(shmemx::UniqueFd socket) : FakeServer(std::move(socket)) {
    start([this] { serve(); });
  }
  ~Server() { wait(); }
  test_support::Pmi1Server protocol{{0}};

 private:
  void serve() {
    for (std::string line; !(line = take_line()).empty();) {
      last = line.substr(0, line.size() - 1);
      for (const auto& reply : protocol.handle(0, last)) give(reply.line + "\n");
    }
  }
};

using Pair = launch_test::SocketPair;

}  // namespace

BOOST_AUTO_TEST_CASE(values_can_be_put_and_got_and_the_session_ends) {
  Pair pair;
  Server server(std::move(pair.server));
  auto client = boot::Pmi1::open(std::move(pair.client), {2, 4});
  BOOST_REQUIRE(client.has_value());
  BOOST_CHECK_EQUAL((*client)->identity().pe, 2);
  BOOST_CHECK_EQUAL((*client)->identity().n_pes, 4);
  BOOST_CHECK((*client)->put("address", "a:b-c.d").has_value());
  BOOST_CHECK((*client)->fence().has_value());
  auto value = (*client)->get(2, "address");
  BOOST_REQUIRE(value.has_value());
  BOOST_CHECK_EQUAL(*value, "a:b-c.d");
  BOOST_CHECK_EQUAL(server.protocol.values().count("address-2"), 1U);
  (*client)->finalize();
  server.wait();
  BOOST_CHECK_EQUAL(server.last, "cmd=finalize");
}

BOOST_AUTO_TEST_CASE(lines_stay_short_although_values_may_be_long) {
  Pair pair;
  Server server(std::move(pair.server));
  server.protocol.scripted["get_maxes"] = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=4096 rc=0";
  auto client = boot::Pmi1::open(std::move(pair.client), {3, 4});
  BOOST_REQUIRE(client.has_value());
  const std::string longest((*client)->value_bytes(), 'x');
  BOOST_CHECK_GT(longest.size(), 800U);
  BOOST_CHECK((*client)->put(std::string(60, 'k'), longest).has_value());
  BOOST_CHECK_LT(server.last.size(), 1023U);
  BOOST_CHECK(!(*client)->put("k", longest + "x").has_value());
  (*client)->finalize();
}

BOOST_AUTO_TEST_CASE(refusals_of_the_server_become_errors) {
  Pair pair;
  Server server(std::move(pair.server));
  auto client = boot::Pmi1::open(std::move(pair.client), {0, 2});
  BOOST_REQUIRE(client.has_value());
  BOOST_CHECK((*client)->put("twice", "1").has_value());
  BOOST_CHECK(!(*client)->put("twice", "2").has_value());
  auto absent = (*client)->get(1, "nothing");
  BOOST_REQUIRE(!absent.has_value());
  BOOST_CHECK(absent.error().text.find("key_not_found") != std::string::npos);
  BOOST_CHECK(!(*client)->put("long", std::string(2000, 'x')).has_value());
  (*client)->finalize();
}

BOOST_AUTO_TEST_CASE(abort_carries_the_status) {
  Pair pair;
  Server server(std::move(pair.server));
  auto client = boot::Pmi1::open(std::move(pair.client), {0, 2});
  BOOST_REQUIRE(client.has_value());
  (*client)->abort(17);
  (*client).reset();
  server.wait();
  BOOST_CHECK_EQUAL(server.last, "cmd=abort exitcode=17");
}

BOOST_AUTO_TEST_CASE(a_server_of_another_protocol_is_refused) {
  Pair pair;
  Server server(std::move(pair.server));
  server.protocol.scripted["init"] = "HTTP/1.1 400 Bad Request";
  auto client = boot::Pmi1::open(std::move(pair.client), {0, 2});
  BOOST_REQUIRE(!client.has_value());
  BOOST_CHECK(client.error().text.find("HTTP") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_closed_connection_is_an_error_and_no_signal) {
  Pair pair;
  pair.server.reset();
  BOOST_CHECK(!boot::Pmi1::open(std::move(pair.client), {0, 2}).has_value());
}

BOOST_AUTO_TEST_CASE(only_whole_words_are_found) {
  BOOST_CHECK_EQUAL(boot::word_of("cmd=get key=value value=5", "value"), "5");
  BOOST_CHECK_EQUAL(boot::word_of("cmd=get key=value", "value"), "");
  BOOST_CHECK_EQUAL(boot::word_of("", "cmd"), "");
}

BOOST_AUTO_TEST_SUITE_END()
