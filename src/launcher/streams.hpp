// Output with the PE's number in front of each line.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::launcher {

// Writes all bytes and waits if necessary. Returns false and sets errno if they cannot be written.
bool write_all(int fd, const char* text, std::size_t bytes);

// Forwards one output stream of a PE to oshrun's own, in whole lines only, so that lines of PEs do not mix.
class TaggedStream {
 public:
  TaggedStream(UniqueFd source, int dest, int pe)
      : source_(std::move(source)), dest_(dest), tag_("[" + std::to_string(pe) + "] ") {}

  int fd() const { return source_.get(); }
  bool open() const { return source_.valid(); }
  void forward();  // forwards the available data; closes itself at the end, or if oshrun's own file cannot be written
  void close();
  int dest() const { return dest_; }
  int write_error() const { return write_error_; }  // errno of the failed write, 0 if none failed

 private:
  void print_lines(bool rest);

  UniqueFd source_;
  int dest_;
  std::string tag_;
  std::string unprinted_;
  int write_error_ = 0;
};

}  // namespace shmemx::launcher
