// fcollect and alltoall of short blocks in as many rounds as the number of members has bits (Bruck). Members are
// counted from this one on, cyclically: block i is that of the member i places further.
#include <algorithm>

#include "coll/background/schedule.hpp"

namespace shmemx::coll::background {
namespace {

int further(const Members& members, long places) {
  return static_cast<int>((members.me + places + members.size) % members.size);
}

// The blocks whose number has a bit set travel together.
class ShortAlltoall {
 public:
  ShortAlltoall(const Members& members, const Equal& blocks, ListedSchedule& schedule)
      : members_(members), blocks_(blocks), schedule_(schedule) {
    const auto n = static_cast<std::size_t>(members.size);
    own_ = schedule.take_scratch(3 * n * blocks.bytes);
    packed_ = own_ + n * blocks.bytes;
    received_ = packed_ + n * blocks.bytes;
  }

  void make() {
    const long n = members_.size;
    Round* last = &schedule_.add();
    for (int i = 0; i < n; ++i) last->copy(own_ + at(i), blocks_.source + at(further(members_, i)), blocks_.bytes);
    for (long distance = 1; distance < n; distance *= 2) {
      const std::size_t bytes = pack(*last, distance);
      last = &schedule_.add();
      last->receive(further(members_, -distance), received_, bytes);
      last->send(further(members_, distance), packed_, bytes);
      unpack(*last, distance);
    }
    for (int i = 0; i < n; ++i) last->copy(blocks_.dest + at(further(members_, -i)), own_ + at(i), blocks_.bytes);
  }

 private:
  std::size_t at(long block) const { return static_cast<std::size_t>(block) * blocks_.bytes; }
  // Calls use(block, place in the message).
  template <class Use>
  std::size_t for_each_packed(long distance, const Use& use) const {
    std::size_t place = 0;
    for (long block = 0; block < members_.size; ++block) {
      if ((block & distance) == 0) continue;
      use(block, place);
      place += blocks_.bytes;
    }
    return place;
  }
  std::size_t pack(Round& round, long distance) const {
    return for_each_packed(
        distance, [&](long block, std::size_t place) { round.copy(packed_ + place, own_ + at(block), blocks_.bytes); });
  }
  void unpack(Round& round, long distance) const {
    for_each_packed(distance, [&](long block, std::size_t place) {
      round.copy(own_ + at(block), received_ + place, blocks_.bytes);
    });
  }

  const Members& members_;
  const Equal& blocks_;
  ListedSchedule& schedule_;
  std::byte* own_;
  std::byte* packed_;
  std::byte* received_;
};

}  // namespace

ScheduleOwner make_short_fcollect(const Members& members, const Equal& blocks) noexcept {
  auto schedule = std::make_unique<ListedSchedule>();
  const auto n = static_cast<std::size_t>(members.size);
  const std::size_t bytes = blocks.bytes;
  std::byte* const all = schedule->take_scratch(n * bytes);
  schedule->add().copy(all, blocks.source, bytes);
  for (std::size_t have = 1; have < n; have *= 2) {
    const std::size_t more = std::min(have, n - have) * bytes;
    Round& round = schedule->add();
    round.receive(further(members, static_cast<long>(have)), all + have * bytes, more);
    round.send(further(members, -static_cast<long>(have)), all, more);
  }
  const std::size_t before = static_cast<std::size_t>(members.me) * bytes;
  Round& round = schedule->add();
  round.copy(blocks.dest + before, all, n * bytes - before);
  round.copy(blocks.dest, all + n * bytes - before, before);
  return schedule;
}

ScheduleOwner make_short_alltoall(const Members& members, const Equal& blocks) noexcept {
  auto schedule = std::make_unique<ListedSchedule>();
  ShortAlltoall(members, blocks, *schedule).make();
  return schedule;
}

}  // namespace shmemx::coll::background
