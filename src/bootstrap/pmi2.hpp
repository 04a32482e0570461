// Client of the PMI-2 wire protocol: messages of "key=value;" parts after their length in six characters. Spoken by
// MPICH's Hydra and Slurm's pmi2 plug-in. Each request has one reply; there is no state beyond the socket.
#pragma once

#include <string>

#include "bootstrap/backends.hpp"
#include "bootstrap/pmi_socket.hpp"

namespace shmemx::bootstrap {

class Pmi2 final : public Kvs {
 public:
  // Takes the socket over and introduces this PE as `identity` of `job`, the launcher's name of the job. Fails if the
  // other side does not speak PMI-2, or replies with another number or size.
  static Result<KvsPtr> open(UniqueFd socket, Identity identity, const std::string& job);

  Identity identity() const override { return identity_; }
  std::string_view name() const override { return "pmi2"; }
  std::size_t value_bytes() const override { return 1023; }  // the protocol's limit is 1024 with the final zero
  Status put(const std::string& key, const std::string& value) override;
  Status fence() override;
  Status barrier() override;
  Result<std::string> get(int owner, const std::string& key) override;
  void abort(int status) override;
  bool is_shared_with_mpi() const override { return true; }  // one socket for a process
  void finalize() override;

 private:
  Pmi2(UniqueFd socket, Identity identity, std::string job)
      : socket_(std::move(socket), "PMI-2"), identity_(identity), job_(std::move(job)) {}
  Status introduce();
  Status send(const std::string& message);
  // Sends "cmd=<command>;<parts>" and returns the reply. Fails if it does not belong to the command, or carries an
  // error.
  Result<std::string> request_reply(const std::string& command, const std::string& parts, int timeout_ms);

  PmiSocket socket_;
  Identity identity_;
  std::string job_;
  int n_barriers_ = 0;
};

// Returns the value of "key=...;", with doubled semicolons made single; empty if there is none.
std::string part_of(const std::string& message, const char* key);

}  // namespace shmemx::bootstrap
