// A collective by leaders in which nodes send to each other as soon as their members have arrived. On small nodes the
// last member to arrive sends for its node, so that a leader that sleeps, or has no core, need not run for that: the
// leader is woken by what another node has sent.
//
//   FirstRound round(team, routine, ++team.epoch);
//   if (!round.gather(prepare, send)) return;
//   ... round.receive(node, bytes) ... the leader works while the others of its node wait ...
//   release_node(team, routine, round.epoch());
#pragma once

#include "coll/common/eager.hpp"
#include "coll/common/nodes.hpp"
#include "coll/internode/leaders.hpp"

namespace shmemx::coll {

class FirstRound {
 public:
  enum class By : std::uint8_t { last_member, leader };

  // `epoch`: one that all members have counted. `by`: who sends, the same on all members.
  FirstRound(Team& team, const char* routine, std::uint64_t epoch, By by = By::last_member) noexcept
      : team_(team), nodes_(nodes_of(team)), routine_(routine), epoch_(epoch), by_(by) {}

  // One member of each node runs prepare() and then send(), when all members of its node have arrived: prepare() takes
  // from the memory of the members what send() sends. Returns true on the leader, perhaps before that; false on the
  // others, when the leader has released them.
  template <class Prepare, class Send>
  bool gather(const Prepare& prepare, const Send& send) {
    if (!last_member_sends(nodes_.mine)) {
      if (!gather_at_leader(team_, routine_, epoch_)) return false;
      prepare();
      send();
      return true;
    }
    if (arrive()) {
      prepare();
      note_prepared();
      send();
    }
    return stay();
  }

  // Sends to the leader of another node, in this round or in a later one.
  void send(int node, std::span<const std::byte> data) const noexcept;
  // On the leader. Returns the message of another node when this node has prepared its own ones. Without bytes: its
  // flag. `advice`: what a diagnostic about a member in another routine ends with.
  EagerMessage receive(int node, std::size_t bytes, const char* advice = "") noexcept;
  // The latter alone, for a leader that receives nothing.
  void await_prepared() noexcept;

  // Whether the last member to arrive on that node sends for it. Where only calls make progress the leader does: a
  // message that waits for a connection would stay when its sender leaves the collective, while a leader waits for its
  // counterpart.
  bool last_member_sends(int node) const noexcept;
  std::uint64_t epoch() const noexcept { return epoch_; }
  Team& team() const noexcept { return team_; }
  const TeamNodes& nodes() const noexcept { return nodes_; }
  const char* routine() const noexcept { return routine_; }

 private:
  // Returns true on the last one, if all make the same calls.
  bool arrive() noexcept;
  // Edge:  prepared  prepared.store -> prepared.load    what prepare() has written
  //                  and, all of them seq_cst: released.store of the leader, then prepared.load; prepared.store of the
  //                  last member, then released.load: one of the two sees the other, so the leader goes on or is woken
  void note_prepared() noexcept;
  bool stay() noexcept;
  // On the leader. Ends the job if all of this node have arrived, but in other calls: nobody sends then.
  void compare_calls() const noexcept;

  Team& team_;
  const TeamNodes& nodes_;
  const char* routine_;
  const std::uint64_t epoch_;
  const By by_;
  Arrival own_{};
};

}  // namespace shmemx::coll
