// The measurements of a pair. Both processes call the same task with the same order; each does its own part.
#pragma once

#include <memory>

#include "order.hpp"
#include "working_set.hpp"

namespace shmemx::bench {

// Damages received data to show that the checks detect it. Set before the processes are forked.
extern bool spoil_data;

class Tasks {
 public:
  Tasks(Link& link, const MechanismInfo& info, const Arena& arena, std::size_t working_set_bytes);

  void prepare(const Order& order);
  void verify(const Order& order);
  void time(const Order& order);
  void set_up(const Order& order);
  void processor(const Order& order);
  void disturb(const Order& order);
  void help(const Order& order);
  void overlap(const Order& order);
  void finish();

 private:
  bool is_source() const { return link_.local() == (info_.direction == Direction::put); }
  void end_mechanism();
  void move(Mechanism& mechanism, const Transfer& transfer);
  void transfer_checked(Mechanism& mechanism, const Transfer& transfer);
  template <class Prepare>
  void read_after(Prepare prepare, Series& series);
  void check_edges(const Transfer& transfer);
  void count_check(bool good);
  void leave(const Walk& walk);

  Link& link_;
  const MechanismInfo& info_;
  std::size_t arena_bytes_;
  Mapping mine_;
  WorkingSet working_set_;
  std::unique_ptr<Mechanism> mechanism_;
};

}  // namespace shmemx::bench
