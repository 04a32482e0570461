// Payloads that this PE pulls from those that have sent tasks with them: receives of pt2pt in its internal context,
// which chooses the way of copying. Under the endpoint's lock; nothing here waits.
#pragma once

#include <vector>

#include "pt2pt/messages.hpp"
#include "tasks/incoming.hpp"

namespace shmemx::tasks {

class Pulls {
 public:
  explicit Pulls(Incoming& incoming) noexcept : incoming_(incoming) {}

  // Begins to pull what is offered: the payload of a task, or a reply, straight into the result of its call. `item`:
  // its header and heads. Returns false if they are damaged.
  bool begin(int source, const OfferHead& offer, Bytes item) noexcept;
  // Queues the tasks whose payload is complete, after on_task(buffer), and completes the calls whose reply is, after
  // on_reply(). Returns whether there was one.
  template <class OnTask, class OnReply>
  bool progress(const OnTask& on_task, const OnReply& on_reply) noexcept {
    return std::erase_if(pulls_, [&](const Pull& pull) {
             if (pull.receive->phase != pt2pt::Phase::complete) return false;
             if (pull.call != nullptr) {
               on_reply();
               end_reply(pull);
             } else {
               on_task(*pull.buffer);
               incoming_.add_complete(pull.buffer);
             }
             give_back(*pull.receive);
             return true;
           }) != 0;
  }
  bool is_empty() const noexcept { return pulls_.empty(); }

 private:
  struct Pull {
    Buffer* buffer;          // of a task
    pt2pt::Operation* call;  // of a reply
    pt2pt::ReceiveRequest* receive;
  };

  void begin(int source, const OfferHead& offer, Pull pull, const pt2pt::Cursor& place) noexcept;
  static void end_reply(const Pull& pull) noexcept;
  static void give_back(pt2pt::ReceiveRequest& receive) noexcept;

  Incoming& incoming_;
  std::vector<Pull> pulls_;
};

}  // namespace shmemx::tasks
