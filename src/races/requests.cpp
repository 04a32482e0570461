#include "races/requests.hpp"

#include <map>
#include <mutex>

#include "races/extension.hpp"

namespace shmemx::races {
namespace {

struct Requests {
  SpinLock lock;
  Slot slot = kNoSlot;  // counts the operations of this PE
  Epoch n_started = 0;
  std::map<shmemx_request_t, Stamp> open;
};
// Never destroyed: threads may still run while the process exits.
Requests& requests() {
  static auto* const instance = new Requests;
  return *instance;
}

// A clock that knows of no operation's stamp does so when the operation is complete.
Stamp next_operation() noexcept {
  const std::lock_guard guard(requests().lock);
  if (requests().slot == kNoSlot) {
    requests().slot = job.new_slot({.component = Component::requests, .pe = job.my_pe(), .target = job.my_pe()});
    requests().n_started = 0;
  }
  return {requests().slot, ++requests().n_started};
}

}  // namespace

Start::Start(const CallPlace& call) noexcept : thread_(current_thread()) {
  exchange_knowledge();
  if (thread_ == nullptr || thread_->in_library != 0) {
    thread_ = nullptr;
    return;
  }
  where_ = where_of(*thread_, call);
  stamp_ = next_operation();
}

Start::~Start() { exchange_knowledge(); }

void Start::use(const void* at, std::size_t bytes, Kind kind) noexcept {
  if (thread_ == nullptr || stamp_.slot == kNoSlot || at == nullptr || bytes == 0) return;
  record_local(*thread_, {reinterpret_cast<std::uintptr_t>(at), bytes}, {stamp_, kind, where_, thread_->knowledge()});
}

void Start::has_begun(shmemx_request_t request) noexcept {
  if (thread_ == nullptr) return;
  if (request == SHMEMX_REQUEST_NULL) return complete(stamp_);
  const std::lock_guard guard(requests().lock);
  requests().open[request] = stamp_;
}

void complete(const Stamp& operation) noexcept {
  Thread* const thread = current_thread();
  if (thread != nullptr && operation.slot != kNoSlot) thread->clock->add_single({operation.epoch, operation.slot});
}

void complete(shmemx_request_t request) noexcept {
  Stamp operation;
  {
    const std::lock_guard guard(requests().lock);
    const auto at = requests().open.find(request);
    if (at == requests().open.end()) return;
    operation = at->second;
    requests().open.erase(at);
  }
  complete(operation);
}

Completion::Completion(const shmemx_request_t* requests, std::size_t count) noexcept : requests_(requests) {
  exchange_knowledge();
  if (requests != nullptr) before_.assign(requests, requests + count);
}

Completion::~Completion() {
  for (std::size_t i = 0; i < before_.size(); ++i) {
    if (before_[i] != SHMEMX_REQUEST_NULL && requests_[i] == SHMEMX_REQUEST_NULL) complete(before_[i]);
  }
  exchange_knowledge();
}

void forget_requests() noexcept {
  const std::lock_guard guard(requests().lock);
  requests().open.clear();
  requests().slot = kNoSlot;
}

}  // namespace shmemx::races
