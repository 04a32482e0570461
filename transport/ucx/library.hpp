// UCX's context and worker, set up as this library needs them: networks only, segments that suit it.
#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "transport/ucx/choice.hpp"

namespace shmemx::ucx {

struct Needs {
  std::size_t n_peers = 1;
  std::size_t address_bytes = 0;  // the worker's address must not be longer; devices are left out until it is not
  bool one_machine = false;       // no other machine has to reach the worker
};

class Library {
 public:
  static Result<Library> open(const Needs& needs);

  Library(Library&& other) noexcept;
  Library& operator=(Library&&) = delete;
  ~Library();

  // The worker ends; what others still have under way with it calls back for the last time.
  void stop() noexcept;

  ucp_context_h context() const noexcept { return context_; }
  ucp_worker_h worker() const noexcept { return worker_; }
  int descriptor() const noexcept { return descriptor_; }
  const std::string& address() const noexcept { return address_; }
  const std::vector<Resource>& resources() const noexcept { return resources_; }

 private:
  Library() = default;
  Status start_context(std::size_t n_peers, const Choice& choice);
  Status start_worker();

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::string address_;
  std::vector<Resource> resources_;
};

// What UCX prints into a file, as a string.
template <class Print>
std::string printed(Print print);

std::string status_text(ucs_status_t status);

// From what UCX prints of an endpoint: "tcp/eth0", of each of its lanes.
std::string lanes_of(std::string_view text);

}  // namespace shmemx::ucx

#include <cstdio>
#include <cstdlib>

template <class Print>
std::string shmemx::ucx::printed(Print print) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* file = ::open_memstream(&text, &bytes);
  if (file == nullptr) return {};
  print(file);
  std::fclose(file);
  std::string result(text, bytes);
  std::free(text);
  return result;
}
