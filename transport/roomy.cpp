#include "transport/roomy.hpp"

namespace shmemx::transport {

Sent RoomyTransport::send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                          Urgency urgency) noexcept {
  Sent sent{};
  stack_.call([&] { sent = inner_->send(pe, fixed, header, payload, outgoing, urgency); });
  return sent;
}

void RoomyTransport::flush() noexcept {
  stack_.call([this] { inner_->flush(); });
}

bool RoomyTransport::poll(int expected) noexcept {
  bool has_moved = false;
  stack_.call([&] { has_moved = inner_->poll(expected); });
  return has_moved;
}

bool RoomyTransport::arm() noexcept {
  bool may_sleep = false;
  stack_.call([&] { may_sleep = inner_->arm(); });
  return may_sleep;
}

void RoomyTransport::close(std::uint32_t patience_ms) noexcept {
  stack_.call([this, patience_ms] { inner_->close(patience_ms); });
}

bool RoomyTransport::abandon(int pe) noexcept {
  bool is_done = false;
  stack_.call([&] { is_done = inner_->abandon(pe); });
  return is_done;
}

Result<std::string> RoomyTransport::register_memory(std::byte* base, std::size_t bytes) {
  Result<std::string> key(std::string{});
  stack_.call([&] { key = inner_rma_->register_memory(base, bytes); });
  return key;
}

void RoomyTransport::unregister_memory(std::byte* base) noexcept {
  stack_.call([this, base] { inner_rma_->unregister_memory(base); });
}

RemoteKey* RoomyTransport::import_key(int pe, Bytes key) noexcept {
  RemoteKey* imported = nullptr;
  stack_.call([&] { imported = inner_rma_->import_key(pe, key); });
  return imported;
}

void RoomyTransport::release_key(RemoteKey* key) noexcept {
  stack_.call([this, key] { inner_rma_->release_key(key); });
}

bool RoomyTransport::put(const RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
                         Completion* source_use) noexcept {
  bool is_started = false;
  stack_.call([&] { is_started = inner_rma_->put(key, offset, source, completion, source_use); });
  return is_started;
}

bool RoomyTransport::get(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                         Completion& completion) noexcept {
  bool is_started = false;
  stack_.call([&] { is_started = inner_rma_->get(key, offset, dest, completion); });
  return is_started;
}

bool RoomyTransport::put_short(const RemoteKey& key, std::uint64_t offset, Bytes source,
                               Completion& completion) noexcept {
  bool is_started = false;
  stack_.call([&] { is_started = inner_rma_->put_short(key, offset, source, completion); });
  return is_started;
}

ShortGet RoomyTransport::get_short(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                                   Completion& completion) noexcept {
  ShortGet begun = ShortGet::no;
  stack_.call([&] { begun = inner_rma_->get_short(key, offset, dest, completion); });
  return begun;
}

std::unique_ptr<Lane> RoomyTransport::open_lane() noexcept {
  std::unique_ptr<Lane> lane;
  stack_.call([&] { lane = inner_rma_->open_lane(); });
  return lane;
}

FenceOrder RoomyTransport::fence() noexcept {
  FenceOrder order = FenceOrder::nothing;
  stack_.call([&] { order = inner_rma_->fence(); });
  return order;
}

void RoomyTransport::progress() noexcept {
  stack_.call([this] { inner_rma_->progress(); });
}

}  // namespace shmemx::transport
