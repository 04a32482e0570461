// Faults of a running job: "cut h1", "join h1", "kill h1", "off h1", "kill pe3", each now or at a time. "cut h1/1" is
// about the host's link to its second network only.
#pragma once

#include <string>
#include <vector>

namespace vhosts {

enum class FaultKind {
  cut,   // a host's cable is pulled
  join,  // and connected again
  kill,  // all processes of a host, or one PE, end by SIGKILL; the host's kernel still closes its connections
  off,   // power off: no connection is closed, the host is silent
};

struct Fault {
  FaultKind kind = FaultKind::cut;
  bool on_pe = false;
  int target = 0;
  int network = -1;       // of the cable; all if negative
  double at_seconds = 0;  // after the PEs' start
};

// Parses "cut h1", "join h0/1" or "kill pe3", optionally followed by "@2s" or "@100ms"; throws a Failure that names the
// error.
Fault parse_fault(const std::string& text);

std::string describe(const Fault& fault);

}  // namespace vhosts
