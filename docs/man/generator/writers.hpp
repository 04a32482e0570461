// What is made of the manual: pages for man, pages for browsers, and a header with plain prototypes.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "family.hpp"

namespace shmemx::manual {

using File = std::pair<std::string, std::string>;  // path below the output directory, text

// man3/NAME.3 for each family and man3/ROUTINE.3 that leads to it, and man7/shmemx.7.
std::vector<File> man_files(const Manual& manual);

// html/NAME.html for each family, and html/index.html.
std::vector<File> html_files(const Manual& manual);

// The text of a shmem.h that declares one routine after the other, each with its sentence.
std::string flat_header(const Manual& manual);

// Calls found(true, code) and found(false, other text) for the pieces of a text with `code` in it.
template <class Function>
void for_each_piece(const std::string& text, Function found) {
  bool code = false;
  for (std::size_t from = 0; from <= text.size(); code = !code) {
    const std::size_t to = std::min(text.find('`', from), text.size());
    found(code, text.substr(from, to - from));
    from = to + 1;
  }
}

// What a page calls an operation: shmem_put, shmem_broadcastSIZE, shmem_TYPENAME_sum_to_all.
std::string label(const Family& family, const Operation& operation);

// The names of the type in routines of one operation, "float, double, ...".
std::string type_names(const Family& family, const std::string& operation);

// Lines such as "shmem_put([ctx,] dest, source, nelems, pe)": calls in C11 and C++ that need no type.
std::vector<std::string> generic_calls(const Family& family);

// Routines without a type in their name, then the patterns: what a synopsis shows.
std::vector<std::string> synopsis(const Family& family);

}  // namespace shmemx::manual
