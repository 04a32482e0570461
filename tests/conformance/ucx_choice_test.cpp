// The choice of UCX transports and devices for a worker, from the resources that UCX reports.
#include <boost/test/unit_test.hpp>

#include "transport/ucx/choice.hpp"

BOOST_AUTO_TEST_SUITE(ucx_choice)

using shmemx::ucx::Choice;
using shmemx::ucx::default_route_devices;
using shmemx::ucx::names_of;
using shmemx::ucx::narrowed;
using shmemx::ucx::Resource;

BOOST_AUTO_TEST_CASE(tcp_is_left_out_where_devices_have_native_rma) {
  for (const char* transport : {"rc_mlx5", "rc_verbs", "dc_mlx5"}) {
    const std::vector<Resource> resources = {
        {"tcp", "lo"}, {"tcp", "ib0"}, {transport, "mlx5_0:1"}, {"ud", "mlx5_0:1"}};
    for (const bool one_machine : {false, true}) {
      const Choice choice = narrowed(resources, one_machine);
      BOOST_CHECK_EQUAL(choice.transports, "^sm,self,tcp");
      BOOST_CHECK(choice.devices.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(variables_of_tcp_are_set_by_both_names) {
  const std::vector<std::string_view> both = {"TCP_RX_SEG_SIZE", "RX_SEG_SIZE"};
  BOOST_CHECK(names_of("TCP_RX_SEG_SIZE") == both);
  BOOST_CHECK(names_of("MAX_RNDV_RAILS") == std::vector<std::string_view>{"MAX_RNDV_RAILS"});
}

BOOST_AUTO_TEST_CASE(one_machine_needs_the_loopback_device_only) {
  const std::vector<Resource> resources = {{"tcp", "eth0"}, {"tcp", "lo"}};
  BOOST_CHECK_EQUAL(narrowed(resources, true).devices, "lo");
  BOOST_CHECK(narrowed(resources, true).transports.empty());
  BOOST_CHECK_EQUAL(narrowed(resources, false).devices, "eth0");
  BOOST_CHECK(narrowed(resources, false).transports.empty());
  BOOST_CHECK_EQUAL(narrowed({{"tcp", "eth0"}}, true).devices, "eth0");
}

BOOST_AUTO_TEST_CASE(devices_with_private_addresses_are_enough_for_several_machines) {
  const std::vector<Resource> resources = {{"tcp", "eth0"}, {"tcp", "eth1"}, {"tcp", "ib0"}, {"tcp", "lo"}};
  BOOST_CHECK_EQUAL(narrowed(resources, false, {{"eth1", "ib0", "eth7"}, {"eth0"}}).devices, "eth1,ib0");
  BOOST_CHECK_EQUAL(narrowed(resources, true, {{"eth1"}, {}}).devices, "lo");
  BOOST_CHECK(narrowed({{"tcp", "eth1"}, {"rc_verbs", "mlx5_0:1"}}, false, {{"eth1"}, {}}).devices.empty());
}

// Otherwise it would listen on every network of the machine, and anybody could connect.
BOOST_AUTO_TEST_CASE(without_private_addresses_the_default_route_chooses) {
  const std::vector<Resource> resources = {{"tcp", "eth0"}, {"tcp", "eth1"}, {"tcp", "lo"}};
  BOOST_CHECK_EQUAL(narrowed(resources, false, {{"eth7"}, {"eth1"}}).devices, "eth1");
  BOOST_CHECK(narrowed(resources, false, {{}, {"eth1"}}).refusal.empty());
  const Choice none = narrowed(resources, false, {{"eth7"}, {"ppp0"}});
  BOOST_CHECK(none.devices.empty());
  BOOST_CHECK(none.refusal.find("(eth0, eth1)") != std::string::npos);
  BOOST_CHECK(none.refusal.find("UCX_NET_DEVICES") != std::string::npos);
  BOOST_CHECK_EQUAL(narrowed({{"tcp", "eth0"}, {"tcp", "lo"}}, false).devices, "eth0");
  BOOST_CHECK(narrowed({{"tcp", "lo"}}, false).refusal.empty());
}

BOOST_AUTO_TEST_CASE(default_routes_are_found_in_the_tables_of_the_kernel) {
  const std::string v4 =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
      "eth1\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
  const std::string zeros(32, '0');
  const auto v6_line = [&zeros](const char* target, const char* prefix, const char* flags, const char* device) {
    return std::string(target) + " " + prefix + " " + zeros + " 00 " + zeros + " 00000400 00000001 00000000 " + flags +
           " " + device + "\n";
  };
  const std::string v6 = v6_line("fd770000000000000000000000000000", "40", "00000001", "eth2") +
                         v6_line(zeros.c_str(), "00", "00000003", "eth3") +
                         v6_line(zeros.c_str(), "00", "00200200", "lo") +
                         v6_line(zeros.c_str(), "00", "00000200", "eth4");
  BOOST_CHECK((default_route_devices(v4, v6) == std::vector<std::string>{"eth0", "eth3"}));
  BOOST_CHECK(default_route_devices("", "").empty());
}

BOOST_AUTO_TEST_SUITE_END()
