// UCX's context and worker, with the settings that this library needs: networks only, and larger segments.
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
  std::size_t address_bytes = 0;  // limit of the worker's address; open() leaves devices out until it holds
  int stop_signal = 0;            // UCX's thread leaves it unblocked
  bool one_machine = false;       // no PE of another machine connects to the worker
};

class Library {
 public:
  static Result<Library> open(const Needs& needs);

  Library(Library&& other) noexcept;
  Library& operator=(Library&&) = delete;
  ~Library();

  // Returns null if UCX makes no worker that another thread may use at the same time.
  ucp_worker_h make_lane_worker() const noexcept;
  // Ends the worker. Operations under way call back for the last time.
  void stop() noexcept;

  ucp_context_h context() const noexcept { return context_; }
  ucp_worker_h worker() const noexcept { return worker_; }
  int descriptor() const noexcept { return descriptor_; }
  const std::string& address() const noexcept { return address_; }
  const std::vector<Resource>& resources() const noexcept { return resources_; }
  // Does some device put and get by itself?
  bool is_native() const noexcept { return is_native_; }

 private:
  Library() = default;
  Status start_context(std::size_t n_peers, const Choice& choice);
  Status start_worker();

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::string address_;
  std::vector<Resource> resources_;
  bool is_native_ = false;
  int stop_signal_ = 0;
};

// Returns what UCX prints into a file.
template <class Print>
std::string printed(Print print);

std::string status_text(ucs_status_t status);

// Returns "tcp/eth0" for each lane of an endpoint, from what UCX prints of it.
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
