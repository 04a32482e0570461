#include "transport/ofi/library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace shmemx::ofi {
namespace {

constexpr char kFile[] = "libfabric.so.1";

struct Variable {
  const char* name;
  const char* value;
};

// The libraries below the psm providers take signals in their constructors; the providers take them in fi_getinfo.
constexpr std::array kVariables = {
    Variable{"FI_PROVIDER", "^psm,psm2"},
    Variable{"IPATH_NO_BACKTRACE", "1"},
    Variable{"HFI_NO_BACKTRACE", "1"},
};

template <class Function>
bool find(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<Library> load() {
  void* library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* text = ::dlerror();
    const std::string complaint = text != nullptr ? text : kFile;
    const bool absent = complaint.starts_with(std::string(kFile) + ": cannot open");
    return Error{Errc::unsupported, 0, absent ? std::string(kFile) + " is not installed" : complaint};
  }
  Library found;
  const bool complete = find(library, "fi_getinfo", found.getinfo) && find(library, "fi_freeinfo", found.freeinfo) &&
                        find(library, "fi_dupinfo", found.dupinfo) && find(library, "fi_fabric", found.fabric) &&
                        find(library, "fi_strerror", found.strerror) && find(library, "fi_version", found.version);
  if (!complete) return Error{Errc::unsupported, 0, std::string(kFile) + " lacks functions of libfabric"};
  return found;
}

}  // namespace

Result<const Library*> load_library() {
  static const Result<Library> loaded = load();
  if (!loaded) return loaded.error();
  return &loaded.value();
}

StartGuard::StartGuard() {
  for (int number = 1; number < kSignals; ++number) {
    const auto index = static_cast<std::size_t>(number);
    known_[index] = ::sigaction(number, nullptr, &actions_[index]) == 0;
  }
  for (const Variable& variable : kVariables) {
    if (std::getenv(variable.name) != nullptr) continue;
    ::setenv(variable.name, variable.value, 0);
    ours_.push_back(variable.name);
  }
}

StartGuard::~StartGuard() {
  for (const char* name : ours_) ::unsetenv(name);
  for (int number = 1; number < kSignals; ++number) {
    const auto index = static_cast<std::size_t>(number);
    if (known_[index] && number != SIGKILL && number != SIGSTOP) ::sigaction(number, &actions_[index], nullptr);
  }
}

}  // namespace shmemx::ofi
