// libfabric, loaded at run time: its functions that are not inline, and a guard around its start.
#pragma once

#include <rdma/fabric.h>
#include <signal.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.hpp"

namespace shmemx::ofi {

struct Library {
  int (*getinfo)(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                 const fi_info* hints, fi_info** info);
  void (*freeinfo)(fi_info* info);
  fi_info* (*dupinfo)(const fi_info* info);
  int (*fabric)(fi_fabric_attr* attr, fid_fabric** fabric, void* context);
  const char* (*strerror)(int errnum);
  std::uint32_t (*version)();
};

// Loads libfabric once. It is never unloaded: its providers leave threads and exit handlers behind.
Result<const Library*> load_library();

// While it lives, libfabric starts without the providers that take the program's signals. At its end it restores all
// signal handlers. Variables that the user has set stay as they are.
class StartGuard {
 public:
  StartGuard();
  ~StartGuard();
  StartGuard(const StartGuard&) = delete;
  StartGuard& operator=(const StartGuard&) = delete;

 private:
  static constexpr int kSignals = 65;  // 1 to 64
  std::array<struct sigaction, kSignals> actions_;
  std::array<bool, kSignals> known_{};
  std::vector<const char*> ours_;
};

}  // namespace shmemx::ofi
