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
  // Queues the tasks whose payload is complete. Returns whether there was one.
  bool progress() noexcept;
  bool is_empty() const noexcept { return pulls_.empty(); }

 private:
  struct Pull {
    Buffer* buffer;
    pt2pt::ReceiveRequest* receive;
  };

  Incoming& incoming_;
  std::vector<Pull> pulls_;
};

}  // namespace shmemx::tasks
