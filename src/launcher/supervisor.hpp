// What oshrun does above the processes of a job until the last one has ended: prints what they print, passes signals
// on, and acts when a time has come. Who the processes are, and what their ends mean, is the business of derived
// classes.
#pragma once

#include <string>

#include "deadlines.hpp"
#include "guard.hpp"
#include "options.hpp"
#include "output.hpp"
#include "own_signals.hpp"
#include "processes.hpp"

namespace shmemx::launcher {

// As shells report how a process ended.
int status_code(int status);

class Supervisor {
 public:
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

 protected:
  Supervisor(Guard guard, int n_processes) : processes_(std::move(guard), n_processes) {}
  virtual ~Supervisor() = default;

  void begin_limit(const JobSpec& spec);
  // Returns its seconds, as people are shown them.
  static std::string limit_text(const JobSpec& spec);
  // Returns when all have ended and all is printed.
  void watch();

  virtual void forward_signal(int number, bool by_key) = 0;
  virtual void on_exit(const Processes::Ended& ended) = 0;
  virtual void on_clock() = 0;
  // Does it matter whether the kernel has killed a process at a memory limit?
  virtual bool explains_deaths() const = 0;

  OwnSignals signals_;
  Output output_;
  Processes processes_;
  Deadlines deadlines_;
  int status_ = 0;

 private:
  void on_signals();
  void stop(bool by_key);
};

}  // namespace shmemx::launcher
