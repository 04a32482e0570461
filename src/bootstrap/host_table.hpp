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
  // Of several: encoded descriptions, no two equal, and by PE which of them.
  HostTable(std::vector<std::string> different, Leaders index)
      : different_(std::move(different)), index_(std::move(index)) {}
  // Adds the PEs of `higher` behind the own ones.
  void append(const HostTable& higher);
  Result<Hosts> hosts() const;

  std::string text() const;
  static Result<HostTable> of_text(const std::string& text);

 private:
  HostTable() = default;
  std::vector<std::string> different_;  // encoded descriptions
  Leaders index_;                       // by PE: which of them
};

}  // namespace shmemx::bootstrap
