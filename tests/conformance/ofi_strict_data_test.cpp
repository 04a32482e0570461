// The strict provider of tests/support: what it grants, and what arrives.
#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "ofi_strict_node.hpp"

BOOST_AUTO_TEST_SUITE(ofi_strict_data)

namespace {

using namespace strict_test;

const std::vector<std::string> kModes = {"plain", "efa", "cxi", "verbs", "psm3", "raw"};
constexpr int kAnyRegistration =
    FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

bool is_offered(const Options& options, std::uint64_t mode, int mr_mode) {
  fi_info* info = get_info(options, mode, mr_mode);
  const bool is = info != nullptr;
  if (is) fi_freeinfo(info);
  return is;
}

void set_word(Node& node, std::size_t offset, std::uint64_t value) {
  std::memcpy(node.at(offset), &value, sizeof value);
}

std::uint64_t word(Node& node, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, node.at(offset), sizeof value);
  return value;
}

// Writes 1, 2, ... to one word of the target. Returns whether the last one has stayed there in all rounds.
bool last_write_stays(const char* mode, std::uint64_t caps, std::uint64_t flags) {
  constexpr unsigned kWrites = 8;
  const Options options{.mode = mode, .caps = caps};
  Target target(options);
  Node node(options);
  node.connect(target.place());
  for (unsigned i = 1; i <= kWrites; ++i) set_word(node, i * 8, i);
  std::size_t completions = 0;
  for (int round = 0; round < 20; ++round) {
    for (unsigned i = 1; i <= kWrites; ++i) node.write(i * 8, 4096, 8, flags);
    BOOST_REQUIRE(node.wait_for(completions += kWrites));
    if (target.word(4096) != kWrites) return false;
  }
  return true;
}

// One more endpoint of a node's domain, with a queue of its own and selective completion.
struct Channel {
  explicit Channel(Node& of) : node(of) {
    fi_cq_attr attributes{};
    attributes.format = FI_CQ_FORMAT_DATA;
    int result = fi_cq_open(node.domain, &attributes, &cq, nullptr);
    result |= fi_endpoint(node.domain, node.info, &ep, nullptr);
    result |= fi_ep_bind(ep, &node.av->fid, 0);
    result |= fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION);
    result |= fi_enable(ep);
    if (result != 0) std::abort();
  }
  ~Channel() {
    fi_close(&ep->fid);
    fi_close(&cq->fid);
  }

  bool progress() const {
    fi_cq_data_entry entry;
    return fi_cq_read(cq, &entry, 1) == 1;
  }
  void write_silently(std::size_t to, std::uint64_t value) const {
    while (fi_inject_write(ep, &value, sizeof value, node.peer, node.remote + to, node.key) == -FI_EAGAIN) progress();
  }
  // Writes what is at `from` to `to`, behind all writes before, and waits until it is there.
  void flush(std::size_t from, std::size_t to) const {
    for (int i = 0; i < 100; ++i) progress();
    const iovec local{node.at(from), sizeof(std::uint64_t)};
    const fi_rma_iov remote{node.remote + to, sizeof(std::uint64_t), node.key};
    const fi_msg_rma message{&local, nullptr, 1, node.peer, &remote, 1, nullptr, 0};
    while (fi_writemsg(ep, &message, FI_COMPLETION) == -FI_EAGAIN) progress();
    while (!progress()) continue;
  }

  Node& node;
  fid_cq* cq = nullptr;
  fid_ep* ep = nullptr;
};

}  // namespace

BOOST_AUTO_TEST_CASE(hints_without_a_required_mode_are_refused) {
  BOOST_CHECK(is_offered({}, 0, kAnyRegistration));
  BOOST_CHECK(!is_offered({}, 0, 0));
  BOOST_CHECK(!is_offered({.mode = "efa"}, FI_CONTEXT2, kAnyRegistration & ~FI_MR_LOCAL));
  BOOST_CHECK(!is_offered({.mode = "efa"}, 0, kAnyRegistration));
  BOOST_CHECK(is_offered({.mode = "efa"}, FI_CONTEXT2, kAnyRegistration));
  BOOST_CHECK(!is_offered({.mode = "cxi"}, 0, kAnyRegistration & ~FI_MR_ENDPOINT));
  BOOST_CHECK(!is_offered({.mode = "raw"}, FI_CONTEXT, kAnyRegistration & ~FI_MR_RAW));
  BOOST_CHECK(is_offered({.mode = "psm3"}, FI_CONTEXT2, 0));
  BOOST_CHECK(!is_offered({.mode = "efa", .caps = FI_MSG | FI_RMA | FI_FENCE}, FI_CONTEXT2, kAnyRegistration));
  BOOST_CHECK(!is_offered({.caps = FI_MSG | FI_TAGGED}, 0, kAnyRegistration));
}

BOOST_AUTO_TEST_CASE(efa_has_no_wait_object) {
  Node node({.mode = "efa"});
  int fd = -1;
  BOOST_CHECK_EQUAL(fi_control(&node.cq->fid, FI_GETWAIT, &fd), -FI_ENOSYS);
  fi_cq_attr attributes{};
  attributes.wait_obj = FI_WAIT_FD;
  fid_cq* cq = nullptr;
  BOOST_CHECK_EQUAL(fi_cq_open(node.domain, &attributes, &cq, nullptr), -FI_ENOSYS);
}

BOOST_DATA_TEST_CASE(rma_needs_no_help_of_a_sleeping_target, boost::unit_test::data::make(kModes), mode) {
  const Options options{.mode = mode.c_str()};
  Target target(options);
  Node node(options);
  node.connect(target.place());
  constexpr std::size_t kBytes = 100'000;
  for (std::size_t i = 0; i < kBytes; ++i) *node.at(i) = std::byte(i * 7);
  node.write(0, 1000, kBytes);
  BOOST_REQUIRE(node.wait_for(1));
  node.read(131'072, 1000, kBytes);
  BOOST_REQUIRE(node.wait_for(2));
  BOOST_CHECK(node.errors.empty());
  BOOST_CHECK(std::memcmp(node.at(0), node.at(131'072), kBytes) == 0);
  BOOST_CHECK_EQUAL(target.word(1000), word(node, 0));
}

BOOST_DATA_TEST_CASE(messages_come_in_order,
                     boost::unit_test::data::make(kModes) * boost::unit_test::data::make({false, true}), mode,
                     for_many) {
  constexpr unsigned kMessages = 120;
  const Options options{.mode = mode.c_str()};
  Target target(options);
  Node node(options);
  node.connect(target.place());
  constexpr std::size_t kStep = 2048;  // a message each, so that none is changed while it is sent
  for (unsigned i = 0; i < kMessages; ++i) set_word(node, i * kStep, i);
  for (unsigned i = 0; i < 20; ++i) node.send(i * kStep, i % 5 == 4 ? 2048 : 8 + i);
  for (unsigned i = 20; i < 40; ++i) {
    const std::uint64_t number = i;
    BOOST_REQUIRE_EQUAL(node.post([&] { return fi_inject(node.ep, &number, sizeof number, node.peer); }), 0);
  }
  BOOST_REQUIRE(target.receives(node, 40, for_many));
}

BOOST_DATA_TEST_CASE(long_messages_are_read_by_the_receiver, boost::unit_test::data::make(kModes), mode) {
  const Options options{.mode = mode.c_str()};
  Target target(options);
  Node node(options);
  node.connect(target.place());
  set_word(node, 0, 0);
  set_word(node, 65'536, 1);
  node.send(0, 60'000);
  node.send(65'536, 60'000);
  BOOST_CHECK(target.receives(node, 2, true));
  BOOST_CHECK(node.wait_for(2));
}

BOOST_AUTO_TEST_CASE(order_of_writes_is_kept_where_it_is_granted) {
  BOOST_CHECK(last_write_stays("plain", FI_MSG | FI_RMA, 0));
  BOOST_CHECK(last_write_stays("verbs", FI_MSG | FI_RMA, 0));
  BOOST_CHECK(!last_write_stays("efa", FI_MSG | FI_RMA, 0));
  BOOST_CHECK(!last_write_stays("cxi", FI_MSG | FI_RMA, 0));
  BOOST_CHECK(last_write_stays("cxi", FI_MSG | FI_RMA | FI_FENCE, FI_FENCE));
}

BOOST_AUTO_TEST_CASE(chance_refuses_posts_and_a_seed_of_0_does_not) {
  for (const int seed : {0, 1}) {
    Node node({.seed = seed});
    node.connect_to_itself();
    for (int i = 0; i < 100; ++i) node.write(0, 4096, 8);
    BOOST_CHECK(node.wait_for(100));
    BOOST_CHECK_EQUAL(node.refusals != 0, seed != 0);
  }
}

BOOST_AUTO_TEST_CASE(a_full_queue_refuses_posts) {
  Node node({.mode = "verbs", .seed = 0});
  node.connect_to_itself();
  std::vector<fi_context2> contexts(20);
  unsigned taken = 0;
  for (fi_context2& context : contexts) {
    if (fi_write(node.ep, node.at(0), 8, node.descriptor(), node.peer, node.remote + 4096, node.key, &context) != 0)
      break;
    ++taken;
  }
  BOOST_CHECK_EQUAL(taken, 16U);
  BOOST_CHECK(node.wait_for(taken));
}

BOOST_AUTO_TEST_CASE(injected_data_are_captured_and_silent) {
  Node node;
  node.connect_to_itself();
  for (std::uint64_t i = 1; i <= 20; ++i) {
    std::uint64_t value = i;
    const auto call = [&] {
      return fi_inject_write(node.ep, &value, sizeof value, node.peer, node.remote + i * 8, node.key);
    };
    BOOST_REQUIRE_EQUAL(node.post(call), 0);
    value = 0;
  }
  for (int i = 0; i < 100; ++i) node.progress();
  for (std::uint64_t i = 1; i <= 20; ++i) BOOST_CHECK_EQUAL(word(node, i * 8), i);
  BOOST_CHECK(node.completions.empty());
}

BOOST_AUTO_TEST_CASE(a_peer_that_is_gone_is_an_error_completion) {
  Target target({});
  Node node;
  node.connect(target.place());
  node.write(0, 4096, 8);
  BOOST_REQUIRE(node.wait_for(1));
  target.kill();
  node.write(0, 4096, 8);
  node.send(0, 8);
  BOOST_REQUIRE(node.wait_for(3));
  BOOST_REQUIRE_EQUAL(node.errors.size(), 2U);
  for (const fi_cq_err_entry& error : node.errors) BOOST_CHECK_EQUAL(error.err, FI_EHOSTUNREACH);
}

BOOST_AUTO_TEST_CASE(a_message_wakes_a_sleeping_thread) {
  for (const char* mode : {"plain", "cxi", "verbs", "psm3"}) {
    const Options options{.mode = mode};
    Target target(options);
    Node node(options);
    node.connect(target.place());
    BOOST_CHECK(target.is_woken(node));
  }
}

BOOST_AUTO_TEST_CASE(a_buffer_for_many_messages_is_released_when_it_is_used_up) {
  for (const char* mode : {"plain", "cxi"}) {
    Node node({.mode = mode, .seed = 0});
    std::size_t least = 100;
    BOOST_REQUIRE_EQUAL(fi_setopt(&node.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), 0);
    node.connect_to_itself();
    node.receive(0, 300, FI_MULTI_RECV);
    for (int i = 0; i < 3; ++i) node.send(4096, 80);
    const bool is_separate = std::string(mode) == "cxi";
    BOOST_REQUIRE(node.wait_for(is_separate ? 7 : 6));
    std::size_t place = 0;
    unsigned releases = 0;
    for (const fi_cq_data_entry& entry : node.completions) {
      if ((entry.flags & FI_MULTI_RECV) != 0)
        releases += entry.len == (is_separate ? 0U : 80U) && place + entry.len == 240;
      if ((entry.flags & FI_RECV) == 0) continue;
      BOOST_CHECK_EQUAL(entry.buf, node.at(place));
      place += entry.len;
    }
    BOOST_CHECK_EQUAL(releases, 1U);
  }
}

// The second half of a write may be there before the first one.
BOOST_AUTO_TEST_CASE(a_long_write_has_no_order_inside) {
  Target target({});
  Node node;
  node.connect(target.place());
  set_word(node, 0, 1);
  set_word(node, 8, 1);
  unsigned torn = 0;
  for (std::size_t i = 1; i <= 40; ++i) {
    node.write(0, i * 16, 16);
    while (node.completions.size() < i) {
      torn += target.word(i * 16) == 0 && target.word(i * 16 + 8) == 1;
      node.progress();
    }
  }
  BOOST_CHECK_NE(torn, 0U);
}

BOOST_AUTO_TEST_CASE(endpoints_of_a_domain_serve_a_thread_each) {
  for (const fi_threading threading : {FI_THREAD_SAFE, FI_THREAD_COMPLETION, FI_THREAD_ENDPOINT}) {
    Node node({.threading = threading});
    node.connect_to_itself();
    const auto run = [&node](std::size_t thread) {
      const Channel channel(node);
      for (std::uint64_t i = 1; i <= 500; ++i) channel.write_silently(4096 + 64 * thread, i);
      channel.flush(4096 + 64 * thread, 8192 + 64 * thread);
    };
    std::thread other(run, 1);
    run(0);
    other.join();
    BOOST_CHECK_EQUAL(word(node, 8192), 500U);
    BOOST_CHECK_EQUAL(word(node, 8192 + 64), 500U);
  }
}

BOOST_AUTO_TEST_CASE(the_log_counts_operations) {
  const std::string name = "/tmp/shmemx_strict_log." + std::to_string(::getpid());
  ::setenv("SHMEMX_TEST_PROVIDER_LOG", name.c_str(), 1);
  {
    Node node;
    node.connect_to_itself();
    node.write(0, 4096, 100);
    node.read(8192, 4096, 50);
    BOOST_REQUIRE(node.wait_for(2));
  }
  ::unsetenv("SHMEMX_TEST_PROVIDER_LOG");
  std::ifstream file(name);
  std::string line;
  std::getline(file, line);
  ::unlink(name.c_str());
  for (const char* text : {" mode plain ", " sends 0 ", " reads 1 ", " writes 1 ", " av_inserts 1 ",
                           " registrations 1 ", " bytes_read 50 ", " bytes_written 100"})
    BOOST_CHECK_MESSAGE(line.find(text) != std::string::npos, text << " is not in: " << line);
}

BOOST_AUTO_TEST_SUITE_END()
