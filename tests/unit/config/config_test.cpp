#include "config/config.hpp"

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "config/nearest.hpp"
#include "config/other_libraries.hpp"

BOOST_AUTO_TEST_SUITE(config_environment)

namespace {

using namespace shmemx::config;
using shmemx::Errc;
using shmemx::Result;
using shmemx::WaitMode;

Result<Config> parse(std::initializer_list<const char*> entries) {
  std::vector<const char*> environment(entries);
  environment.push_back(nullptr);
  return parse_environment(environment.data());
}

InitErrors init_errors(std::initializer_list<const char*> entries) {
  std::vector<const char*> environment(entries);
  environment.push_back(nullptr);
  return init_errors_of(environment.data());
}

std::string error_of(std::initializer_list<const char*> entries) {
  const auto config = parse(entries);
  return config ? std::string() : config.error().text;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(an_empty_environment_gives_the_defaults) {
  for (const auto& config :
       {parse({}), parse({"PATH=/bin", "HOME=/root", "XT=1", "S=2", ""}), parse_environment(nullptr)}) {
    BOOST_REQUIRE(config);
    const Config& c = config.value();
    BOOST_CHECK(!c.symmetric_size && !c.copy_large && !c.copy_stream && !c.spin_ns && !c.yield_us && !c.sleep_max_us);
    BOOST_CHECK(!c.debug && c.info == kind::InfoLevel::none && !c.version);
    BOOST_CHECK(c.wait == WaitMode::automatic && c.init_errors == InitErrors::abort &&
                c.huge_pages == HugePages::automatic);
    BOOST_CHECK(c.warn_unknown && c.static_data);
    BOOST_CHECK(c.node_path == shmemx::NodePath::automatic && c.progress == Progress::automatic &&
                c.net_rma == NetRma::automatic && c.net_mac == Switch::off && c.net_bypass && c.tcp_one_read);
    BOOST_CHECK_EQUAL(c.registration_cache, std::uint64_t{1} << 30);
    BOOST_CHECK(!c.collect_leaders && c.collect_group == 0 && c.receive_bypass);
    BOOST_CHECK_EQUAL(c.tasks_max, std::uint64_t{1} << 30);
    BOOST_CHECK(c.queue_cells == 64 && c.queue_cell_bytes == 8192 && c.pending_max == 64U << 20);
    BOOST_CHECK(c.warnings.empty());
    for (const Origin& origin : c.origins)
      BOOST_CHECK(origin.source == Source::by_default && origin.variable == nullptr);
  }
}

// All variables, none with its default.
const std::initializer_list<const char*> kAllVariables = {"SHMEM_SYMMETRIC_SIZE=1.5g",
                                                          "SHMEM_DEBUG=yes",
                                                          "SHMEM_INFO=1",
                                                          "SHMEM_VERSION=x",
                                                          "SHMEM_WAIT=Block",
                                                          "SHMEM_BACKTRACE=1",
                                                          "SHMEM_STATS=1",
                                                          "SHMEM_TRACE=dir/trace.json",
                                                          "SHMEM_CHECK=Heap, leaks",
                                                          "SHMEM_WATCHDOG=30:Abort",
                                                          "SHMEM_INIT_ERRORS=return",
                                                          "SHMEMX_WARN_UNKNOWN=no",
                                                          "SHMEMX_HUGE_PAGES=always",
                                                          "SHMEMX_COPY_LARGE=256k",
                                                          "SHMEMX_COPY_STREAM=64m",
                                                          "SHMEMX_SPIN_NS=300",
                                                          "SHMEMX_YIELD_US=0",
                                                          "SHMEMX_SLEEP_MAX_US=2000",
                                                          "SHMEMX_STATIC_DATA=0",
                                                          "SHMEMX_NODE_PATH=queue",
                                                          "SHMEMX_QUEUE_CELLS=100",
                                                          "SHMEMX_QUEUE_CELL_BYTES=16k",
                                                          "SHMEMX_PROGRESS=off",
                                                          "SHMEMX_PENDING_MAX=1g",
                                                          "SHMEMX_WINDOW_PATH=cma",
                                                          "SHMEMX_LMT=cma",
                                                          "SHMEMX_UNEXPECTED_MAX=2g",
                                                          "SHMEMX_TRACE_EVENTS=1000",
                                                          "SHMEM_TRAP_ON_ABORT=1",
                                                          "SHMEMX_ATTACH_ON_ABORT=1",
                                                          "SHMEMX_TASKS_MAX=3g",
                                                          "SHMEMX_TRANSPORT=ucx, TCP",
                                                          "SHMEMX_PES_PER_NODE=3",
                                                          "SHMEMX_NODE_ORDER=mixed",
                                                          "SHMEMX_SYNTHETIC_WORLD=1000000/128@0,524288",
                                                          "SHMEMX_NET_TIMEOUT=7",
                                                          "SHMEMX_NET_RMA=on",
                                                          "SHMEMX_REGISTRATION_CACHE=0",
                                                          "SHMEMX_NET_MAC=on",
                                                          "SHMEMX_NET_BYPASS=0",
                                                          "SHMEMX_TCP_ONE_READ=0",
                                                          "SHMEMX_TASKS_GATHER=0",
                                                          "SHMEMX_ALLTOALL_MESH=64",
                                                          "SHMEMX_COLLECT_LEADERS=4k",
                                                          "SHMEMX_COLLECT_GROUP=8",
                                                          "SHMEMX_RECEIVE_BYPASS=0",
                                                          "SHMEMX_ETH_INTERFACE=eth1, eth2",
                                                          "SHMEMX_ETH_MTU=1500",
                                                          "SHMEMX_ETH_BLOCK_PACKETS=16",
                                                          "SHMEMX_ETH_BLOCKS=8",
                                                          "SHMEMX_ETH_RESEND_US=5000"};
auto with_all_variables() { return parse(kAllVariables); }

BOOST_AUTO_TEST_CASE(every_variable_sets_its_member) {
  const auto config = with_all_variables();
  BOOST_REQUIRE(config);
  const Config& c = config.value();
  BOOST_CHECK(c.symmetric_size == 1610612736U);
  BOOST_CHECK(c.debug && c.info == kind::InfoLevel::variables && c.version);
  BOOST_CHECK(c.wait == WaitMode::block && c.init_errors == InitErrors::return_ && c.huge_pages == HugePages::always);
  BOOST_CHECK(c.backtrace && c.trap_on_abort && c.attach_on_abort && c.stats && c.watchdog.seconds == 30 &&
              c.watchdog.aborts);
  BOOST_CHECK(c.trace.text.data() == std::string("dir/trace.json") && c.trace_events == 1000);
  BOOST_CHECK_EQUAL(c.check.bits(), Checks::heap | Checks::leaks);
  BOOST_CHECK(c.copy_large == 262144U && c.copy_stream == 67108864U);
  BOOST_CHECK(c.spin_ns == 300U && c.yield_us == 0U && c.sleep_max_us == 2000U);
  BOOST_CHECK(!c.warn_unknown && !c.static_data);
  BOOST_CHECK(c.node_path == shmemx::NodePath::queue && c.progress == Progress::off);
  BOOST_CHECK(c.queue_cells == 100 && c.queue_cell_bytes == 16384 && c.pending_max == 1U << 30);
  BOOST_CHECK(c.transport.count == 2 && c.transport.name(0) == "ucx" && c.transport.name(1) == "tcp");
  BOOST_CHECK(c.node_order == NodeOrder::mixed && !c.tasks_gather && c.alltoall_mesh == 64U);
  BOOST_CHECK(c.pes_per_node == 3 && c.net_timeout == 7 && c.net_rma == NetRma::on && c.net_mac == Switch::on);
  BOOST_CHECK(c.collect_leaders == 4096U && c.collect_group == 8 && !c.receive_bypass);
  BOOST_CHECK_EQUAL(c.tasks_max, std::uint64_t{3} << 30);
  BOOST_CHECK(c.registration_cache == 0 && !c.net_bypass && !c.tcp_one_read);
  BOOST_CHECK_EQUAL(c.eth_interface.text.data(), "eth1,eth2");
  BOOST_CHECK(c.eth_mtu == 1500U && c.eth_block_packets == 16 && c.eth_blocks == 8 && c.eth_resend_us == 5000);
  for (const Origin& origin : c.origins)
    BOOST_CHECK(origin.source == Source::environment && origin.variable != nullptr);
}

BOOST_AUTO_TEST_CASE(checks_are_all_none_or_a_list) {
  const auto of = [](const char* text) { return parse({(std::string("SHMEM_CHECK=") + text).c_str()}); };
  BOOST_CHECK(!parse({}).value().check.any() && !of("0").value().check.any() && !of("OFF").value().check.any());
  for (const char* all : {"1", "all", "heap,overlap,pending,leaks"})
    BOOST_CHECK_EQUAL(kind::checks::text(of(all).value().check), "1");
  BOOST_CHECK_EQUAL(kind::checks::text(of("Leaks, pending").value().check), "pending,leaks");
  BOOST_CHECK_EQUAL(kind::checks::text({}), "0");
  for (const char* wrong : {"", "2", "heap,", "heap,races", "1,heap"}) BOOST_CHECK(!of(wrong));
}

BOOST_AUTO_TEST_CASE(a_watchdog_has_seconds_and_may_abort) {
  BOOST_CHECK(!parse({"SHMEM_WATCHDOG=86400"}).value().watchdog.aborts);
  BOOST_CHECK_EQUAL(kind::watchdog::text({30, true}), "30:abort");
  BOOST_CHECK_EQUAL(kind::watchdog::text({}), "unset");
  for (const char* wrong :
       {"SHMEM_WATCHDOG=", "SHMEM_WATCHDOG=0", "SHMEM_WATCHDOG=86401", "SHMEM_WATCHDOG=30:", "SHMEM_WATCHDOG=30:end",
        "SHMEM_WATCHDOG=:abort", "SHMEM_WATCHDOG=abort", "SHMEM_WATCHDOG=1.5", "SHMEM_WATCHDOG=30s"})
    BOOST_CHECK(!parse({wrong}));
}

BOOST_AUTO_TEST_CASE(a_synthetic_world_names_its_real_nodes) {
  const auto of = [](const char* text) { return parse({(std::string("SHMEMX_SYNTHETIC_WORLD=") + text).c_str()}); };
  const auto two = of("1000000/128@0,524288");
  BOOST_REQUIRE(two);
  const SyntheticWorld& world = two.value().synthetic_world;
  BOOST_CHECK(world.n_pes == 1'000'000 && world.node_pes == 128 && world.n_nodes == 2);
  BOOST_CHECK(world.first_pes[0] == 0 && world.first_pes[1] == 524'288);
  BOOST_CHECK_EQUAL(kind::synthetic_world::text(world), "1000000/128@0,524288");
  BOOST_CHECK_EQUAL(kind::synthetic_world::text({}), "unset");
  BOOST_CHECK(of("2/1@0"));
  for (const char* bad :
       {"", "2", "2/1", "2/1@", "2/1@1", "2/1@0,", "2/1@0,0", "2/1@0,2", "2/0@0", "0/1@0", "2/5000@0", "99999999/1@0",
        "2/1@0;1", "-2/1@0", "2/1@0,1,1", "99/1@0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"})
    BOOST_CHECK_MESSAGE(!of(bad), bad);
}

BOOST_AUTO_TEST_CASE(settings_of_ethernet_have_bounds) {
  kind::frame_mtu::value_type mtu;
  BOOST_CHECK(kind::frame_mtu::parse("639", mtu) != nullptr);
  BOOST_CHECK(kind::frame_mtu::parse("9001", mtu) != nullptr);
  BOOST_CHECK(kind::frame_mtu::parse("auto", mtu) == nullptr && !mtu);
  kind::InterfaceNames names;
  for (const char* good :
       {"interface123456", "a,b,c,d", "interface123456,interface123457,interface123458,interface123459"}) {
    BOOST_CHECK(kind::interface_names::parse(good, names) == nullptr);  // 15 characters are the kernel's most
    BOOST_CHECK_EQUAL(kind::interface_names::text(names), good);
  }
  for (const char* bad : {"interface1234567", "a,interface1234567", "a,b,c,d,e", "a,", ",a", "a,b,a", ""})
    BOOST_CHECK_MESSAGE(kind::interface_names::parse(bad, names) != nullptr, bad);
  BOOST_CHECK(kind::interface_names::parse("a, ab", names) == nullptr);
  BOOST_CHECK_EQUAL(kind::interface_names::text(names), "a,ab");
  BOOST_CHECK(kind::interface_names::parse("auto", names) == nullptr);
  BOOST_CHECK_EQUAL(kind::interface_names::text(names), "auto");
  std::uint64_t blocks = 0;
  BOOST_CHECK(kind::block_count::parse("65", blocks) != nullptr);
}

BOOST_AUTO_TEST_CASE(networks_are_names_in_order) {
  const auto of = [](const char* text) { return parse({(std::string("SHMEMX_TRANSPORT=") + text).c_str()}); };
  BOOST_REQUIRE(of("auto"));
  BOOST_CHECK(of("auto").value().transport.count == 0);
  for (const char* bad : {"", "tcp,", ",tcp", "tcp,tcp", "tcp;ucx", "infiniband", "auto,tcp"})
    BOOST_CHECK_MESSAGE(!of(bad), bad);
  for (const char* good : {"tcp", "ofi", "ucx,ofi,tcp", "tcp,ucx", "ethernet,tcp", "ethernet,ofi,ucx,tcp"}) {
    const auto config = of(good);
    BOOST_REQUIRE(config);
    BOOST_CHECK_EQUAL(kind::networks::text(config.value().transport), good);
    BOOST_CHECK_EQUAL(kind::networks::text(kind::networks::of_code(config.value().transport.code())), good);
  }
}

BOOST_AUTO_TEST_CASE(info_has_levels) {
  const auto of = [](const char* text) { return parse({(std::string("SHMEM_INFO=") + text).c_str()}).value().info; };
  BOOST_CHECK(of("") == kind::InfoLevel::variables && of("0") == kind::InfoLevel::variables &&
              of("3") == kind::InfoLevel::variables);
  BOOST_CHECK(of("2") == kind::InfoLevel::all && of(" Peers ") == kind::InfoLevel::peers &&
              of("all") == kind::InfoLevel::every_variable);
}

BOOST_AUTO_TEST_CASE(any_value_switches_the_standards_flags_on) {
  for (const char* value : {"", "0", "no", "1", "anything at all"}) {
    const auto config = parse({("SHMEM_DEBUG=" + std::string(value)).c_str()});
    BOOST_REQUIRE(config);
    BOOST_CHECK(config.value().debug);
  }
}

BOOST_AUTO_TEST_CASE(deprecated_names_of_the_standard_are_read_and_overridden_by_the_new) {
  const auto old = parse({"SMA_SYMMETRIC_SIZE=2m", "SMA_DEBUG=", "SMA_INFO=1", "SMA_VERSION=1"});
  BOOST_REQUIRE(old);
  BOOST_CHECK(old.value().symmetric_size == 2097152U && old.value().debug &&
              old.value().info == kind::InfoLevel::variables && old.value().version);
  BOOST_CHECK(old.value().warnings.empty());
  BOOST_CHECK(old.value().origin_of(Variable::symmetric_size).source == Source::alias);
  BOOST_CHECK_EQUAL(old.value().origin_of(Variable::symmetric_size).variable, std::string("SMA_SYMMETRIC_SIZE"));

  for (const auto& both : {parse({"SMA_SYMMETRIC_SIZE=2m", "SHMEM_SYMMETRIC_SIZE=4m"}),
                           parse({"SHMEM_SYMMETRIC_SIZE=4m", "SMA_SYMMETRIC_SIZE=2m"}),
                           parse({"SHMEM_SYMMETRIC_SIZE=4m", "SMA_SYMMETRIC_SIZE=nonsense"})}) {
    BOOST_REQUIRE(both);
    BOOST_CHECK(both.value().symmetric_size == 4194304U);
    BOOST_CHECK(both.value().origin_of(Variable::symmetric_size).source == Source::environment);
  }
}

BOOST_AUTO_TEST_CASE(widespread_aliases_are_honoured_with_one_warning) {
  for (const std::string name : {"SHMEM_SYMMETRIC_HEAP_SIZE", "XT_SYMMETRIC_HEAP_SIZE"}) {
    const auto config = parse({(name + "=64M").c_str()});
    BOOST_REQUIRE(config);
    BOOST_CHECK(config.value().symmetric_size == 67108864U);
    BOOST_REQUIRE_EQUAL(config.value().warnings.size(), 1U);
    BOOST_CHECK(contains(config.value().warnings[0], name));
    BOOST_CHECK(contains(config.value().warnings[0], "did you mean SHMEM_SYMMETRIC_SIZE?"));
  }
  const auto beside = parse({"XT_SYMMETRIC_HEAP_SIZE=64M", "SHMEM_SYMMETRIC_SIZE=1m"});
  BOOST_REQUIRE(beside);
  BOOST_CHECK(beside.value().symmetric_size == 1048576U && beside.value().warnings.empty());
}

BOOST_AUTO_TEST_CASE(a_warning_about_an_unknown_variable_contains_the_nearest_name) {
  const auto config =
      parse({"SHMEM_SYMETRIC_SIZE=1g", "SMA_SYMMETRIC_SIZ=1g", "SHMEM_SPIN_NS=3", "SHMEMX_COLOUR_OF_THE_SKY=blue"});
  BOOST_REQUIRE(config);
  const Config& c = config.value();
  BOOST_CHECK(!c.symmetric_size && !c.spin_ns);
  BOOST_REQUIRE_EQUAL(c.warnings.size(), 4U);
  BOOST_CHECK_EQUAL(c.warnings[0],
                    "unknown variable 'SHMEM_SYMETRIC_SIZE' has no effect; did you mean SHMEM_SYMMETRIC_SIZE?");
  BOOST_CHECK(contains(c.warnings[1], "did you mean SHMEM_SYMMETRIC_SIZE?"));
  BOOST_CHECK(contains(c.warnings[2], "did you mean SHMEMX_SPIN_NS?"));
  BOOST_CHECK(contains(c.warnings[3], "SHMEM_INFO=all lists all variables"));
}

BOOST_AUTO_TEST_CASE(a_warning_about_a_variable_of_another_library_says_what_does_its_work) {
  const auto config = parse({"SHMEM_OFI_PROVIDER=tcp", "SHMEM_BARRIER_ALGORITHM=tree", "SHMEM_TEAMS_MAX=10",
                             "SHMEM_TEAMS_MAXIMUM=10", "SMA_OFI_PROVIDER=tcp"});
  BOOST_REQUIRE(config);
  const std::vector<std::string>& warnings = config.value().warnings;
  BOOST_REQUIRE_EQUAL(warnings.size(), 5U);
  BOOST_CHECK_EQUAL(warnings[0],
                    "variable 'SHMEM_OFI_PROVIDER' of another library has no effect; "
                    "SHMEMX_TRANSPORT=ofi,tcp and FI_PROVIDER do that here");
  BOOST_CHECK(contains(warnings[1], "collectives choose here by size"));
  BOOST_CHECK(contains(warnings[2], "the number of teams has no limit here"));
  BOOST_CHECK(contains(warnings[3], "unknown variable 'SHMEM_TEAMS_MAXIMUM'"));
  BOOST_CHECK(contains(warnings[4], "unknown variable 'SMA_OFI_PROVIDER'"));
}

// A variable that exists here is none of another library, whatever its name begins or ends with.
BOOST_AUTO_TEST_CASE(variables_of_other_libraries_are_none_of_ours) {
#define SHMEMX_CONFIG_NAME(member, kind_, name, ...) \
  BOOST_CHECK_MESSAGE(shmemx::config::instead_of(name) == nullptr, name);
  SHMEMX_CONFIG_TABLE(SHMEMX_CONFIG_NAME)
#undef SHMEMX_CONFIG_NAME
}

BOOST_AUTO_TEST_CASE(warnings_can_be_silenced) {
  const auto config = parse({"SHMEM_SYMETRIC_SIZE=1g", "SHMEM_SYMMETRIC_HEAP_SIZE=1m", "SHMEMX_WARN_UNKNOWN=0"});
  BOOST_REQUIRE(config);
  BOOST_CHECK(config.value().warnings.empty());
  BOOST_CHECK(config.value().symmetric_size == 1048576U);
}

BOOST_AUTO_TEST_CASE(variables_of_other_programs_are_ignored) {
  const auto config =
      parse({"SHMEMX_JOB_FD=5", "SHMEMX_JOB_PE=0", "SHMEM_HOME=/opt/shmem", "SHMEM_OPTS=-n 4", "SHMEM_LDFLAGS=-lshmem",
             "SHMEMER=1", "SMALL=2", "XT_OTHER=3", "SHMEM_NO_EQUALS_SIGN", "shmem_debug=1"});
  BOOST_REQUIRE(config);
  BOOST_CHECK(config.value().warnings.empty());
  BOOST_CHECK(!config.value().debug);
}

BOOST_AUTO_TEST_CASE(an_error_about_a_bad_value_names_variable_value_and_allowed_values) {
  const auto config = parse({"SHMEM_SYMMETRIC_SIZE=12q"});
  BOOST_REQUIRE(!config);
  BOOST_CHECK(config.error().code == Errc::invalid_argument);
  BOOST_CHECK_EQUAL(
      config.error().text,
      "SHMEM_SYMMETRIC_SIZE: value '12q' has characters after the number that are not a suffix; allowed is a number of "
      "bytes, whole or decimal, with at most one suffix k, m, g or t (powers of 1024), or auto; for example "
      "SHMEM_SYMMETRIC_SIZE=1.5g");
  BOOST_CHECK(contains(error_of({"SMA_SYMMETRIC_SIZE=-1"}), "SMA_SYMMETRIC_SIZE: value '-1' is negative"));
  BOOST_CHECK(contains(error_of({"XT_SYMMETRIC_HEAP_SIZE="}), "XT_SYMMETRIC_HEAP_SIZE: value '' is empty"));
  BOOST_CHECK(contains(error_of({"SHMEM_WAIT=sleep"}), "allowed is auto, spin or block"));
  BOOST_CHECK(contains(error_of({"SHMEM_WAIT="}), "is empty"));
  BOOST_CHECK(contains(error_of({"SHMEM_INIT_ERRORS=2"}), "allowed is abort or return"));
  BOOST_CHECK(contains(error_of({"SHMEMX_HUGE_PAGES=2m"}), "auto, never or always"));
  BOOST_CHECK(contains(error_of({"SHMEMX_STATIC_DATA=maybe"}), "is neither yes nor no"));
  BOOST_CHECK(contains(error_of({"SHMEMX_SPIN_NS=1.5"}), "is not a whole number"));
  BOOST_CHECK(contains(error_of({"SHMEMX_SPIN_NS=soon"}), "is not a number"));
}

BOOST_AUTO_TEST_CASE(bounded_numbers_are_checked_at_both_ends) {
  for (const char* good : {"SHMEMX_QUEUE_CELLS=8", "SHMEMX_QUEUE_CELLS=65536", "SHMEMX_QUEUE_CELL_BYTES=512",
                           "SHMEMX_QUEUE_CELL_BYTES=1m", "SHMEMX_QUEUE_CELL_BYTES=4160", "SHMEMX_PENDING_MAX=1m"}) {
    BOOST_CHECK_EQUAL(error_of({good}), "");
  }
  BOOST_CHECK(contains(error_of({"SHMEMX_QUEUE_CELLS=7"}),
                       "value '7' is too small; allowed is a whole number from 8 to 65536"));
  BOOST_CHECK(contains(error_of({"SHMEMX_QUEUE_CELLS=65537"}), "is too large"));
  BOOST_CHECK(contains(error_of({"SHMEMX_QUEUE_CELLS=auto"}), "is not a number"));
  BOOST_CHECK(contains(error_of({"SHMEMX_QUEUE_CELL_BYTES=448"}), "is too small"));
  BOOST_CHECK(contains(error_of({"SHMEMX_QUEUE_CELL_BYTES=1048640"}), "is too large"));
  BOOST_CHECK(
      contains(error_of({"SHMEMX_QUEUE_CELL_BYTES=1000"}), "is not a multiple; allowed is a multiple of 64 bytes"));
  BOOST_CHECK(contains(error_of({"SHMEMX_PENDING_MAX=1k"}), "is too small"));
  BOOST_CHECK(contains(error_of({"SHMEMX_NODE_PATH=mapped"}), "allowed is auto, direct or queue"));
  BOOST_CHECK(contains(error_of({"SHMEMX_PROGRESS=1"}), "allowed is auto, on or off"));
}

BOOST_AUTO_TEST_CASE(an_error_text_is_one_line_of_bounded_length) {
  const std::string entry = "SHMEM_SYMMETRIC_SIZE=x\ny" + std::string(100000, 'z');
  const std::string text = error_of({entry.c_str()});
  BOOST_CHECK(contains(text, "'x?yzzz"));
  BOOST_CHECK(!contains(text, "\n"));
  BOOST_CHECK_LT(text.size(), 400U);
}

BOOST_AUTO_TEST_CASE(the_first_of_two_equal_names_counts) {
  const auto config = parse({"SHMEM_SYMMETRIC_SIZE=1m", "SHMEM_SYMMETRIC_SIZE=nonsense"});
  BOOST_REQUIRE(config);
  BOOST_CHECK(config.value().symmetric_size == 1048576U);
}

BOOST_AUTO_TEST_CASE(the_reaction_to_errors_is_read_although_another_value_is_bad) {
  BOOST_CHECK(init_errors({"SHMEM_SYMMETRIC_SIZE=12q", "SHMEM_INIT_ERRORS=return"}) == InitErrors::return_);
  BOOST_CHECK(init_errors({"SHMEM_SYMMETRIC_SIZE=12q"}) == InitErrors::abort);
  BOOST_CHECK(init_errors({"SHMEM_INIT_ERRORS=nonsense"}) == InitErrors::abort);
}

BOOST_AUTO_TEST_CASE(edit_distance_counts_single_changes) {
  BOOST_CHECK_EQUAL(edit_distance("", ""), 0U);
  BOOST_CHECK_EQUAL(edit_distance("abc", ""), 3U);
  BOOST_CHECK_EQUAL(edit_distance("kitten", "sitting"), 3U);
  BOOST_CHECK_EQUAL(edit_distance(std::string(500, 'a'), std::string(500, 'a')), 0U);
  BOOST_CHECK_EQUAL(nearest_variable("SHMEM_WAITT"), "SHMEM_WAIT");
  BOOST_CHECK_EQUAL(nearest_variable("SHMEM_"), "");
  BOOST_CHECK_EQUAL(nearest_variable(""), "");
}

BOOST_AUTO_TEST_SUITE_END()
