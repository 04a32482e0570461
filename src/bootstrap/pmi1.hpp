// Client of the PMI-1 wire protocol: lines of "key=value" words over an inherited stream socket. Spoken by MPICH's
// Hydra, Flux, and Slurm's pmi2 plug-in. One request, one answer; no state beyond the socket.
#pragma once

#include <string>

#include "base/unique_fd.hpp"
#include "bootstrap/backends.hpp"

namespace shmemx::bootstrap {

class Pmi1 final : public Kvs {
 public:
  // Takes the socket over and introduces itself. Fails when the other side does not speak PMI-1.
  static Result<KvsPtr> open(UniqueFd socket, Identity identity);

  Identity identity() const override { return identity_; }
  std::string_view name() const override { return "pmi1"; }
  Status put(const std::string& key, const std::string& value) override;
  Status fence() override;
  Result<std::string> get(int owner, const std::string& key) override;
  void abort(int status) override;
  void finalize() override;

 private:
  Pmi1(UniqueFd socket, Identity identity) : socket_(std::move(socket)), identity_(identity) {}
  Status introduce();
  Status send_line(const std::string& line);
  Result<std::string> read_line(int timeout_ms);
  // Sends a request and returns the answer's line once it names `expected` and carries no error.
  Result<std::string> ask(const std::string& request, const char* expected, int timeout_ms);
  std::string full_key(int owner, const std::string& key) const;

  UniqueFd socket_;
  Identity identity_;
  std::string unread_;
  std::string kvs_name_;
  std::size_t key_max_ = 64;
  std::size_t value_max_ = 256;
};

// The word after "key=" in a line of words parted by spaces; empty when there is none.
std::string word_of(const std::string& line, const char* key);

}  // namespace shmemx::bootstrap
