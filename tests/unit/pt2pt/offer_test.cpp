// The first data of long messages between nodes, which leave with the offer.
#include <boost/test/unit_test.hpp>

#include "../../support/pattern.hpp"
#include "pt2pt/thresholds.hpp"
#include "simulated_job.hpp"

BOOST_AUTO_TEST_SUITE(pt2pt_offers)

using namespace simulated;

namespace {

Settings settings_with(std::size_t unexpected_max) {
  Settings settings = plain_settings(LmtChoice::automatic);
  settings.unexpected_max = unexpected_max;
  return settings;
}
Settings roomy_settings() { return settings_with(std::size_t{16} << 20); }

}  // namespace

// The answer leaves as soon as the header of the offer is there.
BOOST_AUTO_TEST_CASE(the_first_data_of_an_offer_are_placed_in_its_receive) {
  Job job(3, plain_settings(LmtChoice::automatic), kHeapBytes, 1);
  Engine& engine = job.engine(1);
  std::vector<std::byte> memory(200'000);
  const RtsHeader rts{{4, 1}, 200'000, 5, 0, {}};
  const auto place = [&](int source) { return engine.offer_placement(source, am::bytes_of(rts), 100'000); };
  BOOST_TEST(place(0) == nullptr);
  engine.offer_placed(0, 100'000);
  BOOST_TEST(job.platform(1).rejected == 1);
  ReceiveRequest* const list = engine.receive(Cursor(Shape::strided(memory.data(), 10, 20, 20'000)), {0, 5}, false);
  BOOST_TEST(place(0) == nullptr);
  BOOST_TEST(engine.cancel(*list));
  ReceiveRequest* const tight = engine.receive(Cursor(Shape::contiguous(memory.data(), 99'999)), {0, 5}, false);
  BOOST_TEST(place(0) == nullptr);
  BOOST_TEST(engine.cancel(*tight));
  ReceiveRequest* const receive = engine.receive(Cursor(Shape::contiguous(memory.data(), 100'000)), {0, kAny}, true);
  BOOST_TEST(engine.offer_placement(0, am::bytes_of(rts), 200'001) == nullptr);
  const std::byte few[3] = {};
  BOOST_TEST(engine.offer_placement(0, few, 100'000) == nullptr);
  BOOST_TEST(place(2) == nullptr);
  BOOST_TEST(place(0) == memory.data());
  BOOST_REQUIRE(job.wire(1, 0).size() == 1U);
  BOOST_TEST((job.wire(1, 0).front().id == am::kMessageCts));
  BOOST_TEST((receive->phase == Phase::waiting));
  engine.offer_placed(0, 100'000);
  BOOST_TEST((receive->phase == Phase::complete && receive->result.truncated));
  BOOST_TEST(job.platform(1).rejected == 1);
}

// The receiver takes fewer bytes than come with the offer, or none, and the offer is there first or the receive.
BOOST_AUTO_TEST_CASE(an_offer_of_more_than_its_receive_takes_completes) {
  for (const std::size_t room : {std::size_t{0}, std::size_t{1000}, kOfferedBytes}) {
    for (const bool is_expected : {false, true}) {
      Job job(2, roomy_settings(), kHeapBytes, 1);
      const std::vector<std::byte> from = test_support::pattern<std::byte>(300'000, 9);
      std::vector<std::byte> to(room);
      auto* const source = const_cast<std::byte*>(from.data());
      SendRequest* const send = job.engine(0).send(Cursor(Shape::contiguous(source, from.size())), 1, 5, {});
      if (!is_expected) BOOST_REQUIRE(job.deliver(0, 1));
      job.cells = 0;  // the CTS has to wait
      ReceiveRequest* const receive =
          job.engine(1).receive(Cursor(Shape::contiguous(to.data(), to.size())), {0, 5}, false);
      if (is_expected) BOOST_REQUIRE(job.deliver(0, 1));
      BOOST_TEST((receive->phase == Phase::queued));
      job.cells = 8;
      for (bool any = true; any;) any = job.engine(0).progress() || job.engine(1).progress() || job.deliver(1, 0);
      BOOST_TEST((send->phase == Phase::complete && receive->phase == Phase::complete));
      BOOST_TEST((receive->result.bytes == room && receive->result.truncated));
      BOOST_TEST(std::equal(to.begin(), to.end(), from.begin()));
      BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected == 0);
    }
  }
}

// Offers that no receive waits for may be many: most of them are kept without their data, which leave again.
BOOST_AUTO_TEST_CASE(unexpected_offers_keep_a_bounded_part_of_their_data) {
  constexpr int kOffers = 40;
  constexpr std::size_t kBytes = 300'000;
  Job job(2, settings_with(std::size_t{4} << 20), kHeapBytes, 1);
  std::vector<std::vector<std::byte>> from;
  std::vector<SendRequest*> sends;
  for (unsigned i = 0; i < kOffers; ++i) {
    from.push_back(test_support::pattern<std::byte>(kBytes, i));
    sends.push_back(
        job.engine(0).send(Cursor(Shape::contiguous(from.back().data(), kBytes)), 1, static_cast<int>(i), {}));
    BOOST_REQUIRE(job.deliver(0, 1));
  }
  BOOST_TEST(job.platform(1).exhaustions == 0);
  for (int i = kOffers - 1; i >= 0; --i) {
    const auto index = static_cast<std::size_t>(i);
    std::vector<std::byte> to(kBytes);
    ReceiveRequest* const receive = job.engine(1).receive(Cursor(Shape::contiguous(to.data(), kBytes)), {0, i}, false);
    job.run();
    BOOST_TEST((sends[index]->phase == Phase::complete && receive->phase == Phase::complete));
    BOOST_TEST((to == from[index]));
  }
  BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected == 0);
}

// Where the network leaves a payload with its sender until the receiver has a place for it: an offer for which a
// receive waits brings the whole message, and of one that is declined nothing is kept.
BOOST_AUTO_TEST_CASE(a_network_that_declines_takes_whole_messages_with_their_offers) {
  constexpr std::size_t kBytes = 500'000;
  for (const bool is_expected : {false, true}) {
    Job job(2, settings_with(kBytes), kHeapBytes, 1);
    job.platform(0).declinable = kBytes;
    const std::vector<std::byte> from = test_support::pattern<std::byte>(kBytes, 9);
    std::vector<std::byte> to(kBytes);
    ReceiveRequest* receive = nullptr;
    const auto post = [&] {
      receive = job.engine(1).receive(Cursor(Shape::contiguous(to.data(), to.size())), {0, 5}, false);
    };
    if (is_expected) post();
    auto* const source = const_cast<std::byte*>(from.data());
    SendRequest* const send = job.engine(0).send(Cursor(Shape::contiguous(source, kBytes)), 1, 5, {});
    BOOST_REQUIRE(job.wire(0, 1).size() == 1U);
    BOOST_TEST(job.wire(0, 1).front().payload.size() == kBytes);
    BOOST_REQUIRE(job.deliver(0, 1));
    if (!is_expected) post();
    BOOST_TEST((receive->phase == Phase::complete) == is_expected);
    job.run();
    BOOST_TEST((send->phase == Phase::complete && receive->phase == Phase::complete));
    BOOST_TEST((to == from));
    BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected + job.platform(1).exhaustions == 0);
  }
}

// The network may ask for the places of several offers before it has written the first one.
BOOST_AUTO_TEST_CASE(offers_are_placed_while_others_are_under_way) {
  Job job(2, roomy_settings(), kHeapBytes, 1);
  Engine& engine = job.engine(1);
  std::vector<std::vector<std::byte>> memory(3, std::vector<std::byte>(200'000));
  std::vector<ReceiveRequest*> receives;
  for (auto& to : memory)
    receives.push_back(engine.receive(Cursor(Shape::contiguous(to.data(), to.size())), {0, 5}, false));
  for (std::uint32_t i = 0; i < 3; ++i) {
    const RtsHeader rts{{4 * i, 1}, 200'000, 5, 0, {}};
    BOOST_TEST(engine.offer_placement(0, am::bytes_of(rts), 200'000) == memory[i].data());
  }
  const RtsHeader unexpected{{12, 1}, 200'000, 5, 0, {}};
  BOOST_TEST(engine.offer_placement(0, am::bytes_of(unexpected), 200'000) == transport::declined());
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST((receives[i]->phase == Phase::waiting));
    engine.offer_placed(0, 200'000);
    BOOST_TEST((receives[i]->phase == Phase::complete));
  }
  engine.offer_placed(0, 200'000);
  BOOST_TEST(job.platform(1).rejected == 1);
}

// An answer that names other bytes than left with the offer.
BOOST_AUTO_TEST_CASE(answers_name_all_data_of_the_offer_or_none) {
  for (const std::size_t kept : {std::size_t{1}, kOfferedBytes - 1, kOfferedBytes + 1, ~std::size_t{0}}) {
    Job job(2, roomy_settings(), kHeapBytes, 1);
    std::vector<std::byte> memory(300'000);
    SendRequest* const send = job.engine(0).send(Cursor(Shape::contiguous(memory.data(), memory.size())), 1, 5, {});
    const CtsHeader cts{send->id, {0, 1}, memory.size(), LmtKind::network, 0, kept};
    job.engine(0).on_cts(1, am::bytes_of(cts));
    BOOST_TEST(job.platform(0).rejected == 1);
    BOOST_TEST((send->phase == Phase::waiting));
  }
}

BOOST_AUTO_TEST_SUITE_END()
