// Buffers that the library uses from the call that starts an operation until its request is complete: of collectives
// that do not block, messages, calls of tasks; and payloads of tasks until they are released.
#pragma once

#include <shmemx/messages.h>

#include <vector>

#include "races/access.hpp"

namespace shmemx::races {

// A call that starts an operation. What it orders is said in extension.hpp.
class Start {
 public:
  explicit Start(const CallPlace& call) noexcept;
  ~Start();
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  void reads(const void* source, std::size_t bytes) noexcept { use(source, bytes, Kind::load); }
  void writes(const void* dest, std::size_t bytes) noexcept { use(dest, bytes, Kind::store); }
  // The operation may have its source in the dest, which then says all.
  void copies(const void* dest, std::size_t dest_bytes, const void* source, std::size_t source_bytes) noexcept {
    if (source != dest) reads(source, source_bytes);
    writes(dest, dest_bytes);
  }
  // The routine has returned this request.
  void has_begun(shmemx_request_t request) noexcept;
  // Of an operation without a request: what complete() needs.
  const Stamp& stamp() const noexcept { return stamp_; }

 private:
  Thread* thread_;
  Where where_;
  Stamp stamp_;

  void use(const void* at, std::size_t bytes, Kind kind) noexcept;
};

// The operation is complete, as this thread now knows.
void complete(const Stamp& operation) noexcept;
void complete(shmemx_request_t request) noexcept;

// A call that may complete requests: those that it makes null.
class Completion {
 public:
  Completion(const shmemx_request_t* requests, std::size_t count) noexcept;
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

 private:
  const shmemx_request_t* requests_;
  std::vector<shmemx_request_t> before_;
};

void forget_requests() noexcept;

}  // namespace shmemx::races
