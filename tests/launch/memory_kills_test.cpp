#include "launcher/memory_kills.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/affinity.hpp"

BOOST_AUTO_TEST_SUITE(memory_kills)

namespace {

// /proc and /sys/fs/cgroup of a machine: this process is in /outer/job, process 7 in /outer/job/pe of the same
// hierarchy.
class FakeGroups {
 public:
  explicit FakeGroups(bool version_1) : version_1_(version_1) {
    char name[] = "/tmp/launch_groups_XXXXXX";
    BOOST_REQUIRE(::mkdtemp(name) != nullptr);
    folder_ = name;
    const std::string before = version_1 ? "4:memory:" : "0::";
    write("proc/self/cgroup", before + "/outer/job");
    write("proc/7/cgroup", before + (version_1 ? "/" : "/outer/job/pe"));  // a zombie
    set_limit("/outer", 1 << 30);
    set_kills("/outer/job", 0);
    set_kills("/outer", 5);
  }
  ~FakeGroups() { std::filesystem::remove_all(folder_); }

  std::string proc() const { return folder_ + "/proc"; }
  std::string root() const { return folder_ + "/cgroup"; }
  std::string path(const std::string& group) const { return root() + (version_1_ ? "/memory" : "") + group; }
  void set_limit(const std::string& group, std::uint64_t bytes) const {
    write_group(group, version_1_ ? "/memory.limit_in_bytes" : "/memory.max", std::to_string(bytes));
  }
  void set_kills(const std::string& group, int kills) const {
    if (version_1_)
      write_group(group, "/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill " + std::to_string(kills));
    if (!version_1_)
      write_group(group, "/memory.events", "low 0\noom 9\noom_kill " + std::to_string(kills) + "\noom_group_kill 8");
  }

 private:
  void write_group(const std::string& group, const std::string& file, const std::string& text) const {
    write((path(group) + file).substr(folder_.size() + 1), text);
  }
  void write(const std::string& path, const std::string& text) const {
    const auto file = std::filesystem::path(folder_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  bool version_1_;
  std::string folder_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_kill_at_a_limit_names_the_strictest_group) {
  for (const bool version_1 : {false, true}) {
    const FakeGroups groups(version_1);
    shmemx::launcher::MemoryKills kills(groups.proc(), groups.root());
    BOOST_CHECK_EQUAL(kills.describe("7"), "");
    groups.set_kills("/outer/job", 1);
    BOOST_CHECK_EQUAL(kills.describe("7"), "at the memory limit of 1073741824 bytes of the control group " +
                                               groups.path("/outer") + "; raise it, or use fewer PEs or less memory");
    BOOST_CHECK_EQUAL(kills.describe("7"), "");
    groups.set_limit("/outer/job", 4096);
    groups.set_kills("/outer", 6);
    BOOST_CHECK(kills.describe("7").find(" 4096 bytes of the control group " + groups.path("/outer/job") + ";") !=
                std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(the_limit_of_a_group_that_the_process_has_entered_counts) {
  const FakeGroups groups(false);
  shmemx::launcher::MemoryKills kills(groups.proc(), groups.root());
  groups.set_limit("/outer/job/pe", 8192);
  groups.set_kills("/outer/job/pe", 1);
  BOOST_CHECK(kills.describe("7").find(" 8192 bytes of the control group " + groups.path("/outer/job/pe") + ";") !=
              std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_kill_without_a_limit_is_attributed_to_the_machine) {
  for (const bool version_1 : {false, true}) {
    const FakeGroups groups(version_1);
    groups.set_limit("/outer", std::uint64_t{1} << 63);
    shmemx::launcher::MemoryKills kills(groups.proc(), groups.root());
    groups.set_kills("/outer", 6);
    BOOST_CHECK_EQUAL(kills.describe("7"), "as the machine has run out of memory");
  }
}

BOOST_AUTO_TEST_SUITE_END()
