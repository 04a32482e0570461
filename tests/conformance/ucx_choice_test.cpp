// The choice of UCX transports and devices for a worker, from the resources that UCX reports.
#include <boost/test/unit_test.hpp>

#include "transport/ucx/choice.hpp"

using shmemx::ucx::Choice;
using shmemx::ucx::narrowed;
using shmemx::ucx::Resource;

BOOST_AUTO_TEST_SUITE(ucx_choice)

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

BOOST_AUTO_TEST_CASE(one_machine_needs_the_loopback_device_only) {
  const std::vector<Resource> resources = {{"tcp", "eth0"}, {"tcp", "lo"}};
  BOOST_CHECK_EQUAL(narrowed(resources, true).devices, "lo");
  BOOST_CHECK(narrowed(resources, true).transports.empty());
  BOOST_CHECK(narrowed(resources, false).devices.empty());
  BOOST_CHECK(narrowed(resources, false).transports.empty());
  BOOST_CHECK(narrowed({{"tcp", "eth0"}}, true).devices.empty());
}

BOOST_AUTO_TEST_CASE(devices_with_private_addresses_are_enough_for_several_machines) {
  const std::vector<Resource> resources = {{"tcp", "eth0"}, {"tcp", "eth1"}, {"tcp", "ib0"}, {"tcp", "lo"}};
  BOOST_CHECK_EQUAL(narrowed(resources, false, {"eth1", "ib0", "eth7"}).devices, "eth1,ib0");
  BOOST_CHECK_EQUAL(narrowed(resources, true, {"eth1"}).devices, "lo");
  BOOST_CHECK(narrowed(resources, false, {"eth7"}).devices.empty());
  BOOST_CHECK(narrowed({{"tcp", "eth1"}, {"rc_verbs", "mlx5_0:1"}}, false, {"eth1"}).devices.empty());
}

BOOST_AUTO_TEST_SUITE_END()
