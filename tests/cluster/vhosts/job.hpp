// A job on a cluster: starts the PEs, serves PMI-1 to them, watches them, causes faults, and ends all processes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../../support/pmi1_server.hpp"
#include "cluster.hpp"
#include "faults.hpp"

namespace vhosts {

struct JobSpec {
  std::vector<std::string> argv;
  std::vector<int> host_of;  // the host of each PE
  bool pmi = true;           // false: plain programs
  bool watch = true;         // an abnormal end of a PE ends the others; otherwise only the PEs end each other
  bool label = false;        // "[pe 3 h1] " before each line of output
  bool inspect = true;       // report hosts that are not empty at the end
  double timeout_seconds = 0;
  std::vector<Fault> faults;
};

class Job {
 public:
  Job(Cluster& cluster, JobSpec spec);
  ~Job();
  int run();  // returns the exit code: that of the first abnormal end

 private:
  struct Pe {
    Fd pmi;
    std::string unread;  // part of a PMI line
    bool ended = false;
  };
  struct Stream {
    int pe;
    Fd from;
    int to;
    std::string unread;
  };
  void start_pe(int pe);
  void empty_streams();
  int add_stream(int pe, int to);
  void turn();
  int wait_ms() const;
  void on_host(int host);
  void on_pmi(int pe);
  void on_stream(Stream& stream);
  void on_signal();
  void on_request();
  void pe_ended(int pe, int wait_status);
  void host_died(int host);
  void bad_end(int pe, int code, const std::string& cause);
  void carry_out(const Fault& fault);
  void end_all(int signal);
  void send_signal(int pe, int signal);
  void do_what_is_due();
  void say(const std::string& text) const;
  void show_living();
  void show_stacks(int host);
  std::string name_of(int pe) const;
  bool all_ended() const;
  int left_behind() const;

  Cluster& cluster_;
  JobSpec spec_;
  test_support::Pmi1Server server_;
  std::vector<Pe> pes_;
  std::vector<bool> host_seen_dead_;
  std::vector<std::unique_ptr<Stream>> streams_;
  Fd signals_, requests_;
  double started_ = 0;
  double kill_at_ = 0;  // when PEs that SIGTERM did not end are killed; 0: no PE is to end
  bool timed_out_ = false;
  int code_ = 0;
};

// Sends a fault to the vhosts that started this process, found by the variable VHOSTS_DIR.
void request_fault(const std::string& text);

}  // namespace vhosts
