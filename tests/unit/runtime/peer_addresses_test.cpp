// Endpoint addresses and records of PEs of other nodes, with threads as the PEs and without a launcher.
#include "runtime/peer_addresses.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "../../support/threads.hpp"
#include "runtime/record_exchange.hpp"

BOOST_AUTO_TEST_SUITE(runtime_peer_addresses)

using namespace shmemx;
using runtime::PeerAddresses;

namespace {

constexpr int kPes = 6;  // two on each of three nodes

// What the PEs of a job would get from their launcher.
class FakeLauncher final : public bootstrap::Bootstrap {
 public:
  explicit FakeLauncher(int pe) : pe_(pe) {
    nodes_.node_of = {0, 0, 1, 1, 2, 2};
    nodes_.hosts = {"a", "b", "c"};
  }
  bootstrap::Identity identity() const override { return {pe_, kPes}; }
  std::string_view name() const override { return "fake"; }
  Result<UniqueFd> arena() override { return bootstrap::create_job_file(kPes, 9); }
  const bootstrap::NodeMap& nodes() const override { return nodes_; }
  void abort(int) override {}
  void finalize() override {}
  Result<std::string> fetch(int node) override {
    ++n_fetches;
    if (failure) return *failure;
    return published[static_cast<std::size_t>(node)];
  }
  Result<std::string> combine(std::string mine, const bootstrap::Merge& merge) override {
    std::string all = of_nodes.empty() ? std::move(mine) : of_nodes.front();
    for (std::size_t node = 1; node < of_nodes.size(); ++node) {
      SHMEMX_TRY_ASSIGN(joined, merge(all, of_nodes[node]));
      all = std::move(joined);
    }
    combined = all;
    return all;
  }

  std::vector<std::string> published = std::vector<std::string>(3);
  std::vector<std::string> of_nodes;  // the contributions of all nodes; empty: there is this one only
  std::string combined;
  std::optional<Error> failure;
  std::atomic<int> n_fetches = 0;

 private:
  bootstrap::NodeMap nodes_;
  int pe_;
};

windows::Arena new_arena(int node = 0) {
  auto file = bootstrap::create_job_file({kPes, 2, 9, {1, 2}});
  windows::Arena arena = std::move(*windows::Arena::open(std::move(*file)));
  arena.set_pes({2 * node, 2 * node + 1});
  return arena;
}
windows::Arena same_arena(const windows::Arena& arena, int node = 0) {
  windows::Arena same = std::move(*windows::Arena::open(UniqueFd(::fcntl(arena.fd(), F_DUPFD_CLOEXEC, 0))));
  same.set_pes({2 * node, 2 * node + 1});
  return same;
}

std::string address_of(int pe, const std::string& network) { return network + " of " + std::to_string(pe); }

// Fills in what the PEs of a node have, as they do in init.
void fill_own(const windows::Arena& arena, const bootstrap::NodeMap& map, int node,
              const std::vector<std::string>& networks = {"tcp", "ucx"}) {
  for (int pe = 0; pe < kPes; ++pe) {
    if (map.node(pe) != node) continue;
    bootstrap::PeAddresses& own = arena.endpoint_addresses(pe);
    for (const std::string& network : networks)
      BOOST_REQUIRE(runtime::add_address(own, network, address_of(pe, network)));
    runtime::close_addresses(own);
  }
}

// PE 0's launcher; all nodes have published.
void publish_all(FakeLauncher& launcher) {
  for (int node = 0; node < 3; ++node) {
    const windows::Arena arena = new_arena(node);
    fill_own(arena, launcher.nodes(), node);
    launcher.published[static_cast<std::size_t>(node)] = runtime::addresses_of_node(arena);
  }
}

std::string text_of(transport::Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_node_is_read_at_the_first_contact_for_all_who_share_the_arena) {
  FakeLauncher launcher(0);
  publish_all(launcher);
  const windows::Arena first = new_arena();
  const windows::Arena second = same_arena(first);
  fill_own(first, launcher.nodes(), 0);
  const PeerAddresses own(first, launcher);
  const PeerAddresses node_peers(second, launcher);
  BOOST_CHECK_EQUAL(text_of(own.of(1, "tcp")), "tcp of 1");
  BOOST_CHECK(own.has(5, "ucx"));
  BOOST_CHECK_EQUAL(launcher.n_fetches, 0);
  BOOST_CHECK_EQUAL(text_of(own.of(3, "ucx")), "ucx of 3");
  BOOST_CHECK_EQUAL(text_of(node_peers.of(3, "tcp")), "tcp of 3");
  BOOST_CHECK_EQUAL(text_of(node_peers.of(2, "tcp")), "tcp of 2");
  BOOST_CHECK(node_peers.of(2, "ofi").empty());
  BOOST_CHECK_EQUAL(launcher.n_fetches, 1);
  BOOST_REQUIRE(node_peers.read_all().has_value());
  BOOST_CHECK_EQUAL(launcher.n_fetches, 2);
  BOOST_REQUIRE(own.read_all().has_value());
  BOOST_CHECK_EQUAL(launcher.n_fetches, 2);
}

BOOST_AUTO_TEST_CASE(threads_read_at_the_same_time) {
  for (int turn = 0; turn < 100; ++turn) {
    FakeLauncher launcher(0);
    publish_all(launcher);
    const windows::Arena first = new_arena();
    const windows::Arena second = same_arena(first);
    fill_own(first, launcher.nodes(), 0);
    std::atomic<int> wrong = 0;
    test_support::run_on_threads(4, [&](int thread) {
      const PeerAddresses addresses(thread % 2 == 0 ? first : second, launcher);
      for (int pe = 0; pe < kPes; ++pe) {
        if (text_of(addresses.of((pe + thread) % kPes, "ucx")) != address_of((pe + thread) % kPes, "ucx")) ++wrong;
      }
    });
    BOOST_CHECK_EQUAL(wrong, 0);
    BOOST_CHECK_LE(launcher.n_fetches, 8);
  }
}

BOOST_AUTO_TEST_CASE(damaged_addresses_are_errors) {
  FakeLauncher launcher(0);
  publish_all(launcher);
  const std::string whole = launcher.published[1];
  const auto is_refused = [&](const std::string& text) {
    launcher.published[1] = text;
    const windows::Arena arena = new_arena();
    return !PeerAddresses(arena, launcher).read_node_of(3).has_value();
  };
  BOOST_CHECK(!is_refused(whole));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) BOOST_CHECK(is_refused(whole.substr(0, bytes)));
  BOOST_CHECK(is_refused(launcher.published[2]));
  for (const char number : {'\0', '\1', '\4', '\6', '\xff'})  // of a PE that is on another node or does not exist
    BOOST_CHECK(is_refused(std::string(whole).replace(0, 1, 1, number)));
  BOOST_CHECK(is_refused(std::string(whole).replace(3, 1, "\x80")));
  BOOST_CHECK(is_refused(std::string(whole).replace(5, 1, "\x7f")));
  BOOST_CHECK(is_refused(std::string(whole).replace(7, 1, "\xff")));
}

BOOST_AUTO_TEST_CASE(failures_are_passed_on_and_nothing_is_known_after_the_end_of_the_session) {
  FakeLauncher launcher(0);
  const windows::Arena arena = new_arena();
  const PeerAddresses addresses(arena, launcher);
  launcher.failure = Error{Errc::protocol, 0, "the launcher closed its socket"};
  const Status read = addresses.read_node_of(4);
  BOOST_REQUIRE(!read.has_value());
  BOOST_CHECK_EQUAL(read.error().text, "the launcher closed its socket");
  launcher.failure = Error{Errc::no_launcher, 0, "ended"};
  BOOST_CHECK(addresses.of(4, "tcp").empty());
}

BOOST_AUTO_TEST_CASE(equal_records_are_sent_once_and_different_ones_are_all_seen) {
  std::vector<windows::Arena> arenas;
  std::vector<std::string> contributions;
  for (int node = 0; node < 3; ++node) {
    FakeLauncher launcher(2 * node);
    arenas.push_back(new_arena(node));
    const windows::Arena& arena = arenas.back();
    fill_own(arena, launcher.nodes(), node,
             node == 2 ? std::vector<std::string>{"tcp"} : std::vector<std::string>{"tcp", "ucx"});
    for (int pe = 2 * node; pe < 2 * node + 2; ++pe) {
      arena.record(pe).heap_bytes = static_cast<std::uint64_t>(1000 - pe);
      arena.record(pe).queue_cells = pe == 3 ? 128 : 64;
      arena.record(pe).node_order = pe == 4 ? 1 : 0;
      arena.record(pe).pid = 4711 + pe;  // does not matter to others
    }
    BOOST_REQUIRE(runtime::lead_records(arena, launcher).has_value());
    contributions.push_back(launcher.combined);
  }
  for (int node = 0; node < 3; ++node) {
    const windows::Arena& arena = arenas[static_cast<std::size_t>(node)];
    FakeLauncher own(2 * node);
    own.of_nodes = contributions;
    BOOST_REQUIRE(runtime::lead_records(arena, own).has_value());
    BOOST_CHECK_EQUAL(arena.header().networks_differ, 1U);
    std::uint64_t least = ~std::uint64_t{0};
    std::vector<int> seen;
    for (const auto& [pe, record] : arena.records()) {
      seen.push_back(pe);
      BOOST_CHECK_EQUAL(record->queue_cells, pe == 3 ? 128U : 64U);
      BOOST_CHECK_EQUAL(record->node_order, pe == 4 ? 1U : 0U);
      least = std::min(least, record->heap_bytes);
    }
    for (const int different : {0, 3, 4})
      BOOST_CHECK_MESSAGE(std::find(seen.begin(), seen.end(), different) != seen.end(), different);
    BOOST_CHECK_EQUAL(least, 995U);
    for (std::size_t bytes = 1; bytes < contributions[0].size(); ++bytes) {
      own.of_nodes = {contributions[0].substr(0, bytes)};
      BOOST_CHECK(!runtime::lead_records(arena, own).has_value());
    }
  }
}

// Two nodes of 100 PEs.
class LargeJob final : public bootstrap::Bootstrap {
 public:
  static constexpr int kEach = 100;
  explicit LargeJob(int node) : node_(node) {
    for (int pe = 0; pe < 2 * kEach; ++pe) nodes_.node_of.add(static_cast<std::uint32_t>(pe / kEach));
    nodes_.hosts = {"a", "b"};
  }
  bootstrap::Identity identity() const override { return {node_ * kEach, 2 * kEach}; }
  std::string_view name() const override { return "large"; }
  Result<UniqueFd> arena() override { return bootstrap::create_job_file({2 * kEach, kEach, 9, {1, 2}}); }
  const bootstrap::NodeMap& nodes() const override { return nodes_; }
  void abort(int) override {}
  void finalize() override {}
  Result<std::string> combine(std::string mine, const bootstrap::Merge& merge) override {
    own = mine;
    return other.empty() ? std::move(mine) : merge(node_ == 0 ? mine : other, node_ == 0 ? other : mine);
  }
  std::string own;
  std::string other;

 private:
  int node_;
  bootstrap::NodeMap nodes_;
};

// However many differ, the extremes and the first PE with another setting are known on the other node.
BOOST_AUTO_TEST_CASE(of_many_different_records_those_that_matter_are_kept) {
  std::vector<windows::Arena> arenas;
  std::string contributions[2];
  for (int node = 0; node < 2; ++node) {
    LargeJob launcher(node);
    arenas.push_back(std::move(*windows::Arena::open(std::move(*launcher.arena()))));
    arenas.back().set_pes(launcher.nodes().pes_with(node * LargeJob::kEach, 2 * LargeJob::kEach));
    for (const auto& of_pe : arenas.back().records()) {
      bootstrap::PeRecord& record = arenas.back().record(of_pe.pe);
      record.static_bytes = 4096U * static_cast<unsigned>(of_pe.pe * 37 % 200);
      record.heap_bytes = static_cast<std::uint64_t>(100'000 + of_pe.pe * 71 % 200);
      record.address_limit = static_cast<std::uint64_t>(1'000'000 + of_pe.pe * 113 % 200);
      record.node_order = of_pe.pe == 150 || of_pe.pe == 170 ? 2 : 0;
      record.queue_cells = of_pe.pe == 199 ? 128 : 64;
    }
    BOOST_REQUIRE(runtime::lead_records(arenas.back(), launcher).has_value());
    contributions[node] = launcher.own;
  }
  LargeJob launcher(0);
  launcher.other = contributions[1];
  BOOST_REQUIRE(runtime::lead_records(arenas[0], launcher).has_value());
  BOOST_CHECK_LE(arenas[0].header().n_foreign, bootstrap::kForeignRecords);
  const auto extremes = [](const windows::Arena& arena, int first, int end) {
    std::array<std::uint64_t, 3> found{0, ~std::uint64_t{0}, ~std::uint64_t{0}};
    for (const auto& [pe, record] : arena.records()) {
      if (pe < first || pe >= end) continue;
      found[0] = std::max(found[0], record->static_bytes);
      found[1] = std::min(found[1], record->heap_bytes);
      found[2] = std::min(found[2], record->address_limit);
    }
    return found;
  };
  BOOST_CHECK(extremes(arenas[0], 100, 200) == extremes(arenas[1], 100, 200));
  std::vector<int> with_other_order;
  bool sees_cells = false;
  for (const auto& [pe, record] : arenas[0].records()) {
    if (record->node_order != 0) with_other_order.push_back(pe);
    sees_cells = sees_cells || (pe == 199 && record->queue_cells == 128);
  }
  BOOST_REQUIRE(!with_other_order.empty());
  BOOST_CHECK_EQUAL(with_other_order.front(), 150);
  BOOST_CHECK(sees_cells);
}

BOOST_AUTO_TEST_SUITE_END()
