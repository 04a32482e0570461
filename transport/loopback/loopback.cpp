#include "transport/loopback/loopback.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "base/bulk_copy.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::loopback {

namespace {

using transport::Bytes;
using transport::Header;
using transport::Outgoing;
using transport::Sent;
using transport::Urgency;

constexpr std::size_t kMailBytes = std::size_t{256} << 10;  // under way from one endpoint to another

struct Mail {
  int source;
  Header fixed;
  std::vector<std::byte> message;  // header, and payload unless it is `lasting`
  Bytes lasting;
  Outgoing* outgoing = nullptr;
  bool shutdown = false;
  bool broken = false;  // its endpoint has ended without close()
};

class Loopback;

// The open endpoints of this process, by the number in their endpoint address. Each removes itself at its end.
std::map<std::uint64_t, Loopback*>& endpoints() {
  static std::map<std::uint64_t, Loopback*> open;
  return open;
}

class Loopback final : public transport::Transport {
 public:
  explicit Loopback(const transport::Setup& setup)
      : setup_(setup), reached_(static_cast<std::size_t>(setup.n_pes)), ended_(reached_.size()) {}

  ~Loopback() override {
    for (Mail& mail : mail_) finish(mail);
    endpoints().erase(number_);
    if (!closed_) tell_all({.source = setup_.me, .fixed = {}, .message = {}, .lasting = {}, .broken = true});
  }

  Status open() {
    wake_ = UniqueFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!wake_.valid()) return system_error("create an event descriptor");
    static std::uint64_t last = 0;
    number_ = ++last;
    endpoints()[number_] = this;
    return {};
  }

  const char* name() const noexcept override { return "loopback"; }
  transport::Capabilities capabilities() const noexcept override {
    return {.rma = false, .waits = true, .short_bytes = kMailBytes};
  }
  // Process and number of the endpoint. An address of another process is not in the map.
  std::string endpoint_address() const override {
    const std::uint64_t words[] = {static_cast<std::uint64_t>(::getpid()), number_};
    return {reinterpret_cast<const char*>(words), sizeof words};
  }
  void set_addresses(const transport::EndpointAddresses& addresses) noexcept override { addresses_ = &addresses; }

  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing, Urgency) noexcept override;
  void flush() noexcept override {}  // nothing is held back
  bool poll(int expected) noexcept override;
  int descriptor() const noexcept override { return wake_.get(); }
  bool arm() noexcept override { return mail_.empty() && unreachable_.empty(); }
  void close(std::uint32_t) noexcept override;
  std::string describe(int) const override { return "the memory of this process"; }

 private:
  Loopback* find(int pe) const noexcept;
  void take(Mail mail) noexcept;
  void hand_over(Mail& mail) noexcept;
  void tell_all(const Mail& mail) noexcept;
  void end(int pe, const char* cause) noexcept;
  static void finish(Mail& mail) noexcept {
    if (mail.outgoing != nullptr) mail.outgoing->done = true;
  }

  transport::Setup setup_;
  const transport::EndpointAddresses* addresses_ = nullptr;
  UniqueFd wake_;  // readable while there is mail
  std::uint64_t number_ = 0;
  std::deque<Mail> mail_;
  std::vector<bool> reached_;     // by PE: has exchanged a message with this one
  std::vector<bool> ended_;       // by PE: shut down in order, or lost
  std::vector<int> unreachable_;  // poll() reports them to the sink
  bool closed_ = false;
};

Loopback* Loopback::find(int pe) const noexcept {
  const Bytes address = addresses_->address_of(pe);
  std::uint64_t words[2];
  if (address.size() != sizeof words) return nullptr;
  std::memcpy(words, address.data(), sizeof words);
  if (words[0] != static_cast<std::uint64_t>(::getpid())) return nullptr;
  const auto found = endpoints().find(words[1]);
  if (found == endpoints().end()) return nullptr;
  const transport::Setup& other = found->second->setup_;
  const bool same_job = other.secret[0] == setup_.secret[0] && other.secret[1] == setup_.secret[1] && other.me == pe;
  return same_job ? found->second : nullptr;
}

Sent Loopback::send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing, Urgency) noexcept {
  const auto index = static_cast<std::size_t>(pe);
  if (ended_[index]) return Sent::yes;
  Loopback* const target = find(pe);
  if (target == nullptr) {
    unreachable_.push_back(pe);
    return Sent::yes;
  }
  std::size_t under_way = 0;
  for (const Mail& mail : target->mail_) under_way += mail.source == setup_.me ? mail.message.size() + 1 : 0;
  if (under_way > kMailBytes) return Sent::no;
  const bool lasts = outgoing != nullptr && payload.size() >= transport::kLongBytes;
  Mail mail{.source = setup_.me, .fixed = fixed, .message = {header.begin(), header.end()}, .lasting = {}};
  if (lasts) {
    mail.lasting = payload;
    mail.outgoing = outgoing;
  } else {
    mail.message.insert(mail.message.end(), payload.begin(), payload.end());
  }
  reached_[index] = true;
  target->take(std::move(mail));
  return lasts ? Sent::later : Sent::yes;
}

void Loopback::take(Mail mail) noexcept {
  reached_[static_cast<std::size_t>(mail.source)] = true;
  mail_.push_back(std::move(mail));
  const std::uint64_t one = 1;
  // Cannot fail: the count is never near its end.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

// A message that a sink sends to this PE itself waits for the next poll.
bool Loopback::poll(int) noexcept {
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &times, sizeof times);
  const bool progress = !mail_.empty() || !unreachable_.empty();
  std::deque<Mail> mail;
  mail.swap(mail_);
  for (Mail& one : mail) {
    hand_over(one);
    finish(one);
  }
  const std::vector<int> unreachable = std::exchange(unreachable_, {});
  for (const int pe : unreachable) end(pe, "no endpoint of this process has its address");
  return progress;
}

void Loopback::hand_over(Mail& mail) noexcept {
  if (mail.shutdown) ended_[static_cast<std::size_t>(mail.source)] = true;
  if (mail.broken) end(mail.source, "its endpoint has gone without a shutdown message");
  if (mail.shutdown || mail.broken) return;
  const std::size_t header_bytes = mail.fixed.header_bytes;
  const Bytes header = Bytes(mail.message).first(header_bytes);
  const Bytes payload = mail.outgoing != nullptr ? mail.lasting : Bytes(mail.message).subspan(header_bytes);
  if (payload.size() >= transport::kLongBytes) {
    if (std::byte* place = setup_.sink->placement(mail.source, mail.fixed, header, payload.size())) {
      copy_block(place, payload.data(), payload.size());
      setup_.sink->placed(mail.source, mail.fixed, header, payload.size());
      return;
    }
  }
  if (mail.outgoing != nullptr) mail.message.insert(mail.message.end(), payload.begin(), payload.end());
  setup_.sink->deliver(mail.source, mail.fixed, mail.message);
}

void Loopback::end(int pe, const char* cause) noexcept {
  const auto index = static_cast<std::size_t>(pe);
  if (ended_[index]) return;
  ended_[index] = true;
  setup_.sink->lost(pe, cause);
}

void Loopback::tell_all(const Mail& mail) noexcept {
  for (int pe = 0; pe < setup_.n_pes; ++pe) {
    if (!reached_[static_cast<std::size_t>(pe)] || ended_[static_cast<std::size_t>(pe)]) continue;
    if (Loopback* const target = find(pe)) target->take(mail);
  }
}

void Loopback::close(std::uint32_t) noexcept {
  if (closed_) return;
  closed_ = true;
  tell_all({.source = setup_.me, .fixed = {}, .message = {}, .lasting = {}, .shutdown = true});
}

}  // namespace

Result<transport::TransportPtr> open_loopback(const transport::Setup& setup) {
  auto opened = std::make_unique<Loopback>(setup);
  SHMEMX_TRY(opened->open());
  return transport::TransportPtr(std::move(opened));
}

}  // namespace shmemx::loopback
