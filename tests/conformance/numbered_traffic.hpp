// Numbered messages between endpoints of tcp, and random traffic of all pairs whose connections the test disturbs.
#pragma once

#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "endpoints.hpp"

namespace transport_test {

// Sends without a poll.
inline void post(Endpoints& job, int from, int to, unsigned number, std::size_t payload_bytes = 0) {
  BOOST_CHECK(job[from].send(to, {1, 0, 4, 0}, number_bytes(number), pattern(payload_bytes, number), nullptr,
                             Urgency::now) == Sent::yes);
}

inline void check_no_losses(Endpoints& job) {
  for (int pe = 0; pe < job.size(); ++pe) {
    for (const Loss& loss : job.sink(pe).losses)
      BOOST_ERROR("PE " << pe << " has lost PE " << loss.pe << ": " << loss.cause);
  }
}

// All pairs of four PEs send messages of all kinds.
class RandomTraffic {
 public:
  static constexpr int kPes = 4;

  explicit RandomTraffic(unsigned seed, const std::string& transport = "tcp")
      : job(transport, {.n = kPes}), random_(seed) {}
  unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }

  // disturb(from, to) may disturb the connection of two PEs, and returns whether it has; else a message is sent. Checks
  // that nothing is lost, doubled or out of order.
  template <class Disturb>
  void run(const Disturb& disturb) {
    for (int i = 0; i < 4000; ++i) step(disturb);
    for (int pe = 0; pe < kPes; ++pe) job[pe].flush();
    BOOST_CHECK(job.poll_until([&] { return received() >= all_; }));
    for (int i = 0; i < 200; ++i) job.poll_all();
    BOOST_CHECK_EQUAL(received(), all_);
    check_order();
    check_no_losses(job);
  }

  Endpoints job;

 private:
  template <class Disturb>
  void step(const Disturb& disturb) {
    const int from = static_cast<int>(pick(kPes));
    const int to = (from + 1 + static_cast<int>(pick(kPes - 1))) % kPes;
    if (!disturb(from, to)) send_one(from, to);
    if (pick(4) == 0) job[static_cast<int>(pick(kPes))].poll(pick(2) == 0 ? to : -1);
    if (pick(50) == 0) job[from].flush();
  }
  void send_one(int from, int to) {
    const unsigned number = sent_[{from, to}]++;
    ++all_;
    const std::size_t bytes = pick(20) == 0 ? kLongBytes + pick(100'000) : pick(200);
    const Urgency urgency = pick(4) == 0 ? Urgency::gather : Urgency::now;
    const auto header = number_bytes(number);
    BOOST_REQUIRE(
        job.send({.from = from, .to = to, .header = header, .payload = pattern(bytes, number), .urgency = urgency}));
  }
  std::size_t received() {
    std::size_t here = 0;
    for (int pe = 0; pe < kPes; ++pe) here += job.sink(pe).messages.size();
    return here;
  }
  void check_order() {
    std::map<std::pair<int, int>, unsigned> seen;
    for (int pe = 0; pe < kPes; ++pe) {
      for (const Message& message : job.sink(pe).messages) {
        const unsigned number = seen[{message.source, pe}]++;
        BOOST_REQUIRE_EQUAL(number_of(message), number);
        BOOST_REQUIRE(message.payload == pattern(message.payload.size(), number));
      }
      BOOST_CHECK(job.sink(pe).in_order && job.sink(pe).aligned);
    }
  }

  std::mt19937 random_;
  std::map<std::pair<int, int>, unsigned> sent_;
  std::size_t all_ = 0;
};

}  // namespace transport_test
