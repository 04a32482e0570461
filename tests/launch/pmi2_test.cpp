// The PMI-2 client with a server that follows the protocol, and with ones that do not.
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "bootstrap/pmi2.hpp"
#include "fake_server.hpp"

BOOST_AUTO_TEST_SUITE(pmi2)

namespace boot = shmemx::bootstrap;

namespace {

// Serves one client until it finalizes, aborts or closes the connection.
class Server : public launch_test::FakeServer {
 public:
  explicit Server(shmemx::UniqueFd socket) : FakeServer(std::move(socket)) {
    start([this] { serve(); });
  }
  ~Server() { wait(); }
  std::map<std::string, std::string> values;
  std::string hello = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n";
  std::string size = "4";
  std::string length_of_replies;  // empty: the right one
  int fences = 0;

 private:
  void serve() {
    const std::string line = take_line();
    if (boot::word_of(line, "cmd") != "init" || boot::word_of(line, "pmi_version") != "2") return;
    give(hello);
    for (std::string length; (length = take(6)).size() == 6;) {
      last = take(std::stoul(length));
      const std::string message = reply_to(last);
      if (message.empty()) return;
      char prefix[8];
      std::snprintf(prefix, sizeof prefix, "%-6u", static_cast<unsigned>(message.size()));  // padded like Slurm's
      give((length_of_replies.empty() ? prefix : length_of_replies) + message);
    }
  }
  std::string reply_to(const std::string& message) {
    const std::string cmd = boot::part_of(message, "cmd");
    const std::string head = "cmd=" + cmd + "-response;";
    if (cmd == "fullinit") {
      return head + "pmi-version=2;pmi-subversion=0;rank=" + boot::part_of(message, "pmirank") + ";size=" + size +
             ";appnum=0;rc=0;";
    }
    if (cmd == "kvs-fence") ++fences;
    if (cmd == "kvs-put") {
      const bool fresh = values.emplace(boot::part_of(message, "key"), boot::part_of(message, "value")).second;
      return head + (fresh ? "rc=0;" : "rc=1;errmsg=duplicate;;key;");
    }
    if (cmd == "kvs-get") {
      const auto found = values.find(boot::part_of(message, "key"));
      return found == values.end() ? head + "flag=FALSE;rc=0;" : head + "flag=TRUE;value=" + found->second + ";rc=0;";
    }
    return cmd == "abort" ? "" : head + "rc=0;";
  }
};

using Pair = launch_test::SocketPair;

}  // namespace

BOOST_AUTO_TEST_CASE(values_can_be_put_and_got_and_the_session_ends) {
  Pair pair;
  Server server(std::move(pair.server));
  auto client = boot::Pmi2::open(std::move(pair.client), {2, 4}, "job.7");
  BOOST_REQUIRE_MESSAGE(client.has_value(), (client ? std::string() : client.error().text));
  BOOST_CHECK((*client)->put("address", "a:b-c.d").has_value());
  BOOST_CHECK((*client)->fence().has_value());
  BOOST_CHECK_EQUAL(server.fences, 1);
  auto value = (*client)->get(2, "address");
  BOOST_REQUIRE(value.has_value());
  BOOST_CHECK_EQUAL(*value, "a:b-c.d");
  BOOST_CHECK_EQUAL(boot::part_of(server.last, "jobid"), "job.7");
  const std::string longest((*client)->value_bytes(), 'x');
  BOOST_CHECK((*client)->put("long", longest).has_value());
  BOOST_CHECK((*client)->get(2, "long").value() == longest);
  BOOST_CHECK(!(*client)->put("longer", longest + "x").has_value());
  (*client)->finalize();
  server.wait();
  BOOST_CHECK_EQUAL(server.last, "cmd=finalize;");
}

BOOST_AUTO_TEST_CASE(a_barrier_reads_a_value_of_each_pe) {
  Pair pair;
  Server server(std::move(pair.server));
  server.values = {{"here-0-1", "1"}, {"here-0-2", "1"}};
  auto client = boot::Pmi2::open(std::move(pair.client), {0, 4}, "");
  BOOST_REQUIRE(client.has_value());
  BOOST_CHECK(!(*client)->barrier().has_value());  // PE 3 has not entered
  BOOST_CHECK_EQUAL(boot::part_of(server.last, "key"), "here-0-3");
  BOOST_CHECK_EQUAL(server.values.count("all-0-0"), 0U);
  (*client)->finalize();
}

BOOST_AUTO_TEST_CASE(refusals_of_the_server_become_errors) {
  Pair pair;
  Server server(std::move(pair.server));
  auto client = boot::Pmi2::open(std::move(pair.client), {0, 4}, "");
  BOOST_REQUIRE(client.has_value());
  BOOST_CHECK((*client)->put("twice", "1").has_value());
  const auto again = (*client)->put("twice", "2");
  BOOST_REQUIRE(!again.has_value());
  BOOST_CHECK(again.error().text.find("duplicate;;key") != std::string::npos);
  auto absent = (*client)->get(1, "nothing");
  BOOST_REQUIRE(!absent.has_value());
  BOOST_CHECK(absent.error().text.find("nothing-1") != std::string::npos);
  (*client)->finalize();
}

BOOST_AUTO_TEST_CASE(abort_ends_the_world) {
  Pair pair;
  Server server(std::move(pair.server));
  auto client = boot::Pmi2::open(std::move(pair.client), {0, 4}, "");
  BOOST_REQUIRE(client.has_value());
  (*client)->abort(17);
  client->reset();
  server.wait();
  BOOST_CHECK_EQUAL(boot::part_of(server.last, "cmd"), "abort");
  BOOST_CHECK_EQUAL(boot::part_of(server.last, "isworld"), "TRUE");
}

BOOST_AUTO_TEST_CASE(servers_of_other_protocols_and_jobs_are_refused) {
  for (const char* hello : {"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
                            "cmd=response_to_init pmi_version=2 rc=-1\n", "HTTP/1.1 400 Bad Request\n"}) {
    Pair pair;
    Server server(std::move(pair.server));
    server.hello = hello;
    BOOST_CHECK(!boot::Pmi2::open(std::move(pair.client), {0, 4}, "").has_value());
  }
  Pair sizes;
  Server other_job(std::move(sizes.server));
  other_job.size = "8";
  auto client = boot::Pmi2::open(std::move(sizes.client), {0, 4}, "");
  BOOST_REQUIRE(!client.has_value());
  BOOST_CHECK(client.error().text.find("PE 0 of 8") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(malformed_lengths_are_refused) {
  for (const char* length : {"abcdef", "      ", "-00012", "0x0012"}) {
    Pair pair;
    Server server(std::move(pair.server));
    server.length_of_replies = length;
    BOOST_CHECK(!boot::Pmi2::open(std::move(pair.client), {0, 4}, "").has_value());
  }
}

BOOST_AUTO_TEST_CASE(a_closed_connection_is_an_error_and_no_signal) {
  Pair pair;
  pair.server.reset();
  BOOST_CHECK(!boot::Pmi2::open(std::move(pair.client), {0, 2}, "").has_value());
}

BOOST_AUTO_TEST_CASE(only_whole_parts_are_found_and_semicolons_kept) {
  BOOST_CHECK_EQUAL(boot::part_of("cmd=get;key=value;value=5;", "value"), "5");
  BOOST_CHECK_EQUAL(boot::part_of("cmd=get;key=a;;value=5;x=1;", "key"), "a;value=5");
  BOOST_CHECK_EQUAL(boot::part_of("cmd=get;key=a;;value=5;x=1;", "value"), "");
  BOOST_CHECK_EQUAL(boot::part_of("cmd=get;last=7", "last"), "7");
  BOOST_CHECK_EQUAL(boot::part_of("", "cmd"), "");
}

BOOST_AUTO_TEST_SUITE_END()
