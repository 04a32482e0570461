// Executes the start-up of the library, and then the actions that its arguments name, one after the other. Tests of the
// launchers run it, so that they do not depend on the rest of the library.
//   attach        join the job: record filled, all PEs awaited     join        state "in shmem_init", without waiting
//   hello         print "pe 1 of 4 via oshrun"                     wait NAME   sleep for ever, waiting in routine NAME
//   nodes         print "pe 1 on node 0 of 2, 2 PEs"               why         print the reason for several nodes
//   job           print the job's number and secret                exchange N  publish N bytes of this node, check all
//   sleep SECONDS   exit CODE   signal N   finalize   global CODE   abort CODE   env NAME   cwd   stdin   print TEXT
//   fork-sleep    leave a child behind that sleeps for ever        handle N    on signal N exit with 40 + N
//   others-wait   until all other PEs of the node wait in a routine
// "@2 ACTION" executes ACTION on PE 2 only. Before `attach` or `join` the PE number comes from oshrun's variable.
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../support/pattern.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/status.hpp"
#include "bootstrap/wire.hpp"

namespace boot = shmemx::bootstrap;

namespace {

struct Probe {
  std::unique_ptr<boot::Bootstrap> bootstrap;
  shmemx::UniqueFd arena;
  boot::JobHeader* header = nullptr;
  boot::PeRecord* record = nullptr;
  int pe = 0;
};

[[noreturn]] void fail(const shmemx::Error& error) {
  std::fprintf(stderr, "probe: %s%s%s\n", error.text.c_str(), error.system_errno != 0 ? ": " : "",
               error.system_errno != 0 ? std::strerror(error.system_errno) : "");
  std::exit(77);
}

void set_phase(Probe& probe, boot::PePhase phase) {
  probe.record->phase.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
}

void join(Probe& probe) {
  auto bootstrap = boot::connect();
  if (!bootstrap) fail(bootstrap.error());
  probe.bootstrap = std::move(*bootstrap);
  auto arena = probe.bootstrap->arena();
  if (!arena) {
    probe.bootstrap->abort(77);
    fail(arena.error());
  }
  probe.arena = std::move(*arena);
  const auto [pe, n_pes] = probe.bootstrap->identity();
  struct stat about {};
  void* at = ::fstat(probe.arena.get(), &about) != 0 ? MAP_FAILED
                                                     : ::mmap(nullptr, static_cast<std::size_t>(about.st_size),
                                                              PROT_READ | PROT_WRITE, MAP_SHARED, probe.arena.get(), 0);
  if (at == MAP_FAILED) fail(shmemx::system_error("map the header"));
  probe.pe = pe;
  probe.header = static_cast<boot::JobHeader*>(at);
  const std::vector<int> here = probe.bootstrap->nodes().pes_with(pe, n_pes);
  probe.record = boot::record_of(
      probe.header, static_cast<std::size_t>(std::lower_bound(here.begin(), here.end(), pe) - here.begin()));
  probe.record->pid = ::getpid();
  set_phase(probe, boot::PePhase::attached);
  probe.header->arrived.fetch_add(1);
}

void attach(Probe& probe) {
  join(probe);
  while (probe.header->arrived.load() < probe.header->n_node_pes) ::usleep(500);
  set_phase(probe, boot::PePhase::running);
}

void await_waiting_others(Probe& probe) {
  for (std::size_t place = 0; place < probe.header->n_node_pes; ++place) {
    const boot::PeRecord* const other = boot::record_of(probe.header, place);
    while (other != probe.record && boot::waiting_routine(probe.header, *other).empty()) ::usleep(500);
  }
}

[[noreturn]] void end_job(Probe& probe, boot::JobState state, int code) {
  probe.header->end_word.store(shmemx::bootstrap::JobEnd{state, code, probe.pe}.word());
  if (state == boot::JobState::aborted) std::fprintf(stderr, "probe: diagnostic of pe %d\n", probe.pe);
  probe.bootstrap->abort(code);
  ::_exit(code);
}

void copy_stdin() {
  char text[4096];
  std::size_t n = 0;
  while ((n = std::fread(text, 1, sizeof text, stdin)) > 0) std::fwrite(text, 1, n, stdout);
  std::fflush(stdout);
}

void print_nodes(const Probe& probe) {
  const boot::NodeMap& nodes = probe.bootstrap->nodes();
  std::printf("pe %d on node %d of %d, %u PEs\n", probe.pe, nodes.node(probe.pe), nodes.n_nodes(),
              probe.header->n_node_pes);
}

void print_job(const Probe& probe) {
  const boot::JobHeader& header = *probe.header;
  std::printf("job %llx secret %llx %llx\n", static_cast<unsigned long long>(header.job_id),
              static_cast<unsigned long long>(header.secret[0]), static_cast<unsigned long long>(header.secret[1]));
}

// Returns a node's bytes: all values, different for each node.
std::string bytes_of_node(int node, std::size_t n) {
  std::string bytes(n + static_cast<std::size_t>(node), '\0');
  test_support::fill_pattern(bytes.data(), bytes.size(), static_cast<std::size_t>(2 * node));
  return bytes;
}

// The lowest PEs of the nodes publish bytes and combine their numbers; every PE reads what all have published.
void exchange(Probe& probe, std::size_t n) {
  const boot::NodeMap& nodes = probe.bootstrap->nodes();
  const int node = nodes.node(probe.pe);
  bool lowest = true;
  for (int pe = 0; pe < probe.pe; ++pe) lowest = lowest && nodes.node(pe) != node;
  const std::string mine = bytes_of_node(node, n);
  if (lowest) {
    if (auto put = probe.bootstrap->publish(std::as_bytes(std::span(mine.data(), mine.size()))); !put)
      fail(put.error());
  }
  const auto join = [](const std::string& lower, const std::string& higher) -> shmemx::Result<std::string> {
    return lower + higher;
  };
  auto combined = probe.bootstrap->combine(lowest ? std::to_string(node) + "." : std::string(), join);
  if (!combined) fail(combined.error());
  std::string expected;
  for (int i = 0; i < nodes.n_nodes(); ++i) expected += std::to_string(i) + ".";
  bool right = *combined == (lowest ? expected : std::string());
  for (int i = 0; right && i < nodes.n_nodes(); ++i) {
    auto bytes = probe.bootstrap->fetch(i);
    right = bytes && *bytes == bytes_of_node(i, n);
  }
  std::printf("pe %d: exchange %s\n", probe.pe, right ? "right" : "WRONG");
}

void exit_by_signal(int number) { ::_exit(40 + number); }

// Actions without an argument. Returns false if `action` is none of them.
bool act(Probe& probe, const std::string& action) {
  if (action == "attach") {
    attach(probe);
  } else if (action == "join") {
    join(probe);
  } else if (action == "hello") {
    const auto identity = probe.bootstrap->identity();
    std::printf("pe %d of %d via %s\n", identity.pe, identity.n_pes, std::string(probe.bootstrap->name()).c_str());
  } else if (action == "nodes") {
    print_nodes(probe);
  } else if (action == "why") {
    std::printf("%s\n", probe.bootstrap->nodes().why.c_str());
  } else if (action == "job") {
    print_job(probe);
  } else if (action == "finalize") {
    set_phase(probe, boot::PePhase::finalized);
    probe.bootstrap->finalize();
  } else if (action == "cwd") {
    char path[4096];
    std::printf("%s\n", ::getcwd(path, sizeof path) != nullptr ? path : "?");
  } else if (action == "stdin") {
    copy_stdin();
  } else if (action == "others-wait") {
    await_waiting_others(probe);
  } else if (action == "fork-sleep") {
    if (::fork() == 0) {
      for (;;) ::pause();
    }
  } else {
    return false;
  }
  std::fflush(stdout);
  return true;
}

void act_with(Probe& probe, const std::string& action, const char* argument) {
  const int number = std::atoi(argument);
  if (action == "exit") std::exit(number);
  if (action == "signal") ::raise(number);
  if (action == "handle") ::signal(number, exit_by_signal);
  if (action == "sleep") ::usleep(static_cast<useconds_t>(std::atof(argument) * 1e6));
  if (action == "global") end_job(probe, boot::JobState::global_exit, number);
  if (action == "abort") end_job(probe, boot::JobState::aborted, number);
  if (action == "exchange") exchange(probe, static_cast<std::size_t>(number));
  if (action == "print") std::printf("%s\n", argument);
  if (action == "env") std::printf("%s\n", std::getenv(argument) != nullptr ? std::getenv(argument) : "(unset)");
  std::fflush(stdout);
  if (action == "wait") {
    shmemx::bootstrap::set_routine(*probe.record, argument);
    for (;;) ::pause();
  }
}

}  // namespace

int main(int argc, char** argv) {
  Probe probe;
  if (const char* pe = std::getenv(boot::kEnvPe)) probe.pe = std::atoi(pe);
  for (int i = 1; i < argc; ++i) {
    bool mine = true;
    if (argv[i][0] == '@') mine = std::atoi(argv[i++] + 1) == probe.pe;
    const std::string action = argv[i];
    static const std::string kPlain = " attach join hello nodes why job finalize cwd stdin fork-sleep others-wait ";
    const bool plain = kPlain.find(" " + action + " ") != std::string::npos;
    if (mine && plain) act(probe, action);
    if (!plain && mine) act_with(probe, action, argv[i + 1]);
    if (!plain) ++i;
  }
  return 0;
}
