// A network that plays the other PE of two as well: it executes messages and transfers after as many polls as a case
// sets, and writes down what happened in which order.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "../../support/fake_transport.hpp"
#include "onesided/wire.hpp"

namespace shmemx::unit {

inline constexpr int kOther = 1;
inline constexpr std::size_t kRemoteBytes = std::size_t{1} << 20;

class PlayedNetwork final : public test_support::FakeTransport, private transport::Rma {
 public:
  PlayedNetwork() : FakeTransport("played") { can = kHardware; }

  static constexpr transport::Capabilities kHardware{.rma = true, .waits = false, .short_bytes = transport::kLongBytes};

  // The script of the case.
  bool has_rma = true;
  bool opens = true;                          // does the other PE open its memory?
  std::uint64_t key_range = kRemoteBytes;     // of each of its keys
  std::uint64_t keys_at_once = 1;             // in a reply: of the piece and those behind it
  int message_polls = 1, transfer_polls = 1;  // until they take effect; a look counts as a poll for transfers
  bool registers = true;
  std::size_t most_registered = 1000;  // ranges at once
  bool names_itself = true;            // in request_key()
  bool refuses_once = false;
  std::size_t most_lanes = 100;           // that it opens
  std::size_t lane_bytes = kRemoteBytes;  // the longest operation of a lane
  bool window_is_freed = false;           // the other PE has freed its public window
  // Of probes: the operations that take effect while the other PE keeps still, and how long it does.
  bool puts_alone = true, gets_alone = true;
  int still_polls = 20;
  int busy_replies = 0;
  transport::FenceOrder order = transport::FenceOrder::nothing;  // what a fence of it orders
  int fences = 0;
  bool requests_back = false;  // while it keeps still it asks this PE to keep still
  bool reads_later = false;    // payloads of replies stay in use until read_payloads()

  // What has happened.
  std::vector<std::string> log;
  std::size_t messages_sent = 0;
  int polls = 0;
  int looks = 0;  // by progress(), and for the end of a short get
  std::vector<std::byte> remote = std::vector<std::byte>(kRemoteBytes);
  std::vector<onesided::KeyReply> answers;  // to requests of the other PE: the first key of each
  std::vector<onesided::KeyList> lists;     // the same, all keys
  std::vector<onesided::RmaProbeReply> probe_answers;
  std::byte* last_registered = nullptr;

  std::size_t count(const std::string& what) const {
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), what));
  }
  // The other PE revokes keys of its window.
  void revoke(windows::WindowName window, const onesided::Extent& extent = {});
  // The other PE goes a step of a probe.
  void request_probe(const onesided::RmaProbeRequest& request);
  // The other PE requests blocks.
  void request_blocks(const onesided::GetStridedHeader& request);
  // Payloads of replies may be used again.
  void read_payloads();
  // The other PE requests a key.
  void request_key(const onesided::KeyRequest& request);

  transport::Sent send(int, const transport::Header& head, transport::Bytes header, transport::Bytes data,
                       transport::Outgoing* outgoing, transport::Urgency) noexcept override;
  bool poll(int) noexcept override;
  bool arm() noexcept override { return false; }
  transport::Rma* rma() noexcept override { return has_rma ? this : nullptr; }
  // Keys of other PEs that have been imported and not released.
  std::size_t imported() const { return imported_.size(); }
  std::size_t open_lanes = 0;
  std::size_t lanes_opened = 0;

 private:
  friend class PlayedLane;
  struct Imported : transport::RemoteKey {
    std::uint64_t begin = 0;
  };
  struct Sent {
    unsigned handler;
    int due;
    std::vector<std::byte> payload;
  };
  struct Started {
    std::uint64_t at;
    std::byte* local;
    std::size_t bytes;
    transport::Completion* done;
    transport::Completion* source_use;
    bool is_put;
    int due;
    std::array<std::byte, kShortBytes> copy{};  // of a short source
    bool is_copied = false;
  };

  Result<std::string> register_memory(std::byte*, std::size_t bytes) override;
  void unregister_memory(std::byte*) noexcept override;
  transport::RemoteKey* import_key(int pe, transport::Bytes key) noexcept override;
  void release_key(transport::RemoteKey* key) noexcept override;
  bool put(const transport::RemoteKey& key, std::uint64_t offset, transport::Bytes source, transport::Completion& done,
           transport::Completion* source_use) noexcept override;
  bool get(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
           transport::Completion& done) noexcept override;
  bool put_short(const transport::RemoteKey& key, std::uint64_t offset, transport::Bytes source,
                 transport::Completion& done) noexcept override;
  transport::ShortGet get_short(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                                transport::Completion& done) noexcept override;
  transport::FenceOrder fence() noexcept override;
  void progress() noexcept override;
  std::unique_ptr<transport::Lane> open_lane() noexcept override;
  bool start(Started transfer);
  void finish(const Started& transfer);
  void execute(const Sent& message);
  void reply_with_key(const Sent& message);
  void take_probe(const Sent& message);
  void keep_still();
  void reply_to_probe(const onesided::RmaProbeReply& answer);
  void finish_due(bool puts = true, bool gets = true);
  void take_put(const Sent& message);
  void reply_to_batch(const Sent& message);
  void reply_with_blocks(const Sent& message);
  void reply(std::uint32_t ticket, onesided::Outcome outcome);
  void note_answer(const std::vector<std::byte>& payload);

  static constexpr std::uint64_t kBlockAt = kRemoteBytes - 4096;  // for probes

  std::deque<Sent> messages_;
  std::deque<Started> transfers_;
  std::vector<transport::Outgoing*> unread_;
  std::vector<std::unique_ptr<Imported>> imported_;
  int still_left_ = 0;  // polls
  std::uint32_t probe_ticket_ = 0;
  std::uint64_t number_before_ = 0;
  std::size_t n_registered_ = 0;
  std::uint32_t executed_ = 0;
};

}  // namespace shmemx::unit
