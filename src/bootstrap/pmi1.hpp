// Client of the PMI-1 wire protocol: lines of "key=value" words over an inherited stream socket. Spoken by MPICH's
// Hydra, Flux, and Slurm's pmi2 plug-in. Each request has one reply; there is no state beyond the socket.
#pragma once

#include <string>

#include "bootstrap/backends.hpp"
#include "bootstrap/pmi_socket.hpp"

namespace shmemx::bootstrap {

class Pmi1 final : public Kvs {
 public:
  // Takes the socket over and introduces this PE. Fails if the other side does not speak PMI-1.
  static Result<KvsPtr> open(UniqueFd socket, Identity identity);

  Identity identity() const override { return identity_; }
  std::string_view name() const override { return "pmi1"; }
  std::size_t value_bytes() const override;
  Status put(const std::string& key, const std::string& value) override;
  Status fence() override;
  Result<std::string> get(int owner, const std::string& key) override;
  void abort(int status) override;
  bool is_shared_with_mpi() const override { return true; }  // one socket for a process
  void finalize() override;

 private:
  Pmi1(UniqueFd socket, Identity identity) : socket_(std::move(socket), "PMI-1"), identity_(identity) {}
  Status introduce();
  // Sends a request and returns the line of the reply. Fails if it does not name `expected`, or carries an error.
  Result<std::string> request_reply(const std::string& request, const char* expected, int timeout_ms);

  PmiSocket socket_;
  Identity identity_;
  std::string kvs_name_;
  std::size_t key_max_ = 64;
  std::size_t value_max_ = 256;
};

}  // namespace shmemx::bootstrap
