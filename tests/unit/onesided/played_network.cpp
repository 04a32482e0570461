#include "played_network.hpp"

#include <cstring>

#include "am/net_channel.hpp"

namespace shmemx::unit {
namespace {

std::uint64_t begin_of(transport::Bytes key) {
  std::uint64_t begin = ~std::uint64_t{0};
  if (key.size() == sizeof begin) std::memcpy(&begin, key.data(), sizeof begin);
  return begin;
}

}  // namespace

void PlayedNetwork::request_key(const onesided::KeyRequest& request) {
  const am::Locked endpoint;
  alignas(16) onesided::KeyRequest aligned = request;
  if (names_itself) std::memcpy(aligned.network, name(), std::strlen(name()));
  am::network_sink().deliver(kOther, {am::kKeyRequest, 0, sizeof aligned, executed_}, am::bytes_of(aligned));
}

void PlayedNetwork::revoke(windows::WindowName window, const onesided::Extent& extent) {
  const am::Locked endpoint;
  alignas(16) const onesided::KeyRevokeHeader header{window, 99, 0, extent};
  am::network_sink().deliver(kOther, {am::kKeyRevoke, 0, sizeof header, executed_}, am::bytes_of(header));
}

void PlayedNetwork::reply(std::uint32_t ticket, onesided::Outcome outcome) {
  alignas(16) const onesided::ReplyHeader header{ticket, outcome, 1, 0};
  am::network_sink().deliver(kOther, {am::kReply, 0, sizeof header, executed_}, am::bytes_of(header));
}

transport::Sent PlayedNetwork::send(int, const transport::Header& head, transport::Bytes header, transport::Bytes data,
                                    transport::Outgoing*, transport::Urgency) noexcept {
  const unsigned handler = head.handler;
  if (handler == am::kAck) return transport::Sent::yes;
  ++messages_sent;
  std::vector<std::byte> payload(header.begin(), header.end());
  payload.insert(payload.end(), data.begin(), data.end());
  if (handler == am::kReply) {
    note_answer(payload);
  } else {
    messages_.push_back({handler, polls + message_polls, payload});
  }
  return transport::Sent::yes;
}

bool PlayedNetwork::poll(int) noexcept {
  ++polls;
  while (!messages_.empty() && messages_.front().due <= polls) {
    const Sent message = messages_.front();
    messages_.pop_front();
    ++executed_;
    execute(message);
  }
  finish_due();
  return true;
}

void PlayedNetwork::finish_due() {
  while (!transfers_.empty() && transfers_.front().due <= polls + looks) {
    finish(transfers_.front());
    transfers_.pop_front();
  }
}

void PlayedNetwork::progress() noexcept {
  ++looks;
  finish_due();
}

Result<std::string> PlayedNetwork::register_memory(std::byte*, std::size_t bytes) {
  log.push_back("register " + std::to_string(bytes));
  if (!registers || n_registered_ == most_registered) return Error{Errc::unsupported, 0, "not this one"};
  ++n_registered_;
  return std::string("key");
}

void PlayedNetwork::unregister_memory(std::byte*) noexcept {
  log.push_back("unregister");
  --n_registered_;
}

transport::RemoteKey* PlayedNetwork::import_key(int, transport::Bytes key) noexcept {
  imported_.push_back(std::make_unique<Imported>());
  imported_.back()->begin = begin_of(key);
  return imported_.back().get();
}

void PlayedNetwork::release_key(transport::RemoteKey* key) noexcept {
  if (std::erase_if(imported_, [key](const auto& imported) { return imported.get() == key; }) != 1)
    log.push_back("released twice");
}

bool PlayedNetwork::put(const transport::RemoteKey& key, std::uint64_t offset, transport::Bytes source,
                        transport::Completion& done, transport::Completion* source_use) noexcept {
  const std::uint64_t at = static_cast<const Imported&>(key).begin + offset;
  return start({at, const_cast<std::byte*>(source.data()), source.size(), &done, source_use, true, 0});
}

bool PlayedNetwork::get(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                        transport::Completion& done) noexcept {
  return start({static_cast<const Imported&>(key).begin + offset, dest.data(), dest.size(), &done, nullptr, false, 0});
}

bool PlayedNetwork::put_short(const transport::RemoteKey& key, std::uint64_t offset, transport::Bytes source,
                              transport::Completion& done) noexcept {
  const std::uint64_t at = static_cast<const Imported&>(key).begin + offset;
  Started put{at, nullptr, source.size(), &done, nullptr, true, 0};
  std::memcpy(put.copy.data(), source.data(), source.size());
  put.is_copied = true;
  return start(put);
}

bool PlayedNetwork::get_short(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                              transport::Completion& done) noexcept {
  if (!get(key, offset, dest, done)) return false;
  progress();
  return true;
}

bool PlayedNetwork::start(Started transfer) {
  if (refuses_once) {
    refuses_once = false;
    log.push_back("refused");
    return false;
  }
  log.push_back(transfer.is_put ? "start put" : "start get");
  transfer.due = polls + looks + transfer_polls;
  ++transfer.done->open;
  if (transfer.source_use != nullptr) ++transfer.source_use->open;
  transfers_.push_back(transfer);
  return true;
}

void PlayedNetwork::finish(const Started& transfer) {
  const bool fits = transfer.at <= remote.size() && transfer.bytes <= remote.size() - transfer.at;
  log.push_back(!fits ? "out of range" : transfer.is_put ? "put" : "get");
  std::byte* const at = remote.data() + (fits ? transfer.at : 0);
  const std::byte* const source = transfer.is_copied ? transfer.copy.data() : transfer.local;
  if (fits) std::memcpy(transfer.is_put ? at : transfer.local, transfer.is_put ? source : at, transfer.bytes);
  --transfer.done->open;
  if (transfer.source_use != nullptr) --transfer.source_use->open;
}

void PlayedNetwork::execute(const Sent& message) {
  if (message.handler == am::kKeyRequest) return reply_with_key(message);
  if (message.handler == am::kKeyRevoke) {
    onesided::KeyRevokeHeader header;
    std::memcpy(&header, message.payload.data(), sizeof header);
    log.push_back("message revoke");
    return reply(header.ticket, onesided::Outcome::ok);
  }
  if (message.handler == am::kPutReplied) {
    onesided::PutRepliedHeader header;
    std::memcpy(&header, message.payload.data(), sizeof header);
    log.push_back("message put");
    return reply(header.ticket, window_is_freed ? onesided::Outcome::stale : onesided::Outcome::ok);
  }
  if (message.handler == am::kPut) take_put(message);
  log.push_back(message.handler == am::kPut      ? "message put"
                : message.handler == am::kSignal ? "message signal"
                                                 : "message");
  am::network_sink().deliver(kOther, {am::kAck, 0, 0, executed_}, {});  // brings the count
}

void PlayedNetwork::reply_with_key(const Sent& message) {
  alignas(16) struct {
    onesided::ReplyHeader header;
    onesided::KeyReply answer;
  } reply{};
  onesided::KeyRequest request;
  std::memcpy(&request, message.payload.data(), sizeof request);
  log.push_back(std::string("message key request") +
                (std::string_view(request.network) == name() ? "" : " of another"));
  if (window_is_freed) return this->reply(request.ticket, onesided::Outcome::stale);
  const std::uint64_t begin = request.offset / key_range * key_range;
  reply.header = {request.ticket, onesided::Outcome::ok, 1, 0};
  reply.answer.begin = begin;
  reply.answer.bytes = key_range;
  reply.answer.is_open = opens ? 1 : 0;
  reply.answer.key_bytes = sizeof begin;
  std::memcpy(reply.answer.key, &begin, sizeof begin);
  am::network_sink().deliver(kOther, {am::kReply, 0, sizeof reply.header, executed_}, am::bytes_of(reply));
}

void PlayedNetwork::take_put(const Sent& message) {
  onesided::PutHeader header;
  std::memcpy(&header, message.payload.data(), sizeof header);
  const std::size_t bytes = message.payload.size() - sizeof header;
  if (header.offset > remote.size() || bytes > remote.size() - header.offset) return log.push_back("out of range");
  std::memcpy(remote.data() + header.offset, message.payload.data() + sizeof header, bytes);
}

void PlayedNetwork::note_answer(const std::vector<std::byte>& payload) {
  onesided::KeyReply answer{};
  const std::size_t bytes = payload.size() - sizeof(onesided::ReplyHeader);
  if (bytes == 0 || bytes == sizeof(onesided::RefusedRange)) return log.push_back("reply");
  if (payload.size() == sizeof(onesided::ReplyHeader) + sizeof answer)
    std::memcpy(&answer, payload.data() + sizeof(onesided::ReplyHeader), sizeof answer);
  answers.push_back(answer);
}

}  // namespace shmemx::unit
