#include "bootstrap/pmi2.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace shmemx::bootstrap {
namespace {

constexpr std::size_t kLengthBytes = 6;
constexpr std::size_t kLongestMessage = 999'999;

}  // namespace

std::string part_of(const std::string& message, const char* key) {
  const std::string needle = std::string(key) + "=";
  std::size_t at = 0;
  while (at < message.size()) {
    std::string part;
    std::size_t end = at;
    for (; end < message.size(); ++end) {
      if (message[end] == ';') {
        if (end + 1 >= message.size() || message[end + 1] != ';') break;
        ++end;
      }
      part += message[end];
    }
    if (part.compare(0, needle.size(), needle) == 0) return part.substr(needle.size());
    at = end + 1;
  }
  return {};
}

Result<KvsPtr> Pmi2::open(UniqueFd socket, Identity identity, const std::string& job) {
  auto client = std::unique_ptr<Pmi2>(new Pmi2(std::move(socket), identity, job));
  SHMEMX_TRY(client->introduce());
  return KvsPtr(std::move(client));
}

Status Pmi2::introduce() {
  SHMEMX_TRY(socket_.say_hello(2));
  const std::string own = "pmijobid=" + job_ + ";pmirank=" + std::to_string(identity_.pe) + ";threaded=FALSE;";
  SHMEMX_TRY_ASSIGN(answer, request_reply("fullinit", own, kPmiHelloMs));
  const std::string pe = part_of(answer, "rank");
  const std::string size = part_of(answer, "size");
  if (pe != std::to_string(identity_.pe) || size != std::to_string(identity_.n_pes)) {
    return socket_.error("the launcher takes this for PE " + pe + " of " + size + ", its environment says " +
                         std::to_string(identity_.pe) + " of " + std::to_string(identity_.n_pes));
  }
  return {};
}

Status Pmi2::send(const std::string& message) {
  if (message.size() > kLongestMessage) return socket_.error("a request is too long");
  char length[kLengthBytes + 1];
  std::snprintf(length, sizeof length, "%6u", static_cast<unsigned>(message.size()));
  return socket_.send(length + message);
}

Result<std::string> Pmi2::request_reply(const std::string& command, const std::string& parts, int timeout_ms) {
  SHMEMX_TRY(send("cmd=" + command + ";" + parts));
  SHMEMX_TRY_ASSIGN(length, socket_.receive_bytes(kLengthBytes, timeout_ms));
  char* end = nullptr;
  const unsigned long n_bytes = std::strtoul(length.c_str(), &end, 10);
  const bool is_number = length.find_first_not_of(" 0123456789") == std::string::npos && end != length.c_str();
  if (!is_number || n_bytes > kLongestMessage) return socket_.error("the launcher sends '" + length + "' as a length");
  SHMEMX_TRY_ASSIGN(answer, socket_.receive_bytes(n_bytes, timeout_ms));
  if (part_of(answer, "cmd") != command + "-response") {
    return socket_.error("'" + command + "' was answered by '" + answer + "'");
  }
  const std::string rc = part_of(answer, "rc");
  if (!rc.empty() && rc != "0") return socket_.error("'" + command + ";" + parts + "' failed: " + answer);
  return answer;
}

Status Pmi2::put(const std::string& key, const std::string& value) {
  constexpr std::size_t kKeyBytes = 63;
  const std::string name = full_key(identity_.pe, key);
  if (name.size() > kKeyBytes || value.size() > value_bytes()) {
    return socket_.error("the launcher takes keys of " + std::to_string(kKeyBytes) + " and values of " +
                         std::to_string(value_bytes()) + " bytes, too short for " + name);
  }
  auto answer = request_reply("kvs-put", "key=" + name + ";value=" + value + ";", kPmiForever);
  if (!answer) return answer.error();
  return {};
}

Status Pmi2::fence() {
  auto answer = request_reply("kvs-fence", "", kPmiForever);
  if (!answer) return answer.error();
  return {};
}

// Hydra's fence returns at once, and only a get waits until the value's owner has called the fence, too. So PE 0 gets a
// value of each PE, then puts one that the others get.
Status Pmi2::barrier() {
  const std::string here = "here-" + std::to_string(n_barriers_);
  const std::string all = "all-" + std::to_string(n_barriers_++);
  if (identity_.pe != 0) SHMEMX_TRY(put(here, "1"));
  SHMEMX_TRY(fence());
  if (identity_.pe == 0) {
    for (int pe = 1; pe < identity_.n_pes; ++pe) SHMEMX_TRY(get(pe, here));
    SHMEMX_TRY(put(all, "1"));
  }
  SHMEMX_TRY(fence());
  if (identity_.pe != 0) SHMEMX_TRY(get(0, all));
  return {};
}

Result<std::string> Pmi2::get(int owner, const std::string& key) {
  const std::string name = full_key(owner, key);
  const std::string parts = "jobid=" + job_ + ";srcid=" + std::to_string(owner) + ";key=" + name + ";";
  SHMEMX_TRY_ASSIGN(answer, request_reply("kvs-get", parts, kPmiForever));
  if (part_of(answer, "flag") == "FALSE" || part_of(answer, "found") == "FALSE") {
    return socket_.error("nobody has put " + name);
  }
  return part_of(answer, "value");
}

// The message carries no status: the launcher uses this PE's exit status.
void Pmi2::abort(int) {
  let_output_pass();
  (void)send("cmd=abort;isworld=TRUE;msg=the job is ended;").has_value();
}

void Pmi2::finalize() {
  if (!socket_.valid()) return;
  (void)request_reply("finalize", "", kPmiHelloMs).has_value();
  socket_.close();
}

Result<KvsPtr> connect_pmi2() {
  SHMEMX_TRY_ASSIGN(start, read_pmi_environment("PMI-2"));
  const char* job = std::getenv("PMI_JOBID");
  auto client = Pmi2::open(std::move(start.socket), start.identity, job != nullptr ? job : "");
  if (client) keep_pmi_socket();
  return client;
}

}  // namespace shmemx::bootstrap
