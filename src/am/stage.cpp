#include "am/stage.hpp"

#include <cstring>

#include "am/endpoint.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"

namespace shmemx::am {
namespace {

void (*note_stage_of)(int pe, const StageNote& note) = nullptr;

Verdict handle_stage(Endpoint& endpoint, const Message& message) {
  StageNote note{};
  const bool whole = message.payload.size() == sizeof note;
  if (whole) std::memcpy(&note, message.payload.data(), sizeof note);
  if (!whole || note.phase < bootstrap::PePhase::running || note.phase > bootstrap::PePhase::departing)
    fatal(nullptr, "a message of PE %d with its stage is damaged", message.source);
  if (endpoint.is_internode(message.source))
    endpoint.net()->note_left(message.source, note.phase == bootstrap::PePhase::finalized);
  if (note_stage_of != nullptr) note_stage_of(message.source, note);
  return Verdict::done;
}

}  // namespace

void open_stages(void (*stage_of)(int pe, const StageNote& note)) noexcept {
  if (note_stage_of != stage_of) note_stage_of = stage_of;  // at a later init the progress thread may be reading
  set_handler(kStage, handle_stage);
}

void send_stage(const StageNote& note, std::span<const int> also, std::uint32_t patience_ms) noexcept {
  if (!has_networks()) return;
  const Locked endpoint;
  const std::uint64_t deadline = now_ns() + std::uint64_t{patience_ms} * 1'000'000U;
  const auto send = [&](int pe) {
    while (!endpoint->try_send({.pe = pe, .handler = kStage, .header = bytes_of(note)}) && now_ns() < deadline)
      endpoint->poll();
  };
  // Polls may add contacts.
  NetChannel& net = *endpoint->net();
  for (std::size_t i = 0; i < net.contacts().size(); ++i) {
    if (const int pe = net.contacts()[i]; net.has_exchanged(pe)) send(pe);
  }
  for (const int pe : also) {
    if (endpoint->is_internode(pe) && !net.has_exchanged(pe)) send(pe);
  }
  endpoint->flush_gathered();
}

void leave_networks(bootstrap::PePhase phase, const LeavingTimes& times) noexcept {
  if (!has_networks()) return;
  const bool finishes = phase == bootstrap::PePhase::finalized && Locked()->net()->keeps_any();
  send_stage(phase, finishes ? times.take_over_ms : times.patience_ms);
  const Locked endpoint;
  if (finishes) endpoint->net()->finish(times.take_over_ms);
  endpoint->close_networks(times.patience_ms);
}

void rest(bool resting) noexcept {
  const Locked endpoint;
  endpoint->set_resting(resting);
}

}  // namespace shmemx::am
