// The engine's queues of posted receives and of unexpected messages.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

#include "base/recycled_memory.hpp"
#include "simulated_job.hpp"

BOOST_AUTO_TEST_SUITE(pt2pt_engine_queues)

using namespace simulated;

BOOST_AUTO_TEST_CASE(a_blocking_receive_may_be_queued_as_every_other) {
  for (const bool bypass : {true, false}) {
    Settings settings = plain_settings(LmtChoice::automatic);
    settings.receive_bypass = bypass;
    Job job(2, settings);
    BOOST_TEST(job.engine(1).is_bare() == bypass);
    int word = 0;
    const int sent = 7;
    const ReceiveRequest* const receive =
        job.engine(1).receive(Cursor(Shape::contiguous(&word, sizeof word)), {kAny, kAny}, true);
    BOOST_TEST((receive->phase == (bypass ? Phase::bypass : Phase::posted)));
    job.engine(0).send(Cursor(Shape::contiguous(&sent, sizeof sent)), 1, 5, {});
    job.run();
    BOOST_TEST((receive->phase == Phase::complete));
    BOOST_TEST(word == 7);
    BOOST_TEST(job.engine(1).is_bare() == bypass);
  }
}

#if !defined(__SANITIZE_ADDRESS__)  // with it nothing is kept
// The C library would give such memory back to the kernel, and the next message would fault it in again.
BOOST_AUTO_TEST_CASE(memory_of_long_unexpected_messages_is_kept_for_the_next_ones) {
  Job job(2, plain_settings(LmtChoice::automatic), kHeapBytes, 1);
  const std::vector<std::byte> data(40'000, std::byte{7});
  std::vector<std::byte> message(sizeof(EagerHeader) + data.size());
  const EagerHeader header{3, static_cast<std::uint32_t>(data.size())};
  std::memcpy(message.data(), &header, sizeof header);
  std::memcpy(message.data() + sizeof header, data.data(), data.size());
  const auto memory_of_message = [&] {
    job.engine(1).on_eager(0, message);
    const Unexpected* const kept = job.engine(1).probe({0, 3});
    BOOST_REQUIRE(kept != nullptr);
    const std::size_t recycled = recycled_bytes();
    std::vector<std::byte> to(data.size());
    const ReceiveRequest* const receive =
        job.engine(1).receive(Cursor(Shape::contiguous(to.data(), to.size())), {0, 3}, true);
    BOOST_TEST((receive->phase == Phase::complete));
    BOOST_TEST((to == data));
    BOOST_TEST(recycled_bytes() >= recycled + data.size());
    return kept;
  };
  const Unexpected* const first = memory_of_message();
  BOOST_TEST(memory_of_message() == first);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
