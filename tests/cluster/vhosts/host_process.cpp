#include "host_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstdio>
#include <iterator>
#include <map>
#include <sstream>

#include "inspect.hpp"
#include "message.hpp"

namespace vhosts {
namespace {

void mount_over(const char* type, const char* where, const char* options = nullptr) {
  check(::mount(type, where, type, MS_NOSUID | MS_NODEV, options), std::string("mount ") + type + " on " + where);
}

// Mounts a file of the host over one of the machine; files that the machine does not have are not needed.
void replace_file(const std::string& source, const char* where) {
  if (::access(where, F_OK) == 0) check(::mount(source.c_str(), where, nullptr, MS_BIND, nullptr), "bind " + source);
}

std::string without_dashes(std::string text) {
  std::erase(text, '-');
  return text;
}

void set_files(const HostSpec& spec) {
  const std::string own = spec.folder + "/" + spec.name;
  const std::string boot_id = read_file("/proc/sys/kernel/random/uuid");
  write_file(own + ".hostname", spec.name + "\n");
  write_file(own + ".boot_id", boot_id);
  write_file(own + ".machine_id", without_dashes(boot_id));
  replace_file(spec.folder + "/hosts", "/etc/hosts");
  replace_file(own + ".hostname", "/etc/hostname");
  replace_file(own + ".machine_id", "/etc/machine-id");
  replace_file(own + ".boot_id", "/proc/sys/kernel/random/boot_id");
}

// Optional settings, since some kernels and containers refuse them.
void prefer(const std::string& path, const std::string& value) {
  try {
    write_file(path, value);
  } catch (const std::system_error&) {
    return;
  }
}

void set_network_defaults(const HostSpec& spec) {
  // A namespace may use the algorithms that the machine allows all users. These include reno, but not always cubic.
  prefer("/proc/sys/net/ipv4/tcp_congestion_control", "reno");
  prefer("/proc/sys/net/ipv4/tcp_congestion_control", spec.congestion);
  for (const char* which : {"all", "default"}) {  // addresses are usable at once
    prefer(std::string("/proc/sys/net/ipv6/conf/") + which + "/accept_dad", "0");
    prefer(std::string("/proc/sys/net/ipv6/conf/") + which + "/router_solicitations", "0");
  }
}

void become_host(const HostSpec& spec) {
  check(::sethostname(spec.name.c_str(), spec.name.size()), "sethostname");
  check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
  mount_over("proc", "/proc");
  mount_over("sysfs", "/sys");
  mount_over("tmpfs", "/dev/shm", "mode=1777");
  if (::access("/dev/mqueue", F_OK) == 0) mount_over("mqueue", "/dev/mqueue");
  if (spec.private_tmp) mount_over("tmpfs", "/tmp", "mode=1777");
  set_files(spec);
  set_network_defaults(spec);
  if (spec.core >= 0) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<unsigned>(spec.core), &cores);
    ::sched_setaffinity(0, sizeof cores, &cores);
  }
}

Fd listen_at(const std::string& path) {
  Fd socket(check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  check(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind " + path);
  check(::listen(socket.get(), 64), "listen");
  return socket;
}

[[noreturn]] void exec_command(const Command& command, const std::vector<Fd>& fds) {
  // First duplicates above all targets, so that no dup2 closes a descriptor that is used later.
  std::vector<int> high;
  constexpr int kAbove = 100;
  for (const Fd& fd : fds) high.push_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kAbove));
  for (std::size_t i = 0; i < high.size(); ++i) ::dup2(high[i], static_cast<int>(i));
  if (command.own_session) ::setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::chdir(command.folder.c_str()) != 0) std::perror(command.folder.c_str());
  const std::vector<char*> argv = pointers(command.argv), environment = pointers(command.environment);
  ::execvpe(argv[0], argv.data(), environment.data());
  std::fprintf(stderr, "vhosts: cannot run %s: %s\n", argv[0], std::generic_category().message(errno).c_str());
  _exit(127);
}

class HostProcess {
 public:
  HostProcess(const HostSpec& spec, int control) : spec_(spec), control_(control) {}
  [[noreturn]] void run();

 private:
  struct Program {
    int client;  // the socket that requested it
    std::uint32_t token;
    bool own_session;
  };
  void serve(int client);
  void start(int client, Message& message);
  void send_signal(const Message& message);
  void drop_client(int client);
  void reap();
  bool answer(int client, const Message& message);

  HostSpec spec_;
  int control_;
  Fd listener_;
  Fd deaths_;
  std::map<int, Fd> clients_;
  std::map<pid_t, Program> programs_;
};

// Lines for `ip -batch`, in one run; lines that start with "tc" are run one by one.
void configure(const std::string& lines) {
  std::istringstream text(lines);
  std::string ip_lines;
  std::vector<std::vector<std::string>> others;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::vector<std::string> argv{std::istream_iterator<std::string>(words), {}};
    if (!argv.empty() && argv[0] == "tc") {
      others.push_back(std::move(argv));
    } else {
      ip_lines += line + "\n";
    }
  }
  run_program({"ip", "-batch", "-"}, ip_lines);
  for (const auto& argv : others) run_program(argv, "");
}

// Programs that start from now on must find the link up. Under load the kernel may need seconds to report it.
void wait_for_link() {
  constexpr int kTurns = 20'000;
  for (int turn = 0; turn < kTurns; ++turn) {
    if (read_file("/sys/class/net/eth0/operstate") == "up\n") return;
    ::usleep(1000);
  }
  throw std::runtime_error("eth0 has no carrier after 20 s");
}

bool HostProcess::answer(int client, const Message& message) {
  try {
    send_message(client, message);
    return true;
  } catch (const std::system_error&) {
    return false;  // poll reports its end
  }
}

void HostProcess::start(int client, Message& message) {
  const Command command = Command::decode(message.text);
  const pid_t pid = check(::fork(), "fork");
  if (pid == 0) exec_command(command, message.fds);
  programs_[pid] = {client, message.token, command.own_session};
}

void HostProcess::send_signal(const Message& message) {
  for (const auto& [pid, program] : programs_) {
    if (program.client == control_ && program.token == message.token) ::kill(pid, message.value);
  }
}

void HostProcess::serve(int client) {
  Message message;
  if (!receive_message(client, message)) {
    drop_client(client);
    return;
  }
  if (message.kind == Kind::start) start(client, message);
  if (message.kind == Kind::signal) send_signal(message);
  if (message.kind == Kind::configure) {
    std::string complaint;
    try {
      configure(message.text);
      wait_for_link();
    } catch (const std::exception& error) {
      complaint = error.what();
    }
    answer(client, {Kind::done, 0, 0, complaint});
  }
  if (message.kind == Kind::inspect) answer(client, {Kind::done, 0, 0, findings()});
}

void HostProcess::drop_client(int client) {
  if (client == control_) _exit(0);  // the end of process 1 ends the host
  for (auto& [pid, program] : programs_) {
    if (program.client != client) continue;
    ::kill(program.own_session ? -pid : pid, SIGKILL);
    program.client = -1;  // the next client may get its number
  }
  clients_.erase(client);
}

void HostProcess::reap() {
  signalfd_siginfo ignored;
  while (::read(deaths_.get(), &ignored, sizeof ignored) > 0) {
  }
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto found = programs_.find(pid);
    if (found == programs_.end()) continue;  // an orphan
    const Program program = found->second;
    programs_.erase(found);
    if (program.client >= 0) answer(program.client, {Kind::ended, program.token, status});
  }
}

void HostProcess::run() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  deaths_ = Fd(check(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
  listener_ = listen_at(spec_.folder + "/" + spec_.name + ".socket");
  answer(control_, {Kind::done});
  for (;;) {
    std::vector<pollfd> ready{{control_, POLLIN, 0}, {deaths_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const auto& [fd, owner] : clients_) ready.push_back({fd, POLLIN, 0});
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    if (ready[1].revents != 0) reap();
    if (ready[0].revents != 0) serve(control_);
    if (ready[2].revents != 0) {
      const int client = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (client >= 0) clients_[client] = Fd(client);
    }
    for (std::size_t i = 3; i < ready.size(); ++i) {
      if (ready[i].revents != 0) serve(ready[i].fd);
    }
  }
}

}  // namespace

void be_host(const HostSpec& spec, int control) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the parent has ended before this, the control socket is closed
  try {
    become_host(spec);
    HostProcess(spec, control).run();
  } catch (const std::exception& error) {
    try {
      send_message(control, {Kind::done, 0, 1, error.what()});
    } catch (const std::exception&) {
      _exit(1);
    }
  }
  _exit(1);
}

}  // namespace vhosts
