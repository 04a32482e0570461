#include "endpoints.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "transport/loopback/loopback.hpp"

namespace transport_test {

namespace {

constexpr std::uint64_t kLimitNs = 60'000'000'000;  // limit for events that must happen; no test measures it
// After so long without progress only a time-out is left to wait for: then the processor is left to others.
constexpr std::uint64_t kPollNs = 5'000'000;
constexpr unsigned kSleepUs = 200;

}  // namespace

void Recorder::record(Message message) noexcept {
  messages.push_back(std::move(message));
  if (on_message) on_message(Message(messages.back()));
}

// Removes the message for which placement() was called first. Returns false if `message` is another one.
bool Recorder::take_expected(int source, Bytes header, bool is_placed, std::vector<std::byte>* place) noexcept {
  std::deque<Expected>& expected = expected_[source];
  if (expected.empty() || expected.front().lands != is_placed || !std::ranges::equal(expected.front().header, header))
    return false;
  if (place != nullptr) *place = std::move(expected.front().place);
  expected.pop_front();
  return true;
}

void Recorder::deliver(int source, const Header& fixed, Bytes message) noexcept {
  aligned = aligned && reinterpret_cast<std::uintptr_t>(message.data()) % 16 == 0;
  const auto border = message.begin() + fixed.header_bytes;
  const bool is_long = message.size() - fixed.header_bytes >= kLongBytes;
  const Bytes header = message.first(fixed.header_bytes);
  in_order = in_order && (is_long ? take_expected(source, header, false, nullptr) : expected_[source].empty());
  record({source, fixed, {message.begin(), border}, {border, message.end()}, false});
}

std::byte* Recorder::placement(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept {
  std::deque<Expected>& expected = expected_[source];
  overtaken = overtaken || (!expected.empty() && (fixed.flags & kPlacedEarly) == 0);
  if (declines) return shmemx::transport::declined();
  expected.push_back({{header.begin(), header.end()}, lands, {}});
  if (!lands) return nullptr;
  if (same_place) {
    if (shared_.size() < payload_bytes) shared_.resize(payload_bytes);
    return shared_.data();
  }
  expected.back().place.resize(payload_bytes);
  return expected.back().place.data();
}

void Recorder::placed(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept {
  std::vector<std::byte> payload;
  in_order = take_expected(source, header, true, &payload) && in_order;
  if (same_place) payload.assign(shared_.begin(), shared_.begin() + static_cast<std::ptrdiff_t>(payload_bytes));
  in_order = in_order && payload.size() == payload_bytes;
  record({source, fixed, {header.begin(), header.end()}, std::move(payload), true});
}

Bytes AddressBook::address_of(int pe) const noexcept { return bytes_of(addresses[static_cast<std::size_t>(pe)]); }

shmemx::Result<Candidate> open_for_test(const std::string& name, const Setup& setup) {
  if (const std::size_t colon = name.find(':'); colon != std::string::npos) {  // "ethernet:1500", "tcp:mac"
    Setup special = setup;
    const std::string option = name.substr(colon + 1);
    special.tcp_mac = option == "mac";
    if (!special.tcp_mac) special.ethernet.mtu = std::stoul(option);
    return open_for_test(name.substr(0, colon), special);
  }
  if (name == "loopback") {
    auto opened = shmemx::loopback::open_loopback(setup);
    if (!opened) return opened.error();
    return Candidate{name, std::move(*opened), ""};
  }
  auto opened = shmemx::transport::open_transports({name}, setup);
  if (!opened) return opened.error();
  return std::move(opened->front());
}

Endpoints::Endpoints(const std::string& transport, const Options& options) {
  const auto n = static_cast<std::size_t>(options.n);
  setups_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    sinks_.push_back(std::make_unique<Recorder>());
    setups_[i] = {.me = static_cast<int>(i),
                  .n_pes = options.n,
                  .secret = {options.secret, ~options.secret},
                  .timeout_ms = options.timeout_ms,
                  .silence_ms = options.timeout_ms,
                  .sink = sinks_[i].get(),
                  .ethernet = {.interface = "lo"},
                  .first_number = options.first_number};
    auto opened = open_for_test(transport, setups_[i]);
    if (!opened || !opened->transport) {
      std::fprintf(stderr, "%s was there before and cannot be opened now\n", transport.c_str());
      std::abort();
    }
    endpoints_.push_back(std::move(opened->transport));
    book_.addresses.push_back(endpoints_.back()->endpoint_address());
  }
  for (const TransportPtr& endpoint : endpoints_) endpoint->set_addresses(book_);
}

// Closes all endpoints before the first one is destroyed, as at the end of a job. One that closes waits in vain for
// answers of the others, which are of this thread.
Endpoints::~Endpoints() { close_all(); }

void Endpoints::close_all() {
  for (const TransportPtr& endpoint : endpoints_) {
    if (endpoint) endpoint->close(100);
  }
  endpoints_.clear();
  endpoints_.resize(sinks_.size());
}

bool Endpoints::send(const Posting& posting, int silent) {
  const Header fixed{posting.handler, posting.flags, static_cast<std::uint16_t>(posting.header.size()), 5};
  Sent sent = Sent::no;
  const bool taken = poll_until(
      [&] {
        sent = (*this)[posting.from].send(posting.to, fixed, posting.header, posting.payload, nullptr, posting.urgency);
        return sent != Sent::no;
      },
      silent);
  return taken;
}

bool Endpoints::poll_all(int silent) {
  bool progress = false;
  for (int pe = 0; pe < size(); ++pe) {
    if (pe != silent && endpoints_[static_cast<std::size_t>(pe)]) progress |= (*this)[pe].poll(-1);
  }
  return progress;
}

bool Endpoints::poll_until(const std::function<bool()>& done, int silent) {
  const std::uint64_t begin = shmemx::now_ns();
  std::uint64_t moved = begin;
  while (!done()) {
    const std::uint64_t now = shmemx::now_ns();
    if (now - begin > kLimitNs) return false;
    if (poll_all(silent)) moved = now;
    if (now - moved < kPollNs) {
      ::sched_yield();
    } else {
      ::usleep(kSleepUs);
    }
  }
  return true;
}

}  // namespace transport_test
