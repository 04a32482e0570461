// Addresses of a PE: some do not work, some lead to another PE.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "base/unique_fd.hpp"
#include "endpoints.hpp"
#include "transport/tcp/own_addresses.hpp"

BOOST_AUTO_TEST_SUITE(tcp_connect)

using namespace transport_test;
using shmemx::UniqueFd;
using shmemx::tcp::Address;
using shmemx::tcp::EndpointAddress;

namespace {

Address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  Address address;
  address.prefix_bits = 32;
  address.bytes = {a, b, c, d};
  return address;
}

EndpointAddress address_of(Endpoints& job, int pe) {
  EndpointAddress endpoint;
  BOOST_REQUIRE(shmemx::tcp::unpack_address(bytes_of(job.book().addresses[static_cast<std::size_t>(pe)]), endpoint));
  return endpoint;
}

void set_address(Endpoints& job, int pe, const EndpointAddress& endpoint) {
  job.book().addresses[static_cast<std::size_t>(pe)] = shmemx::tcp::pack_address(endpoint);
}

// Listens on a port of 127.0.0.1 and never replies.
UniqueFd silent_listener(std::uint16_t& port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  BOOST_REQUIRE_EQUAL(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), bytes), 0);
  BOOST_REQUIRE_EQUAL(::listen(fd.get(), 8), 0);
  BOOST_REQUIRE_EQUAL(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  port = ntohs(address.sin_port);
  return fd;
}

bool arrives(Endpoints& job, int from, int to) {
  const std::size_t before = job.sink(to).messages.size();
  return job.send({.from = from, .to = to, .header = pattern(4, 0)}) &&
         job.poll_until([&] { return job.sink(to).messages.size() == before + 1; });
}

std::string loss_of(Endpoints& job, int at, int pe) {
  BOOST_REQUIRE(job.poll_until([&] { return !job.sink(at).losses.empty(); }));
  BOOST_CHECK_EQUAL(job.sink(at).losses.size(), 1U);
  BOOST_CHECK_EQUAL(job.sink(at).losses.front().pe, pe);
  return job.sink(at).losses.front().cause;
}

void send_one(Endpoints& job, int from, int to) {
  const Header fixed{1, 0, 4, 0};
  BOOST_CHECK(job[from].send(to, fixed, pattern(4, 0), {}, nullptr, Urgency::now) == Sent::yes);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(an_unreachable_address_is_skipped) {
  Endpoints job("tcp");
  EndpointAddress endpoint = address_of(job, 1);
  endpoint.machine = ~endpoint.machine;  // so that 127.0.0.1 is not tried first
  endpoint.addresses = {v4(255, 255, 255, 255), v4(127, 0, 0, 1)};
  set_address(job, 1, endpoint);
  BOOST_CHECK(arrives(job, 0, 1));
  BOOST_CHECK(arrives(job, 1, 0));
  BOOST_CHECK(contains(job[0].describe(1), "lo 127.0.0.1 -> 127.0.0.1:"));
}

// The port of PE 1 belongs to PE 2, which replies but is not the expected PE.
BOOST_AUTO_TEST_CASE(another_pe_is_not_taken_for_the_expected_one) {
  Endpoints job("tcp");
  EndpointAddress endpoint = address_of(job, 1);
  endpoint.port = address_of(job, 2).port;
  set_address(job, 1, endpoint);
  send_one(job, 0, 1);
  const std::string cause = loss_of(job, 0, 1);
  BOOST_CHECK(
      contains(cause, "lo -> 127.0.0.1:" + std::to_string(endpoint.port) + ": whoever answers there has closed"));
  BOOST_CHECK(job.sink(2).messages.empty());
  BOOST_CHECK(arrives(job, 0, 2));
}

BOOST_AUTO_TEST_CASE(this_pe_does_not_take_itself_for_another) {
  Endpoints job("tcp");
  EndpointAddress endpoint = address_of(job, 1);
  endpoint.port = address_of(job, 0).port;
  set_address(job, 1, endpoint);
  send_one(job, 0, 1);
  BOOST_CHECK(contains(loss_of(job, 0, 1), "has closed the connection"));
  BOOST_CHECK(job.sink(0).messages.empty());
  BOOST_CHECK(arrives(job, 2, 0));
}

BOOST_AUTO_TEST_CASE(a_closed_port_is_reported_with_its_errno_for_every_address) {
  Endpoints job("tcp");
  EndpointAddress endpoint = address_of(job, 1);
  {
    const UniqueFd taken = silent_listener(endpoint.port);  // closed again at the end of the scope
  }
  endpoint.addresses = {v4(255, 255, 255, 255)};
  set_address(job, 1, endpoint);
  send_one(job, 0, 1);
  const std::string cause = loss_of(job, 0, 1);
  const std::string port = std::to_string(endpoint.port);
  BOOST_CHECK(contains(cause, "\n  lo -> 127.0.0.1:" + port + ": Connection refused (errno 111)"));
  BOOST_CHECK(contains(cause, "\n  lo -> [::1]:" + port + ": "));
  BOOST_CHECK(contains(cause, "-> 255.255.255.255:" + port + ": Network is unreachable (errno 101)"));
}

BOOST_AUTO_TEST_CASE(a_connection_without_a_reply_is_given_up_at_the_time_out) {
  Endpoints job("tcp", {.n = 3, .timeout_ms = 1500});
  EndpointAddress endpoint = address_of(job, 1);
  const UniqueFd listener = silent_listener(endpoint.port);
  endpoint.addresses.clear();
  set_address(job, 1, endpoint);
  send_one(job, 0, 1);
  BOOST_CHECK(contains(loss_of(job, 0, 1), "127.0.0.1:" + std::to_string(endpoint.port) + ": Connection timed out"));
}

// PE 0 has no path to PE 1, but PE 1 has one to PE 0.
BOOST_AUTO_TEST_CASE(one_direction_is_enough_since_both_sides_connect) {
  Endpoints job("tcp");
  const std::string own_address = job.book().addresses[1];
  EndpointAddress endpoint = address_of(job, 1);
  const UniqueFd listener = silent_listener(endpoint.port);
  set_address(job, 1, endpoint);
  send_one(job, 0, 1);
  send_one(job, 1, 0);
  BOOST_CHECK(job.poll_until([&] { return job.sink(0).messages.size() == 1 && job.sink(1).messages.size() == 1; }));
}

BOOST_AUTO_TEST_CASE(the_endpoint_address_lists_interfaces_that_are_up_except_loopback) {
  Endpoints job("tcp");
  const EndpointAddress endpoint = address_of(job, 0);
  BOOST_CHECK_NE(endpoint.port, 0);
  std::size_t usable = 0;
  for (const auto& local : shmemx::tcp::local_addresses()) usable += local.address.is_loopback() ? 0 : 1;
  BOOST_CHECK_EQUAL(endpoint.addresses.size(), usable);
  for (const Address& address : endpoint.addresses) BOOST_CHECK(!address.is_loopback());
}

BOOST_AUTO_TEST_SUITE_END()
