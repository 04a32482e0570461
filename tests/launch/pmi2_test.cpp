// The PMI-2 client against a small server that keeps the protocol, and against ones that do not.
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <thread>

#include "bootstrap/pmi2.hpp"
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
  std::string hello = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n";
  std::string size = "4";
  std::string length_of_answers;  // empty: the right one
  int fences = 0;

 private:
  void serve() {
    std::string line;
    while (line.empty() || line.back() != '\n') {
      const std::string byte = take(1);
      if (byte.empty()) return;
      line += byte;
    }
    if (boot::word_of(line, "cmd") != "init" || boot::word_of(line, "pmi_version") != "2") return;
    give(hello);
    for (std::string length; (length = take(6)).size() == 6;) {
      last = take(std::stoul(length));
      const std::string message = answer(last);
      if (message.empty()) return;
      char prefix[8];
      std::snprintf(prefix, sizeof prefix, "%-6u", static_cast<unsigned>(message.size()));  // Slurm's way of padding
      give((length_of_answers.empty() ? prefix : length_of_answers) + message);
    }
  }
  std::string take(std::size_t n) {
    std::string bytes(n, '\0');
    return ::recv(socket_.get(), bytes.data(), n, MSG_WAITALL) == static_cast<ssize_t>(n) ? bytes : std::string();
  }
  void give(const std::string& text) {
    for (const char c : text) ::send(socket_.get(), &c, 1, MSG_NOSIGNAL);  // torn into bytes on purpose
  }
  std::string answer(const std::string& message) {
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

  shmemx::UniqueFd socket_;
  std::thread thread_;
};

using Pair = launch_test::SocketPair;

}  // namespace

BOOST_AUTO_TEST_SUITE(pmi2)

BOOST_AUTO_TEST_CASE(values_put_are_got_and_the_session_ends_in_order) {
  Pair pair;
  Server server(pair.server.release());
  auto client = boot::Pmi2::open(std::move(pair.client), {2, 4}, "job.7");
  BOOST_REQUIRE_MESSAGE(client.has_value(), (client ? std::string() : client.error().text));
  BOOST_CHECK((*client)->put("card", "a:b-c.d").has_value());
  BOOST_CHECK((*client)->fence().has_value());
  BOOST_CHECK_EQUAL(server.fences, 1);
  auto value = (*client)->get(2, "card");
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

BOOST_AUTO_TEST_CASE(a_barrier_asks_for_a_value_of_each_PE) {
  Pair pair;
  Server server(pair.server.release());
  server.values = {{"here-0-1", "1"}, {"here-0-2", "1"}};
  auto client = boot::Pmi2::open(std::move(pair.client), {0, 4}, "");
  BOOST_REQUIRE(client.has_value());
  BOOST_CHECK(!(*client)->barrier().has_value());  // PE 3 has not come
  BOOST_CHECK_EQUAL(boot::part_of(server.last, "key"), "here-0-3");
  BOOST_CHECK_EQUAL(server.values.count("all-0-0"), 0U);
  (*client)->finalize();
}

BOOST_AUTO_TEST_CASE(refusals_of_the_server_become_errors) {
  Pair pair;
  Server server(pair.server.release());
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
  Server server(pair.server.release());
  auto client = boot::Pmi2::open(std::move(pair.client), {0, 4}, "");
  BOOST_REQUIRE(client.has_value());
  (*client)->abort(17);
  client->reset();
  server.wait();
  BOOST_CHECK_EQUAL(boot::part_of(server.last, "cmd"), "abort");
  BOOST_CHECK_EQUAL(boot::part_of(server.last, "isworld"), "TRUE");
}

BOOST_AUTO_TEST_CASE(servers_that_say_something_else_are_refused) {
  for (const char* hello : {"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
                            "cmd=response_to_init pmi_version=2 rc=-1\n", "HTTP/1.1 400 Bad Request\n"}) {
    Pair pair;
    Server server(pair.server.release());
    server.hello = hello;
    BOOST_CHECK(!boot::Pmi2::open(std::move(pair.client), {0, 4}, "").has_value());
  }
  Pair sizes;
  Server other_job(sizes.server.release());
  other_job.size = "8";
  auto client = boot::Pmi2::open(std::move(sizes.client), {0, 4}, "");
  BOOST_REQUIRE(!client.has_value());
  BOOST_CHECK(client.error().text.find("PE 0 of 8") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(lengths_that_are_none_are_refused) {
  for (const char* length : {"abcdef", "      ", "-00012", "0x0012"}) {
    Pair pair;
    Server server(pair.server.release());
    server.length_of_answers = length;
    BOOST_CHECK(!boot::Pmi2::open(std::move(pair.client), {0, 4}, "").has_value());
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_leaves_is_an_error_and_no_signal) {
  Pair pair;
  pair.server.reset();
  BOOST_CHECK(!boot::Pmi2::open(std::move(pair.client), {0, 2}, "").has_value());
}

BOOST_AUTO_TEST_CASE(parts_are_found_whole_and_semicolons_kept) {
  BOOST_CHECK_EQUAL(boot::part_of("cmd=get;key=value;value=5;", "value"), "5");
  BOOST_CHECK_EQUAL(boot::part_of("cmd=get;key=a;;value=5;x=1;", "key"), "a;value=5");
  BOOST_CHECK_EQUAL(boot::part_of("cmd=get;key=a;;value=5;x=1;", "value"), "");
  BOOST_CHECK_EQUAL(boot::part_of("cmd=get;last=7", "last"), "7");
  BOOST_CHECK_EQUAL(boot::part_of("", "cmd"), "");
}

BOOST_AUTO_TEST_SUITE_END()
