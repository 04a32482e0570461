// Client of the PMI-2 wire protocol: messages of "key=value;" parts behind their length in six characters. Spoken by
// MPICH's Hydra and Slurm's pmi2 plug-in. One request, one answer; no state beyond the socket.
#pragma once

#include <string>

#include "bootstrap/backends.hpp"
#include "bootstrap/pmi_socket.hpp"

namespace shmemx::bootstrap {

class Pmi2 final : public Kvs {
 public:
  // Takes the socket over and introduces itself as `identity`, with the job's name in the launcher's words. The answer
  // tells the size. Fails when the other side does not speak PMI-2.
  static Result<KvsPtr> open(UniqueFd socket, Identity identity, const std::string& job);

  Identity identity() const override { return identity_; }
  std::string_view name() const override { return "pmi2"; }
  std::size_t value_bytes() const override { return 1023; }  // the protocol's limit is 1024 with the final zero
  Status put(const std::string& key, const std::string& value) override;
  Status fence() override;
  Status barrier() override;
  Result<std::string> get(int owner, const std::string& key) override;
  void abort(int status) override;
  void finalize() override;

 private:
  Pmi2(UniqueFd socket, Identity identity, std::string job)
      : socket_(std::move(socket), "PMI-2"), identity_(identity), job_(std::move(job)) {}
  Status introduce();
  Status send(const std::string& message);
  // Sends "cmd=<command>;<parts>" and returns the answer once it belongs to the command and carries no error.
  Result<std::string> request_reply(const std::string& command, const std::string& parts, int timeout_ms);

  PmiSocket socket_;
  Identity identity_;
  std::string job_;
  int n_barriers_ = 0;
};

// The value of "key=...;", with doubled semicolons undone; empty when there is none.
std::string part_of(const std::string& message, const char* key);

}  // namespace shmemx::bootstrap
