// Connections whose records carry keyed hashes (SHMEMX_NET_MAC=on): a proxy between two PEs alters, repeats or drops
// bytes, and the PE that receives them takes none of them.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <random>

#include "numbered_traffic.hpp"
#include "transport/tcp/sealing.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_transport.hpp"

BOOST_AUTO_TEST_SUITE(tcp_mac)

using namespace transport_test;
using shmemx::UniqueFd;
using shmemx::tcp::EndpointAddress;
using shmemx::tcp::Outbox;
using shmemx::tcp::Sealing;
using shmemx::tcp::TcpTransport;
using shmemx::transport::NetworkFd;
using Stream = std::vector<std::byte>;

namespace {

UniqueFd connect_to(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_REQUIRE_EQUAL(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

// Between PE 0, which connects, and PE 1.
class Proxy {
 public:
  explicit Proxy(Endpoints& job) {
    auto opened = shmemx::tcp::open_listener(port_);
    BOOST_REQUIRE(opened);
    listener_ = std::move(*opened);
    EndpointAddress endpoint;
    BOOST_REQUIRE(shmemx::tcp::unpack_address(job.book().address_of(1), endpoint));
    target_ = std::exchange(endpoint.port, port_);
    job.book().addresses[1] = shmemx::tcp::pack_address(endpoint);
  }

  // Passes on what has arrived. `alter` sees what PE 0 has sent.
  void pump() {
    if (!near_.valid()) {
      near_ = UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!near_.valid()) return;
      far_ = connect_to(target_);
    }
    pass(near_, far_, true);
    pass(far_, near_, false);
  }
  std::function<void(Stream&)> alter;

 private:
  void pass(const UniqueFd& from, const UniqueFd& to, bool is_altered) {
    Stream bytes(std::size_t{64} << 10);
    const ssize_t got = ::recv(from.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got <= 0) return;
    bytes.resize(static_cast<std::size_t>(got));
    if (is_altered && alter) alter(bytes);
    BOOST_REQUIRE_EQUAL(::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  std::uint16_t port_ = 0;
  std::uint16_t target_ = 0;
  NetworkFd listener_;
  UniqueFd near_;
  UniqueFd far_;
};

struct Relayed {
  explicit Relayed(const std::string& transport) : job(transport, {.n = 2}), proxy(job) {}
  bool until(const std::function<bool()>& done) {
    return job.poll_until([&] {
      proxy.pump();
      return done();
    });
  }
  // Connects, so that what the proxy alters from now on is a part of the streams.
  void connect() {
    post(job, 0, 1, 0);
    BOOST_REQUIRE(until([&] { return job.sink(1).messages.size() == 1; }));
    post(job, 1, 0, 0);
    BOOST_REQUIRE(until([&] { return job.sink(0).messages.size() == 1; }));
  }

  Endpoints job;
  Proxy proxy;
};

// Sends a message of `payload_bytes`, of which `alter` changes something, and a short one. Returns the cause of the
// loss at PE 1, empty if there is none.
std::string cause_after(const std::string& transport, std::size_t payload_bytes,
                        const std::function<void(Stream&)>& alter) {
  Relayed relayed(transport);
  relayed.connect();
  relayed.proxy.alter = alter;
  post(relayed.job, 0, 1, 1, payload_bytes);
  post(relayed.job, 0, 1, 2, 2000);  // a record that seems to be longer than it is takes some of it
  Recorder& sink = relayed.job.sink(1);
  BOOST_CHECK(relayed.until([&] { return sink.messages.size() == 3 || !sink.losses.empty(); }));
  if (sink.losses.empty()) return {};
  BOOST_CHECK_EQUAL(sink.messages.size(), 1u);  // nothing of the altered record was taken
  BOOST_CHECK_EQUAL(sink.losses.front().pe, 0);
  return sink.losses.front().cause;
}

// Returns a function that alters one bit of the byte at `at` of what follows.
std::function<void(Stream&)> flip(std::size_t at) {
  return [at](Stream& bytes) mutable {
    if (at < bytes.size()) bytes[at] ^= std::byte{4};
    at = at < bytes.size() ? ~std::size_t{0} : at == ~std::size_t{0} ? at : at - bytes.size();
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(messages_of_all_lengths_pass_a_proxy) {
  Relayed relayed("tcp:mac");
  relayed.connect();
  const std::size_t payloads[] = {0, 1, 100, 5000, 16'383, 16'384, 32'700, 40'001, 1'000'003, 8, 200'000, 0};
  unsigned number = 1;
  for (const std::size_t bytes : payloads) {
    BOOST_REQUIRE(relayed.until([&] {
      return relayed.job[0].send(1, {1, 0, 4, 0}, transport_test::number_bytes(number), pattern(bytes, number), nullptr,
                                 Urgency::now) == Sent::yes;
    }));
    ++number;
  }
  Recorder& sink = relayed.job.sink(1);
  BOOST_REQUIRE(relayed.until([&] { return sink.messages.size() == number; }));
  for (unsigned i = 1; i < number; ++i) {
    BOOST_CHECK_EQUAL(number_of(sink.messages[i]), i);
    BOOST_CHECK(sink.messages[i].payload == pattern(payloads[i - 1], i));
  }
  check_no_losses(relayed.job);
}

// The bytes of a short message: the record's header, the frame's header, the message's header, its payload.
BOOST_AUTO_TEST_CASE(no_altered_bit_is_accepted) {
  for (std::size_t at = 0; at < 48; ++at)
    BOOST_CHECK_NE(cause_after("tcp:mac", 8, flip(at)).find("SHMEMX_NET_MAC"), std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_altered_long_payload_is_not_placed) {
  for (const std::size_t at : {100u, 20'000u, 33'000u, 90'000u})
    BOOST_CHECK_NE(cause_after("tcp:mac", 100'000, flip(at)).find("SHMEMX_NET_MAC"), std::string::npos);
  BOOST_CHECK_EQUAL(cause_after("tcp", 100'000, flip(20'000)), "");  // TCP itself does not notice what a proxy does
}

BOOST_AUTO_TEST_CASE(a_repeated_or_missing_record_is_noticed) {
  const auto repeat = [](Stream& bytes) { bytes.insert(bytes.end(), bytes.begin(), bytes.end()); };
  Relayed relayed("tcp:mac");
  relayed.connect();
  relayed.proxy.alter = repeat;
  post(relayed.job, 0, 1, 1, 8);
  Recorder& sink = relayed.job.sink(1);
  BOOST_REQUIRE(relayed.until([&] { return !sink.losses.empty(); }));
  BOOST_CHECK_EQUAL(sink.messages.size(), 2u);  // once, from the genuine record
  BOOST_CHECK_NE(sink.losses.front().cause.find("SHMEMX_NET_MAC"), std::string::npos);

  const auto drop_one = [dropped = false](Stream& bytes) mutable {
    if (!std::exchange(dropped, true)) bytes.clear();
  };
  Relayed other("tcp:mac");
  other.connect();
  other.proxy.alter = drop_one;
  post(other.job, 0, 1, 1, 8);
  for (int i = 0; i < 100; ++i) other.until([] { return true; });
  post(other.job, 0, 1, 2, 8);
  BOOST_REQUIRE(other.until([&] { return !other.job.sink(1).losses.empty(); }));
  BOOST_CHECK_EQUAL(other.job.sink(1).messages.size(), 1u);
}

// Both PEs of a pair use it, or neither does: nobody in between can turn it off.
BOOST_AUTO_TEST_CASE(a_hello_without_it_is_not_genuine) {
  Setup with{.me = 1, .n_pes = 2, .secret = {1, 2}};
  with.tcp_mac = true;
  Setup without = with;
  without.tcp_mac = false;
  Setup sender = without;
  sender.me = 0;
  BOOST_CHECK(!is_genuine(with, shmemx::transport::make_hello(sender, 1, 0)));
  BOOST_CHECK(is_genuine(without, shmemx::transport::make_hello(sender, 1, 0)));
  sender.tcp_mac = true;
  BOOST_CHECK(is_genuine(with, shmemx::transport::make_hello(sender, 1, 0)));
  BOOST_CHECK(!is_genuine(without, shmemx::transport::make_hello(sender, 1, 0)));
}

// Connections are reset and suspended at random: a record of which a part has arrived is sent once more.
BOOST_AUTO_TEST_CASE(nothing_is_lost_or_doubled_at_random) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  RandomTraffic traffic(seed, "tcp:mac");
  unsigned resets = 0;
  traffic.run([&](int from, int to) {
    const auto& parts = static_cast<TcpTransport&>(traffic.job[from]).parts();
    if (traffic.pick(12) == 0) {
      resets += parts.resume.reset(to) ? 1 : 0;
    } else if (traffic.pick(12) == 0) {
      parts.suspension.suspend(to);
    } else {
      return false;
    }
    return true;
  });
  BOOST_CHECK_GT(resets, 100u);
}

// The writer stops at any byte, the reader has areas of any size: the bytes are those of the stream.
BOOST_AUTO_TEST_CASE(records_carry_the_stream) {
  const std::uint64_t secret[2] = {5, 6};
  const shmemx::transport::NhHash hash(secret, shmemx::transport::Purpose::stream, Sealing::kRecordBytes);
  int ends[2];
  BOOST_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd near(ends[0]);
  const UniqueFd far(ends[1]);
  auto writer = std::make_unique<Sealing>(hash, shmemx::tcp::ConnectionKeys{{1, 2}, {3, 4}});
  auto reader = std::make_unique<Sealing>(hash, shmemx::tcp::ConnectionKeys{{3, 4}, {1, 2}});
  Outbox out;
  Outbox plain;
  for (unsigned i = 0; i < 40; ++i) {
    for (Outbox* const one : {&out, &plain})
      one->append({1, 0, 4, i}, transport_test::number_bytes(i), pattern(i * i * 37, i));
  }
  Stream expected(plain.unacknowledged());
  BOOST_REQUIRE_EQUAL(plain.copy_next(expected), expected.size());
  Stream got;
  unsigned turn = 0;
  while (got.size() < expected.size()) {
    BOOST_REQUIRE(writer->write(out, near.get()) != Outbox::Written::failed);
    Stream area(1 + turn++ * 7919 % 70'000);
    const iovec areas[2] = {{area.data(), area.size() / 2},
                            {area.data() + area.size() / 2, area.size() - area.size() / 2}};
    const ssize_t bytes = reader->read(far.get(), areas, 2);
    BOOST_REQUIRE(bytes > 0 || errno == EAGAIN);
    if (bytes > 0) got.insert(got.end(), area.begin(), area.begin() + bytes);
  }
  BOOST_CHECK(got == expected);
  BOOST_CHECK(out.empty());
  BOOST_CHECK(!reader->has_unread());
}

BOOST_AUTO_TEST_SUITE_END()
