// The processes of a measurement: process 0 leads, the others follow its orders.
#pragma once

#include <sched.h>

#include <string>
#include <vector>

#include "variations.hpp"

namespace shmemx::bench {

class Crew {
 public:
  // Forks `processes` - 1 others, which never return from here.
  Crew(std::vector<Variation> variations, int processes);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  const std::vector<Variation>& variations() const { return variations_; }
  // Returns the ns from the first message to the last, as measured by process 0.
  double time(std::size_t variation, int senders, long iterations);
  // near, far or disturbed: how far apart processes 0 and 1 are now.
  std::string state();

 private:
  [[noreturn]] void follow(int me);
  void tell(int what, int senders, long iterations);
  void await_done(int senders);
  Place& place(std::size_t variation) const { return *reinterpret_cast<Place*>(memory_ + offsets_[variation]); }

  std::vector<Variation> variations_;
  int processes_;
  std::vector<std::size_t> offsets_;
  std::vector<OwnState> own_;
  std::vector<int> children_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  cpu_set_t before_;  // the affinity mask of this process before
  Lead* lead_ = nullptr;
  long sequence_ = 0;
  long done_ = 0;
  long pings_ = 0;
};

}  // namespace shmemx::bench
