#include "pmi1_server.hpp"

#include <cstdlib>
#include <sstream>

namespace test_support {
namespace {

constexpr char kSpace[] = "kvs_0";

std::string field(const std::string& line, const std::string& key) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.compare(0, key.size() + 1, key + "=") == 0) return word.substr(key.size() + 1);
  }
  return {};
}

// MPI libraries query this instead of detecting their hosts themselves.
std::string process_mapping(const std::vector<int>& host_of) {
  std::string text = "(vector";
  for (const int host : host_of) text += ",(" + std::to_string(host) + ",1,1)";
  return text + ")";
}

}  // namespace

Pmi1Server::Pmi1Server(const std::vector<int>& host_of) : states_(host_of.size()) {
  values_["PMI_process_mapping"] = process_mapping(host_of);
}

std::string Pmi1Server::put(const std::string& line) {
  if (field(line, "kvsname") != kSpace) return "cmd=put_result rc=-1 msg=no_such_kvs";
  const bool is_new = values_.emplace(field(line, "key"), field(line, "value")).second;
  return is_new ? "cmd=put_result rc=0 msg=success" : "cmd=put_result rc=-1 msg=duplicate_key";
}

std::string Pmi1Server::get(const std::string& line) const {
  const auto found = values_.find(field(line, "key"));
  if (found == values_.end()) return "cmd=get_result rc=-1 msg=key_not_found value=unknown";
  return "cmd=get_result rc=0 msg=success value=" + found->second;
}

std::vector<Pmi1Server::Reply> Pmi1Server::barrier(int pe) {
  State& state = states_[static_cast<std::size_t>(pe)];
  if (!state.in_barrier) ++waiting_;
  state.in_barrier = true;
  if (waiting_ < static_cast<int>(states_.size())) return {};
  waiting_ = 0;
  std::vector<Reply> replies;
  for (int i = 0; i < static_cast<int>(states_.size()); ++i) {
    states_[static_cast<std::size_t>(i)].in_barrier = false;
    replies.push_back({i, "cmd=barrier_out"});
  }
  return replies;
}

std::vector<Pmi1Server::Reply> Pmi1Server::handle(int pe, const std::string& line) {
  const std::string command = field(line, "cmd");
  if (const auto reply = scripted.find(command); reply != scripted.end()) return {{pe, reply->second}};
  State& state = states_[static_cast<std::size_t>(pe)];
  if (command == "init") {
    state.begun = true;
    state.finalized = false;
    return {{pe, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"}};
  }
  if (command == "get_maxes") return {{pe, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024"}};
  if (command == "get_appnum") return {{pe, "cmd=appnum appnum=0"}};
  if (command == "get_universe_size") return {{pe, "cmd=universe_size size=" + std::to_string(states_.size())}};
  if (command == "get_my_kvsname") return {{pe, std::string("cmd=my_kvsname kvsname=") + kSpace}};
  if (command == "put") return {{pe, put(line)}};
  if (command == "get") return {{pe, get(line)}};
  if (command == "barrier_in") return barrier(pe);
  if (command == "finalize") {
    state.finalized = true;
    return {{pe, "cmd=finalize_ack"}};
  }
  if (command == "abort") {
    if (aborting_pe_ < 0) abort_code_ = std::atoi(field(line, "exitcode").c_str());
    if (aborting_pe_ < 0) aborting_pe_ = pe;
    return {};
  }
  return {{pe, "cmd=error rc=-1 msg=unknown_command"}};
}

}  // namespace test_support
