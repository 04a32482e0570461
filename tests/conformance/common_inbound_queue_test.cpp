// The queue of inbound messages, over a source that completes the fetch of a payload when the test calls it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>

#include "endpoints.hpp"
#include "transport/common/inbound_queue.hpp"

using namespace shmemx::transport;
using transport_test::pattern;
using transport_test::Recorder;

namespace {

constexpr std::size_t kLong = 20'000;
constexpr int kSource = 3;

struct TestSource final : InboundSource {
  bool fetch(InboundMessage& message) noexcept override {
    const auto id = static_cast<unsigned>(message.fetch_key[0]);
    under_way[id] = &message;
    most_under_way = std::max(most_under_way, under_way.size());
    return false;
  }
  void discard(InboundMessage& message) noexcept override {
    discarded.push_back(static_cast<unsigned>(message.fetch_key[0]));
  }
  void out_of_memory(int, std::size_t) noexcept override { BOOST_ERROR("out of memory"); }

  // The payload of message `id` arrives.
  void arrive(unsigned id) {
    InboundMessage& message = *under_way.at(id);
    under_way.erase(id);
    const auto payload = pattern(message.payload_bytes, id);
    std::memcpy(message.destination(), payload.data(), payload.size());
    message.queue->complete(message);
  }

  std::map<unsigned, InboundMessage*> under_way;
  std::size_t most_under_way = 0;
  std::vector<unsigned> discarded;
};

struct Fixture {
  Recorder sink;
  TestSource source;
  bool active = false;
  InboundQueue queue{sink, source, {.source = kSource, .most_under_way = 3, .active = &active}};

  void add_short(unsigned id) {
    alignas(kRecordAlign) std::byte message[40];
    const auto bytes = pattern(sizeof message, id);
    std::memcpy(message, bytes.data(), sizeof message);
    queue.add_whole({static_cast<std::uint8_t>(id), 0, 8, 0}, message);
  }
  void announce(unsigned id, std::uint8_t flags = kPlacedEarly, std::size_t bytes = kLong) {
    const auto header = pattern(8, id);
    queue.add_announced({static_cast<std::uint8_t>(id), flags, 8, 0}, header, bytes, {id, 0, 0});
  }
  std::vector<unsigned> delivered() const {
    std::vector<unsigned> ids;
    for (const auto& message : sink.messages) ids.push_back(message.fixed.handler);
    return ids;
  }
};

using Ids = std::vector<unsigned>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(common_inbound_queue, Fixture)

BOOST_AUTO_TEST_CASE(a_message_at_the_head_of_the_queue_is_delivered_at_once) {
  add_short(1);
  BOOST_CHECK(delivered() == Ids{1});
  BOOST_CHECK(active);
  BOOST_CHECK(queue.is_empty());
}

BOOST_AUTO_TEST_CASE(messages_wait_behind_a_payload_that_is_fetched) {
  announce(1);
  add_short(2);
  add_short(3);
  BOOST_CHECK(delivered().empty());
  source.arrive(1);
  BOOST_CHECK((delivered() == Ids{1, 2, 3}));
  BOOST_CHECK(sink.messages[0].payload == pattern(kLong, 1));
  BOOST_CHECK(sink.messages[0].placed);
  const auto third = pattern(40, 3);
  BOOST_CHECK(std::equal(third.begin() + 8, third.end(), sink.messages[2].payload.begin()));
  BOOST_CHECK_EQUAL(sink.messages[2].payload.size(), 32U);
  BOOST_CHECK(sink.aligned);
}

BOOST_AUTO_TEST_CASE(early_placement_allows_several_fetches_and_keeps_the_order) {
  for (const unsigned id : {1U, 2U, 3U, 4U}) announce(id);
  BOOST_CHECK_EQUAL(source.under_way.size(), 3U);  // no more than the limit
  source.arrive(3);
  source.arrive(2);
  BOOST_CHECK(delivered().empty());
  source.arrive(1);
  BOOST_CHECK((delivered() == Ids{1, 2, 3}));
  source.arrive(4);
  BOOST_CHECK((delivered() == Ids{1, 2, 3, 4}));
  BOOST_CHECK(sink.in_order);
  BOOST_CHECK_EQUAL(source.most_under_way, 3U);
}

BOOST_AUTO_TEST_CASE(without_early_placement_each_waits_for_its_turn) {
  announce(1, 0);
  announce(2, 0);
  BOOST_CHECK_EQUAL(source.under_way.size(), 1U);
  source.arrive(1);
  BOOST_CHECK(!sink.overtaken);
  source.arrive(2);
  BOOST_CHECK((delivered() == Ids{1, 2}));
}

BOOST_AUTO_TEST_CASE(a_short_message_is_never_overtaken) {
  announce(1);
  add_short(2);
  announce(3);
  BOOST_CHECK_EQUAL(source.under_way.size(), 1U);
  source.arrive(1);
  BOOST_CHECK((delivered() == Ids{1, 2}));
  source.arrive(3);
  BOOST_CHECK((delivered() == Ids{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(payloads_for_the_same_place_are_fetched_one_after_the_other) {
  sink.same_place = true;
  announce(1);
  announce(2);
  BOOST_CHECK_EQUAL(source.under_way.size(), 1U);
  source.arrive(1);
  BOOST_CHECK(sink.messages[0].payload == pattern(kLong, 1));
  source.arrive(2);
  BOOST_CHECK(sink.messages[1].payload == pattern(kLong, 2));
}

BOOST_AUTO_TEST_CASE(a_long_payload_that_has_arrived_waits_for_its_turn) {
  announce(1);
  add_short(2);
  const auto payload = pattern(kLong, 3);
  queue.add_long({3, 0, 8, 0}, pattern(8, 3), payload);
  source.arrive(1);
  BOOST_CHECK((delivered() == Ids{1, 2, 3}));
  BOOST_CHECK(sink.messages[2].payload == payload);
}

BOOST_AUTO_TEST_CASE(without_a_place_the_queue_allocates_memory) {
  sink.lands = false;
  announce(1);
  source.arrive(1);
  const auto payload = pattern(kLong, 2);
  queue.add_long({2, 0, 8, 0}, pattern(8, 2), payload);
  BOOST_REQUIRE((delivered() == Ids{1, 2}));
  BOOST_CHECK(sink.messages[0].payload == pattern(kLong, 1));
  BOOST_CHECK(sink.messages[1].payload == payload);
  BOOST_CHECK(!sink.messages[0].placed);
  BOOST_CHECK(sink.aligned);
}

BOOST_AUTO_TEST_CASE(a_long_payload_that_has_a_place_is_copied_from_where_it_lies) {
  struct Watcher final : Sink {
    void deliver(int, const Header&, Bytes) noexcept override {}
    std::byte* placement(int, const Header&, Bytes, std::size_t) noexcept override { return place.data(); }
    void placed(int, const Header&, Bytes header, std::size_t) noexcept override { seen = header.data(); }
    void lost(int, const std::string&) noexcept override {}

    std::vector<std::byte> place = std::vector<std::byte>(kLong);
    const std::byte* seen = nullptr;
  };
  Watcher watcher;
  InboundQueue watched(watcher, source, {.source = kSource, .most_under_way = 3, .active = &active});
  const auto header = pattern(8, 1);
  const auto payload = pattern(kLong, 1);
  watched.add_long({1, 0, 8, 0}, header, payload);
  BOOST_CHECK(watcher.seen == header.data());
  BOOST_CHECK(watcher.place == payload);
}

BOOST_AUTO_TEST_CASE(a_declined_payload_is_given_up_and_its_header_delivered) {
  sink.declines = true;
  announce(1, 0);
  BOOST_CHECK((source.discarded == std::vector<unsigned>{1}));
  BOOST_CHECK(delivered() == Ids{1});
  BOOST_CHECK(sink.messages[0].header == pattern(8, 1));
  BOOST_CHECK(sink.messages[0].payload.empty());
  BOOST_CHECK(queue.is_empty());
}

BOOST_AUTO_TEST_CASE(nothing_is_placed_behind_a_message_that_the_sink_has_not_seen) {
  announce(1);
  sink.declines = true;
  announce(2);
  BOOST_CHECK((source.discarded == std::vector<unsigned>{2}));
  sink.declines = false;
  announce(3);
  BOOST_CHECK_EQUAL(source.under_way.size(), 1U);
  source.arrive(1);
  BOOST_CHECK((delivered() == Ids{1, 2}));
  source.arrive(3);
  BOOST_CHECK((delivered() == Ids{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(a_payload_that_is_here_is_delivered_although_it_is_declined) {
  sink.declines = true;
  const auto payload = pattern(kLong, 1);
  queue.add_long({1, 0, 8, 0}, pattern(8, 1), payload);
  BOOST_REQUIRE(delivered() == Ids{1});
  BOOST_CHECK(sink.messages[0].payload == payload);
  BOOST_CHECK(sink.aligned);
}

BOOST_AUTO_TEST_CASE(after_stop_nothing_is_delivered) {
  announce(1);
  announce(2, 0);
  queue.stop();
  source.arrive(1);
  add_short(3);
  BOOST_CHECK(delivered().empty());
  queue.discard_waiting();
  BOOST_CHECK((source.discarded == std::vector<unsigned>{2}));
}

BOOST_AUTO_TEST_CASE(a_queue_is_full_until_what_waits_has_been_delivered) {
  announce(1);
  BOOST_CHECK(!queue.is_full());
  std::size_t n = 0;
  for (; !queue.is_full(); ++n) add_short(2);
  BOOST_CHECK_GT(n, InboundQueue::kMostWaiting / 1000);  // a short message takes little more than itself
  BOOST_CHECK_LT(n, InboundQueue::kMostWaiting / 40);
  source.arrive(1);
  BOOST_CHECK(!queue.is_full());
  BOOST_CHECK_EQUAL(delivered().size(), n + 1);
}

BOOST_AUTO_TEST_CASE(payloads_that_are_kept_count_as_waiting) {
  announce(1);
  announce(2, kPlacedEarly, InboundQueue::kMostWaiting);
  BOOST_CHECK(!queue.is_full());  // that one takes no memory here
  const std::vector<std::byte> payload(InboundQueue::kMostWaiting);
  queue.add_long({3, 0, 8, 0}, pattern(8, 3), payload);
  BOOST_CHECK(queue.is_full());
  source.arrive(1);
  source.arrive(2);
  BOOST_CHECK(!queue.is_full());
  BOOST_CHECK((delivered() == Ids{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(records_that_do_not_fit_are_refused) {
  alignas(kRecordAlign) std::byte memory[64] = {};
  Record record{{1, 0, 4, 0}, 8, kMessageRecord};
  const auto fault_of = [&](std::size_t bytes) {
    std::memcpy(memory, &record, sizeof record);
    RecordReader reader(Bytes(memory, bytes));
    Record read;
    Bytes content;
    while (reader.next(read, content)) {
    }
    return reader.fault() != nullptr;
  };
  BOOST_CHECK(!fault_of(32));
  BOOST_CHECK(fault_of(8));   // the fixed part is truncated
  BOOST_CHECK(fault_of(16));  // the content is truncated
  BOOST_CHECK(fault_of(24));  // the padding is truncated
  record.bytes = ~0U;
  BOOST_CHECK(fault_of(64));
  record.bytes = 2;  // shorter than its header
  BOOST_CHECK(fault_of(32));
}

BOOST_AUTO_TEST_SUITE_END()
