// Other sizes and another loop of bulk copies, as long as the guard lives.
#pragma once

#include "base/bulk_copy.hpp"

namespace unit {

class CopySizesGuard {
 public:
  explicit CopySizesGuard(shmemx::CopySizes sizes) : before_(shmemx::copy_sizes) { shmemx::copy_sizes = sizes; }
  ~CopySizesGuard() { shmemx::copy_sizes = before_; }
  CopySizesGuard(const CopySizesGuard&) = delete;
  CopySizesGuard& operator=(const CopySizesGuard&) = delete;

 private:
  shmemx::CopySizes before_;
};

}  // namespace unit
