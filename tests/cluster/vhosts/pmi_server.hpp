// The launcher's side of PMI-1: what is answered to each line of each PE. No input or output of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace vhosts {

class PmiServer {
 public:
  // host_of[pe] is where each PE runs.
  explicit PmiServer(const std::vector<int>& host_of);

  struct Reply {
    int pe;
    std::string line;
  };
  // What to send after `line` came from `pe`; nothing while a barrier is still incomplete.
  std::vector<Reply> handle(int pe, const std::string& line);

  bool has_begun(int pe) const { return states_[static_cast<std::size_t>(pe)].begun; }
  bool has_finalized(int pe) const { return states_[static_cast<std::size_t>(pe)].finalized; }
  int aborting_pe() const { return aborting_pe_; }  // -1 while none has asked for the end of the job
  int abort_code() const { return abort_code_; }

 private:
  struct State {
    bool begun = false, in_barrier = false, finalized = false;
  };
  std::string put(const std::string& line);
  std::string get(const std::string& line) const;
  std::vector<Reply> barrier(int pe);

  std::vector<State> states_;
  std::map<std::string, std::string> values_;
  int waiting_ = 0;
  int aborting_pe_ = -1;
  int abort_code_ = 0;
};

}  // namespace vhosts
