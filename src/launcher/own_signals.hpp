// The signals that oshrun gets itself: blocked, and read from a descriptor.
#pragma once

#include <signal.h>

#include <optional>

#include "base/unique_fd.hpp"

namespace shmemx::launcher {

class OwnSignals {
 public:
  struct Signal {
    int number;
    bool by_key;  // the terminal sent it
  };

  OwnSignals();
  bool valid() const { return fd_.valid(); }
  // Readable when there is a signal.
  int fd() const { return fd_.get(); }
  // The caller's signal mask, which the PEs get.
  const sigset_t& mask_before() const { return before_; }

  // Returns the next signal, without those of keys that the caller has ignored.
  std::optional<Signal> next();
  // From now on only signals that end a job make the descriptor readable.
  void keep_ending_ones();

  // Stops oshrun until the shell continues it. The kernel does not stop it at Ctrl-Z in a session without a shell.
  static void stop_oshrun(bool by_key);

 private:
  UniqueFd fd_;
  sigset_t before_{};
  sigset_t ignored_keys_{};  // of keys that the caller has ignored, as scripts do for jobs in the background
};

}  // namespace shmemx::launcher
