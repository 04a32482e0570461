#include "job.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace vhosts {
namespace {

constexpr double kGraceSeconds = 0.5;     // between SIGTERM and SIGKILL
constexpr double kEmptyingSeconds = 2.0;  // for the kernel to close connections
constexpr int kTimeoutCode = 124;         // as of the program timeout
constexpr int kLeftBehindCode = 99;

sockaddr_un address_of(const std::string& folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder + "/requests").copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

Fd open_requests(const std::string& folder) {
  Fd socket(check(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  const sockaddr_un address = address_of(folder);
  check(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind the request socket");
  return socket;
}

Fd open_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return Fd(check(::signalfd(-1, &set, SFD_CLOEXEC), "signalfd"));
}

void write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) at += static_cast<std::size_t>(n);
  }
}

}  // namespace

void request_fault(const std::string& text) {
  parse_fault(text);
  const char* const folder = std::getenv("VHOSTS_DIR");
  if (folder == nullptr) throw Failure("VHOSTS_DIR is not set: this process does not run under vhosts");
  const Fd socket(check(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  const sockaddr_un address = address_of(folder);
  check(static_cast<int>(::sendto(socket.get(), text.data(), text.size(), 0,
                                  reinterpret_cast<const sockaddr*>(&address), sizeof address)),
        "send a request");
}

Job::Job(Cluster& cluster, JobSpec spec)
    : cluster_(cluster),
      spec_(std::move(spec)),
      server_(spec_.host_of),
      pes_(spec_.host_of.size()),
      host_seen_dead_(static_cast<std::size_t>(cluster.size())),
      signals_(open_signals()),
      requests_(open_requests(cluster.folder())) {}

Job::~Job() = default;

std::string Job::name_of(int pe) const {
  if (!spec_.pmi) return spec_.argv[0];
  return "pe " + std::to_string(pe) + " on " + host_name(spec_.host_of[static_cast<std::size_t>(pe)]);
}

void Job::say(const std::string& text) const { write_all(STDERR_FILENO, "vhosts: " + text + "\n"); }

bool Job::all_ended() const {
  return std::all_of(pes_.begin(), pes_.end(), [](const Pe& pe) { return pe.ended; });
}

int Job::run() {
  started_ = now_seconds();
  for (int pe = 0; pe < static_cast<int>(pes_.size()); ++pe) start_pe(pe);
  while (!all_ended()) turn();
  empty_streams();
  const int left = spec_.inspect ? left_behind() : 0;
  return code_ != 0 ? code_ : left;
}

// Processes that a PE has left behind may hold its stream open.
void Job::empty_streams() {
  const double deadline = now_seconds() + kEmptyingSeconds;
  for (const auto& stream : streams_) {
    while (stream->from.valid()) {
      pollfd ready{stream->from.get(), POLLIN, 0};
      const double left = std::max(0.0, deadline - now_seconds());
      if (::poll(&ready, 1, static_cast<int>(left * 1000)) <= 0) break;
      on_stream(*stream);
    }
  }
}

int Job::add_stream(int pe, int to) {
  int ends[2];
  check(::pipe2(ends, O_CLOEXEC), "pipe");
  streams_.push_back(std::make_unique<Stream>(Stream{pe, Fd(ends[0]), to, ""}));
  return ends[1];
}

void Job::start_pe(int pe) {
  const int host = spec_.host_of[static_cast<std::size_t>(pe)];
  Command command{spec_.argv, own_environment(), "", false};
  char* const folder = ::getcwd(nullptr, 0);
  command.folder = folder == nullptr ? "/" : folder;
  std::free(folder);
  set_variable(command.environment, "HOSTNAME", host_name(host));
  set_variable(command.environment, "VHOSTS_DIR", cluster_.folder());
  std::vector<int> fds{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  Fd out, err, theirs;
  if (spec_.label) {
    out = Fd(add_stream(pe, STDOUT_FILENO));
    err = Fd(add_stream(pe, STDERR_FILENO));
    fds = {STDIN_FILENO, out.get(), err.get()};
  }
  if (spec_.pmi) {
    int ends[2];
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
    pes_[static_cast<std::size_t>(pe)].pmi = Fd(ends[0]);
    theirs = Fd(ends[1]);
    set_variable(command.environment, "PMI_FD", std::to_string(fds.size()));
    set_variable(command.environment, "PMI_RANK", std::to_string(pe));
    set_variable(command.environment, "PMI_SIZE", std::to_string(pes_.size()));
    fds.push_back(theirs.get());
  }
  send_message(cluster_.control(host), {Kind::start, static_cast<std::uint32_t>(pe), 0, command.encode()}, fds);
}

int Job::wait_ms() const {
  double until = now_seconds() + 3600;
  if (spec_.timeout_seconds > 0 && !timed_out_) until = std::min(until, started_ + spec_.timeout_seconds);
  if (kill_at_ > 0) until = std::min(until, kill_at_);
  for (const Fault& fault : spec_.faults) until = std::min(until, started_ + fault.at_seconds);
  return static_cast<int>(std::max(0.0, (until - now_seconds()) * 1000 + 1));
}

void Job::turn() {
  std::vector<pollfd> ready;
  std::vector<std::function<void()>> actions;
  const auto add = [&](int fd, std::function<void()> action) {
    ready.push_back({fd, POLLIN, 0});
    actions.push_back(std::move(action));
  };
  add(signals_.get(), [this] { on_signal(); });
  add(requests_.get(), [this] { on_request(); });
  for (auto& stream : streams_) {
    if (stream->from.valid()) add(stream->from.get(), [this, s = stream.get()] { on_stream(*s); });
  }
  for (int pe = 0; pe < static_cast<int>(pes_.size()); ++pe) {
    const int fd = pes_[static_cast<std::size_t>(pe)].pmi.get();
    if (fd >= 0) add(fd, [this, pe] { on_pmi(pe); });
  }
  for (int host = 0; host < cluster_.size(); ++host) {  // last, so that the output of a PE is read before its end
    if (!host_seen_dead_[static_cast<std::size_t>(host)]) add(cluster_.control(host), [this, host] { on_host(host); });
  }
  if (::poll(ready.data(), ready.size(), wait_ms()) > 0) {
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents != 0) actions[i]();
    }
  }
  do_what_is_due();
}

void Job::on_pmi(int pe) {
  Pe& state = pes_[static_cast<std::size_t>(pe)];
  char buffer[4096];
  const ssize_t n = ::recv(state.pmi.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    state.pmi.reset();
    return;
  }
  state.unread.append(buffer, static_cast<std::size_t>(n));
  for (std::size_t end; (end = state.unread.find('\n')) != std::string::npos;) {
    const std::string line = state.unread.substr(0, end);
    state.unread.erase(0, end + 1);
    for (const test_support::Pmi1Server::Reply& reply : server_.handle(pe, line)) {
      const Fd& to = pes_[static_cast<std::size_t>(reply.pe)].pmi;
      const std::string text = reply.line + "\n";
      if (to.valid()) (void)!::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL);
    }
  }
  if (server_.aborting_pe() >= 0 && kill_at_ == 0) {
    const int code = server_.abort_code() == 0 ? 1 : server_.abort_code() & 255;
    if (code_ == 0) code_ = code;
    end_all(SIGTERM);  // the PE has printed the reason
  }
}

void Job::on_stream(Stream& stream) {
  char buffer[16384];
  const ssize_t n = ::read(stream.from.get(), buffer, sizeof buffer);
  if (n < 0 && errno == EINTR) return;
  if (n > 0) stream.unread.append(buffer, static_cast<std::size_t>(n));
  const std::string label = "[" + name_of(stream.pe) + "] ";
  for (std::size_t end; (end = stream.unread.find('\n')) != std::string::npos;) {
    write_all(stream.to, label + stream.unread.substr(0, end + 1));
    stream.unread.erase(0, end + 1);
  }
  if (n > 0) return;
  if (!stream.unread.empty()) write_all(stream.to, label + stream.unread + "\n");
  stream.from.reset();
}

void Job::on_signal() {
  signalfd_siginfo about{};
  if (::read(signals_.get(), &about, sizeof about) != sizeof about) return;
  if (code_ == 0) code_ = 128 + static_cast<int>(about.ssi_signo);
  end_all(static_cast<int>(about.ssi_signo));
}

void Job::on_request() {
  char buffer[256];
  const ssize_t n = ::recv(requests_.get(), buffer, sizeof buffer, 0);
  if (n <= 0) return;
  Fault fault = parse_fault(std::string(buffer, static_cast<std::size_t>(n)));
  fault.at_seconds += now_seconds() - started_;
  spec_.faults.push_back(fault);
}

void Job::on_host(int host) {
  Message message;
  if (!receive_message(cluster_.control(host), message)) {
    host_died(host);
  } else if (message.kind == Kind::ended) {
    pe_ended(static_cast<int>(message.token), message.value);
  }
}

void Job::host_died(int host) {
  host_seen_dead_[static_cast<std::size_t>(host)] = true;
  cluster_.kill_host(host);  // waits for its last process
  bool said = kill_at_ > 0 || !spec_.watch;
  for (int pe = 0; pe < static_cast<int>(pes_.size()); ++pe) {
    Pe& state = pes_[static_cast<std::size_t>(pe)];
    if (spec_.host_of[static_cast<std::size_t>(pe)] != host || state.ended) continue;
    state.ended = true;
    if (!said) say(name_of(pe) + " ended: host " + host_name(host) + " died; the job is ended");
    said = true;
  }
  if (code_ == 0) code_ = 128 + SIGKILL;
  if (spec_.watch) end_all(SIGTERM);
}

void Job::pe_ended(int pe, int wait_status) {
  Pe& state = pes_[static_cast<std::size_t>(pe)];
  while (state.pmi.valid() && server_.aborting_pe() != pe) {  // its last message may still be in the socket
    pollfd ready{state.pmi.get(), POLLIN, 0};
    if (::poll(&ready, 1, 0) <= 0) break;
    on_pmi(pe);
  }
  state.ended = true;
  const int code = exit_code_of(wait_status);
  const bool silent = spec_.pmi && server_.has_begun(pe) && !server_.has_finalized(pe);
  const bool clean = WIFEXITED(wait_status) && (code == 0 || server_.has_finalized(pe) || !spec_.pmi);
  if (clean && (code != 0 || !silent)) {
    if (code_ == 0) code_ = code;
    return;
  }
  bad_end(pe, code == 0 ? 1 : code, describe_status(wait_status) + (code == 0 ? " without finalizing" : ""));
}

void Job::bad_end(int pe, int code, const std::string& cause) {
  if (kill_at_ > 0) return;
  if (code_ == 0) code_ = code;
  if (!spec_.watch) return;
  say(name_of(pe) + " ended: " + cause + "; the job is ended");
  end_all(SIGTERM);
}

void Job::send_signal(int pe, int signal) {
  const int host = spec_.host_of[static_cast<std::size_t>(pe)];
  if (pes_[static_cast<std::size_t>(pe)].ended || !cluster_.is_up(host)) return;
  try {
    send_message(cluster_.control(host), {Kind::signal, static_cast<std::uint32_t>(pe), signal});
  } catch (const std::system_error&) {
    return;  // the host is ending
  }
}

void Job::end_all(int signal) {
  if (kill_at_ == 0) kill_at_ = now_seconds() + kGraceSeconds;
  for (int pe = 0; pe < static_cast<int>(pes_.size()); ++pe) send_signal(pe, signal);
}

void Job::carry_out(const Fault& fault) {
  const int limit = fault.on_pe ? static_cast<int>(pes_.size()) : cluster_.size();
  if (fault.target >= limit) throw Failure(describe(fault) + ": there is no such target");
  if (fault.on_pe) {
    send_signal(fault.target, SIGKILL);
    return;
  }
  if (!cluster_.is_up(fault.target)) return;
  if (fault.kind != FaultKind::kill) cluster_.set_link(fault.target, fault.network, fault.kind == FaultKind::join);
  if (fault.kind == FaultKind::kill || fault.kind == FaultKind::off) cluster_.kill_host(fault.target);
}

void Job::do_what_is_due() {
  const double now = now_seconds();
  for (std::size_t i = 0; i < spec_.faults.size();) {
    if (started_ + spec_.faults[i].at_seconds <= now) {
      const Fault fault = spec_.faults[i];
      spec_.faults.erase(spec_.faults.begin() + static_cast<std::ptrdiff_t>(i));
      carry_out(fault);
    } else {
      ++i;
    }
  }
  if (kill_at_ > 0 && now >= kill_at_) {
    kill_at_ = now + kGraceSeconds;
    for (int pe = 0; pe < static_cast<int>(pes_.size()); ++pe) send_signal(pe, SIGKILL);
  }
  if (spec_.timeout_seconds > 0 && !timed_out_ && now >= started_ + spec_.timeout_seconds) {
    timed_out_ = true;
    code_ = kTimeoutCode;
    say("the job did not end within " + std::to_string(static_cast<int>(spec_.timeout_seconds)) + " s");
    show_living();
    end_all(SIGTERM);
  }
}

// If a debugger is installed, prints the stacks of all threads.
void Job::show_living() {
  std::vector<bool> shown(static_cast<std::size_t>(cluster_.size()));
  for (int pe = 0; pe < static_cast<int>(pes_.size()); ++pe) {
    if (pes_[static_cast<std::size_t>(pe)].ended) continue;
    say(name_of(pe) + " is still there");
    const int host = spec_.host_of[static_cast<std::size_t>(pe)];
    if (cluster_.is_up(host) && !shown[static_cast<std::size_t>(host)]) show_stacks(host);
    shown[static_cast<std::size_t>(host)] = true;
  }
}

void Job::show_stacks(int host) {
  const char* const script =
      "command -v gdb >/dev/null || exit 0; for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = 1 ] || [ $p = $$ ] || "
      "timeout 20 gdb -batch -nx -ex 'thread apply all backtrace' -p $p 2>/dev/null | grep -E '^(Thread|#)'; done";
  Command command{{"/bin/sh", "-c", script}, own_environment(), "/", true};
  constexpr std::uint32_t kToken = ~0U;
  send_message(cluster_.control(host), {Kind::start, kToken, 0, command.encode()},
               {STDIN_FILENO, STDERR_FILENO, STDERR_FILENO});
  Message message;
  while (receive_message(cluster_.control(host), message)) {
    if (message.kind != Kind::ended) continue;
    if (message.token == kToken) return;
    pe_ended(static_cast<int>(message.token), message.value);
  }
}

int Job::left_behind() const {
  const double deadline = now_seconds() + kEmptyingSeconds;
  int code = 0;
  for (int host = 0; host < cluster_.size(); ++host) {
    if (!cluster_.is_up(host)) continue;
    std::string lines = cluster_.left_behind(host);
    while (!lines.empty() && now_seconds() < deadline) {
      ::usleep(10'000);
      lines = cluster_.left_behind(host);
    }
    if (lines.empty()) continue;
    say("left behind on " + host_name(host) + ":\n" + lines);
    code = kLeftBehindCode;
  }
  return code;
}

}  // namespace vhosts
