// Detection of the nodes, over a key-value store between threads.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../support/all_descriptors.hpp"
#include "../support/threads.hpp"
#include "bootstrap/backends.hpp"
#include "bootstrap/kvs_text.hpp"
#include "bootstrap/placement.hpp"
#include "bootstrap/wire.hpp"
#include "fake_kvs.hpp"

namespace boot = shmemx::bootstrap;
using fake_kvs::FakeKvs;
using fake_kvs::Store;

BOOST_TEST_GLOBAL_FIXTURE(AllDescriptors);  // 128 PEs in one process

namespace {

// The result on one PE.
struct Seen {
  std::string error;
  boot::NodeMap nodes;
  shmemx::UniqueFd arena;
  std::uint64_t job_id = 0;
  std::uint64_t secret = 0;
  std::uint32_t n_node_pes = 0;
  std::string combined;
  std::vector<std::string> received;
  boot::Traffic traffic;
};

std::string blob_of(int pe) { return std::string(3000, static_cast<char>(pe)) + std::to_string(pe); }

bool is_lowest_of_its_node(const boot::NodeMap& nodes, int pe) {
  for (int other = 0; other < pe; ++other) {
    if (nodes.node(other) == nodes.node(pe)) return false;
  }
  return true;
}

boot::HostDescription host_of(const Store& store, int pe) {
  boot::HostDescription host = boot::describe_own_host();
  const auto at = static_cast<std::size_t>(pe);
  if (!store.machine.empty()) {
    host.machine = static_cast<std::uint64_t>(store.machine[at]);
    host.host = "host" + std::to_string(store.machine[at]);
  }
  if (!store.container.empty()) host.net = static_cast<std::uint64_t>(store.container[at]);
  return host;
}

shmemx::Result<std::string> join(const std::string& lower, const std::string& higher) { return lower + " " + higher; }

// Returns the text of an error, or none.
std::string exchange(const Store& store, boot::Bootstrap& bootstrap, int pe, Seen& seen) {
  const bool is_lowest = is_lowest_of_its_node(seen.nodes, pe);
  const std::string blob = blob_of(pe);
  if (is_lowest) {
    if (auto put = bootstrap.publish(std::as_bytes(std::span(blob.data(), blob.size()))); !put) return put.error().text;
  }
  auto combined = bootstrap.combine(is_lowest ? std::to_string(pe) : std::string(), join);
  if (!combined) return combined.error().text;
  seen.combined = *combined;
  for (int node = 0; store.fetches_all && node < seen.nodes.n_nodes(); ++node) {
    auto received = bootstrap.fetch(node);
    if (!received) return received.error().text;
    seen.received.push_back(std::move(*received));
  }
  return {};
}

Seen find_nodes(Store& store, int pe) {
  Seen seen;
  auto bootstrap = boot::make_kvs_bootstrap(std::make_unique<FakeKvs>(store, pe), host_of(store, pe));
  auto arena = bootstrap->arena();
  if (!arena) {
    seen.error = arena.error().text;
    return seen;
  }
  seen.arena = std::move(*arena);
  seen.nodes = bootstrap->nodes();
  void* at = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, seen.arena.get(), 0);
  const auto* header = static_cast<const boot::JobHeader*>(at);
  seen.job_id = header->job_id;
  seen.secret = header->secret[0] ^ header->secret[1];
  seen.n_node_pes = header->n_node_pes;
  ::munmap(at, 4096);
  if (seen.nodes.n_nodes() == 1) return seen;
  seen.error = exchange(store, *bootstrap, pe, seen);
  seen.traffic = bootstrap->traffic();
  return seen;
}

boot::NodeRuns runs_of(const std::vector<std::uint32_t>& nodes) {
  boot::NodeRuns runs;
  for (const std::uint32_t node : nodes) runs.add(node);
  return runs;
}

std::vector<Seen> run_job(Store& store) {
  std::vector<Seen> seen(static_cast<std::size_t>(store.size));
  test_support::run_on_threads(store.size, [&](int pe) { seen[static_cast<std::size_t>(pe)] = find_nodes(store, pe); });
  return seen;
}

// `expected`: the node of each PE.
void check(const std::vector<Seen>& seen, const std::vector<std::uint32_t>& expected) {
  std::map<std::uint32_t, std::set<ino_t>> files;
  std::set<ino_t> all_files;
  std::string firsts;  // the lowest PEs of the nodes, which they combine
  for (int pe = 0; pe < static_cast<int>(seen.size()); ++pe) {
    if (is_lowest_of_its_node(seen[0].nodes, pe)) firsts += (firsts.empty() ? "" : " ") + std::to_string(pe);
  }
  for (std::size_t pe = 0; pe < seen.size(); ++pe) {
    const Seen& own = seen[pe];
    BOOST_REQUIRE_MESSAGE(own.error.empty(), "pe " << pe << ": " << own.error);
    const auto size = std::count(expected.begin(), expected.end(), expected[pe]);
    BOOST_CHECK_EQUAL(own.n_node_pes, size);
    BOOST_CHECK_EQUAL(own.job_id, seen[0].job_id);
    BOOST_CHECK_EQUAL(own.secret, seen[0].secret);
    for (std::size_t other = 0; other < seen.size(); ++other) {
      BOOST_CHECK_EQUAL(own.nodes.node(static_cast<int>(other)), static_cast<int>(expected[other]));
    }
    struct stat about {};
    BOOST_REQUIRE_EQUAL(::fstat(own.arena.get(), &about), 0);
    files[expected[pe]].insert(about.st_ino);
    all_files.insert(about.st_ino);
    if (own.nodes.n_nodes() == 1) {
      BOOST_CHECK(own.received.empty());
      continue;
    }
    BOOST_CHECK_EQUAL(own.combined, is_lowest_of_its_node(own.nodes, static_cast<int>(pe)) ? firsts : "");
    BOOST_REQUIRE_EQUAL(own.received.size(), own.nodes.hosts.size());
    for (std::size_t node = 0; node < own.received.size(); ++node) {
      const auto first = std::find(expected.begin(), expected.end(), node) - expected.begin();
      BOOST_CHECK(own.received[node] == blob_of(static_cast<int>(first)));
    }
  }
  for (const auto& [node, inodes] : files) BOOST_CHECK_EQUAL(inodes.size(), 1U);
  BOOST_CHECK_EQUAL(all_files.size(), files.size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kvs_bootstrap)

BOOST_AUTO_TEST_CASE(one_machine_is_one_node_after_few_fences) {
  for (const auto& [n, fences_for_hosts] : {std::pair(2, 1), {3, 1}, {16, 1}, {17, 2}, {65, 2}}) {
    Store store(n);
    const auto seen = run_job(store);
    check(seen, std::vector<std::uint32_t>(static_cast<std::size_t>(n), 0));
    BOOST_CHECK(seen[0].nodes.node_of.empty());
    for (const int fences : store.fences) BOOST_CHECK_EQUAL(fences, fences_for_hosts + 2);
    // Pieces of 127 bytes: each of at most 15 children's tables has two or three, and so has the plan.
    for (const std::size_t gets : store.gets) BOOST_CHECK_LE(gets, static_cast<std::size_t>(3 + 45 * fences_for_hosts));
  }
}

// Values as long as those of Hydra; nodes of one PE and of four; in the order of hosts and not.
BOOST_AUTO_TEST_CASE(each_pe_reads_little_in_jobs_of_many_nodes) {
  for (const auto& [n_nodes, per_node, is_cyclic] :
       {std::tuple(64, 1, false), {64, 2, true}, {64, 4, false}, {200, 1, false}}) {
    Store store(n_nodes * per_node);
    store.value_bytes = 900;
    store.fetches_all = false;
    std::vector<std::uint32_t> expected;
    for (int pe = 0; pe < store.size; ++pe) {
      const int node = is_cyclic ? pe % n_nodes : pe / per_node;
      store.machine.push_back(1000 + node);
      expected.push_back(static_cast<std::uint32_t>(node));
    }
    const auto seen = run_job(store);
    for (const Seen& own : seen) {
      BOOST_REQUIRE_EQUAL(own.error, "");
      BOOST_REQUIRE(own.nodes.node_of == runs_of(expected));
      BOOST_CHECK_LE(own.nodes.node_of.bytes(), 2048U);
    }
    // Three trees of two or three levels, in which a PE has at most 15 children at each; a node's name in few bytes.
    const auto nodes = static_cast<std::uint64_t>(n_nodes);
    const std::uint64_t levels = n_nodes * per_node > 256 ? 3 : 2;
    std::uint64_t all_bytes = 0;
    for (std::size_t pe = 0; pe < seen.size(); ++pe) {
      const boot::Traffic& traffic = seen[pe].traffic;
      BOOST_CHECK_EQUAL(traffic.gets, store.gets[pe]);
      BOOST_CHECK_LE(traffic.gets, 3 * 15 * levels + 8);
      BOOST_CHECK_LE(traffic.got_bytes, 200 * nodes);
      all_bytes += traffic.got_bytes;
    }
    // Most PEs have no children: they read the plan, an offer, and the results.
    BOOST_CHECK_LE(seen.back().traffic.gets, 8U);
    BOOST_CHECK_LE(all_bytes, (16 * nodes + 800) * seen.size());
    BOOST_CHECK_LE(store.fences[0], static_cast<int>(3 * levels + 5));
    BOOST_TEST_MESSAGE(n_nodes << " nodes of " << per_node << ": PE 0 gets " << seen[0].traffic.gets << " values, "
                               << seen[0].traffic.got_bytes << " bytes; the last one " << seen.back().traffic.gets
                               << ", " << seen.back().traffic.got_bytes << "; " << store.fences[0] << " fences");
  }
}

// Any PE and thread may read what a node has published, until the PE ends its session with the launcher.
BOOST_AUTO_TEST_CASE(threads_read_what_nodes_have_published_until_the_end) {
  constexpr int kPes = 4;
  Store store(kPes);
  store.machine = {1, 2, 1, 3};
  test_support::run_on_threads(kPes, [&](int pe) {
    auto bootstrap = boot::make_kvs_bootstrap(std::make_unique<FakeKvs>(store, pe), host_of(store, pe));
    const bool is_ready = bootstrap->arena().has_value();
    Seen seen;
    seen.nodes = bootstrap->nodes();
    const std::string error = is_ready ? exchange(store, *bootstrap, pe, seen) : "no arena";
    std::vector<int> wrong(6);
    test_support::run_on_threads(6, [&](int thread) {
      for (int turn = 0; turn < 50; ++turn) {
        const int node = (thread + turn) % 3;
        auto read = bootstrap->fetch(node);
        if (!read || *read != blob_of(node == 2 ? 3 : node)) ++wrong[static_cast<std::size_t>(thread)];
        if (bootstrap->traffic().gets == 0) ++wrong[static_cast<std::size_t>(thread)];
      }
    });
    bootstrap->finalize();
    const auto late = bootstrap->fetch(0);
    const std::lock_guard lock(store.mutex);  // Boost's checks are for one thread at a time
    BOOST_CHECK_EQUAL(error, "");
    BOOST_CHECK_EQUAL(std::count(wrong.begin(), wrong.end(), 0), 6);
    BOOST_CHECK(bootstrap->may_fetch_later());
    BOOST_REQUIRE(!late.has_value());
    BOOST_CHECK(late.error().code == shmemx::Errc::no_launcher);
  });
}

// Loads a library of that name, which has nothing to do with MPI.
class OtherLibrary {
 public:
  explicit OtherLibrary(const char* name) {
    std::string folder = "/tmp/shmemx-test-XXXXXX";
    path_ = std::string(::mkdtemp(folder.data())) + "/" + name;
    Dl_info about{};
    ::dladdr(::dlsym(RTLD_DEFAULT, "_Unwind_Backtrace"), &about);  // a library that is always there
    std::filesystem::copy_file(about.dli_fname, path_);
    handle_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~OtherLibrary() {
    if (handle_ != nullptr) ::dlclose(handle_);
    std::filesystem::remove_all(std::filesystem::path(path_).parent_path());
  }
  bool is_loaded() const { return handle_ != nullptr; }

 private:
  std::string path_;
  void* handle_ = nullptr;
};

// One PE of a job of two nodes reads, while the other waits at the end.
BOOST_AUTO_TEST_CASE(a_store_that_is_shared_with_mpi_is_read_at_the_start_only) {
  for (const bool is_loaded_before : {true, false}) {
    Store store(2);
    store.machine = {1, 2};
    store.shares_with_mpi = true;
    std::vector<std::unique_ptr<boot::Bootstrap>> job;
    for (int pe = 0; pe < store.size; ++pe)
      job.push_back(boot::make_kvs_bootstrap(std::make_unique<FakeKvs>(store, pe), host_of(store, pe)));
    auto library = is_loaded_before ? std::make_unique<OtherLibrary>("libmpi_other.so") : nullptr;
    std::vector<std::string> errors(2, "no arena");
    test_support::run_on_threads(store.size, [&](int pe) {
      boot::Bootstrap& own = *job[static_cast<std::size_t>(pe)];
      if (!own.arena()) return;
      Seen seen;
      seen.nodes = own.nodes();
      errors[static_cast<std::size_t>(pe)] = exchange(store, own, pe, seen);
    });
    BOOST_CHECK(errors == std::vector<std::string>(2));
    BOOST_CHECK_EQUAL(job[0]->may_fetch_later(), !is_loaded_before);
    BOOST_CHECK(job[0]->fetch(1).has_value());
    if (is_loaded_before) continue;
    library = std::make_unique<OtherLibrary>("libmpi_other.so");
    BOOST_REQUIRE(library->is_loaded());
    const auto late = job[0]->fetch(1);
    BOOST_REQUIRE(!late.has_value());
    BOOST_CHECK(late.error().text.find("MPI has been loaded after shmem_init") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(fences_need_not_be_barriers) {
  for (int turn = 0; turn < 20; ++turn) {
    Store one(9);
    one.lazy_fences = true;
    check(run_job(one), std::vector<std::uint32_t>(9, 0));
    Store two(6);
    two.lazy_fences = true;
    two.machine = {1, 2, 1, 2, 1, 2};
    two.walled = {4};
    check(run_job(two), {0, 1, 0, 1, 2, 1});
  }
}

BOOST_AUTO_TEST_CASE(a_job_of_one_needs_no_fence) {
  Store store(1);
  check(run_job(store), {0});
  BOOST_CHECK_EQUAL(store.fences[0], 0);
}

BOOST_AUTO_TEST_CASE(jobs_may_have_more_pes_than_a_node_and_not_more_than_their_numbers_hold) {
  Store too_large(boot::kMaxPes + 1);
  const Seen seen = find_nodes(too_large, 5);
  BOOST_CHECK_EQUAL(seen.error, "the launcher started 16777217 PEs, allowed are 1..16777216");
  BOOST_CHECK(too_large.values.empty());
}

BOOST_AUTO_TEST_CASE(machines_are_nodes_for_any_order_of_their_pes) {
  const std::vector<std::vector<int>> layouts = {{1, 2}, {1, 1, 2, 2}, {1, 2, 1, 2, 1}, {9, 9, 4, 9, 7, 4}};
  const std::vector<std::vector<std::uint32_t>> expected = {{0, 1}, {0, 0, 1, 1}, {0, 1, 0, 1, 0}, {0, 0, 1, 0, 2, 1}};
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    Store store(static_cast<int>(layouts[i].size()));
    store.machine = layouts[i];
    const auto seen = run_job(store);
    check(seen, expected[i]);
    for (const Seen& own : seen) {
      BOOST_CHECK_EQUAL(own.nodes.hosts[0], "host" + std::to_string(layouts[i][0]));
      BOOST_CHECK_EQUAL(own.nodes.why, "");
    }
  }
}

BOOST_AUTO_TEST_CASE(sixty_four_nodes_of_two) {
  Store store(128);
  std::vector<std::uint32_t> expected;
  for (int pe = 0; pe < 128; ++pe) {
    store.machine.push_back(1000 + pe % 64);
    expected.push_back(static_cast<std::uint32_t>(pe % 64));
  }
  check(run_job(store), expected);
}

BOOST_AUTO_TEST_CASE(pes_that_cannot_open_the_arena_share_with_their_container) {
  Store store(6);
  store.machine = {1, 1, 1, 2, 1, 2};
  store.container = {5, 6, 5, 5, 6, 5};
  store.walled = {1, 4};
  const auto seen = run_job(store);
  check(seen, {0, 1, 0, 2, 1, 2});
  BOOST_CHECK_EQUAL(seen[3].nodes.why,
                    "pe 0 and pe 1 run on one machine, but in containers, each with its own network");
}

// The lists of several groups are one list in ascending order, whatever the order of the groups' PEs.
BOOST_AUTO_TEST_CASE(pes_of_several_groups_that_cannot_open_arenas_are_found) {
  Store store(9);
  store.machine = {1, 2, 3, 1, 2, 3, 1, 2, 3};
  store.walled = {3, 4, 6, 7, 8};
  const auto seen = run_job(store);
  check(seen, {0, 1, 2, 3, 4, 2, 3, 4, 5});
  BOOST_CHECK_EQUAL(seen[8].nodes.hosts[5], "host3");
}

BOOST_AUTO_TEST_CASE(different_namespaces_alone_do_not_separate_pes) {
  Store store(4);
  store.container = {1, 2, 3, 4};
  const auto seen = run_job(store);
  check(seen, {0, 0, 0, 0});
}

BOOST_AUTO_TEST_CASE(a_pe_whose_arena_cannot_be_opened_is_a_node_alone) {
  Store store(3);
  store.broken_offers = true;
  const auto seen = run_job(store);
  check(seen, {0, 1, 2});
  for (const Seen& own : seen) BOOST_CHECK(own.nodes.why.find("cannot open the memory") != std::string::npos);
  Store two(4);
  two.machine = {1, 2, 1, 2};
  two.broken_offers = true;
  check(run_job(two), {0, 1, 2, 3});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(kvs_text)

BOOST_AUTO_TEST_CASE(texts_of_all_lengths_are_transferred_in_pieces) {
  Store store(1);
  FakeKvs kvs(store, 0);
  for (std::size_t length = 0; length < 4 * fake_kvs::kFakeValueBytes; ++length) {
    const std::string text(length, 'q');
    const std::string key = "t" + std::to_string(length);
    BOOST_REQUIRE(boot::put_text(kvs, key, text).has_value());
    BOOST_REQUIRE(kvs.fence().has_value());
    auto got = boot::get_text(kvs, 0, key);
    BOOST_REQUIRE(got.has_value());
    BOOST_CHECK_EQUAL(*got, text);
  }
}

BOOST_AUTO_TEST_CASE(bytes_are_encoded_as_safe_characters_and_decoded) {
  std::string bytes;
  for (int i = 0; i < 600; ++i) {
    const std::string text = boot::encode_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())));
    BOOST_CHECK(fake_kvs::is_allowed(text));
    auto back = boot::decode_bytes(text);
    BOOST_REQUIRE(back.has_value());
    BOOST_CHECK(*back == bytes);
    bytes += static_cast<char>(i * 11);
  }
  BOOST_CHECK(!boot::decode_bytes("a b").has_value());
}

BOOST_AUTO_TEST_SUITE_END()
