// Copies that sender and receiver share, through the kernel and by load and store.
#include <boost/test/unit_test.hpp>

#include "../../support/pattern.hpp"
#include "pt2pt/thresholds.hpp"
#include "simulated_job.hpp"

BOOST_AUTO_TEST_SUITE(pt2pt_shared_copy)

using namespace simulated;

namespace {

// A message that PE 1 receives through the kernel. The test decides whose turn it is.
struct KernelCopy {
  explicit KernelCopy(std::size_t bytes, std::size_t receive_bytes, int number = 5)
      : data(test_support::pattern<std::byte>(bytes, 7)), place(receive_bytes), tag(number) {}

  void begin(Job& job, int sender = 0) {
    send = job.engine(sender).send(Cursor(Shape::contiguous(data.data(), data.size())), 1, tag, {});
    receive = job.engine(1).receive(Cursor(Shape::contiguous(place.data(), place.size())), {sender, tag}, true);
    while (job.deliver(sender, 1)) {
    }
  }
  bool arrived() const {
    return send->phase == Phase::complete && receive->phase == Phase::complete &&
           std::memcmp(place.data(), data.data(), std::min(place.size(), data.size())) == 0;
  }

  std::vector<std::byte> data;
  std::vector<std::byte> place;
  int tag;
  SendRequest* send = nullptr;
  ReceiveRequest* receive = nullptr;
};

}  // namespace

BOOST_AUTO_TEST_CASE(sender_and_receiver_share_a_copy_through_the_kernel) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  for (const std::size_t bytes : {2 * kMiB, 2 * kMiB + 1, 5 * kMiB - 7}) {
    for (const std::size_t receive_bytes : {bytes, bytes + 100, bytes - 1}) {
      Job job(2, plain_settings(LmtChoice::cma));
      KernelCopy copy(bytes, receive_bytes);
      copy.begin(job);  // the receiver copies one chunk
      const int reads = job.platform(1).memory_reads;
      BOOST_TEST((copy.receive->phase == Phase::moving));
      job.deliver(1, 0);  // the sender, too
      BOOST_TEST(job.platform(0).memory_writes == 1);
      job.run();
      BOOST_TEST(copy.arrived());
      BOOST_TEST(job.platform(1).memory_reads + job.platform(0).memory_writes >= reads + 1);
      BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected == 0);
    }
  }
}

// The answer reaches a sender that computes when the receiver has copied all; or the end of the message comes while the
// sender still looks for chunks.
BOOST_AUTO_TEST_CASE(a_sender_may_help_late_or_not_to_the_end) {
  for (const bool helps : {false, true}) {
    Job job(2, plain_settings(LmtChoice::cma));
    KernelCopy copy(4 * kMoveBytes, 4 * kMoveBytes);
    copy.begin(job);
    if (helps) {
      job.deliver(1, 0);
      BOOST_TEST((copy.send->phase == Phase::moving));
    }
    while (copy.receive->phase != Phase::complete) job.engine(1).progress();
    BOOST_TEST(job.platform(0).memory_writes == (helps ? 1 : 0));
    job.run();
    BOOST_TEST(copy.arrived());
    BOOST_TEST(job.platform(0).memory_writes == (helps ? 1 : 0));
    BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected == 0);
  }
}

// The kernel lets the sender read the receiver's memory, but not write this part of it.
BOOST_AUTO_TEST_CASE(what_the_sender_cannot_write_is_left_to_the_receiver) {
  Job job(2, plain_settings(LmtChoice::cma));
  job.platform(0).may_write = false;
  KernelCopy copy(4 * kMoveBytes, 4 * kMoveBytes);
  copy.begin(job);
  job.deliver(1, 0);
  BOOST_TEST(job.platform(0).memory_writes == 1);
  BOOST_TEST((copy.send->phase == Phase::waiting));
  job.run();
  BOOST_TEST(copy.arrived());
  BOOST_TEST(job.platform(0).memory_writes == 1);
  BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected == 0);
}

// A program that ends with a message under way gets no more data.
BOOST_AUTO_TEST_CASE(a_receiver_that_has_ended_is_left_alone) {
  Job job(2, plain_settings(LmtChoice::cma));
  KernelCopy copy(4 * kMoveBytes, 4 * kMoveBytes);
  copy.begin(job);
  job.engine(1).stop();
  job.deliver(1, 0);
  BOOST_TEST(job.platform(0).memory_writes == 0);
}

// A second answer to the same offer is none.
BOOST_AUTO_TEST_CASE(a_second_cts_is_rejected) {
  Job job(2, plain_settings(LmtChoice::cma));
  KernelCopy copy(4 * kMoveBytes, 4 * kMoveBytes);
  copy.begin(job);
  const Message cts = job.wire(1, 0).front();
  while (copy.receive->phase != Phase::complete) job.engine(1).progress();
  job.deliver(1, 0);
  BOOST_TEST((copy.send->phase == Phase::waiting));
  Job::hand_over(job.engine(0), 1, cts.id, cts.bytes);
  BOOST_TEST(job.platform(0).rejected == 1);
}

// Where both map each other's memory they copy by load and store.
BOOST_AUTO_TEST_CASE(symmetric_ranges_are_shared) {
  constexpr std::size_t kBytes = 3 * kMoveBytes;
  Job job(2, plain_settings(LmtChoice::mapped), 2 * kBytes);
  const std::vector<std::byte> data = test_support::pattern<std::byte>(kBytes, 7);
  std::byte* const from = job.platform(0).heap.data() + 64;
  std::byte* const to = job.platform(1).heap.data() + 128;
  std::memcpy(from, data.data(), kBytes);
  SendRequest* const send = job.engine(0).send(Cursor(Shape::contiguous(from, kBytes)), 1, 5, {});
  ReceiveRequest* const receive = job.engine(1).receive(Cursor(Shape::contiguous(to, kBytes)), {0, 5}, true);
  job.deliver(0, 1);
  BOOST_TEST((receive->transfer.kind == LmtKind::mapped && receive->phase == Phase::moving));
  job.deliver(1, 0);
  BOOST_TEST(std::memcmp(to + kBytes - kMoveBytes, data.data() + kBytes - kMoveBytes, kMoveBytes) == 0);
  job.run();
  BOOST_TEST((send->phase == Phase::complete && receive->phase == Phase::complete));
  BOOST_TEST(std::memcmp(to, data.data(), kBytes) == 0);
  BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected == 0);
}

// A sender whose answer is of an earlier message claims nothing of the message that is under way.
BOOST_AUTO_TEST_CASE(a_late_sender_leaves_the_next_message_alone) {
  Job job(3, plain_settings(LmtChoice::cma));
  KernelCopy first(3 * kMoveBytes, 3 * kMoveBytes);
  KernelCopy second(3 * kMoveBytes, 3 * kMoveBytes, 6);
  first.begin(job, 0);
  while (first.receive->phase != Phase::complete) job.engine(1).progress();
  second.begin(job, 2);
  BOOST_TEST((second.receive->phase == Phase::moving));
  while (job.deliver(1, 0)) {
  }
  BOOST_TEST(job.platform(0).memory_writes == 0);
  BOOST_TEST(first.arrived());
  job.deliver(1, 2);
  BOOST_TEST(job.platform(2).memory_writes == 1);
  job.run();
  BOOST_TEST(second.arrived());
}

// One message at a time is shared, and none that is scattered or short, or whose sides take turns on a core.
BOOST_AUTO_TEST_CASE(other_copies_through_the_kernel_are_of_the_receiver_alone) {
  const auto writes = [](const Settings& settings, std::size_t bytes, bool strided, bool beside_another) {
    Job job(3, settings);
    KernelCopy other(3 * kMoveBytes, 3 * kMoveBytes, 6);
    if (beside_another) other.begin(job, 2);
    std::vector<std::byte> from = test_support::pattern<std::byte>(bytes + 64, 7);
    std::vector<std::byte> to(bytes);
    std::vector<std::byte> sent(bytes);
    const Shape shape = strided ? Shape::strided(from.data(), bytes / 2, static_cast<std::ptrdiff_t>(bytes / 2 + 64), 2)
                                : Shape::contiguous(from.data(), bytes);
    SendRequest* const send = job.engine(0).send(Cursor(shape), 1, 5, {});
    ReceiveRequest* const receive = job.engine(1).receive(Cursor(Shape::contiguous(to.data(), bytes)), {0, 5}, true);
    job.deliver(0, 1);
    job.deliver(1, 0);
    job.run();
    Cursor(shape).gather(sent.data(), bytes);
    BOOST_TEST((send->phase == Phase::complete && receive->phase == Phase::complete && sent == to));
    if (beside_another) BOOST_TEST(other.arrived());
    return job.platform(0).memory_writes;
  };
  const Settings settings = plain_settings(LmtChoice::cma);
  Settings crowded = settings;
  crowded.crowded = true;
  BOOST_TEST(writes(settings, 3 * kMoveBytes, false, false) > 0);
  BOOST_TEST(writes(settings, 3 * kMoveBytes, false, true) == 0);
  BOOST_TEST(writes(settings, 3 * kMoveBytes, true, false) == 0);
  BOOST_TEST(writes(settings, kSharedCmaBytes - 1, false, false) == 0);
  BOOST_TEST(writes(crowded, 3 * kMoveBytes, false, false) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
