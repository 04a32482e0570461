#include "bootstrap/pmi1.hpp"

#include <algorithm>
#include <cstdlib>

namespace shmemx::bootstrap {
namespace {

std::size_t limit_of(const std::string& line, const char* key, std::size_t fallback) {
  const std::string text = word_of(line, key);
  const unsigned long value = std::strtoul(text.c_str(), nullptr, 10);
  return value > 0 ? value : fallback;
}

// Slurm takes no longer lines, whatever lengths of keys and values it reports.
constexpr std::size_t kLineBytes = 1023;

}  // namespace

Result<KvsPtr> Pmi1::open(UniqueFd socket, Identity identity) {
  auto client = std::unique_ptr<Pmi1>(new Pmi1(std::move(socket), identity));
  SHMEMX_TRY(client->introduce());
  return KvsPtr(std::move(client));
}

Status Pmi1::introduce() {
  SHMEMX_TRY(socket_.say_hello(1));
  SHMEMX_TRY_ASSIGN(maxes, request_reply("cmd=get_maxes", "maxes", kPmiHelloMs));
  key_max_ = limit_of(maxes, "keylen_max", key_max_);
  value_max_ = limit_of(maxes, "vallen_max", value_max_);
  SHMEMX_TRY_ASSIGN(own, request_reply("cmd=get_my_kvsname", "my_kvsname", kPmiHelloMs));
  kvs_name_ = word_of(own, "kvsname");
  if (kvs_name_.empty()) return socket_.error("the launcher names no key-value space");
  return {};
}

Result<std::string> Pmi1::request_reply(const std::string& request, const char* expected, int timeout_ms) {
  SHMEMX_TRY(socket_.send(request + "\n"));
  SHMEMX_TRY_ASSIGN(line, socket_.receive_line(timeout_ms));
  if (word_of(line, "cmd") != expected) return socket_.error("'" + request + "' was answered by '" + line + "'");
  const std::string rc = word_of(line, "rc");
  if (!rc.empty() && rc != "0") return socket_.error("'" + request + "' failed: " + line);
  return line;
}

std::size_t Pmi1::value_bytes() const {
  const std::size_t around = sizeof "cmd=put kvsname= key= value=\n" + kvs_name_.size() + key_max_;
  const std::size_t of_line = around < kLineBytes ? kLineBytes - around : 0;
  return std::min(value_max_ - 1, of_line);
}

Status Pmi1::put(const std::string& key, const std::string& value) {
  const std::string name = full_key(identity_.pe, key);
  if (name.size() >= key_max_ || value.size() > value_bytes()) {
    return socket_.error("the launcher takes keys of " + std::to_string(key_max_) + " and values of " +
                         std::to_string(value_bytes()) + " bytes, too short for " + name);
  }
  auto answer =
      request_reply("cmd=put kvsname=" + kvs_name_ + " key=" + name + " value=" + value, "put_result", kPmiForever);
  if (!answer) return answer.error();
  return {};
}

Status Pmi1::fence() {
  auto answer = request_reply("cmd=barrier_in", "barrier_out", kPmiForever);
  if (!answer) return answer.error();
  return {};
}

Result<std::string> Pmi1::get(int owner, const std::string& key) {
  const std::string request = "cmd=get kvsname=" + kvs_name_ + " key=" + full_key(owner, key);
  SHMEMX_TRY_ASSIGN(line, request_reply(request, "get_result", kPmiForever));
  return word_of(line, "value");
}

void Pmi1::abort(int status) {
  let_output_pass();
  (void)socket_.send("cmd=abort exitcode=" + std::to_string(status) + "\n").has_value();
}

void Pmi1::finalize() {
  if (!socket_.valid()) return;
  (void)request_reply("cmd=finalize", "finalize_ack", kPmiHelloMs).has_value();
  socket_.close();
}

Result<KvsPtr> connect_pmi1() {
  SHMEMX_TRY_ASSIGN(start, read_pmi_environment("PMI-1"));
  auto client = Pmi1::open(std::move(start.socket), start.identity);
  if (client) keep_pmi_socket();
  return client;
}

}  // namespace shmemx::bootstrap
