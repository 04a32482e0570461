// The mappings of this process, as the kernel lists them. Allocates nothing and takes no lock, so that code may use it
// where the locks of the program may be held: while its threads are stopped, or between the handlers of a fork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unique_fd.hpp"

namespace shmemx {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  int protection = 0;  // PROT_*
  bool is_shared = false;
  std::uint64_t device = 0;  // with the inode: its file, compared with other mappings only; both 0 where it has none
  std::uint64_t inode = 0;
};
inline bool of_same_file(const Mapping& one, const Mapping& other) noexcept {
  return one.inode == other.inode && one.device == other.device;
}

class MappingReader {
 public:
  MappingReader() noexcept;

  // Returns the next mapping in ascending order of addresses. Returns false after the last one, or if the kernel does
  // not list them. Gives the path of its file, too, if `path` is not null, which then allocates.
  bool next(Mapping& mapping, std::string* path = nullptr) noexcept;
  // Returns true if the list could not be opened.
  bool has_failed() const noexcept { return !file_.valid(); }

 private:
  int get() noexcept;
  std::uint64_t number(unsigned base, int& delimiter) noexcept;

  static constexpr std::size_t kBufferBytes = 1024;  // on stacks of 16 KiB
  UniqueFd file_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  char buffer_[kBufferBytes];
};

// Returns the absolute path of the file that is mapped at an address; empty if there is none, or it is not known.
std::string path_of_mapping(std::uintptr_t address);

// Finds the mapping that holds an address. Returns false if there is none, or if the kernel does not list them.
bool find_mapping(std::uintptr_t address, Mapping& mapping) noexcept;

}  // namespace shmemx
