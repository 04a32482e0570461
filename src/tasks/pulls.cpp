#include "tasks/pulls.hpp"

#include "base/fatal.hpp"

namespace shmemx::tasks {
namespace {

pt2pt::Engine& engine() noexcept { return pt2pt::own_engine.object; }

// Returns whether the item says of its payload what the offer does.
bool fits(const OfferHead& offer, Bytes item) noexcept {
  am::ItemHeader header;
  if (item.size() < sizeof header || item.size() > sizeof header + kMostHeadBytes) return false;
  std::memcpy(&header, item.data(), sizeof header);
  return is_pull_tag(offer.tag) && offer.payload_bytes >= kPullBytes && offer.payload_bytes <= kMaxPayloadBytes &&
         header.bytes == item.size() - sizeof header + offer.payload_bytes;
}

}  // namespace

bool Pulls::begin(int source, const OfferHead& offer, Bytes item) noexcept {
  if (!fits(offer, item)) return false;
  std::byte* payload;
  Buffer* const buffer = incoming_.make_pulled(source, item, offer.payload_bytes, payload);
  const pt2pt::Cursor place(pt2pt::Shape::contiguous(payload, offer.payload_bytes));
  pt2pt::ReceiveRequest* const receive = engine().receive(place, {source, offer.tag}, false);
  if (receive == nullptr)
    fatal("shmemx_task_send", "no memory for another request, %zu are open", engine().open_requests());
  pulls_.push_back({buffer, receive});
  return true;
}

bool Pulls::try_end(pt2pt::ReceiveRequest& receive) noexcept {
  if (receive.phase != pt2pt::Phase::complete) return false;
  engine().give_back(receive);
  return true;
}

}  // namespace shmemx::tasks
