// shmem_trace_join: makes one trace of the files that SHMEM_TRACE leaves for each node.
#include <dirent.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "stats/trace_file.hpp"
#include "version.hpp"

namespace {

constexpr char kUsage[] =
    "Usage: shmem_trace_join OUTPUT [FILE...]\n"
    "Makes the trace OUTPUT of the files that SHMEM_TRACE=OUTPUT has left for each node, where a job has crashed or\n"
    "PE 0 could not read them. Without FILE: OUTPUT.node0, OUTPUT.node1 and so on.\n"
    "Perfetto (https://ui.perfetto.dev) and speedscope open the trace.\n"
    "  -h, --help     print this\n"
    "  --version      print the version\n"
    "Examples:\n"
    "  shmem_trace_join trace.json\n"
    "  shmem_trace_join trace.json from_a/trace.json.node0 from_b/trace.json.node1\n";

// Returns the files beside `output` that begin with its name and ".node".
std::vector<std::string> files_of(const std::string& output) {
  const std::size_t slash = output.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : output.substr(0, slash + 1);
  const std::string begin = output.substr(slash == std::string::npos ? 0 : slash + 1) + ".node";
  std::vector<std::string> found;
  DIR* const open = ::opendir(directory.c_str());
  if (open == nullptr) return found;
  while (const dirent* const entry = ::readdir(open)) {
    const std::string name = entry->d_name;
    if (name.compare(0, begin.size(), begin) == 0) found.push_back(directory + "/" + name);
  }
  ::closedir(open);
  std::sort(found.begin(), found.end());
  return found;
}

int join(const std::string& output, const std::vector<std::string>& files) {
  if (files.empty()) {
    std::fprintf(stderr, "shmem_trace_join: there is no %s.node0 or the like, and no file is named\n", output.c_str());
    return 1;
  }
  const auto result = shmemx::stats::write_trace({files}, output);
  if (!result) {
    const shmemx::Error& error = result.error();
    std::fprintf(stderr, "shmem_trace_join: %s%s%s\n", error.text.c_str(), error.system_errno != 0 ? ": " : "",
                 error.system_errno != 0 ? std::strerror(error.system_errno) : "");
    return 1;
  }
  const auto& [n_pes, n_missing, n_events, n_lost] = result.value();
  std::printf("%s: %zu events of %zu PEs; %zu PEs are missing, %zu earlier events are lost\n", output.c_str(), n_events,
              n_pes, n_missing, n_lost);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--version") {
    std::printf("shmem_trace_join (shmemx) %s\n", shmemx::launcher::kVersion);
    return 0;
  }
  if (first == "-h" || first == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (first.empty() || first[0] == '-') {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::vector<std::string> files(argv + 2, argv + argc);
  if (files.empty()) files = files_of(first);
  return join(first, files);
}
