#include "transport/tcp/own_addresses.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "endpoints.hpp"

BOOST_AUTO_TEST_SUITE(tcp_address)

using namespace shmemx::tcp;
using transport_test::bytes_of;

namespace {

// "10.0.0.1/24", "fd00::1/64"
Address address(const std::string& text) {
  const std::size_t slash = text.find('/');
  Address out;
  out.is_v6 = text.find(':') != std::string::npos;
  out.prefix_bits = static_cast<std::uint8_t>(std::stoi(text.substr(slash + 1)));
  BOOST_REQUIRE_EQUAL(::inet_pton(out.is_v6 ? AF_INET6 : AF_INET, text.substr(0, slash).c_str(), out.bytes.data()), 1);
  return out;
}

EndpointAddress endpoint(std::uint64_t machine, const std::vector<std::string>& addresses) {
  EndpointAddress out{machine, 4711, {}};
  for (const std::string& one : addresses) out.addresses.push_back(address(one));
  return out;
}

const std::vector<LocalAddress> kOwn = {{address("127.0.0.1/8"), "lo", 1},        {address("10.1.0.1/16"), "eth0", 2},
                                        {address("172.17.0.1/16"), "docker0", 3}, {address("10.1.2.1/24"), "eth1", 4},
                                        {address("10.9.0.1/32"), "wg0", 5},       {address("fe80::1/64"), "eth0", 2},
                                        {address("fe80::2/64"), "eth1", 4},       {address("fd00:1::1/64"), "eth1", 4}};

std::vector<std::string> paths(const EndpointAddress& peer) {
  std::vector<std::string> out;
  for (const Candidate& one : candidates_for(peer, kOwn, 1)) out.push_back(one.interface + " " + one.address.text());
  return out;
}

using Paths = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_CASE(subnets_match_by_bits) {
  BOOST_CHECK(address("10.1.2.3/24").matches(address("10.1.2.77/24"), 24));
  BOOST_CHECK(!address("10.1.2.3/24").matches(address("10.1.3.3/24"), 24));
  BOOST_CHECK(address("10.1.2.3/23").matches(address("10.1.3.3/24"), 23));
  BOOST_CHECK(!address("10.1.2.3/32").matches(address("10.1.2.2/32"), 32));
  BOOST_CHECK(address("10.1.2.3/32").matches(address("10.1.2.3/32"), 32));
  BOOST_CHECK(!address("10.1.2.3/24").matches(address("fd00::1/64"), 0));
  BOOST_CHECK(!address("10.1.2.3/24").matches(address("10.1.2.3/24"), 33));
}

BOOST_AUTO_TEST_CASE(links_are_interfaces_of_a_common_subnet) {
  const auto links = [](const EndpointAddress& peer) { return links_to(peer, kOwn, 1); };
  BOOST_CHECK((links(endpoint(2, {"10.1.0.2/16"})) == Paths{"eth0"}));
  BOOST_CHECK(
      (links(endpoint(2, {"10.1.0.2/16", "10.1.2.2/24", "fd00:1::2/64", "fe80::9/64"})) == Paths{"eth0", "eth1"}));
  BOOST_CHECK(
      links(endpoint(2, {"172.17.0.1/16", "192.168.0.1/24"})).empty());  // this host's address, and a routed one
}

BOOST_AUTO_TEST_CASE(knows_loopback_and_link_local) {
  BOOST_CHECK(address("127.3.0.1/8").is_loopback());
  BOOST_CHECK(address("::1/128").is_loopback());
  BOOST_CHECK(!address("::2/128").is_loopback());
  BOOST_CHECK(address("fe80::5/64").is_link_local());
  BOOST_CHECK(address("169.254.1.1/16").is_link_local());
  BOOST_CHECK(!address("fd00::5/64").is_link_local());
}

BOOST_AUTO_TEST_CASE(an_endpoint_address_is_decoded_as_encoded) {
  const EndpointAddress sent = endpoint(77, {"10.0.0.1/24", "fd00::7/64", "192.168.1.1/32"});
  EndpointAddress got;
  BOOST_REQUIRE(unpack_address(bytes_of(pack_address(sent)), got));
  BOOST_CHECK_EQUAL(got.machine, 77U);
  BOOST_CHECK_EQUAL(got.port, 4711);
  BOOST_REQUIRE_EQUAL(got.addresses.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_CHECK(got.addresses[i].same_host_as(sent.addresses[i]));
    BOOST_CHECK_EQUAL(got.addresses[i].prefix_bits, sent.addresses[i].prefix_bits);
  }
}

BOOST_AUTO_TEST_CASE(an_endpoint_address_with_too_many_addresses_is_truncated) {
  EndpointAddress many = endpoint(1, {});
  for (int i = 0; i < 100; ++i) many.addresses.push_back(address("fd00::" + std::to_string(i + 1) + "/64"));
  const std::string packed = pack_address(many);
  BOOST_CHECK_LE(packed.size(), shmemx::transport::kMaxAddressBytes);
  EndpointAddress got;
  BOOST_REQUIRE(unpack_address(bytes_of(packed), got));
  BOOST_CHECK_GT(got.addresses.size(), 10U);
}

BOOST_AUTO_TEST_CASE(many_addresses_of_one_family_leave_room_for_the_other) {
  std::vector<LocalAddress> own;
  for (int i = 0; i < 200; ++i) own.push_back({address("10.2.3." + std::to_string(i + 1) + "/24"), "eth0", 2});
  own.push_back({address("fe80::1/64"), "eth0", 2});
  own.push_back({address("fd00::1/64"), "eth0", 2});
  own.push_back({address("::1/128"), "lo", 1});
  EndpointAddress read;
  BOOST_REQUIRE(unpack_address(bytes_of(pack_address({1, 4711, addresses_to_publish(own)})), read));
  BOOST_TEST(read.addresses.size() > 10U);
  BOOST_TEST(std::count_if(read.addresses.begin(), read.addresses.end(), [](const Address& a) { return a.is_v6; }) ==
             1);
  BOOST_TEST(read.addresses[1].text() == "fd00::1");
}

// They lead to no other machine by routing, where another one may have the same address, and they are no links yet.
BOOST_AUTO_TEST_CASE(addresses_that_are_not_ready_lead_to_their_subnet_only) {
  std::vector<LocalAddress> its = {{address("10.1.0.2/16"), "eth0", 2},
                                   {address("10.1.2.2/24"), "eth1", 3, false},
                                   {address("172.18.0.1/16"), "docker0", 4, false},
                                   {address("fe80::7/64"), "eth1", 3, false}};
  EndpointAddress read;
  BOOST_REQUIRE(unpack_address(bytes_of(pack_address({2, 4711, addresses_to_publish(its)})), read));
  BOOST_CHECK((paths(read) == Paths{"eth1 10.1.2.2", "eth0 10.1.0.2"}));
  BOOST_CHECK((links_to(read, kOwn, 1) == Paths{"eth0"}));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_endpoint_address_are_refused) {
  const std::string good = pack_address(endpoint(1, {"10.0.0.1/24", "fd00::7/64"}));
  EndpointAddress got;
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    BOOST_CHECK(!unpack_address(bytes_of(good.substr(0, bytes)), got));
  BOOST_CHECK(!unpack_address(bytes_of(good + "x"), got));
  std::string bad = good;
  bad[12] = 'x';  // family
  BOOST_CHECK(!unpack_address(bytes_of(bad), got));
  bad = good;
  bad[13] = 33;  // prefix
  BOOST_CHECK(!unpack_address(bytes_of(bad), got));
  bad = good;
  bad[10] = 9;  // version
  BOOST_CHECK(!unpack_address(bytes_of(bad), got));
  bad = good;
  bad[8] = bad[9] = 0;  // port
  BOOST_CHECK(!unpack_address(bytes_of(bad), got));
}

BOOST_AUTO_TEST_CASE(the_same_subnet_is_tried_before_routed_addresses) {
  BOOST_TEST(paths(endpoint(2, {"192.168.7.7/24", "10.1.5.5/16", "10.1.2.9/24"})) ==
                 (Paths{"eth1 10.1.2.9", "eth0 10.1.5.5", " 192.168.7.7"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(of_equal_paths_ipv4_is_tried_first) {
  BOOST_TEST(paths(endpoint(2, {"fd00:1::9/64", "10.1.5.5/16", "2001:db8::9/64", "192.168.7.7/24"})) ==
                 (Paths{"eth0 10.1.5.5", "eth1 fd00:1::9", " 192.168.7.7", " 2001:db8::9"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_bridge_with_the_same_subnet_is_tried_last) {
  BOOST_TEST(paths(endpoint(2, {"172.17.0.1/16", "10.1.5.5/16"})) == (Paths{"eth0 10.1.5.5", "docker0 172.17.0.1"}),
             boost::test_tools::per_element());
}

// Also if its own interface is not ready, or if the address has a meaning on one interface only.
BOOST_AUTO_TEST_CASE(addresses_of_this_machine_are_marked) {
  std::vector<LocalAddress> own = kOwn;
  own.push_back({address("172.18.0.1/16"), "br0", 6, false});
  const EndpointAddress peer =
      endpoint(2, {"172.17.0.1/16", "172.18.0.1/16", "10.1.5.5/16", "fe80::2/64", "fe80::9/64"});
  std::vector<std::string> marked;
  for (const Candidate& one : candidates_for(peer, own, 1)) {
    if (one.is_own) marked.push_back(one.interface + " " + one.address.text());
  }
  BOOST_TEST(marked == (Paths{"docker0 172.17.0.1", "br0 172.18.0.1", "eth1 fe80::2"}),
             boost::test_tools::per_element());
  for (const Candidate& one : candidates_for(peer, own, 2)) BOOST_TEST(!one.is_own);  // both on one machine
}

BOOST_AUTO_TEST_CASE(an_overlay_without_a_subnet_is_routed) {
  BOOST_TEST(paths(endpoint(2, {"10.9.0.2/32"})) == (Paths{" 10.9.0.2"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(link_local_addresses_are_tried_on_every_interface_that_has_one) {
  BOOST_TEST(
      paths(endpoint(2, {"fe80::9/64", "fd00:1::9/64"})) == (Paths{"eth1 fd00:1::9", "eth0 fe80::9", "eth1 fe80::9"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(loopback_is_tried_on_the_same_machine_only) {
  BOOST_TEST(paths(endpoint(1, {"10.1.0.1/16"})) == (Paths{"lo 127.0.0.1", "lo ::1", "eth0 10.1.0.1"}),
             boost::test_tools::per_element());
  BOOST_CHECK(paths(endpoint(2, {})).empty());
}

// However many PEs ask.
BOOST_AUTO_TEST_CASE(own_addresses_are_looked_up_once_a_second) {
  OwnAddresses own;
  BOOST_CHECK(own.look(1000));
  BOOST_CHECK_EQUAL(own.interface_with(address("127.0.0.1/8")), "lo");
  BOOST_CHECK_EQUAL(own.interface_with(address("127.0.0.9/8")), "");
  const std::size_t n = own.list().size();
  for (int pe = 0; pe < 1000; ++pe) BOOST_CHECK(!own.look(2000));
  BOOST_CHECK(own.look(1000 + OwnAddresses::kLookNs));
  BOOST_CHECK_EQUAL(own.list().size(), n);
}

BOOST_AUTO_TEST_CASE(the_machine_number_is_constant) {
  BOOST_CHECK_EQUAL(machine_id(), machine_id());
  BOOST_CHECK_NE(machine_id(), 0U);
}

BOOST_AUTO_TEST_CASE(sockaddrs_are_converted_in_both_directions) {
  for (const char* text : {"10.0.0.1/32", "fd00::7/128"}) {
    sockaddr_storage storage;
    to_sockaddr({address(text), 0, ""}, 99, storage);
    BOOST_CHECK(from_sockaddr(reinterpret_cast<sockaddr*>(&storage)).same_host_as(address(text)));
  }
  sockaddr_storage storage;
  to_sockaddr({address("fd00::7/64"), 0, ""}, 99, storage);
  BOOST_CHECK_EQUAL(endpoint_text(storage), "[fd00::7]:99");
}

BOOST_AUTO_TEST_SUITE_END()
