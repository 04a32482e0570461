// What comes from one PE: put in order, and long payloads led to their place.
//
// A long payload above the eager limit arrives in two steps: its header at once, its bytes when they have been asked
// for. Meanwhile other messages come. They wait here, so that nothing is delivered before what is in front of it is
// done, and nothing asked for but what may land early.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

// An active message as UCX gives it, valid during the callback.
struct UcpMessage {
  unsigned kind = 0;
  Bytes header;
  void* data = nullptr;  // a descriptor when `fetched`
  std::size_t bytes = 0;
  bool fetched = false;  // the data are still at the sender
};

// What inboxes tell the transport.
struct InboxEvents {
  bool active = false;      // something was given to the sink
  std::vector<int> broken;  // sources that sent what does not fit, see fault()
};

struct Arrival;

class Inbox {
 public:
  Inbox(ucp_worker_h worker, Sink& sink, InboxEvents& events, int source) noexcept;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox();

  // UCS_INPROGRESS when the descriptor is kept.
  ucs_status_t take(std::uint32_t number, const UcpMessage& message);
  // After the end of a payload: delivers what has become ready.
  void advance();
  // Nothing more is delivered; what was begun ends by itself.
  void shut() noexcept { shut_ = true; }
  // Before the worker ends, with all that it still holds for this.
  void release() noexcept;

  const std::string& fault() const noexcept { return fault_; }

 private:
  struct Stored;

  ucs_status_t take_now(const UcpMessage& message);
  void take_records(const UcpMessage& message);
  ucs_status_t take_long(const UcpMessage& message);
  void take_payload(Bytes payload);
  void take_early();
  void deliver_records(Bytes records);
  bool finish(Arrival& arrival);
  void look_ahead();
  bool would_overwrite(const Arrival& arrival) const;
  void place(Arrival& arrival);
  void begin(Arrival& arrival);
  void fetch(Arrival& arrival);
  static void fetched(void* request, ucs_status_t status, std::size_t length, void* arrival);
  bool make_room(Arrival& arrival);
  void fault(std::string text);
  void fault_no_memory(std::size_t bytes);
  void fault_not_fetched(std::size_t bytes, ucs_status_t status);

  ucp_worker_h worker_;
  Sink& sink_;
  InboxEvents& events_;
  int source_;
  std::uint32_t expected_ = 0;
  bool shut_ = false;
  std::deque<std::unique_ptr<Arrival>> queue_;
  std::map<std::uint32_t, Stored> early_;  // came before their turn
  std::string fault_;
};

}  // namespace shmemx::ucx
