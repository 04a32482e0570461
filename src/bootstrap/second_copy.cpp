#include "bootstrap/second_copy.hpp"

#include <cstdint>
#include <string>

#include "base/mappings.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {
namespace {

bool is_arena(const std::string& path) {
  return path == std::string("/memfd:") + kArenaName + " (deleted)" ||
         (path.find(std::string("/") + kArenaName + "-") != std::string::npos && path.ends_with(" (deleted)"));
}

}  // namespace

Status only_copy() {
  MappingReader reader;
  Mapping mapping;
  std::string path;
  while (reader.next(mapping, &path)) {
    if (mapping.is_shared && is_arena(path))
      return Error{Errc::unsupported, 0,
                   "another copy of this library has been started in this process, and this one, in " +
                       path_of_mapping(reinterpret_cast<std::uintptr_t>(&only_copy)) +
                       ", cannot be the same PE; link all parts of the program with one shared library"};
  }
  return {};
}

}  // namespace shmemx::bootstrap
