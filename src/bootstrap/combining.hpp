// Combines what several PEs contribute, through a key-value store, along a tree. Nobody reads more than some values of
// its children in the tree and the result.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bootstrap/backends.hpp"

namespace shmemx::bootstrap {

// Who takes part: members 0..count-1, each a PE. Other PEs take part in the fences only.
struct Members {
  int count;
  int own;                        // this PE's number among them, -1 if it is no member
  std::function<int(int)> pe_of;  // the PE of a member
};

// Gathers what all members contribute at member 0: returns it there, and elsewhere what has been passed on. Collective
// over the job. `key` has not been used before. Values that were put before can be read afterwards if there are two
// members.
Result<std::string> combine_at_first(Kvs& kvs, const std::string& key, const Members& members, std::string mine,
                                     const Merge& merge);
// combine_at_first(), and returns the result on all members; on the other PEs of the job if `for_all` is set, else
// empty there.
Result<std::string> combine(Kvs& kvs, const std::string& key, const Members& members, std::string mine,
                            const Merge& merge, bool for_all = false);

// Texts that begin alike, such as host names, in few characters; any characters but line breaks.
std::string pack_lines(const std::vector<std::string>& lines);
Result<std::vector<std::string>> unpack_lines(const std::string& text);

}  // namespace shmemx::bootstrap
