#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/affinity.hpp"
#include "launcher/binding.hpp"
#include "launcher/records.hpp"

BOOST_AUTO_TEST_SUITE(binding)

namespace {

using Groups = std::vector<std::vector<int>>;

// Two sockets and NUMA nodes of two cores with two threads each: cpu 0..7, siblings four apart.
class FakeSys {
 public:
  FakeSys() {
    char name[] = "/tmp/launch_sys_XXXXXX";
    BOOST_REQUIRE(::mkdtemp(name) != nullptr);
    root_ = name;
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string topology = "devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      const int core = cpu % 4;
      write(topology + "core_cpus_list", std::to_string(core) + "," + std::to_string(core + 4));
      write(topology + "physical_package_id", std::to_string(core / 2));
    }
    write("devices/system/node/online", "0-1");
    write("devices/system/node/node0/cpulist", "0-1,4-5");
    write("devices/system/node/node1/cpulist", "2-3,6-7");
  }
  ~FakeSys() { std::filesystem::remove_all(root_); }
  const std::string& root() const { return root_; }
  Groups groups(shmemx::launcher::Bind bind, const std::vector<int>& allowed) const {
    return shmemx::launcher::cpu_groups(bind, allowed, root_);
  }

 private:
  void write(const std::string& path, const std::string& text) const {
    const auto file = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  std::string root_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(groups_follow_the_topology_and_the_mask) {
  using shmemx::launcher::Bind;
  const FakeSys sys;
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
  BOOST_CHECK((sys.groups(Bind::core, all) == Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  BOOST_CHECK((sys.groups(Bind::socket, all) == Groups{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  BOOST_CHECK((sys.groups(Bind::numa, all) == Groups{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  BOOST_CHECK((sys.groups(Bind::core, {1, 4, 5}) == Groups{{1, 5}, {4}}));
  BOOST_CHECK((sys.groups(Bind::numa, {6}) == Groups{{6}}));
}

BOOST_AUTO_TEST_CASE(claimed_cores_are_skipped) {
  using shmemx::launcher::Bind;
  using shmemx::launcher::claim_groups;
  using shmemx::launcher::CoreClaims;
  const FakeSys sys;
  const std::string prefix = "shmemx/test" + sys.root() + "/";
  const Groups cores = sys.groups(Bind::core, {0, 1, 2, 3, 4, 5, 6, 7});
  CoreClaims first(prefix);
  BOOST_CHECK((claim_groups(cores, 1, sys.root(), first) == Groups{{0, 4}}));
  BOOST_CHECK_EQUAL(first.refused(), 0);
  {
    CoreClaims second(prefix);
    BOOST_CHECK((claim_groups(cores, 2, sys.root(), second) == Groups{{1, 5}, {2, 6}}));
    BOOST_CHECK_EQUAL(second.refused(), 1);
    // The second thread of a core in use does not count as a free core.
    CoreClaims third(prefix);
    BOOST_CHECK(claim_groups(sys.groups(Bind::core, {4, 5}), 2, sys.root(), third).empty());
    BOOST_CHECK_EQUAL(third.refused(), 2);
    // A socket keeps the cores that are free.
    BOOST_CHECK((claim_groups(sys.groups(Bind::socket, {0, 1, 2, 3}), 2, sys.root(), third) == Groups{{3}}));
  }
  CoreClaims after(prefix);
  BOOST_CHECK((claim_groups(cores, 9, sys.root(), after) == Groups{{1, 5}, {2, 6}, {3, 7}}));
}

BOOST_AUTO_TEST_CASE(cpu_lists_are_parsed_as_written) {
  BOOST_CHECK((shmemx::parse_cpu_list("0-2,8,10-11") == std::vector<int>{0, 1, 2, 8, 10, 11}));
  BOOST_CHECK(shmemx::parse_cpu_list("").empty());
  BOOST_CHECK_EQUAL(shmemx::format_cpu_list({0, 1, 2, 8, 10, 11}), "0-2,8,10-11");
  BOOST_CHECK_GE(shmemx::usable_cpus(), 1);
  BOOST_CHECK(!shmemx::affinity_cpus().empty());
}

BOOST_AUTO_TEST_CASE(lists_of_pes_are_short) {
  BOOST_CHECK_EQUAL(shmemx::bootstrap::list_pes({0}), "0");
  BOOST_CHECK_EQUAL(shmemx::bootstrap::list_pes({0, 1, 3, 4, 5, 6}), "0, 1, 3..6");
}

BOOST_AUTO_TEST_SUITE_END()
