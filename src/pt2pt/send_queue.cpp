#include "pt2pt/send_queue.hpp"

#include <utility>

namespace shmemx::pt2pt {

void SendQueue::start(int n_pes, Pusher& pusher) noexcept {
  pusher_ = &pusher;
  queues_.open(static_cast<std::size_t>(n_pes));
  active_.clear();
}

void SendQueue::clear() noexcept {
  for (const int pe : active_) queue(pe) = PeerQueue{};
  active_.clear();
}

void SendQueue::enqueue(Request& request, Next next) noexcept {
  request.next = next;
  request.phase = Phase::queued;
  request.link = nullptr;
  PeerQueue& to = queue(request.peer);
  if (to.first != nullptr) {
    to.last->link = &request;
    to.last = &request;
    return;
  }
  if (pusher_->push(request) == Step::sent) return pusher_->pushed(request);
  to.first = to.last = &request;
  if (!std::exchange(to.is_active, true)) active_.push_back(request.peer);
}

bool SendQueue::drain_peer(int pe) noexcept {
  PeerQueue& to = queue(pe);
  bool any = false;
  while (to.first != nullptr) {
    Request& request = *to.first;
    const std::size_t passed = request.cursor.passed();
    const Step step = pusher_->push(request);
    any |= step != Step::blocked || request.cursor.passed() != passed;
    if (step == Step::blocked || (step == Step::rotate && &request == to.last)) break;
    to.first = request.link;
    request.link = nullptr;
    if (step == Step::sent) {
      pusher_->pushed(request);
      continue;
    }
    to.last->link = &request;
    to.last = &request;
    break;
  }
  return any;
}

bool SendQueue::drain() noexcept {
  bool any = false;
  for (std::size_t i = 0; i < active_.size();) {
    any |= drain_peer(active_[i]);
    if (PeerQueue& from = queue(active_[i]); from.first == nullptr) {
      from.is_active = false;
      active_[i] = active_.back();
      active_.pop_back();
    } else {
      ++i;
    }
  }
  return any;
}

}  // namespace shmemx::pt2pt
