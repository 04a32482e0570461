// What a thread does next that has nothing to do: poll, yield or sleep. A pure state machine, for waits and for the
// progress threads. It reads no clock, polls nothing and never sleeps. The thread carries out each step, and says what
// it has seen meanwhile.
//
//   wait             first -> paused -> beside_program or yielding -> asleep <-> woken or looking
//   progress thread  aside -> woken or looking -> asleep <-> woken or looking; aside whenever others do its work
#pragma once

#include <cstdint>

#include "progress/core_sharing.hpp"

namespace shmemx::progress {

enum class Action : std::uint8_t {
  poll,   // without anything between polls
  pause,  // with a pause of the CPU after each poll
  yield,  // with a yield after each poll
  sleep,  // until something ends it
  rest,   // the same, but messages do not end it
  aside,  // leave the work to other threads for a while
};

struct Step {
  Action action = Action::aside;
  std::uint32_t polls = 0;  // of `poll`, `pause` and `yield`; of `sleep` before it
  std::uint64_t ns = 0;     // of `sleep` and `rest`, at most
  bool parts = false;       // the thread first moves away from the cores of other PEs
  bool operator==(const Step&) const = default;
};

// How a sleep has ended.
enum class Slept : std::uint8_t {
  not_at_all,   // there is something to do, or it is refused
  to_the_end,   // of its time
  in_part,      // its time was cut short
  called,       // by a thread of this process
  until_woken,  // by a message, or by what is awaited
};

// The longest sleep, if something wakes the thread.
inline constexpr std::uint64_t kUntilWoken = ~std::uint64_t{0};

// What the thread has seen since the last step.
struct Seen {
  std::uint64_t now_ns = 0;
  unsigned cpu = 0;
  std::uint64_t yield_ns = 0;              // the length of its yield
  std::uint64_t longest_ns = kUntilWoken;  // the longest sleep that is allowed now
  bool moved = false;                      // messages have arrived
  bool is_attended = false;                // other threads do the work of this progress thread
  Slept slept = Slept::to_the_end;
};

// A number of polls, or polls for a time, which begins anew when something has moved. Both 0: none.
struct Burst {
  Action action = Action::poll;
  std::uint32_t polls = 0;
  std::uint64_t ns = 0;
  std::uint64_t unwoken_ns = 0;  // at least, of yields where nothing wakes the thread and PEs do not outnumber cores

  bool is_none() const noexcept { return polls == 0 && ns == 0; }
  bool is_timed() const noexcept { return polls == 0 && ns != 0; }
};

// The lengths of sleeps where something wakes the thread. Where nothing does, they begin at a part of the longest
// sleep, double up to it, and begin anew when something has moved. Those of a wait are at most a small part of the time
// since its first one, so that a change is noticed soon.
struct SleepSteps {
  std::uint64_t first_ns = 50'000;
  std::uint64_t max_ns = 1'000'000;
  std::uint32_t growth = 2;    // each step by the one before
  bool may_grow_long = false;  // beyond `max_ns` in a wait that has taken long, up to kLongestStepNs
  bool begin_anew = false;     // after a sleep that was not to the end
  bool are_of_wait = false;    // not of a progress thread
};
inline constexpr std::uint64_t kLongestStepNs = 10'000'000;

struct Plan {
  Burst first;           // where a message brings what is awaited; by time only if the core is not shared
  Burst paused;          // then
  Burst beside_program;  // then, on a core on which a program computes
  Burst yielding;        // or else this
  Burst woken;           // after a sleep that was not to the end, where nobody else needs the core
  Burst looking;         // after any other sleep
  SleepSteps sleep;
  std::uint64_t early_ns = 0;      // timed bursts begin with polls without anything between them
  std::uint32_t max_alarms = 0;    // wake-ups without a message in a row until the thread rests; 0: it never does
  bool is_crowded = false;         // PEs outnumber the cores
  bool is_woken_directly = false;  // no other thread has to run first: so it may sleep if its yields are in vain
  bool refused_is_aside = false;   // the progress thread leaves the work to others if it cannot sleep
};

// What the yields of a thread tell.
class Yields {
 public:
  enum class Effect : std::uint8_t {
    useful,
    beside_program,  // a program computes on this core
    in_vain,         // several in a row did not let anybody run, although others need the core
  };
  // Records a yield. The scheduler shares a core among groups of processes first (sessions, containers), and a yield
  // does not give it to another group; only a thread that sleeps does.
  Effect note(CoreSharing& cores, std::uint64_t yield_ns, std::uint64_t now_ns, unsigned cpu) noexcept;

 private:
  int idle_ = 0;  // in a row, which let nobody run
};

class Pace {
 public:
  enum class Phase : std::uint8_t { first, paused, beside_program, yielding, woken, looking, asleep, resting, aside };

  Pace(const Plan& plan, CoreSharing& cores) noexcept : plan_(plan), cores_(cores), sleep_ns_(plan.sleep.first_ns) {}

  // Return the first step, of a wait and of a progress thread. A wait whose plan begins with a number of polls needs no
  // clock for that.
  Step begin_wait(const Seen& seen) noexcept;
  Step begin_thread() noexcept;
  bool needs_clock() const noexcept;

  Step next(const Seen& seen) noexcept;
  Phase phase() const noexcept { return phase_; }

 private:
  const Burst& burst() const noexcept;
  Step enter(Phase phase, const Seen& seen) noexcept;
  Step enter_paused(const Seen& seen) noexcept;
  Step wait_longer(const Seen& seen) noexcept;
  Step wake_up(Slept slept, const Seen& seen) noexcept;
  Step turn(const Seen& seen) const noexcept;
  bool has_ended(const Seen& seen) noexcept;
  bool is_better_awake(const Seen& seen) const noexcept;
  std::uint64_t length_ns(const Seen& seen) const noexcept;
  Step after_burst(const Seen& seen) noexcept;
  Step after_yield(const Seen& seen) noexcept;
  Step after_sleep(const Seen& seen) noexcept;
  Step sleep(const Seen& seen, std::uint32_t polls = 0) noexcept;
  std::uint64_t next_polled_ns(const Seen& seen) noexcept;
  Step sleep_again(const Seen& seen) noexcept;
  void grow(const Seen& seen) noexcept;

  const Plan plan_;
  CoreSharing& cores_;
  Phase phase_ = Phase::first;
  Slept slept_ = Slept::called;       // how the last sleep has ended
  bool moved_ = false;                // since this burst has begun
  std::uint64_t begin_ns_ = 0;        // of the timed burst, or when something has moved in it
  std::uint64_t last_ns_ = 0;         // the last look at the clock in it
  std::uint64_t sleep_begin_ns_ = 0;  // of the first sleep; 0: there was none
  std::uint64_t sleep_ns_;            // of the next sleep, where something wakes the thread
  std::uint64_t polled_ns_ = 0;       // the same where nothing does; 0: the shortest
  std::uint32_t alarms_ = 0;          // wake-ups without a message, in a row
  Yields yields_;
};

}  // namespace shmemx::progress
