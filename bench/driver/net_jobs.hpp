// The jobs between nodes and how they take turns: PEs on virtual hosts, or on pretended nodes of this machine, and
// their peers.
#pragma once

#include <string>
#include <vector>

#include "interleaved.hpp"
#include "measure.hpp"

namespace shmemx::bench {

constexpr const char* kRawTransport = "tcp";  // the transport that is compared with a bare connection

struct Layout {
  int hosts;
  int pes_per_host;

  int pes() const { return hosts * pes_per_host; }
};
constexpr Layout kPair{2, 1};

// Whether PEs share cores. In that case no process gets real-time priority: some peers never yield and would keep their
// own processes from running.
bool crowded(const Layout& layout);

// Gives the driver a higher priority than its jobs, so that a busy job cannot delay the next order. Its children are
// ordinary processes.
void rise_above_jobs();

// How the hosts of our jobs are set up.
enum class Tuning {
  tuned,     // real-time priority where it is allowed
  ordinary,  // an ordinary process with default settings
};

class Net {
 public:
  explicit Net(const Settings& settings) : settings_(settings) {}

  bool virtual_hosts() const { return !settings_.cluster.hosts.empty(); }

  Variant ours(const Layout& layout, const std::string& transport, const Arguments& more = {},
               Tuning tuning = Tuning::tuned) const;
  // UCX or libfabric alone.
  Variant plain(const std::string& library) const;
  Variant oshmem(const Layout& layout) const;
  Variant openmpi(const Layout& layout) const;
  Variant mpich(const Layout& layout) const;

  // What is special about the hosts; empty: nothing.
  std::string place() const { return virtual_hosts() ? settings_.cluster.network : "pretended nodes"; }

 private:
  Variant on_hosts(Variant variant) const;
  std::string host_list(const Layout& layout, const std::string& behind_each) const;
  Arguments hydra(const Layout& layout) const;
  Variant of_openmpi(const Variant& base, const std::string& launcher, const Layout& layout,
                     const Arguments& more) const;

  const Settings& settings_;
};

// Fills in the fields that all rows between nodes have.
Row finished(const Net& net, Row row, const Layout& layout, const std::string& transport);

Turns net_turns(const Settings& settings, const std::string& program, const Layout& layout);
// One job at a time, each for a longer time.
void take_apart(Turns& turns);
// Measures the cases with these names.
Rows take_turns(const Settings& settings, const Turns& turns, const std::vector<ListedCase>& cases,
                const std::vector<std::string>& names);
std::vector<std::string> wanted_names(const Settings& settings, const std::vector<ListedCase>& cases);

void announce(const std::string& what, const Layout& layout, const std::string& transport);

// Runs a program that prints its results in one run.
std::vector<Line> answers(const Settings& settings, const Variant& variant, const std::string& program,
                          const Arguments& options, std::string& remark);

// One-sided operations, beside a bare link and, if the transport is not tcp, beside our tcp.
void add_one_sided(const Settings& settings, const Net& net, const std::string& transport, Rows& rows);

}  // namespace shmemx::bench
