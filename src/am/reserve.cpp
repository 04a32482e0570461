#include "am/reserve.hpp"

#include "am/dispatch.hpp"

namespace shmemx::am {

transport::Sent Reserve::send(int pe, const transport::Header& fixed, Bytes header, Bytes payload,
                              transport::Outgoing* outgoing, transport::Urgency urgency) noexcept {
  const bool is_reply = traits_of(fixed.handler).role == Role::reply;
  const bool is_mark = fixed.handler == kMark;
  if (!is_mark && !kept_.has_room(pe)) return transport::Sent::no;
  std::unique_ptr<KeptMessage> message = KeptMessages::make(fixed, header, payload, outgoing);
  const bool is_in_place = message->outgoing != nullptr;
  // The sender of a payload in place waits for the acknowledgement.
  if (is_in_place || is_mark) message->fixed.flags &= static_cast<std::uint8_t>(~kUncounted);
  const transport::Sent sent = message->send(paths_.network_to(pe), pe, urgency);
  if (sent == transport::Sent::no) return sent;
  kept_.keep(pe, std::move(message), peers_[pe].sent + (is_reply ? 0 : 1), is_reply);
  if (is_reply && kept_.needs_mark(pe)) unmarked_.push_back(pe);
  return is_in_place ? transport::Sent::later : transport::Sent::yes;
}

// Another network leads to `pe`, which has had `received` messages. Returns false if it lacks some that are not kept.
bool Reserve::rewind(int pe, std::uint64_t received) noexcept {
  if (!kept_.rewind(pe, received)) return false;
  acks_.note_lost(pe);
  return true;
}

bool Reserve::resend(int pe) noexcept {
  return kept_.resend(pe, [&](KeptMessage& message) {
    message.fixed.ack = acks_.executed(pe);
    return message.send(paths_.network_to(pe), pe, transport::Urgency::now) != transport::Sent::no;
  });
}

}  // namespace shmemx::am
