// The terminal that oshrun was started from, as the PEs see it: a pseudo-terminal in its place. PEs are in sessions of
// their own, so the terminal's rules for processes in the background apply to oshrun alone: nothing stops a PE that
// prints or sets modes, and only oshrun gets Ctrl-C.
//
// What PEs print goes to the terminal. What is typed goes to the PEs when one of PE 0's processes waits for it, and
// stays in the terminal otherwise, for oshrun's caller. Lines are edited and echoed by the terminal itself (EXTPROC);
// modes that PEs set on theirs are set there too.
#pragma once

#include <poll.h>
#include <sys/types.h>
#include <termios.h>

#include <string>

#include "base/unique_fd.hpp"

namespace shmemx::launcher {

// Returns true if this process may read the terminal and set its modes: its group is in the foreground, or the terminal
// is not the one that controls it.
bool is_in_foreground(int terminal);

// Returns true if this process has a controlling terminal.
bool has_controlling_terminal();

class Terminal {
 public:
  // Makes a pseudo-terminal if one of the standard files is a terminal. It stays closed if the system gives none.
  void open();
  bool is_open() const { return master_.valid(); }
  // The end for PEs.
  int pe_end() const { return slave_.get(); }
  // Returns true if this standard file of oshrun is the terminal that was replaced.
  bool stands_for(int fd) const;

  // Sets the process that reads, with all that it starts; 0: none.
  void set_reader(pid_t process) { reader_ = process; }

  // Sets two entries for poll: the terminal, and the pseudo-terminal.
  void fill_events(pollfd* polled, long now_ms);
  void on_events(const pollfd* polled, long now_ms);
  // Returns when to call these again although no event has happened; -1: not at all.
  long look_at_ms() const { return reader_ > 0 ? look_at_ms_ : -1; }

  // oshrun may have come to the foreground, or the window's size may have changed.
  void on_foreground();
  // oshrun is about to stop: the caller gets back the modes that it had.
  void leave_foreground();
  // Forwards what PEs have printed, until nothing more comes for `quiet_ms`.
  void drain(int quiet_ms);
  // All PEs have ended: writes the rest, unless `stop` becomes readable, which ends a wait for a terminal that does not
  // take it. `failed`: PEs may have left modes that they would have set back.
  void finish(int stop, bool failed);

 private:
  void show(const termios& modes);
  void follow_modes();
  void follow_size();
  void take_output();
  void write_output();
  void take_input(long now_ms);
  void write_input();
  bool may_read();

  UniqueFd real_;    // the terminal; a description of its own, so that it need not block
  UniqueFd master_;  // oshrun's end
  UniqueFd slave_;
  dev_t device_ = 0;  // the terminal's number
  termios original_{};
  bool follows_ = false;  // PEs have set modes
  pid_t reader_ = 0;
  std::string output_;  // not yet written
  std::string input_;
  long look_at_ms_ = -1;
  long pause_ms_ = 0;  // between looks
};

}  // namespace shmemx::launcher
