// From the records of one peer, in their order, to messages for the sink.
#pragma once

#include "transport/common/inbound_queue.hpp"
#include "transport/ethernet/decoder.hpp"

namespace shmemx::ethernet {

class Inbound {
 public:
  // What needs more than the sink.
  class Owner : public transport::InboundSource {
   public:
    // The peer has all of a payload that was lent to it.
    virtual void ended_loan(int source, std::uint64_t handle) noexcept = 0;

   protected:
    ~Owner() = default;
  };

  Inbound(transport::Sink& sink, Owner& owner, const transport::InboundQueue::Settings& settings) noexcept
      : owner_(owner), queue_(sink, owner, settings) {}

  // Takes the records of one frame, whose memory is aligned to 16 bytes. Returns what is wrong with them, or null.
  const char* take(Bytes records);
  bool has_shut_down() const noexcept { return has_shut_down_; }
  transport::InboundQueue& queue() noexcept { return queue_; }
  // Returns how many packets of a payload are on their path without a request. Only while its announcement is taken:
  // packets that arrive before the payload has a place are dropped.
  std::uint32_t pushed_of(std::uint64_t handle) const noexcept { return handle == announced_ ? pushed_ : 0; }

 private:
  const char* take_record(const transport::Record& record, Bytes content);
  const char* begin_whole(const transport::Record& record, Bytes content);
  void find_place(Bytes content) noexcept;
  const char* add_part(Bytes content);
  void end_whole();

  Owner& owner_;
  transport::InboundQueue queue_;
  // A message of which some parts are here. Its payload goes to its place, if that is known from the beginning.
  transport::Header fixed_{};
  transport::AlignedMemory whole_;  // header and payload, or the header alone
  std::byte* place_ = nullptr;
  bool has_place_answer_ = false;
  std::size_t whole_bytes_ = 0;  // 0: there is none
  std::size_t here_ = 0;
  std::uint64_t announced_ = 0;  // by the record that is taken now; 0: none
  std::uint32_t pushed_ = 0;     // packets of it
  bool has_shut_down_ = false;
};

}  // namespace shmemx::ethernet
