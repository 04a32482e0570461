// Virtual hosts on one machine: each in its own namespaces, all on one switch. They exist as long as this process and
// have no names outside, so nothing can be left behind.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "message.hpp"
#include "posix.hpp"

namespace vhosts {

// Impairments of a network. Shares of frames are in percent, times in microseconds.
struct Impairment {
  double loss = 0, duplicate = 0, reorder = 0, corrupt = 0;
  double delay_us = 0, jitter_us = 0;
  unsigned long seed = 1;
  bool any() const { return loss > 0 || duplicate > 0 || reorder > 0 || corrupt > 0 || delay_us > 0 || jitter_us > 0; }
};

struct ClusterSpec {
  int hosts = 2;
  int networks = 1;  // each host has eth0, eth1, ... each on a switch of its own
  int mtu = 1500;
  std::vector<std::string> rates;  // of each network, the last one of the others; for `tc tbf`, such as 1gbit
  std::string congestion = "cubic";
  bool ipv4 = true, ipv6 = true;
  bool private_tmp = false;
  std::vector<int> cores;               // host i runs on core i modulo their number; empty: anywhere
  std::vector<std::string> host_lines;  // for `ip -batch` in each host; {n} is the host's number + 1
  Impairment impairment;                // of the first network
};

class Cluster {
 public:
  explicit Cluster(const ClusterSpec& spec);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  int size() const { return static_cast<int>(hosts_.size()); }
  int control(int host) const { return hosts_.at(static_cast<std::size_t>(host)).control.get(); }
  bool is_up(int host) const { return hosts_.at(static_cast<std::size_t>(host)).pid > 0; }
  const std::string& folder() const { return folder_; }

  void set_link(int host, int network, bool up);  // the switch's end of the cable; all networks if negative
  void kill_host(int host);                       // all its processes at once
  std::string left_behind(int host) const;

 private:
  struct Host {
    pid_t pid = 0;
    Fd control;
  };
  void enter_own_namespaces();
  void find_folder();
  void start_host(const ClusterSpec& spec, int index);
  void expect_done(int host, const std::string& what) const;
  void lay_cables(const ClusterSpec& spec);
  void limit_ports(const ClusterSpec& spec) const;
  void configure_host(const ClusterSpec& spec, int index) const;

  std::string folder_;
  int networks_ = 1;
  std::vector<Host> hosts_;
  pid_t switch_ = 0;
};

std::string host_name(int host);
std::string port_name(int host, int network = 0);  // of the switch's end
std::string ipv4_address(int host, int network = 0);

}  // namespace vhosts
