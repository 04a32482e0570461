#include "played_network.hpp"

#include <cstring>
#include <utility>

#include "am/coalescer.hpp"
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
                                    transport::Outgoing* outgoing, transport::Urgency) noexcept {
  const unsigned handler = head.handler;
  if (handler == am::kAck) return transport::Sent::yes;
  ++messages_sent;
  std::vector<std::byte> payload(header.begin(), header.end());
  payload.insert(payload.end(), data.begin(), data.end());
  if (handler == am::kReply) {
    note_answer(payload);
    if (reads_later && outgoing != nullptr) {
      unread_.push_back(outgoing);
      return transport::Sent::later;
    }
  } else {
    messages_.push_back({handler, polls + message_polls, payload});
  }
  return transport::Sent::yes;
}

void PlayedNetwork::request_probe(const onesided::RmaProbeRequest& request) {
  alignas(16) onesided::RmaProbeRequest aligned = request;
  if (names_itself) std::memcpy(aligned.network, name(), std::strlen(name()));
  am::network_sink().deliver(kOther, {am::kRmaProbe, 0, sizeof aligned, executed_}, am::bytes_of(aligned));
}

void PlayedNetwork::request_blocks(const onesided::GetStridedHeader& request) {
  const am::Locked endpoint;
  alignas(16) const onesided::GetStridedHeader aligned = request;
  am::network_sink().deliver(kOther, {am::kGetStrided, 0, sizeof aligned, executed_}, am::bytes_of(aligned));
}

void PlayedNetwork::read_payloads() {
  for (transport::Outgoing* const outgoing : std::exchange(unread_, {})) outgoing->done = true;
}

void PlayedNetwork::finish_due(bool puts, bool gets) {
  for (std::size_t i = 0; i < transfers_.size();) {
    const Started transfer = transfers_[i];
    const bool is_due = transfer.due <= polls + looks && (transfer.is_put ? puts : gets);
    if (is_due) transfers_.erase(transfers_.begin() + static_cast<std::ptrdiff_t>(i));
    if (is_due) finish(transfer);
    if (!is_due) ++i;
  }
}

void PlayedNetwork::keep_still() {
  if (requests_back) request_probe({.ticket = 7, .step = onesided::RmaProbeRequest::Step::keep_still});
  requests_back = false;
  finish_due(puts_alone, gets_alone);
  if (--still_left_ != 0) return;
  onesided::RmaProbeReply answer{};
  std::uint64_t number = 0;
  std::memcpy(&number, remote.data() + kBlockAt, sizeof number);
  std::memset(remote.data() + kBlockAt + sizeof number, 0, sizeof number);
  answer.state = onesided::RmaProbeReply::State::open;
  answer.puts = number != number_before_ ? 1 : 0;
  reply_to_probe(answer);
}

void PlayedNetwork::reply_to_probe(const onesided::RmaProbeReply& answer) {
  alignas(16) struct {
    onesided::ReplyHeader header;
    onesided::RmaProbeReply answer;
  } reply{{probe_ticket_, onesided::Outcome::ok, 1, 0}, answer};
  am::network_sink().deliver(kOther, {am::kReply, 0, sizeof reply.header, executed_}, am::bytes_of(reply));
}

void PlayedNetwork::take_probe(const Sent& message) {
  using Step = onesided::RmaProbeRequest::Step;
  onesided::RmaProbeRequest request;
  std::memcpy(&request, message.payload.data(), sizeof request);
  probe_ticket_ = request.ticket;
  onesided::RmaProbeReply answer{};
  answer.state = opens ? onesided::RmaProbeReply::State::open : onesided::RmaProbeReply::State::closed;
  if (request.step == Step::key) {
    log.push_back("probe key");
    answer.key_bytes = sizeof kBlockAt;
    std::memcpy(answer.key, &kBlockAt, sizeof kBlockAt);
  } else if (request.step == Step::result) {
    log.push_back(std::string("probe result") + (request.puts != 0 ? " puts" : "") +
                  (request.gets != 0 ? " gets" : ""));
  } else if (busy_replies != 0) {
    --busy_replies;
    log.push_back("probe busy");
    answer.state = onesided::RmaProbeReply::State::busy;
  } else {
    log.push_back("probe still");
    const std::uint64_t still = onesided::ProbeBlock::kStill;
    std::memcpy(&number_before_, remote.data() + kBlockAt, sizeof number_before_);
    std::memcpy(remote.data() + kBlockAt + sizeof still, &still, sizeof still);
    still_left_ = still_polls;
    return;
  }
  reply_to_probe(answer);
}

bool PlayedNetwork::poll(int) noexcept {
  ++polls;
  if (still_left_ != 0) {
    keep_still();
    return true;
  }
  while (!messages_.empty() && messages_.front().due <= polls) {
    const Sent message = messages_.front();
    messages_.pop_front();
    ++executed_;
    execute(message);
    if (still_left_ != 0) return true;
  }
  finish_due();
  return true;
}

transport::FenceOrder PlayedNetwork::fence() noexcept {
  ++fences;
  return order;
}

void PlayedNetwork::progress() noexcept {
  ++looks;
  finish_due();
}

Result<std::string> PlayedNetwork::register_memory(std::byte* base, std::size_t bytes) {
  last_registered = base;
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

transport::ShortGet PlayedNetwork::get_short(const transport::RemoteKey& key, std::uint64_t offset,
                                             std::span<std::byte> dest, transport::Completion& done) noexcept {
  if (!get(key, offset, dest, done)) return transport::ShortGet::no;
  progress();
  return transport::how_begun(true, done);
}

// A lane of the played network: what it does is carried out with the transfers of all.
class PlayedLane final : public transport::Lane {
 public:
  explicit PlayedLane(PlayedNetwork& network) noexcept : network_(network), most_bytes_(network.lane_bytes) {
    ++network_.open_lanes;
    ++network_.lanes_opened;
  }
  ~PlayedLane() override { --network_.open_lanes; }

  transport::RemoteKey* import_key(const transport::RemoteKey& key) noexcept override {
    network_.log.push_back("lane imports");
    keys_.push_back(std::make_unique<PlayedNetwork::Imported>(static_cast<const PlayedNetwork::Imported&>(key)));
    return keys_.back().get();
  }
  void report_lost() noexcept override { network_.log.push_back("lane reports"); }
  std::size_t most_bytes() const noexcept override { return most_bytes_; }
  bool put(const transport::RemoteKey& key, std::uint64_t offset, transport::Bytes source, transport::Completion& done,
           transport::Completion* source_use) noexcept override {
    network_.log.push_back("by lane");
    return network_.put(key, offset, source, done, source_use);
  }
  bool get(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
           transport::Completion& done) noexcept override {
    network_.log.push_back("by lane");
    return network_.get(key, offset, dest, done);
  }
  bool put_short(const transport::RemoteKey& key, std::uint64_t offset, transport::Bytes source,
                 transport::Completion& done) noexcept override {
    network_.log.push_back("by lane");
    return network_.put_short(key, offset, source, done);
  }
  transport::ShortGet get_short(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                                transport::Completion& done) noexcept override {
    network_.log.push_back("by lane");
    return network_.get_short(key, offset, dest, done);
  }
  transport::FenceOrder fence() noexcept override { return network_.fence(); }
  void progress() noexcept override { network_.progress(); }

 private:
  PlayedNetwork& network_;
  const std::size_t most_bytes_;
  std::vector<std::unique_ptr<PlayedNetwork::Imported>> keys_;
};

std::unique_ptr<transport::Lane> PlayedNetwork::open_lane() noexcept {
  if (lanes_opened == most_lanes) return nullptr;
  return std::make_unique<PlayedLane>(*this);
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
  if (message.handler == am::kRmaProbe) return take_probe(message);
  if (message.handler == am::kGetStrided) return reply_with_blocks(message);
  if (message.handler == am::kBatch) reply_to_batch(message);
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
    onesided::KeyList list;
  } reply{};
  onesided::KeyRequest request;
  std::memcpy(&request, message.payload.data(), sizeof request);
  log.push_back(std::string("message key request") + (request.is_backward != 0 ? " backward" : "") +
                (std::string_view(request.network) == name() ? "" : " of another"));
  if (window_is_freed) return this->reply(request.ticket, onesided::Outcome::stale);
  reply.header = {request.ticket, onesided::Outcome::ok, 1, 0};
  for (std::uint64_t i = 0; i < keys_at_once; ++i) {
    const std::uint64_t begin = (request.offset / key_range + i) * key_range;
    onesided::KeyReply key{begin, key_range, opens ? 1U : 0U, sizeof begin, {}};
    std::memcpy(key.key, &begin, sizeof begin);
    reply.list.add(key);
  }
  am::network_sink().deliver(kOther, {am::kReply, 0, sizeof reply.header, executed_}, am::bytes_of(reply));
}

void PlayedNetwork::take_put(const Sent& message) {
  onesided::PutHeader header;
  std::memcpy(&header, message.payload.data(), sizeof header);
  const std::size_t bytes = message.payload.size() - sizeof header;
  if (header.offset > remote.size() || bytes > remote.size() - header.offset) return log.push_back("out of range");
  std::memcpy(remote.data() + header.offset, message.payload.data() + sizeof header, bytes);
}

// Requests of blocks alone have replies.
void PlayedNetwork::reply_to_batch(const Sent& message) {
  am::Bytes rest(message.payload);
  am::Bytes payload;
  for (am::ItemHeader item{}; am::take_item(rest, item, payload);)
    if (item.handler == am::kGetStrided)
      reply_with_blocks({item.handler, message.due, {payload.begin(), payload.end()}});
}

void PlayedNetwork::reply_with_blocks(const Sent& message) {
  onesided::GetStridedHeader request;
  std::memcpy(&request, message.payload.data(), sizeof request);
  log.push_back("message get of " + std::to_string(request.block_count) + " blocks");
  const onesided::ReplyHeader header{request.ticket, onesided::Outcome::ok, 1, 0};
  std::vector<std::byte> reply(sizeof header);
  std::memcpy(reply.data(), &header, sizeof header);
  for (std::uint32_t i = 0; i < request.block_count; ++i) {
    const std::byte* const block = remote.data() + request.offset + i * request.step;
    reply.insert(reply.end(), block, block + request.block_bytes);
  }
  am::network_sink().deliver(kOther, {am::kReply, 0, sizeof header, executed_}, reply);
}

void PlayedNetwork::note_answer(const std::vector<std::byte>& payload) {
  onesided::KeyList list;
  const std::size_t bytes = payload.size() - sizeof(onesided::ReplyHeader);
  if (bytes == 0 || bytes == sizeof(onesided::RefusedRange)) return log.push_back("reply");
  if (bytes == sizeof(onesided::RmaProbeReply)) {
    std::memcpy(&probe_answers.emplace_back(), payload.data() + sizeof(onesided::ReplyHeader), bytes);
    return;
  }
  if (bytes > sizeof list) return log.push_back("reply of " + std::to_string(bytes) + " bytes");
  if (bytes == sizeof list) std::memcpy(&list, payload.data() + sizeof(onesided::ReplyHeader), sizeof list);
  std::size_t at = 0;
  list.take(at, answers.emplace_back());
  lists.push_back(list);
}

}  // namespace shmemx::unit
