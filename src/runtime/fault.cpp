#include "runtime/fault.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/call_site.hpp"
#include "base/object_name.hpp"
#include "context/route.hpp"
#include "runtime/called_function.hpp"

namespace shmemx::runtime {
namespace {

// Returns the name of the routine that the call before `return_address` leads to; empty if it is not known.
std::string routine_called(const void* return_address) {
  const void* const function = called_function(return_address);
  Dl_info info{};
  if (function == nullptr || ::dladdr(function, &info) == 0) return {};
  std::string name;
  if (info.dli_sname != nullptr && info.dli_saddr == function) {
    name = info.dli_sname;
  } else if (info.dli_fbase == executable_begin()) {
    name = function_at("/proc/self/exe", reinterpret_cast<std::uintptr_t>(function) - load_bias()).name;
  }
  if (name.starts_with("pshmem")) name.erase(0, 1);
  return name.starts_with("shmem") ? name : std::string();
}

// Is `what` in the name of a routine, as the end or followed by a size, or by what the routine does besides?
bool does(std::string_view routine, std::string_view what) {
  const std::size_t at = routine.find(what);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = routine.substr(at + what.size());
  return rest.empty() || rest.starts_with("mem") || rest.starts_with("_nbi") || rest.starts_with("_signal") ||
         (rest[0] >= '1' && rest[0] <= '9');
}

// Returns the argument that names memory of this PE alone; empty if the routine has none.
std::string_view private_argument(std::string_view routine) {
  for (const char* const put : {"_put", "_iput", "_ibput"}) {
    if (does(routine, put)) return "source";
  }
  for (const char* const get : {"_get", "_iget", "_ibget"}) {
    if (does(routine, get)) return "dest";
  }
  return routine.find("_atomic_") != std::string_view::npos && routine.ends_with("_nbi") ? "fetch" : "";
}

std::string place_of(const siginfo_t& info) {
  if (info.si_code == SI_KERNEL) return "an address that does not exist";
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  char text[96];
  if (info.si_code == SEGV_ACCERR) {
    std::snprintf(text, sizeof text, "%#zx, which may not be accessed in this way", address);
  } else if (address == 0) {
    std::snprintf(text, sizeof text, "0, where no memory is (null)");
  } else if (address < context::kLeastAddress) {
    std::snprintf(text, sizeof text, "%#zx, where no memory is (null plus %zu bytes)", address, address);
  } else {
    std::snprintf(text, sizeof text, "%#zx, where no memory is", address);
  }
  return text;
}

}  // namespace

std::string fault_text(const siginfo_t& info, void* const* frames, int count, const std::string& executable) {
  if (info.si_signo != SIGSEGV || info.si_code <= 0) return {};
  const int caller = frame_of_caller(frames, count);
  if (caller < 0) return {};
  const std::string routine = routine_called(frames[caller]);
  if (routine.empty()) return "an operation that is under way needs memory at " + place_of(info);
  const std::string_view argument = private_argument(routine);
  const std::string what = argument.empty() ? std::string("needs memory of the program at ")
                                            : "argument '" + std::string(argument) + "' leads to ";
  return routine + ": " + what + place_of(info) + "; called at " +
         frame_text(executable, reinterpret_cast<std::uintptr_t>(frames[caller]) - 1);
}

}  // namespace shmemx::runtime
