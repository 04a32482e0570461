#include "tasks/pulls.hpp"

#include "base/fatal.hpp"
#include "tasks/calls.hpp"

namespace shmemx::tasks {
namespace {

pt2pt::Engine& engine() noexcept { return pt2pt::own_engine.object; }

// Reads an item without its payload. Returns false if it does not say of that what the offer does.
bool read(const OfferHead& offer, Bytes item, TaskView& out) noexcept {
  am::ItemHeader header;
  const std::size_t item_bytes = item.size();
  if (!take_header(item, header) || (header.detail & ~kDetails) != 0) return false;
  out.kind = static_cast<std::uint16_t>(header.detail & kKinds);
  if (!take_heads(item, header.detail, out) || !item.empty()) return false;
  return is_pull_tag(offer.tag) && offer.payload_bytes >= kPullBytes && offer.payload_bytes <= kMaxPayloadBytes &&
         header.bytes == item_bytes - sizeof header + offer.payload_bytes;
}

}  // namespace

bool Pulls::begin(int source, const OfferHead& offer, Bytes item) noexcept {
  TaskView view;
  if (!read(offer, item, view)) return false;
  if (view.kind == kReply) {
    pt2pt::Operation* const call = begin_reply(source, view.call);
    if (call == nullptr) return false;
    begin(source, offer, {nullptr, call, nullptr}, call->cursor);
  } else {
    std::byte* payload;
    Buffer* const buffer = incoming_.make_pulled(source, item, offer.payload_bytes, payload);
    begin(source, offer, {buffer, nullptr, nullptr},
          pt2pt::Cursor(pt2pt::Shape::contiguous(payload, offer.payload_bytes)));
  }
  return true;
}

void Pulls::begin(int source, const OfferHead& offer, Pull pull, const pt2pt::Cursor& place) noexcept {
  pull.receive = engine().receive(place, {source, offer.tag}, false);
  if (pull.receive == nullptr)
    fatal("shmemx_task_send", "no memory for another request, %zu are open", engine().open_requests());
  pulls_.push_back(pull);
}

void Pulls::end_reply(const Pull& pull) noexcept {
  const pt2pt::Result& result = pull.receive->result;
  complete_call(*pull.call, result.source, result.bytes, result.truncated);
}

void Pulls::give_back(pt2pt::ReceiveRequest& receive) noexcept { engine().give_back(receive); }

}  // namespace shmemx::tasks
