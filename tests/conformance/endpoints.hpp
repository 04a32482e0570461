// Several endpoints of one transport in this process, all polled by the test's thread, with recorders of their
// messages.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../support/pattern.hpp"
#include "transport/registry.hpp"

namespace transport_test {

using shmemx::transport::Bytes;
using shmemx::transport::Candidate;
using shmemx::transport::Header;
using shmemx::transport::kLongBytes;
using shmemx::transport::kPlacedEarly;
using shmemx::transport::Outgoing;
using shmemx::transport::Sent;
using shmemx::transport::Setup;
using shmemx::transport::TransportPtr;
using shmemx::transport::Urgency;

struct Message {
  int source;
  Header fixed;
  std::vector<std::byte> header;
  std::vector<std::byte> payload;
  bool placed;
};

struct Loss {
  int pe;
  std::string cause;
};

class Recorder final : public shmemx::transport::Sink {
 public:
  void deliver(int source, const Header& fixed, Bytes message) noexcept override;
  std::byte* placement(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept override;
  void placed(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept override;
  void lost(int pe, const std::string& cause) noexcept override { losses.push_back({pe, cause}); }
  void copies(const char*, std::size_t bytes, const std::string&) noexcept override { copied.push_back(bytes); }

  std::vector<Message> messages;
  std::vector<Loss> losses;
  std::vector<std::size_t> copied;                 // lengths of memory that is copied
  bool lands = true;                               // long payloads are placed in memory of the recorder
  bool same_place = false;                         // all at the same one
  bool declines = false;                           // payloads that are still at their senders stay there
  bool aligned = true;                             // whether every payload was aligned
  bool in_order = true;                            // placed() and deliver() are in the order of placement()
  bool overtaken = false;                          // placement() was called too early
  std::function<void(const Message&)> on_message;  // called inside deliver() and placed()

 private:
  // A message for which placement() was called.
  struct Expected {
    std::vector<std::byte> header;
    bool lands;
    std::vector<std::byte> place;
  };

  void record(Message message) noexcept;
  bool take_expected(int source, Bytes header, bool lands, std::vector<std::byte>* place) noexcept;

  std::map<int, std::deque<Expected>> expected_;  // by source: not delivered yet, in the order of placement()
  std::vector<std::byte> shared_;
};

class AddressBook final : public shmemx::transport::EndpointAddresses {
 public:
  Bytes address_of(int pe) const noexcept override;
  std::vector<std::string> addresses;
};

inline Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
// Returns bytes that depend on `seed` and on their index.
inline std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  return test_support::pattern<std::byte>(bytes, seed);
}

// A number as the header of a message, and the number of a message; ~0 if it has none.
inline std::vector<std::byte> number_bytes(unsigned number) {
  std::vector<std::byte> header(sizeof number);
  std::memcpy(header.data(), &number, sizeof number);
  return header;
}
inline unsigned number_of(const Message& message) {
  unsigned number = ~0U;
  if (message.header.size() >= sizeof number) std::memcpy(&number, message.header.data(), sizeof number);
  return number;
}

struct Options {
  int n = 3;
  std::uint32_t timeout_ms = 20'000;
  std::uint64_t secret = 0x1234;
  std::uint64_t first_number = 0;
};

class Endpoints {
 public:
  explicit Endpoints(const std::string& transport, const Options& options = {});
  ~Endpoints();

  shmemx::transport::Transport& operator[](int pe) { return *endpoints_[static_cast<std::size_t>(pe)]; }
  Recorder& sink(int pe) { return *sinks_[static_cast<std::size_t>(pe)]; }
  int size() const { return static_cast<int>(sinks_.size()); }
  AddressBook& book() { return book_; }

  // Sends a message; polls all endpoints but `silent` until it is taken. Returns false after the time-out.
  struct Posting {
    int from = 0;
    int to = 1;
    std::vector<std::byte> header = {};
    std::vector<std::byte> payload = {};
    std::uint8_t handler = 7;
    std::uint8_t flags = 0;
    Urgency urgency = Urgency::now;
  };
  bool send(const Posting& posting, int silent = -1);
  bool poll_all(int silent = -1);  // returns whether anything has moved
  // Polls until `done` returns true. Returns false after the time-out.
  bool poll_until(const std::function<bool()>& done, int silent = -1);
  // Ends the endpoint without close().
  void kill(int pe) { endpoints_[static_cast<std::size_t>(pe)].reset(); }
  void close_all();

 private:
  std::vector<std::unique_ptr<Recorder>> sinks_;
  std::vector<Setup> setups_;
  std::vector<TransportPtr> endpoints_;
  AddressBook book_;
};

// Opens a transport for a test: by the registry, or the in-process reference, which no job may use.
shmemx::Result<Candidate> open_for_test(const std::string& name, const Setup& setup);

// Returns the name of the transport under test, from the command line.
const std::string& transport_name();

}  // namespace transport_test
