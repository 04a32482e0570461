// Detection of the nodes, over a key-value store between threads that can simulate machines and unusable offers.
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "../support/all_descriptors.hpp"
#include "../support/threads.hpp"
#include "bootstrap/backends.hpp"
#include "bootstrap/kvs_text.hpp"
#include "bootstrap/placement.hpp"
#include "bootstrap/wire.hpp"

namespace boot = shmemx::bootstrap;

BOOST_TEST_GLOBAL_FIXTURE(AllDescriptors);  // 128 PEs in one process

namespace {

constexpr std::size_t kValueBytes = 127;

// The state that the PEs of one job share.
struct Store {
  explicit Store(int n_pes) : size(n_pes), fences(static_cast<std::size_t>(n_pes)) {}
  std::mutex mutex;
  std::condition_variable all_there;
  std::map<std::string, std::string> values;
  int size;
  int waiting = 0;
  int turn = 0;
  std::size_t n_gets = 0;
  std::vector<int> fences;
  std::vector<int> machine;    // by PE, empty: one
  std::vector<int> container;  // by PE, empty: one
  bool lazy_fences = false;    // a fence returns at once, a get waits
  bool broken_offers = false;  // no PE's arena can be opened
  std::set<int> walled;        // PEs that cannot open an arena offered in the first round
};

bool is_allowed(const std::string& text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:.") ==
         std::string::npos;
}

class FakeKvs final : public boot::Kvs {
 public:
  FakeKvs(Store& store, int pe) : store_(store), pe_(pe) {}
  boot::Identity identity() const override { return {pe_, store_.size}; }
  std::string_view name() const override { return "fake"; }
  std::size_t value_bytes() const override { return kValueBytes; }
  void abort(int) override {}
  void finalize() override {}

  shmemx::Status put(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(store_.mutex);
    const std::string full = key + "-" + std::to_string(pe_);
    const bool fresh = staged_.emplace(full, edited(key, value)).second && store_.values.count(full) == 0;
    if (fresh && full.size() < 64 && value.size() <= kValueBytes && is_allowed(full) && is_allowed(value)) return {};
    return shmemx::Error{shmemx::Errc::protocol, 0, "put of " + full + "=" + value + " is refused"};
  }
  shmemx::Status fence() override {
    {
      const std::lock_guard lock(store_.mutex);
      store_.values.merge(staged_);
      ++store_.fences[static_cast<std::size_t>(pe_)];
      store_.all_there.notify_all();
    }
    return store_.lazy_fences ? shmemx::Status() : meet();
  }
  shmemx::Status barrier() override { return store_.lazy_fences ? meet() : fence(); }
  shmemx::Status meet() {
    std::unique_lock lock(store_.mutex);
    const int turn = store_.turn;
    if (++store_.waiting == store_.size) {
      store_.waiting = 0;
      ++store_.turn;
      store_.all_there.notify_all();
    }
    const bool in_time = store_.all_there.wait_for(lock, std::chrono::seconds(30), [&] { return store_.turn != turn; });
    if (in_time) return {};
    return shmemx::Error{shmemx::Errc::protocol, 0, "not all PEs came to the fence"};
  }
  shmemx::Result<std::string> get(int owner, const std::string& key) override {
    std::unique_lock lock(store_.mutex);
    ++store_.n_gets;
    const std::string full = key + "-" + std::to_string(owner);
    if (store_.lazy_fences) {
      store_.all_there.wait_for(lock, std::chrono::seconds(30), [&] { return store_.values.count(full) == 1; });
    }
    const auto found = store_.values.find(full);
    if (found == store_.values.end()) {
      return shmemx::Error{shmemx::Errc::protocol, 0, "no PE has put " + key + " of " + std::to_string(owner)};
    }
    const bool spoilt = store_.walled.count(pe_) == 1 && key.find("offer0") != std::string::npos;
    return spoilt ? with_unusable_endpoint(found->second) : found->second;
  }

 private:
  std::string edited(const std::string& key, const std::string& value) const {
    const std::size_t one = value.find("one:");
    if (store_.broken_offers && one != std::string::npos) {
      return value.substr(0, one + 4) + with_unusable_endpoint(value.substr(one + 4));
    }
    return store_.broken_offers && key.find("offer") != std::string::npos ? with_unusable_endpoint(value) : value;
  }
  // Replaces socket and process of an offer by ones that do not exist.
  static std::string with_unusable_endpoint(const std::string& offer) {
    const std::size_t job_end = offer.find(':');
    return offer.substr(0, job_end) + ":1:1:0:7ffffff0:3";
  }

  Store& store_;
  int pe_;
  std::map<std::string, std::string> staged_;
};

// The result on one PE.
struct Seen {
  std::string error;
  boot::NodeMap nodes;
  shmemx::UniqueFd arena;
  std::uint64_t job_id = 0;
  std::uint64_t secret = 0;
  std::uint32_t n_node_pes = 0;
  std::vector<std::string> received;
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
  const std::string mine = is_lowest_of_its_node(seen.nodes, pe) ? blob_of(pe) : std::string();
  auto received = bootstrap->exchange(std::as_bytes(std::span(mine.data(), mine.size())));
  if (received) {
    seen.received = std::move(*received);
  } else {
    seen.error = received.error().text;
  }
  return seen;
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
    if (own.nodes.n_nodes() == 1 || !is_lowest_of_its_node(own.nodes, static_cast<int>(pe))) {
      BOOST_CHECK(own.received.empty());
      continue;
    }
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

BOOST_AUTO_TEST_CASE(one_machine_is_one_node_after_three_fences) {
  for (const int n : {2, 3, 17}) {
    Store store(n);
    const auto seen = run_job(store);
    check(seen, std::vector<std::uint32_t>(static_cast<std::size_t>(n), 0));
    BOOST_CHECK(seen[0].nodes.node_of.empty());
    for (const int fences : store.fences) BOOST_CHECK_EQUAL(fences, 3);
    BOOST_CHECK_LE(store.n_gets, 2U * static_cast<std::size_t>(n));
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
  for (std::size_t length = 0; length < 4 * kValueBytes; ++length) {
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
    BOOST_CHECK(is_allowed(text));
    auto back = boot::decode_bytes(text);
    BOOST_REQUIRE(back.has_value());
    BOOST_CHECK(*back == bytes);
    bytes += static_cast<char>(i * 11);
  }
  BOOST_CHECK(!boot::decode_bytes("a b").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(placement)

BOOST_AUTO_TEST_CASE(encoded_leaders_are_decoded_unchanged) {
  const boot::HostDescription host = boot::describe_own_host();
  BOOST_CHECK_LE(boot::encode(host).size(), 120U);
  auto read = boot::decode_host(boot::encode(host));
  BOOST_REQUIRE(read.has_value());
  BOOST_CHECK_EQUAL(read->machine, host.machine);
  BOOST_CHECK_EQUAL(read->others, host.others);
  BOOST_CHECK_EQUAL(read->host, host.host);
  const boot::Leaders leaders = {0, 0, 0, 3, boot::kNoGroup, boot::kNoGroup, 3};
  BOOST_CHECK_EQUAL(boot::encode(leaders), "0-3.3-1.x-2.3-1");
  BOOST_CHECK(boot::decode_leaders(boot::encode(leaders), 7).value() == leaders);
  const std::vector<int> pes = {0, 5, 6};
  BOOST_CHECK(boot::decode_pes(boot::encode_pes(pes), 7).value() == pes);
  BOOST_CHECK(boot::decode_pes("", 7).value().empty());
}

BOOST_AUTO_TEST_CASE(malformed_leaders_are_refused) {
  for (const char* bad : {"", "1:2:3:4:5", "1:2:3:4:5:", "x"}) BOOST_CHECK(!boot::decode_host(bad).has_value());
  for (const char* bad : {"", "0-6", "0-8", "7-7", "0-3.", "0", "-1-7", "0-0.0-7", "0x7", "0-7z"}) {
    BOOST_CHECK_MESSAGE(!boot::decode_leaders(bad, 7).has_value(), bad);
  }
  for (const char* bad : {"7", "-1", "3.2", "3,4", ".", "1.x"}) BOOST_CHECK(!boot::decode_pes(bad, 7).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
