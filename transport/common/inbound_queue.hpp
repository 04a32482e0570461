// The messages of one peer, from their turn until the sink has them.
//
// A long payload may arrive after its header, and may have to be fetched from the sender's memory. Meanwhile later
// messages wait here, so that nothing is delivered before what was sent before it. Payloads of several long messages
// may be under way to their places at once, where the rules of transport.hpp allow it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "transport/common/record.hpp"
#include "transport/transport.hpp"

namespace shmemx::transport {

// Memory with the alignment of payloads.
struct FreeAligned {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{kRecordAlign}); }
};
using AlignedMemory = std::unique_ptr<std::byte[], FreeAligned>;
// Returns null if there is no memory.
inline AlignedMemory allocate_aligned(std::size_t bytes) noexcept {
  return AlignedMemory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kRecordAlign}, std::nothrow)));
}

class InboundQueue;

// What a transport needs to fetch a payload; a queue does not read it.
using FetchKey = std::array<std::uint64_t, 3>;

// A message that waits for those in front of it, or for its payload.
//
// | Stage    | its payload is                             | what follows                                      |
// |----------|--------------------------------------------|---------------------------------------------------|
// | whole    | in `own`: a short message                  | it is delivered                                   |
// | unplaced | elsewhere: in `kept`, or not here yet      | placed, when the sink has said where              |
// | placed   | the same; `place` is what the sink said    | begun, when nothing in front of it has that place |
// | begun    | on its way to its destination              | complete                                          |
// | complete | at its destination, or declined            | it is delivered                                   |
struct InboundMessage {
  enum class Stage : std::uint8_t { whole, unplaced, placed, begun, complete };

  InboundQueue* queue = nullptr;
  Header fixed{};
  Stage stage = Stage::whole;
  bool is_fetched = false;  // its payload is not here: fetch_key says where it is
  std::size_t payload_bytes = 0;
  std::byte* place = nullptr;      // what placement() said; null: `own`
  std::byte* copied_to = nullptr;  // the place, if the payload does not go there itself
  AlignedMemory own;               // header and payload
  AlignedMemory kept;              // a payload that is here before the message may begin
  FetchKey fetch_key{};
  std::vector<std::byte> header;  // of a long message
  std::size_t waiting_bytes = 0;  // memory of this message before it begins

  Bytes header_bytes() const noexcept { return header; }
  // The destination of the payload, once the message has begun.
  std::byte* destination() const noexcept { return place != nullptr ? place : own.get() + fixed.header_bytes; }
  bool has_place() const noexcept { return place != nullptr || copied_to != nullptr; }
  bool overlaps(const InboundMessage& other) const noexcept;
};

// What a queue needs of its transport.
class InboundSource {
 public:
  // Starts to move the payload to message.destination(). Returns true if it is there already; otherwise the transport
  // calls InboundQueue::complete() later.
  virtual bool fetch(InboundMessage& message) noexcept = 0;
  // The message is given up, or the sink has declined its payload, before that was fetched.
  virtual void discard(InboundMessage& message) noexcept = 0;
  // There is no memory for a message of `source`, whose queue has stopped.
  virtual void out_of_memory(int source, std::size_t bytes) noexcept = 0;

 protected:
  ~InboundSource() = default;
};

class InboundQueue {
 public:
  struct Settings {
    int source;
    std::size_t most_under_way;  // long payloads under way at once
    bool* active;                // set whenever the sink was called
    bool places = true;          // payloads are fetched to their places; otherwise they are copied there
  };
  InboundQueue(Sink& sink, InboundSource& transport, const Settings& settings) noexcept
      : sink_(sink), transport_(transport), settings_(settings) {}
  InboundQueue(const InboundQueue&) = delete;
  InboundQueue& operator=(const InboundQueue&) = delete;

  // Takes a message that is here as one aligned piece, header and payload. Copies it only if it has to wait.
  void add_whole(const Header& fixed, Bytes message);
  // Takes a long message whose payload is here.
  void add_long(const Header& fixed, Bytes header, Bytes payload);
  // Takes a long message whose payload the transport has to fetch.
  void add_announced(const Header& fixed, Bytes header, std::size_t payload_bytes, const FetchKey& fetch_key);
  // A long message whose payload arrives in parts, while nothing else does. If nothing is in front of it, place_parts()
  // returns its place, or null if it has none; then one of the other two follows when all of it is here.
  bool may_place_parts() const noexcept { return queue_.empty() && !is_stopped_; }
  std::byte* place_parts(const Header& fixed, Bytes header, std::size_t payload_bytes);
  void add_placed(const Header& fixed, Bytes header, std::size_t payload_bytes);
  void add_without_place(const Header& fixed, Bytes message);
  // A payload that was fetched is complete: delivers what has become ready.
  void complete(InboundMessage& message);

  int source() const noexcept { return settings_.source; }
  InboundSource& transport() const noexcept { return transport_; }
  bool is_empty() const noexcept { return queue_.empty(); }
  // Returns whether so much waits here that the transport should take no more of this source: what it does not take and
  // does not acknowledge stays with the sender. Payloads that are under way must go on, or the queue stays full.
  bool is_full() const noexcept { return waiting_bytes_ >= kMostWaiting; }
  static constexpr std::size_t kMostWaiting = std::size_t{4} << 20;
  // Ends all deliveries. Payloads under way still go to their destinations, which stay valid while the queue lives.
  void stop() noexcept { is_stopped_ = true; }
  // Gives up all messages whose payload is not being fetched yet. The queue stops.
  void discard_waiting() noexcept;

 private:
  InboundMessage& push(const Header& fixed, std::size_t payload_bytes, std::size_t waiting_bytes);
  InboundMessage& push_long(const Header& fixed, Bytes header, std::size_t payload_bytes, std::size_t kept_bytes);
  bool keep_copy(InboundMessage& message, Bytes payload);
  void queue_copy(const Header& fixed, Bytes message);
  void deliver_whole(const Header& fixed, Bytes message);
  bool place_at_once(const Header& fixed, Bytes header, Bytes payload);
  void deliver_parts(const Header& fixed, Bytes header, Bytes payload);
  void advance();
  bool finish(InboundMessage& message);
  void look_ahead();
  bool would_overwrite(const InboundMessage& message) const noexcept;
  void find_place(InboundMessage& message);
  void decline(InboundMessage& message);
  void begin(InboundMessage& message);
  bool make_own_memory(InboundMessage& message);
  void fail_for_memory(std::size_t bytes) noexcept;

  Sink& sink_;
  InboundSource& transport_;
  Settings settings_;
  bool is_stopped_ = false;
  std::size_t waiting_bytes_ = 0;  // of all messages
  std::deque<std::unique_ptr<InboundMessage>> queue_;
};

}  // namespace shmemx::transport
