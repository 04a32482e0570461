#include "coll/internode/first_round.hpp"

#include "am/endpoint.hpp"
#include "coll/common/flags.hpp"
#include "coll/common/matching.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll {
namespace {

// The flags of those members of another node that may send for it.
class SenderFlags {
 public:
  SenderFlags(const Team& team, const NodeMembers& members, std::size_t count)
      : team_(team), of_nodes_(latest_node_flag(team)), count_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      senders_[i] = {members[i], &received_flag(team, members[i])};
      if (count > 1) senders_[i].messages = &messages_for_node(team, members[i]);
    }
    if (count > 1) due_ = senders_[0].messages->tag.load(std::memory_order_relaxed) + 1;  // of this thread
  }

  // The message of this round has been found.
  void note_found() {
    if (count_ > 1) senders_[0].messages->tag.store(due_, std::memory_order_relaxed);
  }

  // Returns the member that has sent last: it is likely to be the next one, too.
  int likely() const {
    const Sender* latest = senders_;
    for (const Sender& sender : sent()) {
      if (epoch_of(sender) > epoch_of(*latest)) latest = &sender;
    }
    return latest->pe;
  }

  void compare_tags(const char* routine, std::uint64_t epoch) const {
    for (const Sender& sender : sent()) compare_tag(team_, routine, sender.pe, *sender.flag, epoch);
    compare_tag(team_, routine, senders_[0].pe, of_nodes_, epoch);
  }

  // Returns the member whose flag shows that its node has sent; -1: none. Messages of its members may come in another
  // order than they have been sent in, and this round may be the last one of the team, which leaves nothing under way:
  // so there have to be as many as this leader has awaited.
  int find_flag(std::uint64_t epoch) const {
    if (count_ > 1 && messages() < due_) return -1;
    for (const Sender& sender : sent()) {
      if (epoch_of(sender) >= epoch) return sender.pe;
    }
    return -1;
  }
  // The same with data. One member may be in a later collective while the data that another one has sent are still on
  // their way.
  int find_data(std::uint64_t epoch, EagerMessage& data) const {
    for (const Sender& sender : sent()) {
      const std::uint64_t seen = epoch_of(sender);
      if (seen < epoch) continue;
      data = take_eager(team_, sender.pe, epoch);
      if (data || seen == epoch) return sender.pe;
    }
    return -1;
  }

 private:
  struct Sender {
    int pe = 0;
    const MemberFlag* flag = nullptr;
    MemberFlag* messages = nullptr;  // where members send for their node
  };
  std::uint64_t messages() const {
    std::uint64_t sum = 0;
    for (const Sender& sender : sent()) sum += sender.messages->epoch.load(std::memory_order_acquire);  // arrive
    return sum;
  }
  std::span<const Sender> sent() const { return {senders_, count_}; }
  static std::uint64_t epoch_of(const Sender& sender) {
    return sender.flag->epoch.load(std::memory_order_acquire);  // arrive
  }

  const Team& team_;
  const MemberFlag& of_nodes_;
  Sender senders_[kMostSenders];
  std::size_t count_;
  std::uint64_t due_ = 0;
};

}  // namespace

bool FirstRound::last_member_sends(int node) const noexcept {
  return by_ == By::last_member && nodes_.count() > 1 && nodes_.size_of(node) > 1 &&
         nodes_.size_of(node) <= kMostSenders && !context::calls_make_progress;
}

void FirstRound::send(int node, std::span<const std::byte> data) const noexcept {
  const SentFor sent_for = last_member_sends(nodes_.mine) ? SentFor::node : SentFor::member;
  send_eager(team_, routine_, nodes_.leader(node), epoch_, data, {.sent_for = sent_for});
}

EagerMessage FirstRound::receive(int node, std::size_t bytes, const char* advice) noexcept {
  const auto count = static_cast<std::size_t>(last_member_sends(node) ? nodes_.size_of(node) : 1);
  const NodeMembers members = count == 1 ? NodeMembers(nullptr, nodes_.leader(node), 0, 1) : nodes_.on(node);
  SenderFlags flags(team_, members, count);
  EagerMessage data;
  int from = -1;
  {
    const AwaitingTeam awaiting(team_);
    progress::wait_until(routine_, context::world_pe(team_.route, flags.likely()), [&] {
      compare_calls();
      flags.compare_tags(routine_, epoch_);
      from = bytes == 0 ? flags.find_flag(epoch_) : flags.find_data(epoch_, data);
      return from >= 0;
    });
  }
  flags.note_found();
  if (bytes != 0) check_eager(routine_, from, data, bytes, advice);
  await_prepared();
  return data;
}

bool FirstRound::arrive() noexcept {
  own_ = arrive_on_node(team_);
  return own_.is_last && own_.agrees;
}

void FirstRound::note_prepared() noexcept {
  team_.central(nodes_.leader(nodes_.mine)).prepared.store(epoch_, std::memory_order_seq_cst);  // prepared
}

bool FirstRound::stay() noexcept {
  if (nodes_.leads()) {
    compare_calls();
    return true;
  }
  const int leader = nodes_.leader(nodes_.mine);
  if (own_.is_last) {
    const bool is_awaited = team_.central(leader).released.load(std::memory_order_seq_cst) == epoch_;  // prepared
    if (is_awaited || !own_.agrees) wake_leader(team_);
  }
  await_flag(team_, routine_, leader, epoch_);
  return false;
}

void FirstRound::await_prepared() noexcept {
  if (own_.due == 0) return;  // this leader has gathered
  CountingBarrier& central = team_.central(team_.me());
  if (central.prepared.load(std::memory_order_acquire) == epoch_) return;  // prepared
  central.released.store(epoch_, std::memory_order_seq_cst);               // prepared
  wait_for_member(team_, routine_, context::world_pe(team_.route, nodes_.here().back()), [&] {
    compare_calls();
    return central.prepared.load(std::memory_order_seq_cst) == epoch_;  // prepared
  });
}

void FirstRound::compare_calls() const noexcept {
  if (own_.due == 0) return;
  const std::uint64_t arrived = team_.central(team_.me()).arrived.load(std::memory_order_acquire);  // arrive
  if (all_arrived(arrived, own_.due) && arrived != own_.due) [[unlikely]]
    report_mismatch(team_, routine_);
}

}  // namespace shmemx::coll
