// Small messages to PEs of other nodes: when they leave at once, when they gather, and when a batch leaves.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "../../support/fake_transport.hpp"
#include "am/endpoint.hpp"
#include "am/net_channel.hpp"

BOOST_AUTO_TEST_SUITE(am_gathering)

namespace {

using namespace shmemx;
using namespace shmemx::am;
using test_support::FakeTransport;
using test_support::SentMessage;

using Sent = std::vector<SentMessage>;
constexpr std::uint32_t kSomePoll = 1;
// What a message to a PE has done.
enum class SmallSent : std::uint8_t { no, yes, filled };

// The values that the handler of kPut has got, in order.
std::vector<unsigned> executed;

struct Fixture {
  // PE 0 is this one, the others are of another node.
  explicit Fixture(bool helped = true) {
    executed.clear();
    set_handler(kPut, [](Endpoint&, const Message& message) {
      executed.push_back(std::to_integer<unsigned>(message.payload[0]));
      return Verdict::done;
    });
    set_handler(kGet, [](Endpoint&, const Message&) { return Verdict::done; }, {.role = Role::request});
    set_handler(kFlag, [](Endpoint&, const Message&) { return Verdict::done; }, {.counted = false});
    const std::array<transport::Transport*, 1> networks{&network};
    channel->open({.paths = {networks, route.data(), nullptr, route.size(), 0},
                   .dispatch = &dispatch,
                   .unflushed = &unflushed,
                   .lost = nullptr});
    network_thread.runs.store(helped);
  }
  ~Fixture() { network_thread.runs.store(false); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  SmallSent put(int pe, unsigned value = 0, Leave leave = Leave::idle, std::size_t bytes = 16) {
    data.assign(bytes, std::byte{0});
    data[0] = static_cast<std::byte>(value);
    const std::uint32_t filled = channel->counts().filled;
    if (!channel->try_send({.pe = pe,
                            .handler = kPut,
                            .header = Bytes(data).first(8),
                            .payload = Bytes(data).subspan(8),
                            .leave = leave}))
      return SmallSent::no;
    return channel->counts().filled == filled ? SmallSent::yes : SmallSent::filled;
  }
  bool send(int pe, HandlerId id) {
    return channel->try_send({.pe = pe, .handler = id, .header = Bytes(data).first(8)});
  }
  void acknowledge(int pe, nemesis::Number executed_there) { channel->deliver(pe, {kAck, 0, 0, executed_there}, {}); }
  void acknowledge_all(int pe) { acknowledge(pe, channel->last_counted(pe)); }
  void poll_in_passing() {
    channel->set_waiting(false);
    channel->poll(-1, kSomePoll);
    channel->set_waiting(true);
  }
  // Delivers the i-th message that was sent as if another PE had sent it here.
  void deliver(std::size_t i) {
    std::vector<std::byte> message = network.contents[i];
    channel->deliver(1, {static_cast<std::uint8_t>(network.sent[i].handler), 0, 0, 0}, message);
  }
  void deliver_batch(std::size_t i) { channel->deliver_batch({1, network.contents[i]}); }

  std::array<std::uint8_t, 400> route{kNodeRoute};
  FakeTransport network{"a"};
  std::vector<std::byte> data = std::vector<std::byte>(16);
  Dispatch dispatch{*Locked{}};
  nemesis::UnflushedPes unflushed;
  std::unique_ptr<NetChannel> channel = std::make_unique<NetChannel>();
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_message_to_an_idle_pe_leaves_at_once) {
  Fixture f;
  BOOST_CHECK(f.put(1) == SmallSent::yes);
  BOOST_CHECK(f.put(2) == SmallSent::yes);
  BOOST_CHECK((f.network.sent == Sent{{1, kPut}, {2, kPut}}));
  f.acknowledge_all(1);
  BOOST_CHECK(f.put(1) == SmallSent::yes);
  BOOST_CHECK((f.network.sent == Sent{{1, kPut}, {2, kPut}, {1, kPut}}));
}

BOOST_AUTO_TEST_CASE(a_pe_is_idle_although_it_has_not_acknowledged_what_nobody_awaits) {
  Fixture f;
  BOOST_CHECK(f.send(1, kFlag));
  BOOST_CHECK(f.put(1) == SmallSent::yes);
  BOOST_CHECK((f.network.sent == Sent{{1, kFlag}, {1, kPut}}));
}

BOOST_AUTO_TEST_CASE(messages_gather_until_the_acknowledgement_and_keep_their_order) {
  Fixture f;
  for (unsigned i = 0; i < 5; ++i) BOOST_CHECK(f.put(1, i) == SmallSent::yes);
  BOOST_CHECK_EQUAL(f.network.sent.size(), 1u);
  BOOST_CHECK_EQUAL(f.unflushed.size(), 1u);
  f.poll_in_passing();
  BOOST_CHECK_EQUAL(f.network.sent.size(), 1u);
  f.acknowledge_all(1);
  f.poll_in_passing();
  BOOST_REQUIRE((f.network.sent == Sent{{1, kPut}, {1, kBatch}}));
  f.deliver(0);
  f.deliver_batch(1);
  BOOST_CHECK((executed == std::vector<unsigned>{0, 1, 2, 3, 4}));
  BOOST_CHECK_EQUAL(f.channel->counts().operations, 5u);
  BOOST_CHECK_EQUAL(f.channel->counts().messages, 2u);
  BOOST_CHECK_EQUAL(f.channel->counts().bytes, 5 * 16u);
}

BOOST_AUTO_TEST_CASE(the_acknowledgement_of_a_part_is_not_enough) {
  Fixture f;
  BOOST_CHECK(f.put(1) == SmallSent::yes && f.send(1, kPut));
  BOOST_CHECK(f.put(1) == SmallSent::yes);
  f.acknowledge(1, 1);
  f.poll_in_passing();
  BOOST_CHECK((f.network.sent == Sent{{1, kPut}, {1, kPut}}));
  f.acknowledge(1, 2);
  f.poll_in_passing();
  BOOST_CHECK((f.network.sent == Sent{{1, kPut}, {1, kPut}, {1, kPut}}));
}

BOOST_AUTO_TEST_CASE(a_full_batch_leaves_and_its_acknowledgement_is_not_awaited) {
  Fixture f;
  unsigned sent = 0;
  while (f.put(1, sent++ % 256) == SmallSent::yes) BOOST_REQUIRE_LT(sent, 100'000u);
  BOOST_REQUIRE((f.network.sent == Sent{{1, kPut}, {1, kBatch}}));
  BOOST_CHECK_EQUAL(f.network.flags[0] & kUncounted, 0);
  BOOST_CHECK_EQUAL(f.network.flags[1] & kUncounted, kUncounted);
  BOOST_CHECK_GT(f.network.contents[1].size(), Batch::kBytes - 2 * (sizeof(ItemHeader) + 16));
  BOOST_CHECK_EQUAL(f.channel->last_counted(1), 2u);  // but a flush waits for it
  BOOST_CHECK(f.channel->gathering().send_batches());
  BOOST_REQUIRE_EQUAL(f.network.sent.size(), 3u);
  BOOST_CHECK_EQUAL(f.network.flags[2] & kUncounted, 0);
  f.deliver(0);
  f.deliver_batch(1);
  f.deliver(2);  // it holds one message
  BOOST_REQUIRE_EQUAL(executed.size(), sent);
  for (unsigned i = 0; i < sent; ++i) BOOST_REQUIRE_EQUAL(executed[i], i % 256);
}

BOOST_AUTO_TEST_CASE(a_batch_leaves_before_any_other_message) {
  for (const HandlerId other : {kGet, kPut, kFlag}) {
    Fixture f;
    BOOST_CHECK(f.put(1) == SmallSent::yes && f.put(1) == SmallSent::yes);
    BOOST_CHECK(f.put(2) == SmallSent::yes && f.put(2) == SmallSent::yes);
    BOOST_CHECK(f.send(1, other));
    BOOST_CHECK((f.network.sent == Sent{{1, kPut}, {2, kPut}, {1, kPut}, {1, other}}));
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_finds_no_room_begins_the_next_batch) {
  constexpr std::size_t kLargest = Batch::kBytes / 2 - sizeof(ItemHeader);
  static_assert(Gathering::is_small(kLargest) && !Gathering::is_small(kLargest + 1));
  Fixture f;
  BOOST_CHECK(f.put(1, 1) == SmallSent::yes && f.put(1, 2) == SmallSent::yes);
  BOOST_CHECK(f.put(1, 3, Leave::idle, kLargest) == SmallSent::yes);
  BOOST_CHECK(f.put(1, 4, Leave::idle, kLargest) == SmallSent::filled);
  BOOST_CHECK(f.channel->gathering().send_batches());
  BOOST_REQUIRE((f.network.sent == Sent{{1, kPut}, {1, kBatch}, {1, kPut}}));
  f.deliver(0);
  f.deliver_batch(1);
  f.deliver(2);
  BOOST_CHECK((executed == std::vector<unsigned>{1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(a_fence_keeps_messages_together_and_the_bytes_of_long_ones_behind_them) {
  Fixture f;
  set_handler(kPut, handler_table[kPut].handler, {.place_early = true});
  const std::vector<std::byte> large(transport::kLongBytes);
  BOOST_CHECK(f.put(1) == SmallSent::yes && f.put(1) == SmallSent::yes);
  note_fence();
  BOOST_CHECK(f.put(1) == SmallSent::yes);
  BOOST_CHECK_EQUAL(f.network.sent.size(), 1u);
  note_fence();
  BOOST_CHECK(f.channel->try_send({1, kPut, Bytes(f.data).first(8), large}));
  BOOST_REQUIRE((f.network.sent == Sent{{1, kPut}, {1, kBatch}, {1, kPut}}));
}

BOOST_AUTO_TEST_CASE(a_thread_that_waits_sends_all_batches) {
  Fixture f;
  for (const int pe : {1, 2, 3}) BOOST_CHECK(f.put(pe) == SmallSent::yes && f.put(pe) == SmallSent::yes);
  BOOST_CHECK_EQUAL(f.network.sent.size(), 3u);
  f.channel->poll(-1, kSomePoll);
  BOOST_CHECK_EQUAL(f.network.sent.size(), 6u);
}

BOOST_AUTO_TEST_CASE(a_batch_that_is_old_leaves_without_an_acknowledgement) {
  Fixture f;
  BOOST_CHECK(f.put(1) == SmallSent::yes && f.put(1) == SmallSent::yes);
  std::uint64_t now = 1'000'000'000;
  f.channel->gathering().send_old(now);
  f.channel->gathering().send_old(now + kLookIntervalNs - 1);
  BOOST_CHECK_EQUAL(f.network.sent.size(), 1u);
  f.channel->gathering().send_old(now += kLookIntervalNs);
  BOOST_CHECK((f.network.sent == Sent{{1, kPut}, {1, kPut}}));
  f.channel->gathering().send_old(now += kLookIntervalNs);
  BOOST_CHECK_EQUAL(f.network.sent.size(), 2u);
}

BOOST_AUTO_TEST_CASE(what_the_network_gathers_leaves_at_intervals_and_when_a_thread_waits) {
  Fixture f;
  const auto fill = [&f] {
    while (f.put(1) != SmallSent::filled) {
    }
  };
  fill();
  f.poll_in_passing();
  BOOST_CHECK_EQUAL(f.network.flushes, 0);
  f.channel->gathering().send_old(1'000'000'000);
  BOOST_CHECK_EQUAL(f.network.flushes, 1);
  fill();
  f.channel->poll(-1, kSomePoll);
  BOOST_CHECK_EQUAL(f.network.flushes, 2);
}

BOOST_AUTO_TEST_CASE(a_batch_of_a_session_begins_at_once_and_stays_longer) {
  Fixture f(false);
  BOOST_CHECK(f.put(1, 1, Leave::session) == SmallSent::yes);
  BOOST_CHECK(f.put(1, 2, Leave::session) == SmallSent::yes);
  BOOST_CHECK(f.network.sent.empty());
  f.acknowledge_all(1);
  f.poll_in_passing();
  BOOST_CHECK(f.network.sent.empty());
  std::uint64_t now = 1'000'000'000;
  for (std::uint32_t i = 1; i < Batch::kLooksHeld; ++i) f.channel->gathering().send_old(now += kLookIntervalNs);
  BOOST_CHECK(f.network.sent.empty());
  f.channel->gathering().send_old(now += kLookIntervalNs);
  BOOST_CHECK((f.network.sent == Sent{{1, kBatch}}));
  BOOST_CHECK(f.put(1, 3, Leave::session) == SmallSent::yes);
  f.channel->gathering().flush();  // the end of the session
  BOOST_CHECK((f.network.sent == Sent{{1, kBatch}, {1, kPut}}));
}

BOOST_AUTO_TEST_CASE(without_the_progress_thread_only_sessions_gather) {
  Fixture f(false);
  const auto gathers = [](Leave leave) { return Gathering::gathers(leave, Counting::counted, 8); };
  BOOST_CHECK(!gathers(Leave::idle) && gathers(Leave::session) && !gathers(Leave::now));
  network_thread.runs.store(true);
  BOOST_CHECK(gathers(Leave::idle) && !gathers(Leave::now));
  BOOST_CHECK(!Gathering::gathers(Leave::idle, Counting::uncounted, 8));
}

// A target that does not take anything stops the sender: one batch for it is all that is kept here.
BOOST_AUTO_TEST_CASE(a_full_network_stops_the_sender_when_the_batch_is_full) {
  Fixture f;
  BOOST_CHECK(f.put(1) == SmallSent::yes);
  f.network.is_full = true;
  unsigned taken = 0;
  while (f.put(1) == SmallSent::yes) BOOST_REQUIRE_LT(++taken, 100'000u);
  BOOST_CHECK_LE(taken * 16, Batch::kBytes);
  for (int i = 0; i < 10; ++i) {
    BOOST_CHECK(f.put(1) == SmallSent::no);
    BOOST_CHECK(f.put(2) == SmallSent::no);  // an idle one, but the network is full
    f.channel->poll(-1, kSomePoll);
  }
  BOOST_CHECK_EQUAL(f.network.sent.size(), 1u);
  f.network.is_full = false;
  BOOST_CHECK(f.put(1) == SmallSent::filled);
  BOOST_CHECK((f.network.sent == Sent{{1, kPut}, {1, kBatch}}));
}

BOOST_AUTO_TEST_CASE(the_number_of_open_batches_is_bounded) {
  Fixture f;
  const auto batches = [&f] {
    return std::count_if(f.network.sent.begin(), f.network.sent.end(), [](auto& one) { return one.handler == kBatch; });
  };
  for (int pe = 1; pe < 400; ++pe)
    for (int i = 0; i < 3; ++i) BOOST_REQUIRE(f.put(pe) == SmallSent::yes);  // two of them gather
  BOOST_CHECK_EQUAL(batches(), 399 - 256);
  BOOST_CHECK(f.channel->gathering().send_batches());
  BOOST_CHECK_EQUAL(batches(), 399);
}

BOOST_AUTO_TEST_SUITE_END()
