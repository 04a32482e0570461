// The value of SHMEMX_SYNTHETIC_WORLD: how many PEs a job claims to have, how many on each node, and where the nodes
// begin whose PEs are real. "1000000/128@0,524288".
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "config/number.hpp"

namespace shmemx::config {

struct SyntheticWorld {
  static constexpr std::size_t kMostNodes = 16;
  int n_pes = 0;  // 0: unset
  int node_pes = 0;
  std::array<int, kMostNodes> first_pes{};  // of the real nodes, in ascending order; the first one is 0
  std::size_t n_nodes = 0;                  // real ones
};

namespace kind {

struct synthetic_world {
  using value_type = SyntheticWorld;
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    text = trim(text);
    SyntheticWorld world;
    if (!take(text, world.n_pes) || !skip(text, '/') || !take(text, world.node_pes) || !skip(text, '@'))
      return "has another form";
    do {
      if (world.n_nodes == SyntheticWorld::kMostNodes) return "names too many nodes";
      if (!take(text, world.first_pes[world.n_nodes++])) return "has another form";
    } while (skip(text, ','));
    if (!text.empty()) return "has another form";
    if (world.n_pes > 1 << 24 || world.node_pes < 1 || world.node_pes > 4096) return "is out of range";
    if (world.first_pes[0] != 0) return "has no node that begins with PE 0";
    for (std::size_t i = 0; i < world.n_nodes; ++i) {
      const int end = i + 1 < world.n_nodes ? world.first_pes[i + 1] : world.n_pes;
      if (world.first_pes[i] >= end) return "names nodes that are not in ascending order within the job";
    }
    out = world;
    return nullptr;
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) {
    out = {};
    return text == "unset" ? nullptr : "is not unset";
  }
  static std::string text(const value_type& world) {
    if (world.n_pes == 0) return "unset";
    std::string written = std::to_string(world.n_pes) + "/" + std::to_string(world.node_pes);
    for (std::size_t i = 0; i < world.n_nodes; ++i)
      written += (i == 0 ? "@" : ",") + std::to_string(world.first_pes[i]);
    return written;
  }
  static constexpr const char* allowed =
      "<PEs of the job>/<PEs of a node>@<first PE of each real node, from 0 on, separated by commas>";
  static constexpr const char* example = "1000000/128@0,524288";

 private:
  static constexpr bool take(std::string_view& text, int& out) {
    std::size_t digits = 0;
    out = 0;
    while (digits < text.size() && digits < 9 && text[digits] >= '0' && text[digits] <= '9')
      out = out * 10 + (text[digits++] - '0');
    text.remove_prefix(digits);
    return digits > 0;
  }
  static constexpr bool skip(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
  }
};

}  // namespace kind
}  // namespace shmemx::config
