// The launcher's side of PMI-1: computes the replies to each line of each PE. It does no input or output.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace test_support {

class Pmi1Server {
 public:
  // host_of[pe] is where each PE runs.
  explicit Pmi1Server(const std::vector<int>& host_of);

  struct Reply {
    int pe;
    std::string line;
  };
  // Returns the lines to send after `line` has been received from `pe`; none while a barrier is incomplete.
  std::vector<Reply> handle(int pe, const std::string& line);

  bool has_begun(int pe) const { return states_[static_cast<std::size_t>(pe)].begun; }
  bool has_finalized(int pe) const { return states_[static_cast<std::size_t>(pe)].finalized; }
  int aborting_pe() const { return aborting_pe_; }  // -1 while none has requested the end of the job
  int abort_code() const { return abort_code_; }
  const std::map<std::string, std::string>& values() const { return values_; }

  std::map<std::string, std::string> scripted;  // by command: replies in place of those of the protocol

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

}  // namespace test_support
