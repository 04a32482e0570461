// The stream of one peer without a socket: what is kept, what is sent once more, when payloads are not in use any more.
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <deque>
#include <memory>
#include <random>

#include "base/unique_fd.hpp"
#include "endpoints.hpp"
#include "transport/tcp/decoder.hpp"
#include "transport/tcp/outbox.hpp"

BOOST_AUTO_TEST_SUITE(tcp_outbox)

using namespace transport_test;
using shmemx::UniqueFd;
using shmemx::tcp::Decoder;
using shmemx::tcp::FrameKind;
using shmemx::tcp::Outbox;
using shmemx::transport::Outgoing;

namespace {

Header header_of(std::size_t bytes) { return {1, 0, static_cast<std::uint16_t>(bytes), 0}; }

// Takes what an outbox writes, at most `room` bytes at once, and counts what has been received, as a peer does.
class Receiver {
 public:
  Receiver() { connect(); }

  // Another connection: what has not been received yet is gone.
  void connect() {
    int ends[2];
    BOOST_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    near_ = UniqueFd(ends[0]);
    far_ = UniqueFd(ends[1]);
  }
  int descriptor() const { return near_.get(); }
  void receive(std::size_t most) {
    while (most != 0) {
      iovec areas[2];
      const int n = decoder_.areas(areas);
      BOOST_REQUIRE(n != 0);
      areas[0].iov_len = std::min(areas[0].iov_len, most);
      if (n == 2 && areas[0].iov_len == most) areas[1].iov_len = 0;
      if (n == 2) areas[1].iov_len = std::min(areas[1].iov_len, most - areas[0].iov_len);
      const ssize_t got = ::readv(far_.get(), areas, n);
      if (got <= 0) return;
      most -= static_cast<std::size_t>(got);
      received += static_cast<std::uint64_t>(got);
      BOOST_REQUIRE_MESSAGE(decoder_.advance(static_cast<std::size_t>(got)), decoder_.what_is_broken());
    }
  }

  Recorder sink;
  std::uint64_t received = 0;

 private:
  UniqueFd near_, far_;
  Decoder decoder_{0, sink};
};

void append(Outbox& out, unsigned number, std::size_t bytes) {
  out.append(header_of(4), number_bytes(number), pattern(bytes, number));
}

// A long message whose payload is written to `fd`, if that is valid, and kept at once.
void append_kept(Outbox& out, unsigned number, std::size_t more_bytes, int fd) {
  Outgoing until_kept;
  std::vector<std::byte> payload = pattern(kLongBytes + more_bytes, number);
  out.append_lasting(header_of(4), number_bytes(number), payload, until_kept);
  if (fd >= 0) out.write(fd);
  out.keep_payload(until_kept);
  std::fill(payload.begin(), payload.end(), std::byte{0xee});
}

void check_messages(const Recorder& sink, unsigned n) {
  BOOST_REQUIRE_EQUAL(sink.messages.size(), n);
  for (unsigned i = 0; i < n; ++i) {
    unsigned number = ~0U;
    std::memcpy(&number, sink.messages[i].header.data(), sizeof number);
    BOOST_REQUIRE_EQUAL(number, i);
    BOOST_REQUIRE(sink.messages[i].payload == pattern(sink.messages[i].payload.size(), i));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_not_received_is_sent_once_more_from_the_middle_of_a_message) {
  Outbox out;
  Receiver receiver;
  for (unsigned i = 0; i < 10; ++i) append(out, i, 100);
  BOOST_CHECK(out.write(receiver.descriptor()) == Outbox::Written::all);
  receiver.receive(333);
  BOOST_CHECK(out.empty() && !out.is_acknowledged());
  receiver.connect();
  BOOST_REQUIRE(out.rewind(receiver.received));
  BOOST_CHECK_EQUAL(out.sent(), 333u);
  BOOST_CHECK(out.write(receiver.descriptor()) == Outbox::Written::all);
  receiver.receive(1 << 20);
  check_messages(receiver.sink, 10);
  out.acknowledge(receiver.received);
  BOOST_CHECK(out.is_acknowledged());
}

BOOST_AUTO_TEST_CASE(only_what_is_kept_can_be_sent_again) {
  Outbox out;
  Receiver receiver;
  append(out, 0, 100);
  BOOST_CHECK(!out.rewind(1));  // has not been sent yet
  BOOST_CHECK(out.write(receiver.descriptor()) == Outbox::Written::all);
  out.acknowledge(50);
  BOOST_CHECK(!out.rewind(49));
  BOOST_CHECK(!out.rewind(out.sent() + 1));
  BOOST_CHECK(out.rewind(50));
  BOOST_CHECK(out.rewind(50));
}

BOOST_AUTO_TEST_CASE(a_payload_is_in_use_until_little_of_it_is_missing) {
  Outbox out;
  Receiver receiver;
  std::vector<std::byte> payload = pattern(Outbox::kMostCopied * 10, 0);
  Outgoing outgoing;
  out.append_lasting(header_of(4), number_bytes(0), payload, outgoing);
  while (out.write(receiver.descriptor()) != Outbox::Written::all) receiver.receive(64 << 10);
  out.acknowledge(payload.size() / 2);
  BOOST_CHECK(!outgoing.done && out.lends());
  const std::uint64_t acknowledged = out.sent() - Outbox::kMostCopied / 2;
  out.acknowledge(acknowledged);
  BOOST_CHECK(outgoing.done && !out.lends());
  const std::vector<std::byte> original = payload;
  std::fill(payload.begin(), payload.end(), std::byte{0});  // the caller uses it again
  receiver.receive(acknowledged + 1000 - receiver.received);
  const std::uint64_t received = receiver.received;
  receiver.connect();
  BOOST_REQUIRE(out.rewind(received));
  while (out.write(receiver.descriptor()) != Outbox::Written::all) receiver.receive(64 << 10);
  receiver.receive(1 << 20);
  BOOST_REQUIRE_EQUAL(receiver.sink.messages.size(), 1u);
  BOOST_CHECK(receiver.sink.messages[0].payload == original);
}

BOOST_AUTO_TEST_CASE(a_payload_for_which_nobody_waits_is_not_copied) {
  Outbox out;
  Receiver receiver;
  std::vector<std::byte> payload = pattern(kLongBytes, 0);
  Outgoing outgoing{.is_patient = true};
  out.append_lasting(header_of(4), number_bytes(0), payload, outgoing);
  BOOST_CHECK(out.write(receiver.descriptor()) == Outbox::Written::all);
  out.acknowledge(out.sent() / 2);
  BOOST_CHECK(!outgoing.done && out.lends());
  out.acknowledge(out.sent());
  BOOST_CHECK(outgoing.done && !out.lends());
}

BOOST_AUTO_TEST_CASE(a_payload_that_is_kept_can_be_used_again_at_once) {
  Outbox out;
  Receiver receiver;
  std::vector<std::byte> payloads[3];
  Outgoing outgoing[3];
  for (unsigned i = 0; i < 3; ++i) {
    payloads[i] = pattern(Outbox::kMostCopied, i);
    out.append_lasting(header_of(4), number_bytes(i), payloads[i], outgoing[i]);
  }
  const std::size_t lent = Outbox::kMostCopied;
  BOOST_CHECK(out.write(receiver.descriptor()) == Outbox::Written::some);  // a part of the first one
  out.keep_payload(outgoing[0]);
  out.keep_payload(outgoing[2]);
  BOOST_CHECK(out.lends() && !outgoing[1].done);
  BOOST_CHECK_GT(out.copied(), lent);
  std::fill(payloads[0].begin(), payloads[0].end(), std::byte{0});
  std::fill(payloads[2].begin(), payloads[2].end(), std::byte{0});
  while (out.write(receiver.descriptor()) != Outbox::Written::all) receiver.receive(64 << 10);
  BOOST_CHECK_EQUAL(out.copied(), 0u);
  receiver.receive(1 << 20);
  check_messages(receiver.sink, 3);
  out.acknowledge(receiver.received);
  BOOST_CHECK(outgoing[1].done && out.is_acknowledged() && !out.lends());
}

BOOST_AUTO_TEST_CASE(the_end_of_the_outbox_releases_all_payloads) {
  std::vector<std::byte> payload(1 << 20);
  Outgoing outgoing;
  {
    Outbox out;
    out.append_lasting(header_of(4), number_bytes(0), payload, outgoing);
    BOOST_CHECK(!outgoing.done);
  }
  BOOST_CHECK(outgoing.done);
}

// Messages of all kinds; connections break after any number of bytes; acknowledgements come late or never.
BOOST_AUTO_TEST_CASE(each_message_arrives_once_and_in_order_at_random) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  Outbox out;
  Receiver receiver;
  std::deque<std::pair<std::unique_ptr<Outgoing>, std::vector<std::byte>>> lasting;
  unsigned number = 0;
  unsigned breaks = 0;
  const auto append_one = [&] {
    if (pick(10) != 0) return append(out, number++, pick(10) == 0 ? pick(30'000) : pick(300));
    if (pick(3) == 0) return append_kept(out, number++, pick(100'000), pick(2) == 0 ? receiver.descriptor() : -1);
    lasting.emplace_back(std::make_unique<Outgoing>(), pattern(kLongBytes + pick(400'000), number));
    out.append_lasting(header_of(4), number_bytes(number++), lasting.back().second, *lasting.back().first);
  };
  for (int step = 0; step < 20'000; ++step) {
    if (number < 3000 && out.segments() < 50) append_one();
    if (pick(2) == 0) out.write(receiver.descriptor());
    receiver.receive(pick(2) == 0 ? pick(100'000) : pick(500));
    if (pick(5) == 0) out.acknowledge(std::min(receiver.received, out.kept_from() + pick(200'000)));
    if (pick(40) == 0) {
      receiver.connect();
      BOOST_REQUIRE(out.rewind(receiver.received));
      ++breaks;
    }
    while (!lasting.empty() && lasting.front().first->done) {
      std::fill(lasting.front().second.begin(), lasting.front().second.end(), std::byte{0xee});
      lasting.pop_front();
    }
  }
  for (int i = 0; i < 10'000 && !(out.empty() && receiver.received == out.sent()); ++i) {
    out.write(receiver.descriptor());
    receiver.receive(1 << 20);
  }
  check_messages(receiver.sink, number);
  BOOST_CHECK_GT(breaks, 100u);
  out.acknowledge(receiver.received);
  BOOST_CHECK(out.is_acknowledged() && !out.lends());
}

BOOST_AUTO_TEST_SUITE_END()
