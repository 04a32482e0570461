// What PEs and oshrun itself print: the terminal, tagged output, and oshrun's own lines.
#pragma once

#include <string>
#include <vector>

#include "streams.hpp"
#include "terminal.hpp"

namespace shmemx::launcher {

class Output {
 public:
  Output() { terminal_.open(); }
  Terminal& terminal() { return terminal_; }
  const Terminal& terminal() const { return terminal_; }
  // Prints the lines of a PE's stream with its number in front.
  void add_stream(UniqueFd source, int dest, int pe) { streams_.emplace_back(std::move(source), dest, pe); }

  // Prints a line of oshrun's own.
  void say(const std::string& text);
  // Forwards what there is, or waits for it up to `wait_ms`. Returns true if `signals` is readable.
  bool forward(int signals, int wait_ms);
  // All PEs have ended: forwards the rest. Ends a wait for a terminal that takes no output if `stop` becomes readable.
  // `failed`: PEs may have left modes of the terminal.
  void finish(int stop, bool failed);
  // Returns nonzero if tagged output was lost: oshrun's exit status for this.
  int lost_status() const { return lost_status_; }

 private:
  void forward_stream(TaggedStream& stream);
  void note_lost(const TaggedStream& stream);

  Terminal terminal_;
  std::vector<TaggedStream> streams_;
  int lost_status_ = 0;
};

// Returns a line of oshrun's own as it is printed, in the colours of stderr.
std::string line_of_oshrun(const std::string& text);

// Returns the time of oshrun's clock.
long now_ms();

}  // namespace shmemx::launcher
