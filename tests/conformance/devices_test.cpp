// The order of networks where SHMEMX_TRANSPORT is auto, over folders that look like sysfs.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "transport/devices.hpp"

BOOST_AUTO_TEST_SUITE(transport_devices)

namespace {

using shmemx::transport::automatic_order;
using shmemx::transport::rdma_devices;
using Names = std::vector<std::string>;

// A root folder with devices in it.
class Root {
 public:
  Root() {
    char name[] = "/tmp/shmemx_devices_XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Root() { std::filesystem::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  // Adds a device as sysfs shows it: a link to its folder, whose `device` has a link to the driver.
  Root& add(const std::string& family, const std::string& name, const std::string& driver) {
    namespace fs = std::filesystem;
    const fs::path pci = fs::path(path_) / "sys/devices" / name;
    fs::create_directories(pci / family / name);
    fs::create_directories(fs::path(path_) / "sys/class" / family);
    if (!driver.empty()) fs::create_symlink("../../bus/pci/drivers/" + driver, pci / "driver");
    fs::create_symlink(pci, pci / family / name / "device");
    fs::create_symlink(pci / family / name, fs::path(path_) / "sys/class" / family / name);
    return *this;
  }
  Names order() const { return automatic_order(rdma_devices(path_)).names; }
  std::string why() const { return automatic_order(rdma_devices(path_)).why; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const Names kOfiFirst{"ofi", "ucx", "tcp"};
const Names kUcxFirst{"ucx", "ofi", "tcp"};

}  // namespace

BOOST_AUTO_TEST_CASE(without_devices_tcp_is_alone) {
  const Root root;
  BOOST_CHECK((root.order() == Names{"tcp"}));
  BOOST_CHECK_EQUAL(root.why(), "no RDMA device is there");
}

BOOST_AUTO_TEST_CASE(a_device_has_a_driver) {
  Root root;
  root.add("infiniband", "rocep1s0", "mlx5_core").add("cxi", "cxi0", "");
  const auto devices = rdma_devices(root.path());
  BOOST_REQUIRE_EQUAL(devices.size(), 2u);
  BOOST_CHECK_EQUAL(devices[0].name, "cxi0");
  BOOST_CHECK_EQUAL(devices[0].driver, "");
  BOOST_CHECK_EQUAL(devices[1].name, "rocep1s0");
  BOOST_CHECK_EQUAL(devices[1].driver, "mlx5_core");
}

BOOST_AUTO_TEST_CASE(efa_and_cxi_put_libfabric_first) {
  BOOST_CHECK(Root().add("infiniband", "efa_0", "efa").order() == kOfiFirst);
  BOOST_CHECK(Root().add("infiniband", "rdmap0s6", "efa").order() == kOfiFirst);  // renamed by udev
  BOOST_CHECK(Root().add("cxi", "cxi0", "cxi_ss1").order() == kOfiFirst);
  BOOST_CHECK(Root().add("cxi_user", "cxi0", "").order() == kOfiFirst);
}

BOOST_AUTO_TEST_CASE(others_put_ucx_first) {
  BOOST_CHECK(Root().add("infiniband", "mlx5_0", "mlx5_core").order() == kUcxFirst);
  BOOST_CHECK(Root().add("infiniband", "rocep1s0", "mlx5_core").order() == kUcxFirst);
  BOOST_CHECK(Root().add("infiniband", "irdma0", "irdma").order() == kUcxFirst);
}

BOOST_AUTO_TEST_CASE(of_both_kinds_efa_and_cxi_count) {
  Root root;
  root.add("infiniband", "mlx5_0", "mlx5_core").add("cxi", "cxi0", "cxi_ss1");
  BOOST_CHECK(root.order() == kOfiFirst);
  BOOST_CHECK_EQUAL(root.why(), "device cxi0");
}

BOOST_AUTO_TEST_CASE(the_device_that_decides_is_named) {
  Root root;
  root.add("infiniband", "bnxt_re0", "bnxt_en").add("infiniband", "mlx5_0", "mlx5_core");
  BOOST_CHECK(root.order() == kUcxFirst);
  BOOST_CHECK_EQUAL(root.why(), "device mlx5_0");
}

BOOST_AUTO_TEST_SUITE_END()
