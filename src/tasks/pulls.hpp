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

  // Begins to pull the payload of an offered task. `item`: its header and heads. Returns false if they are damaged.
  bool begin(int source, const OfferHead& offer, Bytes item) noexcept;
  // Queues the tasks whose payload is complete, after handle(buffer). Returns whether there was one.
  template <class Handle>
  bool progress(const Handle& handle) noexcept {
    return std::erase_if(pulls_, [&](const Pull& pull) {
             if (!try_end(*pull.receive)) return false;
             handle(*pull.buffer);
             incoming_.add_complete(pull.buffer);
             return true;
           }) != 0;
  }
  bool is_empty() const noexcept { return pulls_.empty(); }

 private:
  struct Pull {
    Buffer* buffer;
    pt2pt::ReceiveRequest* receive;
  };

  static bool try_end(pt2pt::ReceiveRequest& receive) noexcept;

  Incoming& incoming_;
  std::vector<Pull> pulls_;
};

}  // namespace shmemx::tasks
