// Sends the next bytes of a request in one message, packed if they lie in several places.
#pragma once

#include <memory>

#include "pt2pt/platform.hpp"
#include "pt2pt/request.hpp"

namespace shmemx::pt2pt {

class Pieces {
 public:
  // No message is longer than `most_bytes`.
  void start(Platform& platform, std::size_t most_bytes) noexcept;
  // Sends `bytes` from the cursor on, which advances. Returns false, without a change, if there is no room.
  bool send(Request& request, am::HandlerId id, am::Bytes header, std::size_t bytes,
            am::SendOptions options = {}) noexcept;

 private:
  Platform* platform_ = nullptr;
  std::unique_ptr<std::byte[]> packed_;
};

}  // namespace shmemx::pt2pt
