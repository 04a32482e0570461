#include "pt2pt/engine.hpp"

#include <algorithm>

#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/thresholds.hpp"
#include "rma/copy.hpp"

namespace shmemx::pt2pt {

void Engine::start(Platform& platform, const Settings& settings) noexcept {
  platform_ = &platform;
  settings_ = settings;
  one_message_bytes_ = std::min(kEagerBytesOfRange, settings.payload_bytes - sizeof(EagerHeader));
  std::size_t most_bytes = settings.payload_bytes;
  if (settings.several_nodes) most_bytes = std::max(most_bytes, kInternodeEagerBytes);
  pieces_.start(platform, most_bytes);
  matching_.start(platform, settings.unexpected_max);
  if (!settings.receive_bypass) matching_.program().close_bypass();
  send_queue_.start(settings.n_pes, *this);
  transfers_.start(platform, settings_, send_queue_);
  eager_.start(platform, settings_, matching_, pieces_);
  rendezvous_.start({platform, settings_, matching_, send_queue_, transfers_, requests_});
}

void Engine::stop() noexcept {
  matching_.clear();
  send_queue_.clear();
  transfers_.clear();
  eager_.clear();
  rendezvous_.clear();
  requests_.drop_all();
}

SendRequest* Engine::send(const Cursor& source, int pe, int tag, SendMode mode) noexcept {
  SendRequest* const send = requests_.sends.take();
  if (send == nullptr) [[unlikely]]
    return nullptr;
  send->begin(source, pe, tag);
  send->goal = source.shape().bytes;
  send->in_burst = !mode.blocking;
  send->result = {settings_.me, tag, send->goal, false, false};
  if (pe == settings_.me) {
    eager_.send_to_self(*send, !mode.synchronous && (mode.blocking || send->goal <= kEagerBytes));
  } else {
    send_queue_.enqueue(*send, mode.synchronous || !eager_.takes(pe, source.shape()) ? Next::rts : Next::eager);
  }
  return send;
}

SendRequest* Engine::note_sent(int pe, int tag, std::size_t bytes) noexcept {
  SendRequest* const send = requests_.sends.take();
  if (send == nullptr) [[unlikely]]
    return nullptr;
  send->peer = pe;
  send->tag = tag;
  send->result = {settings_.me, tag, bytes, false, false};
  send->phase = Phase::complete;
  send->done.store(true, std::memory_order_relaxed);  // no other thread knows the request yet
  return send;
}

bool Engine::take_unexpected(Key key, Place dest, Result& out) noexcept {
  Unexpected* const message = matching_.program().find(key);
  if (message == nullptr || message->kind != Unexpected::Kind::eager || message->received != message->bytes)
    return false;
  const std::size_t bytes = std::min(message->bytes, dest.bytes);
  if (bytes != 0) rma::copy(dest.at, message->data(), bytes);
  out = {message->source, message->tag, bytes, bytes != message->bytes, false};
  matching_.program().forget(*message);
  return true;
}

void Engine::take(ReceiveRequest& receive, Unexpected& message) noexcept {
  if (message.kind == Unexpected::Kind::offer) {
    rendezvous_.take(receive, message);
  } else {
    eager_.take(receive, message);
  }
}

Operation* Engine::open_operation(std::uint32_t group) noexcept {
  Operation* const operation = requests_.operations.take();
  if (operation == nullptr) [[unlikely]]
    return nullptr;
  operation->done.store(false, std::memory_order_relaxed);  // no other thread knows the request yet
  operation->phase = Phase::waiting;
  operation->peer = kAny;
  operation->result = {kAny, kAny, 0, false, false};
  operation->group = group;
  return operation;
}

std::size_t Engine::open_operations_of(std::uint32_t group) const noexcept {
  std::size_t count = 0;
  requests_.operations.for_each([&](const Operation& operation) { count += operation.group == group; });
  return count;
}

Step Engine::push(Request& request) noexcept {
  const auto step_of = [](bool sent) { return sent ? Step::sent : Step::blocked; };
  switch (request.next) {
    case Next::eager:
      return eager_.push(request);
    case Next::data:
      return push_in_cells(pieces_, settings_.payload_bytes, request);
    case Next::rts:
      return step_of(rendezvous_.push_rts(request));
    case Next::cts:
      return step_of(rendezvous_.push_cts(request));
    case Next::request_section:
    case Next::section:
      return step_of(rendezvous_.push_cookie(request));
    case Next::done:
      break;
  }
  return step_of(rendezvous_.push_done(request));
}

void Engine::pushed(Request& request) noexcept {
  switch (request.next) {
    case Next::eager:
    case Next::data:
    case Next::done:
      return complete(request);
    case Next::cts:
      return rendezvous_.sent_cts(request);
    case Next::rts:
    case Next::request_section:
    case Next::section:
      break;
  }
  request.phase = Phase::waiting;
}

bool Engine::progress_some() noexcept {
  const bool moved = transfers_.progress();
  return send_queue_.drain() || moved;
}

void Engine::on_data(int source, Payload payload) noexcept {
  DataHeader header;
  if (!take_header(payload, header)) return platform_->reject(source, "data without a header");
  if (header.to == kEagerMessage) return eager_.on_more(source, header.offset, payload);
  rendezvous_.on_data(source, header, payload);
}

}  // namespace shmemx::pt2pt
