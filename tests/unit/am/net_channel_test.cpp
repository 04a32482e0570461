// The channel to other nodes over a network that notes what it should send.
#include "am/net_channel.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "../../support/fake_transport.hpp"
#include "am/endpoint.hpp"

BOOST_AUTO_TEST_SUITE(am_net_channel)

namespace {

using namespace shmemx;
using namespace shmemx::am;
using test_support::FakeTransport;
using test_support::SentMessage;

using Sent = std::vector<SentMessage>;
constexpr std::uint32_t kQuiet = 1;  // a number of polls at which only awaited acknowledgements leave
constexpr std::uint32_t kAllAcks = 512;

struct Fixture {
  // PE 0 is this one; 1 and 2 are reached over `a`, 3 over `a` or `b`.
  explicit Fixture(bool resumes = true, std::uint64_t burst_ns = 0) {
    a.can.resumes = resumes;
    static const auto done = [](Endpoint&, const Message&) { return Verdict::done; };
    set_handler(kPut, done);
    set_handler(kGet, done, {.role = Role::request});
    set_handler(kReply, done, {.role = Role::reply});
    set_handler(kFlag, done, {.counted = false});
    const std::array<transport::Transport*, 2> networks{&a, &b};
    channel->open({.paths = {networks, route.data(), [](int pe) { return kPaths[static_cast<std::size_t>(pe)]; },
                             route.size(), 1'000'000},
                   .dispatch = &dispatch,
                   .unflushed = &unflushed,
                   .lost = [](int, const std::string&) {},
                   .burst_ns = burst_ns});
  }
  bool send(int pe, HandlerId id, Leave leave = Leave::now) {
    return channel->try_send({.pe = pe, .handler = id, .header = header(), .leave = leave});
  }
  Gathering& gathering() { return channel->gathering(); }
  Bytes header() const { return Bytes(zeros).first(16); }
  void arrive(int pe, HandlerId id, nemesis::Number ack = 0, std::uint8_t flags = 0) {
    channel->deliver(pe, {id, flags, 0, ack}, id == kAck ? Bytes{} : header());
  }
  void drop_flushed() {
    unflushed.drop([this](int pe) { return channel->drop_if_flushed(pe); });
  }

  std::array<std::uint8_t, 4> route{kNodeRoute};
  static constexpr std::array<std::uint8_t, 4> kPaths{0, 1, 1, 3};
  FakeTransport a{"a"}, b{"b"};
  std::vector<std::byte> zeros = std::vector<std::byte>(64);
  Dispatch dispatch{*Locked{}};
  nemesis::UnflushedPes unflushed;
  std::unique_ptr<NetChannel> channel = std::make_unique<NetChannel>();
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_flush_waits_for_counted_messages) {
  Fixture f;
  BOOST_CHECK(f.send(1, kFlag));  // not counted
  BOOST_CHECK_EQUAL(f.unflushed.size(), 0u);
  BOOST_CHECK(f.send(1, kPut) && f.send(1, kGet) && f.send(1, kFlag));
  BOOST_CHECK_EQUAL(f.unflushed.size(), 1u);
  const nemesis::Number number = f.channel->last_counted(1);
  BOOST_CHECK_EQUAL(number, 3u);
  f.arrive(1, kAck, 2);
  BOOST_CHECK(!f.channel->has_executed(1, number));
  f.drop_flushed();
  BOOST_CHECK_EQUAL(f.unflushed.size(), 1u);
  f.arrive(1, kAck, 3);
  BOOST_CHECK(f.channel->has_executed(1, number));
  f.drop_flushed();
  BOOST_CHECK_EQUAL(f.unflushed.size(), 0u);
}

BOOST_AUTO_TEST_CASE(replies_are_not_numbered) {
  Fixture f;
  BOOST_CHECK(f.send(1, kReply));
  BOOST_CHECK_EQUAL(f.unflushed.size(), 0u);
  BOOST_CHECK(f.send(1, kPut));
  BOOST_CHECK_EQUAL(f.channel->last_counted(1), 1u);
}

BOOST_AUTO_TEST_CASE(a_counted_message_is_acknowledged_at_the_next_poll) {
  Fixture f;
  f.arrive(1, kPut);
  f.arrive(2, kFlag, 0, kUncounted);
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK((f.a.sent == Sent{{1, kAck}}));
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK_EQUAL(f.a.sent.size(), 1u);
  f.channel->poll(-1, kAllAcks);
  BOOST_CHECK((f.a.sent == Sent{{1, kAck}, {2, kAck}}));
  f.arrive(1, kReply);
  f.channel->poll(-1, kAllAcks);
  BOOST_CHECK_EQUAL(f.a.sent.size(), 2u);
}

// The program may compute from now on, and what is lost has to be sent again soon.
BOOST_AUTO_TEST_CASE(a_message_over_a_network_that_resumes_wakes_the_thread_that_sleeps_long) {
  static int wake_ups;
  wake_ups = 0;
  network_thread.wake = [] { ++wake_ups; };
  Fixture f;
  BOOST_CHECK(f.send(1, kPut));
  BOOST_CHECK_EQUAL(wake_ups, 0);  // it was awake
  network_thread.sleeps_long = true;
  BOOST_CHECK(f.send(1, kPut) && f.send(1, kPut));
  BOOST_CHECK_EQUAL(wake_ups, 1);
  BOOST_CHECK(!network_thread.sleeps_long);
  network_thread.sleeps_long = false;
  network_thread.wake = nullptr;
}

BOOST_AUTO_TEST_CASE(a_message_carries_the_acknowledgement) {
  Fixture f;
  f.arrive(1, kPut);
  BOOST_CHECK(f.send(1, kPut));
  f.channel->poll(-1, kAllAcks);
  BOOST_CHECK((f.a.sent == Sent{{1, kPut}}));
}

BOOST_AUTO_TEST_CASE(coalesced_messages_leave_as_one_before_any_other) {
  Fixture f;
  for (int i = 0; i < 3; ++i) BOOST_CHECK(f.send(1, kPut, Leave::soon));
  BOOST_CHECK(f.send(2, kPut, Leave::soon));
  BOOST_CHECK(f.a.sent.empty());
  BOOST_CHECK_EQUAL(f.unflushed.size(), 2u);
  f.drop_flushed();  // what has not left is not flushed
  BOOST_CHECK_EQUAL(f.unflushed.size(), 2u);
  BOOST_CHECK(f.send(1, kGet));
  BOOST_CHECK((f.a.sent == Sent{{1, kBatch}, {1, kGet}}));
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK((f.a.sent == Sent{{1, kBatch}, {1, kGet}, {2, kPut}}));
}

// Parts of one operation: too long for a batch, and long ones that the network reads where they lie.
BOOST_AUTO_TEST_CASE(a_message_that_others_follow_gathers_and_nobody_awaits_its_acknowledgement) {
  Fixture f;
  const std::vector<std::byte> data(transport::kLongBytes);
  const Bytes shorter = Bytes(data).first(data.size() - 64);
  OutgoingMessage part{1, kPut, f.header(), shorter, kUntilFlush, Leave::followed, Counting::uncounted};
  BOOST_CHECK(f.channel->try_send(part));
  part.payload = data;
  BOOST_CHECK(f.channel->try_send(part));
  BOOST_CHECK_EQUAL(f.unflushed.size(), 0u);
  BOOST_CHECK(f.channel->try_send({1, kPut, f.header(), data, kUntilFlush, Leave::soon}));
  using transport::Urgency;
  BOOST_CHECK((f.a.urgencies == std::vector<Urgency>{Urgency::gather, Urgency::gather, Urgency::now}));
  BOOST_REQUIRE_EQUAL(f.a.flags.size(), 3u);
  BOOST_CHECK(f.a.flags[0] == kUncounted && f.a.flags[1] == kUncounted && f.a.flags[2] == 0);
  BOOST_CHECK_EQUAL(f.unflushed.size(), 1u);
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK_EQUAL(f.a.flushes, 1);
}

BOOST_AUTO_TEST_CASE(a_message_that_is_alone_in_its_batch_leaves_as_itself) {
  Fixture f;
  BOOST_CHECK(f.send(1, kReply, Leave::soon));
  BOOST_CHECK(f.gathering().send_batches());
  BOOST_CHECK((f.a.sent == Sent{{1, kReply}}));
  f.drop_flushed();
  BOOST_CHECK_EQUAL(f.unflushed.size(), 0u);  // nobody acknowledges a reply
}

namespace {

using transport::Urgency;

// Bursts need the progress thread.
struct BurstFixture : Fixture {
  explicit BurstFixture(std::uint64_t burst_ns = 3'600'000'000'000) : Fixture(true, burst_ns) {
    network_thread.runs.store(true);
  }
  ~BurstFixture() { network_thread.runs.store(false); }
  Urgency send_in_burst(int pe, std::size_t bytes = 16) {
    const std::vector<std::byte> payload(bytes);
    BOOST_CHECK(
        channel->try_send({.pe = pe, .handler = kFlag, .header = {}, .payload = payload, .leave = Leave::burst}));
    return a.urgencies.back();
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(messages_of_a_burst_gather_behind_the_first) {
  BurstFixture f;
  const std::uint32_t begun = gathered_batches();
  BOOST_CHECK(f.send_in_burst(1) == Urgency::now);
  BOOST_CHECK(f.send_in_burst(2) == Urgency::now);
  BOOST_CHECK(f.send_in_burst(1) == Urgency::gather);
  BOOST_CHECK(f.send_in_burst(1, transport::kLongBytes) == Urgency::now);
  BOOST_CHECK(f.send_in_burst(1) == Urgency::gather);
  BOOST_CHECK(f.send(1, kFlag) && f.a.urgencies.back() == Urgency::now);
  BOOST_CHECK_EQUAL(gathered_batches(), begun + 1);
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK_EQUAL(f.a.flushes, 1);
  BOOST_CHECK(f.send_in_burst(1) == Urgency::now);
}

BOOST_AUTO_TEST_CASE(a_flush_of_the_networks_ends_a_burst) {
  BurstFixture f;
  f.gathering().flush_networks();
  BOOST_CHECK_EQUAL(f.a.flushes, 0);
  BOOST_CHECK(f.send_in_burst(1) == Urgency::now);
  BOOST_CHECK(f.send_in_burst(1) == Urgency::gather);
  f.gathering().flush_networks();
  f.gathering().flush_networks();
  BOOST_CHECK_EQUAL(f.a.flushes, 1);
  BOOST_CHECK(f.send_in_burst(1) == Urgency::now);
}

BOOST_AUTO_TEST_CASE(the_progress_thread_sends_what_a_burst_leaves) {
  BurstFixture f;
  BOOST_CHECK(f.send_in_burst(1) == Urgency::now);
  BOOST_CHECK(f.send_in_burst(1) == Urgency::gather);
  BOOST_CHECK(!f.channel->arm(false));  // not before a long sleep
  BOOST_CHECK(f.gathering().send_old(kLookIntervalNs));
  BOOST_CHECK_EQUAL(f.a.flushes, 1);
  BOOST_CHECK(!f.gathering().send_old(2 * kLookIntervalNs));
}

BOOST_AUTO_TEST_CASE(messages_far_from_each_other_are_no_burst) {
  BurstFixture f(0);
  for (int i = 0; i < 3; ++i) BOOST_CHECK(f.send_in_burst(1) == Urgency::now);
}

BOOST_AUTO_TEST_CASE(nothing_of_a_burst_waits_without_the_progress_thread) {
  BurstFixture f;
  network_thread.runs.store(false);
  for (int i = 0; i < 3; ++i) BOOST_CHECK(f.send_in_burst(1) == Urgency::now);
}

BOOST_AUTO_TEST_CASE(a_full_network_keeps_batches_and_acknowledgements) {
  Fixture f;
  f.a.is_full = true;
  f.arrive(2, kPut);
  BOOST_CHECK(f.send(1, kPut, Leave::soon));
  BOOST_CHECK(!f.send(1, kPut));
  BOOST_CHECK(!f.gathering().send_batches());
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK(!f.channel->arm());
  f.a.is_full = false;
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK((f.a.sent == Sent{{2, kAck}, {1, kPut}}));
}

BOOST_AUTO_TEST_CASE(nothing_leaves_before_the_path_is_known) {
  Fixture f;
  BOOST_CHECK(!f.send(3, kPut) && !f.channel->has_exchanged(3));
  BOOST_CHECK((f.a.sent == Sent{{3, kPathProbe}}));
  f.arrive(3, kPathProbeReply);
  BOOST_CHECK(f.channel->has_path(3));
  BOOST_CHECK(f.send(3, kPut));
  BOOST_CHECK((f.a.sent == Sent{{3, kPathProbe}, {3, kPut}}));
  BOOST_CHECK(f.channel->has_exchanged(3));
  BOOST_CHECK_EQUAL(&f.channel->network_of(3), &f.a);
  BOOST_CHECK(f.channel->network_called("b") == &f.b && f.channel->network_called("c") == nullptr);
}

// A world of four million PEs, of which this one meets three. Their numbers are equal in the low 16 bits.
BOOST_AUTO_TEST_CASE(a_world_of_millions) {
  Fixture f;
  ContactTable<std::uint8_t> route;
  route.open(std::size_t{1} << 22);
  route[0] = kNodeRoute;
  const std::array<transport::Transport*, 2> networks{&f.a, &f.b};
  const auto channel = std::make_unique<NetChannel>();
  channel->open({.paths = {networks, route.entries().data(), [](int pe) { return std::uint8_t(pe == 5 ? 2 : 1); },
                           route.size(), 1'000'000},
                 .dispatch = &f.dispatch,
                 .unflushed = &f.unflushed,
                 .lost = nullptr});
  const std::array<int, 3> met{(1 << 20) + 5, 5, 65'536 + 5};
  for (const int pe : met) {
    BOOST_CHECK(!channel->has_exchanged(pe));
    BOOST_CHECK(channel->try_send({.pe = pe, .handler = kPut, .header = f.header()}));
    BOOST_CHECK(channel->try_send({.pe = pe, .handler = kPut, .header = f.header(), .leave = Leave::soon}));
    BOOST_CHECK(channel->has_exchanged(pe));
  }
  BOOST_CHECK(channel->contacts() == std::vector<std::int32_t>(met.begin(), met.end()));
  BOOST_CHECK((f.a.sent == Sent{{met[0], kPut}, {met[2], kPut}}));
  BOOST_CHECK((f.b.sent == Sent{{5, kPut}}));  // each over the network that leads there
  BOOST_CHECK_EQUAL(route[met[0]], 0);
  BOOST_CHECK_EQUAL(route[5], 1);
  f.a.sent.clear();
  BOOST_CHECK(channel->gathering().send_batches());
  BOOST_CHECK((f.a.sent == Sent{{met[2], kPut}, {met[0], kPut}}));
  std::vector<int> unflushed;
  for (std::size_t i = 0; i < f.unflushed.size(); ++i) unflushed.push_back(f.unflushed.at(i));
  BOOST_CHECK(unflushed == std::vector<int>(met.begin(), met.end()));
  channel->deliver(met[0], {kAck, 0, 0, channel->last_counted(met[0])}, {});
  f.unflushed.drop([&](int pe) { return channel->drop_if_flushed(pe); });
  BOOST_CHECK_EQUAL(f.unflushed.size(), 2u);
  for (const int pe : {5, met[2]}) channel->deliver(pe, {kAck, 0, 0, channel->last_counted(pe)}, {});
  f.unflushed.drop([&](int pe) { return channel->drop_if_flushed(pe); });
  BOOST_CHECK_EQUAL(f.unflushed.size(), 0u);
}

// Also a PE that only sends is a contact; one that nobody has met is none.
BOOST_AUTO_TEST_CASE(a_source_is_a_contact) {
  Fixture f;
  f.arrive(2, kPut);
  BOOST_CHECK(f.channel->contacts() == std::vector<std::int32_t>{2});
  f.channel->poll(-1, kQuiet);  // acknowledges it
  BOOST_CHECK(f.channel->has_exchanged(2) && !f.channel->has_exchanged(1));
}

// PE 3 had two of four messages when the first network failed.
BOOST_AUTO_TEST_CASE(the_next_network_sends_once_more_what_the_pe_lacks) {
  Fixture f(false);
  BOOST_CHECK(!f.send(3, kPut));
  f.arrive(3, kPathProbeReply);
  BOOST_CHECK(f.send(3, kPut) && f.send(3, kReply) && f.send(3, kFlag));
  std::vector<std::byte> payload(transport::kLongBytes, std::byte{7});
  transport::Outgoing outgoing;
  BOOST_CHECK(f.channel->try_send({3, kPut, f.header(), payload, until_done(outgoing)}) && !outgoing.done);
  f.channel->lost(3, "it is cut");
  BOOST_CHECK(!f.send(3, kGet));
  PathNote note{2, {}};
  f.b.on_poll = [&] {
    f.channel->deliver(3, {kPathProbeReply, 0, 0, 0}, bytes_of(note));
    f.b.on_poll = nullptr;
  };
  f.b.sent.clear();
  f.a.sent.clear();
  f.channel->poll(-1, kAllAcks);
  BOOST_CHECK((f.b.sent == Sent{{3, kFlag}, {3, kPut}}));
  BOOST_CHECK(f.b.contents.back().size() == 16 + payload.size() && f.b.contents.back().back() == std::byte{7});
  BOOST_CHECK(f.send(3, kGet) && f.a.sent.empty());
  BOOST_CHECK(!outgoing.done);
  f.arrive(3, kAck, 3);
  BOOST_CHECK(outgoing.done);
}

// The last acknowledgement may have been lost with the network, and nothing is sent once more that would carry it.
BOOST_AUTO_TEST_CASE(the_next_network_acknowledges_once_more) {
  Fixture f(false);
  BOOST_CHECK(!f.send(3, kPut));
  f.arrive(3, kPathProbeReply);
  f.arrive(3, kPut);
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK((f.a.sent == Sent{{3, kPathProbe}, {3, kAck}}));
  f.channel->lost(3, "it is cut");
  f.b.on_poll = [&] {
    f.channel->deliver(3, {kPathProbeReply, 0, 0, 0}, bytes_of(PathNote{0, {}}));
    f.b.on_poll = nullptr;
  };
  f.channel->poll(-1, kAllAcks);
  f.channel->poll(-1, kQuiet);
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK((f.b.sent == Sent{{3, kPathProbe}, {3, kAck}}));
}

// Its last message was lost with the network, and the other PE may wait for it.
BOOST_AUTO_TEST_CASE(the_end_waits_for_a_network_that_takes_over) {
  Fixture f(false);
  BOOST_CHECK(!f.send(3, kPut));
  f.arrive(3, kPathProbeReply);
  BOOST_CHECK(f.send(3, kFlag));
  int polls = 0;
  f.a.on_poll = [&] {
    f.channel->lost(3, "it is cut");
    f.a.on_poll = nullptr;
  };
  f.b.on_poll = [&] {
    const PathNote note{0, {}};
    ++polls;
    if (polls == 2) f.channel->deliver(3, {kPathProbeReply, 0, 0, 0}, bytes_of(note));
    if (polls == 4) f.arrive(3, kAck, 1);
  };
  f.channel->finish(60'000);
  BOOST_CHECK_EQUAL(polls, 4);
  BOOST_CHECK((f.b.sent == Sent{{3, kPathProbe}, {3, kFlag}, {3, kAck}}));
}

BOOST_AUTO_TEST_CASE(the_end_waits_for_nobody_who_has_left) {
  Fixture f(false);
  BOOST_CHECK(!f.send(3, kPut));
  f.arrive(3, kPathProbeReply);
  BOOST_CHECK(f.send(3, kFlag) && f.send(1, kFlag));
  f.channel->note_left(3, true);
  f.a.on_poll = [&] { f.channel->lost(1, "it is gone"); };
  f.channel->finish(60'000);
  BOOST_CHECK((f.a.sent == Sent{{3, kPathProbe}, {3, kFlag}, {1, kFlag}}));
}

// The network fails while the payload of the first long message is moving; the second one has been announced, too.
BOOST_AUTO_TEST_CASE(the_place_of_a_message_is_asked_for_once) {
  Fixture f(false);
  static int asked;
  static std::array<std::byte, 3> memory;
  asked = 0;
  set_placement(kFlag, {[](int, Bytes, std::size_t) { return &memory[static_cast<std::size_t>(asked++)]; },
                        [](Endpoint&, int, Bytes, std::size_t) {}});
  const transport::Header fixed{kFlag, 0, 16, 0};
  const auto place_again = [&] { return f.channel->placement(3, fixed, f.header(), transport::kLongBytes); };
  BOOST_CHECK(place_again() == &memory[0]);
  BOOST_CHECK(place_again() == &memory[1]);
  f.b.on_poll = [&] {
    BOOST_CHECK(place_again() == &memory[0]);
    f.channel->placed(3, fixed, f.header(), transport::kLongBytes);
    BOOST_CHECK(place_again() == &memory[1]);
    BOOST_CHECK(place_again() == &memory[2]);
    BOOST_CHECK_EQUAL(asked, 3);
    f.channel->placed(3, fixed, f.header(), transport::kLongBytes);
    f.channel->placed(3, fixed, f.header(), transport::kLongBytes);
  };
  f.channel->poll(-1, 64);  // all networks
  BOOST_CHECK_EQUAL(asked, 3);
  set_placement(kFlag, {});
}

// The thread that sleeps is woken for them, as their sender may wait for room.
BOOST_AUTO_TEST_CASE(many_messages_that_their_sender_keeps_are_acknowledged_without_a_call) {
  for (const bool resumes : {false, true}) {
    Fixture f(resumes);
    for (nemesis::Number i = 0; i < KeptMessages::kAckedMessages - 1; ++i) f.arrive(1, kFlag, 0, kUncounted);
    BOOST_CHECK(f.channel->arm() && f.a.sent.empty());
    f.arrive(1, kFlag, 0, kUncounted);
    BOOST_CHECK(f.channel->arm());
    BOOST_CHECK((f.a.sent == (resumes ? Sent{} : Sent{{1, kAck}})));
  }
}

// Nothing acknowledges replies, so that an empty message has to.
BOOST_AUTO_TEST_CASE(kept_replies_are_followed_by_a_mark) {
  Fixture f(false);
  BOOST_CHECK(!f.send(3, kPut));
  f.arrive(3, kPathProbeReply);
  f.a.sent.clear();
  for (int i = 0; i < 32; ++i) BOOST_CHECK(f.send(3, kReply));
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK_EQUAL(f.a.sent.size(), 33u);
  BOOST_CHECK((f.a.sent.back() == SentMessage{3, kMark}));
  BOOST_CHECK_EQUAL(f.a.flags.back() & kUncounted, 0);  // it is acknowledged soon
  BOOST_CHECK_EQUAL(f.unflushed.size(), 0u);            // but no flush waits for it
  f.channel->poll(-1, kQuiet);
  BOOST_CHECK_EQUAL(f.a.sent.size(), 33u);
}

BOOST_AUTO_TEST_SUITE_END()
