#include "endpoints.hpp"

#include <sched.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"

namespace transport_test {

namespace {

constexpr std::uint64_t kPatienceNs = 60'000'000'000;  // for what must happen; never measured

}  // namespace

void Recorder::record(Message message) noexcept {
  messages.push_back(std::move(message));
  if (on_message) on_message(Message(messages.back()));
}

void Recorder::deliver(int source, const Head& head, Bytes payload) noexcept {
  aligned = aligned && reinterpret_cast<std::uintptr_t>(payload.data()) % 16 == 0;
  overlapped = overlapped || landing_;
  const auto border = payload.begin() + head.header_bytes;
  record({source, head, {payload.begin(), border}, {border, payload.end()}, false});
}

std::byte* Recorder::landing(int, const Head&, Bytes, std::size_t body_bytes) noexcept {
  if (!lands) return nullptr;
  landing_ = true;
  place_.assign(body_bytes, std::byte{0});
  return place_.data();
}

void Recorder::landed(int source, const Head& head, Bytes header, std::size_t body_bytes) noexcept {
  overlapped = overlapped || !landing_ || body_bytes != place_.size();
  landing_ = false;
  record({source, head, {header.begin(), header.end()}, place_, true});
}

Bytes CardBook::card_of(int pe) const noexcept { return bytes_of(cards[static_cast<std::size_t>(pe)]); }

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>((i * 31 + i / 253 + seed * 17) & 0xff);
  return out;
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
                  .sink = sinks_[i].get()};
    auto opened = shmemx::transport::open_transports({transport}, setups_[i]);
    if (!opened || !opened->front().transport) {
      std::fprintf(stderr, "%s was there before and cannot be opened now\n", transport.c_str());
      std::abort();
    }
    endpoints_.push_back(std::move(opened->front().transport));
    book_.cards.push_back(endpoints_.back()->card());
  }
  for (const TransportPtr& endpoint : endpoints_) endpoint->set_cards(book_);
}

// All say good-bye before the first one goes, as at the end of a job.
Endpoints::~Endpoints() { close_all(); }

void Endpoints::close_all() {
  for (const TransportPtr& endpoint : endpoints_) {
    if (endpoint) endpoint->close(1000);
  }
  endpoints_.clear();
  endpoints_.resize(sinks_.size());
}

bool Endpoints::send(const Parcel& parcel, int silent) {
  const Head head{parcel.handler, static_cast<std::uint16_t>(parcel.header.size()), 5};
  Sent sent = Sent::no;
  const bool taken = poll_until(
      [&] {
        sent = (*this)[parcel.from].send(parcel.to, head, parcel.header, parcel.body, nullptr, parcel.urgency);
        return sent != Sent::no;
      },
      silent);
  return taken;
}

void Endpoints::poll_all(int silent) {
  for (int pe = 0; pe < size(); ++pe) {
    if (pe != silent && endpoints_[static_cast<std::size_t>(pe)]) (*this)[pe].poll(-1);
  }
}

bool Endpoints::poll_until(const std::function<bool()>& done, int silent) {
  const std::uint64_t begin = shmemx::now_ns();
  while (!done()) {
    if (shmemx::now_ns() - begin > kPatienceNs) return false;
    poll_all(silent);
    ::sched_yield();
  }
  return true;
}

}  // namespace transport_test
