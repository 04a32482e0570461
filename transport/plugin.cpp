#include "transport/plugin.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "base/host_name.hpp"
#include "base/lazy_mapping.hpp"
#include "base/linkage.hpp"
#include "base/machine.hpp"
#include "base/mappings.hpp"
#include "transport/registry.hpp"
#include "transport/roomy.hpp"

namespace shmemx::transport {
namespace {

struct Variable {
  const char* name;
  const char* value;
};

// UCX reads these variables when it is loaded, before any code of the plug-in runs. They turn off signal handlers,
// hooks in the program's malloc and mmap, a thread that serves a file system, and UCX's own lines about peers that die.
constexpr std::array kUcxVariables = {
    Variable{"UCX_HANDLE_ERRORS", "none"}, Variable{"UCX_DEBUG_SIGNO", "0"},   Variable{"UCX_MEM_EVENTS", "no"},
    Variable{"UCX_VFS_ENABLE", "no"},      Variable{"UCX_LOG_LEVEL", "fatal"},
};

// UCX looks up the name of the host when it is loaded, into an array that has no room for the longest.
constexpr std::size_t kLongestUcxHostName = 63;

// About what the networks' libraries map: their code, buffers, and the stack of a thread.
constexpr std::size_t kMappedBytes = std::size_t{64} << 20;

struct Plugin {
  std::string_view name;
  std::span<const Variable> variables;  // set while it is loaded, unless the user has set them
  std::size_t longest_host_name = 0;    // 0: any
};

constexpr std::array kPlugins = {Plugin{"ucx", kUcxVariables, kLongestUcxHostName}, Plugin{"ofi", {}}};

const Plugin* find_plugin(std::string_view name) noexcept {
  for (const Plugin& plugin : kPlugins) {
    if (plugin.name == name) return &plugin;
  }
  return nullptr;
}

// Sets variables of the environment while it lives. Those that the user has set stay as they are.
class Environment {
 public:
  explicit Environment(std::span<const Variable> variables) {
    for (const Variable& variable : variables) {
      if (std::getenv(variable.name) != nullptr) continue;
      ::setenv(variable.name, variable.value, 0);
      ours_.push_back(variable.name);
    }
  }
  ~Environment() {
    for (const char* name : ours_) ::unsetenv(name);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<const char*> ours_;
};

// Returns the folder with its slash; empty if there is none.
std::string folder_of(std::string_view path) { return std::string(path.substr(0, path.rfind('/') + 1)); }

// Returns the folders of the shared library, or of the program if this code is linked statically: as the loader has
// found it, which may be a link, and as the kernel has it. The loader's path may be relative to an earlier working
// directory.
std::vector<std::string> own_folders() {
  const auto* const own = reinterpret_cast<const void*>(&plugin_paths);
  std::vector<std::string> folders;
  Dl_info info;
  if (::dladdr(own, &info) != 0 && info.dli_fname != nullptr && info.dli_fname[0] == '/')
    folders.push_back(folder_of(info.dli_fname));
  const std::string mapped = folder_of(path_of_mapping(reinterpret_cast<std::uintptr_t>(own)));
  if (!mapped.empty() && (folders.empty() || folders.front() != mapped)) folders.push_back(mapped);
  return folders;
}

std::string program_folder() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length <= 0 ? std::string() : folder_of({path.data(), static_cast<std::size_t>(length)});
}

std::string file_name(const std::string& name) { return "libshmemx_" + name + ".so"; }

Error absent(std::string why) { return Error{Errc::unsupported, 0, std::move(why)}; }

// Returns dlerror's text without the plug-in's path: "libucp.so.0: cannot open shared object file: ...".
std::string loader_complaint(const std::string& path) {
  const char* text = ::dlerror();
  std::string complaint = text != nullptr ? text : "cannot be loaded";
  if (complaint.starts_with(path + ": ")) complaint.replace(0, folder_of(path).size(), "");
  return complaint;
}

// Loads the first file that exists, so that a broken plug-in is reported and not skipped.
Result<void*> load(const Plugin& plugin) {
  const std::string name(plugin.name);
  const std::string file = file_name(name);
  std::string path = file;
  for (const std::string& candidate : plugin_paths(name)) {
    if (::access(candidate.c_str(), F_OK) != 0) continue;
    path = candidate;
    break;
  }
  // Never unloaded: networks leave threads and exit handlers behind.
  const Environment environment(plugin.variables);
  if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return library;
  const std::string complaint = loader_complaint(path);
  if (path == file && complaint.starts_with(file + ": cannot open"))
    return absent("plug-in " + file + " is not installed");
  return absent(complaint);
}

}  // namespace

std::vector<std::string> known_plugins() {
  std::vector<std::string> names;
  for (const Plugin& plugin : kPlugins) names.emplace_back(plugin.name);
  return names;
}

std::vector<std::string> plugin_paths(const std::string& name) {
  const std::string file = file_name(name);
  std::vector<std::string> paths;
  const auto add = [&](const std::string& folder) {
    if (!folder.empty()) paths.push_back(folder + file);
  };
  for (const std::string& own : own_folders()) {
    add(own);
    add(own + "shmemx/");
  }
#ifdef SHMEMX_PLUGIN_DIR
  add(SHMEMX_PLUGIN_DIR "/");
#endif
  if (const std::string program = program_folder(); !program.empty()) {
    add(program);
    add(program + "../lib/");
  }
  return paths;
}

Result<TransportPtr> open_plugin(const std::string& name, const Setup& setup) {
  const Plugin* plugin = find_plugin(name);
  if (plugin == nullptr) return absent("there is no plug-in for '" + name + "'");
  if (is_linked_statically())
    return absent("a statically linked program cannot load plug-ins: link it dynamically, or use tcp");
  const std::size_t host_name_length = std::strlen(host_name().text);
  if (plugin->longest_host_name != 0 && host_name_length > plugin->longest_host_name)
    return absent("its library ends the process on a host whose name has more than " +
                  std::to_string(plugin->longest_host_name) + " characters, this one has " +
                  std::to_string(host_name_length));
  if (!may_map_locked(kMappedBytes))
    return absent(
        "its library maps more than the program may lock, which has locked all future mappings (mlockall): the "
        "limit on locked memory (ulimit -l) is " +
        std::to_string(locked_memory_limit()) + " bytes");
  SHMEMX_TRY_ASSIGN(library, load(*plugin));
  const auto* entry = static_cast<const PluginEntry*>(::dlsym(library, kPluginEntry));
  if (entry == nullptr) return absent(file_name(name) + " is no plug-in of this library");
  if (entry->version != kPluginVersion) {
    return absent("plug-in " + file_name(name) + " has version " + std::to_string(entry->version) + ", needed is " +
                  std::to_string(kPluginVersion));
  }
  SHMEMX_TRY_ASSIGN(opened, entry->open(setup));
  return TransportPtr(std::make_unique<RoomyTransport>(std::move(opened)));
}

}  // namespace shmemx::transport
