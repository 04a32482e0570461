// Where all PEs run, as the PEs tell each other: each description once, and which PE has which.
#pragma once

#include <string>
#include <vector>

#include "bootstrap/placement.hpp"

namespace shmemx::bootstrap {

class HostTable {
 public:
  // Of one PE.
  explicit HostTable(const HostDescription& own);
  // Adds the PEs of `higher` behind the own ones.
  void append(const HostTable& higher);
  Result<std::vector<HostDescription>> hosts() const;  // by PE

  std::string text() const;
  static Result<HostTable> of_text(const std::string& text);

 private:
  HostTable() = default;
  std::vector<std::string> different_;  // encoded descriptions
  Leaders index_;                       // by PE: which of them
};

}  // namespace shmemx::bootstrap
