// Tasks that leave this PE. The first one to a PE that has received all earlier ones leaves at once. While one is not
// received, further short ones gather in a batch: of one cell for PEs of this node, of am::Batch::kBytes for others. A
// batch leaves when it is full, when the earlier tasks have been received, or at progress(true). What finds no room
// waits in unsent messages, a list for each target, so a PE that does not receive holds up no other one.
//
// Nothing here waits. Under the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "am/coalescer.hpp"
#include "am/outgoing_message.hpp"
#include "base/contact_table.hpp"
#include "nemesis/fastbox.hpp"
#include "tasks/memory.hpp"
#include "tasks/pieces.hpp"
#include "tasks/wire.hpp"

namespace shmemx::tasks {

// What this needs of the endpoint; tests play it.
class Port {
 public:
  virtual bool try_send(const am::OutgoingMessage& message) noexcept = 0;
  // Returns the number of the last message to `pe`, and whether `pe` has received the messages up to a number.
  virtual nemesis::Number last_sent(int pe) noexcept = 0;
  virtual bool has_received(int pe, nemesis::Number number) noexcept = 0;
  // Returns the most bytes of a message to `pe`, and of a batch; 0: nothing gathers.
  virtual std::size_t message_bytes(int pe) noexcept = 0;
  virtual std::size_t batch_bytes(int pe) noexcept = 0;
  // Is the PE on this node, where a message costs little?
  virtual bool is_near(int) noexcept { return false; }
  // Starts to send a payload that the target pulls by this tag, and says when the payload is not needed any more.
  using Transfer = pt2pt::SendRequest*;
  virtual Transfer start_transfer(int pe, std::int32_t tag, Bytes payload) noexcept = 0;
  virtual bool try_end_transfer(Transfer transfer) noexcept = 0;

 protected:
  ~Port() = default;
};

class Outgoing {
 public:
  Outgoing(Port& port, Budget& budget, std::size_t n_pes);
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;
  ~Outgoing();

  // Takes the task over: its payload may be used again.
  void send(const NewTask& task);
  // Adds a short task of priority 0 to the batch that has begun, as for most tasks of a stream. Returns false, without
  // an effect, if there is none, or if there is more to do.
  [[gnu::always_inline]] bool try_join(int pe, std::uint16_t id, Bytes payload) noexcept {
    Target& to = targets_[pe];
    if (payload.size() > kMostJoined || (to.appends + 1) % kAppendsPerLook == 0) return false;
    if (!coalescer_.try_append(pe, id, {}, payload)) return false;
    ++to.appends;
    return true;
  }
  // Which batches leave that could gather more: none, those to PEs of this node, or all.
  enum class Flush : std::uint8_t { ready, near, all };
  // Sends what may leave now, and these batches. Returns whether anything has left.
  bool progress(Flush flush);
  bool is_empty() const noexcept { return active_.empty() && unconfirmed_.empty(); }
  // Bytes that wait for `pe`.
  std::size_t queued_bytes(int pe) const noexcept { return targets_[pe].queued_bytes + coalescer_.bytes(pe); }
  // Returns whether `pe` has received all tasks that have left for it, and nothing waits for it.
  bool is_ready(int pe) { return targets_[pe].first == nullptr && is_idle(pe, targets_[pe]); }
  // Moves the releases that are due to the end of `due`.
  void take_releases(std::vector<Release>& due);
  bool has_releases() const noexcept { return !releases_.empty(); }
  // Batches that have left since they were full: the program sends a stream.
  std::uint32_t filled() const noexcept { return filled_; }
  std::uint64_t messages() const noexcept { return messages_; }

 private:
  struct Unsent;
  struct Target {
    Unsent* first;  // what could not leave, in order
    Unsent* last;
    std::size_t queued_bytes;  // in unsent messages
    nemesis::Number sent;      // the last message with tasks
    std::uint32_t appends;
    bool is_outstanding;    // it may not have been received
    bool is_active;         // in active_
    std::uint16_t details;  // of the batch's items
  };

  void gather(const NewTask& task, Target& to);
  void begin_batch(const NewTask& task, Target& to, const Heads& heads);
  void end_full_batch(int pe, Target& to);
  bool try_send_batch(int pe, Target& to);
  bool try_send_alone(const NewTask& task, Target& to);
  void add_unsent(std::unique_ptr<Unsent> unsent, Target& to);
  bool push_unsent(Target& to);
  bool push(Unsent& unsent, Target& to);
  bool push_pieces(Unsent& unsent);
  bool push_offer(Unsent& unsent, Target& to);
  void add_unsent_task(const NewTask& task, Target& to);
  bool try_send(const am::OutgoingMessage& message, Target& to);
  bool is_idle(int pe, Target& to);
  void note_active(int pe, Target& to);
  void note_queued(int pe, Target& to, std::size_t bytes);
  void note_left(const Unsent& unsent, Target& to);
  void end(Unsent& unsent);
  void release_left();

  static constexpr std::uint32_t kAppendsPerLook = 16;
  static constexpr std::size_t kMostJoined = 256;
  static constexpr std::size_t kMostBatches = 256;  // at once, so that their memory does not grow with the job

  Port& port_;
  Budget& budget_;
  am::Coalescer coalescer_;
  ContactTable<Target> targets_;
  std::vector<std::int32_t> active_;                  // targets with unsent messages or a batch
  std::vector<std::unique_ptr<Unsent>> unconfirmed_;  // a network or the target still reads them
  std::vector<Release> releases_;
  std::uint32_t next_message_ = 1;
  std::uint32_t next_pull_ = 0;
  std::uint32_t pulls_ = 0;  // that are under way
  std::uint32_t filled_ = 0;
  std::uint64_t messages_ = 0;
};

}  // namespace shmemx::tasks
