// The PMI-1 client against a small server that keeps the protocol, and against ones that do not.
#define BOOST_TEST_MODULE launch
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <thread>

#include "bootstrap/pmi1.hpp"
#include "socket_pair.hpp"

namespace boot = shmemx::bootstrap;

namespace {

// Answers one client until it says finalize, aborts or leaves.
class Server {
 public:
  explicit Server(int socket) : socket_(socket), thread_([this] { serve(); }) {}
  ~Server() { wait(); }
  void wait() {
    if (thread_.joinable()) thread_.join();
  }
  std::map<std::string, std::string> values;
  std::string last;
  std::string maxes = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=128 rc=0";
  std::string init_answer = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";

 private:
  void serve() {
    std::string unread;
    char buffer[300];
    ssize_t n = 0;
    while ((n = ::recv(socket_.get(), buffer, sizeof buffer, 0)) > 0) {
      unread.append(buffer, static_cast<std::size_t>(n));
      for (std::size_t end = 0; (end = unread.find('\n')) != std::string::npos; unread.erase(0, end + 1)) {
        last = unread.substr(0, end);
        for (const char c : answer(last) + "\n")
          ::send(socket_.get(), &c, 1, MSG_NOSIGNAL);  // torn into bytes on purpose
      }
    }
  }
  std::string answer(const std::string& line) {
    const std::string cmd = boot::word_of(line, "cmd");
    if (cmd == "init") return init_answer;
    if (cmd == "get_maxes") return maxes;
    if (cmd == "get_my_kvsname") return "cmd=my_kvsname kvsname=kvs_7_0 rc=0";
    if (cmd == "barrier_in") return "cmd=barrier_out rc=0";
    if (cmd == "finalize") return "cmd=finalize_ack rc=0";
    if (cmd == "put") return put(line);
    if (cmd == "get" && values.count(boot::word_of(line, "key")) == 1) {
      return "cmd=get_result rc=0 msg=success value=" + values[boot::word_of(line, "key")];
    }
    return "cmd=get_result rc=-1 msg=key_not_found";
  }
  std::string put(const std::string& line) {
    if (boot::word_of(line, "kvsname") != "kvs_7_0") return "cmd=put_result rc=-1 msg=no_such_kvs";
    const bool fresh = values.emplace(boot::word_of(line, "key"), boot::word_of(line, "value")).second;
    return fresh ? "cmd=put_result rc=0 msg=success" : "cmd=put_result rc=-1 msg=duplicate_key";
  }

  shmemx::UniqueFd socket_;
  std::thread thread_;
};

using Pair = launch_test::SocketPair;

}  // namespace

BOOST_AUTO_TEST_SUITE(pmi1)

BOOST_AUTO_TEST_CASE(values_put_are_got_and_the_session_ends_in_order) {
  Pair pair;
  Server server(pair.server.release());
  auto client = boot::Pmi1::open(std::move(pair.client), {2, 4});
  BOOST_REQUIRE(client.has_value());
  BOOST_CHECK_EQUAL((*client)->identity().pe, 2);
  BOOST_CHECK_EQUAL((*client)->identity().n_pes, 4);
  BOOST_CHECK((*client)->put("card", "a:b-c.d").has_value());
  BOOST_CHECK((*client)->fence().has_value());
  auto value = (*client)->get(2, "card");
  BOOST_REQUIRE(value.has_value());
  BOOST_CHECK_EQUAL(*value, "a:b-c.d");
  BOOST_CHECK_EQUAL(server.values.count("card-2"), 1U);
  (*client)->finalize();
  server.wait();
  BOOST_CHECK_EQUAL(server.last, "cmd=finalize");
}

BOOST_AUTO_TEST_CASE(lines_stay_short_where_values_may_be_long) {
  Pair pair;
  Server server(pair.server.release());
  server.maxes = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=4096 rc=0";
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
  Server server(pair.server.release());
  auto client = boot::Pmi1::open(std::move(pair.client), {0, 2});
  BOOST_REQUIRE(client.has_value());
  BOOST_CHECK((*client)->put("twice", "1").has_value());
  BOOST_CHECK(!(*client)->put("twice", "2").has_value());
  auto absent = (*client)->get(1, "nothing");
  BOOST_REQUIRE(!absent.has_value());
  BOOST_CHECK(absent.error().text.find("key_not_found") != std::string::npos);
  BOOST_CHECK(!(*client)->put("long", std::string(200, 'x')).has_value());
  (*client)->finalize();
}

BOOST_AUTO_TEST_CASE(abort_carries_the_status) {
  Pair pair;
  Server server(pair.server.release());
  auto client = boot::Pmi1::open(std::move(pair.client), {0, 2});
  BOOST_REQUIRE(client.has_value());
  (*client)->abort(17);
  (*client).reset();
  server.wait();
  BOOST_CHECK_EQUAL(server.last, "cmd=abort exitcode=17");
}

BOOST_AUTO_TEST_CASE(a_server_of_another_protocol_is_refused) {
  Pair pair;
  Server server(pair.server.release());
  server.init_answer = "HTTP/1.1 400 Bad Request";
  auto client = boot::Pmi1::open(std::move(pair.client), {0, 2});
  BOOST_REQUIRE(!client.has_value());
  BOOST_CHECK(client.error().text.find("HTTP") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_server_that_leaves_is_an_error_and_no_signal) {
  Pair pair;
  pair.server.reset();
  BOOST_CHECK(!boot::Pmi1::open(std::move(pair.client), {0, 2}).has_value());
}

BOOST_AUTO_TEST_CASE(words_are_found_whole) {
  BOOST_CHECK_EQUAL(boot::word_of("cmd=get key=value value=5", "value"), "5");
  BOOST_CHECK_EQUAL(boot::word_of("cmd=get key=value", "value"), "");
  BOOST_CHECK_EQUAL(boot::word_of("", "cmd"), "");
}

BOOST_AUTO_TEST_SUITE_END()
