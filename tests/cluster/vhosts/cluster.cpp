#include "cluster.hpp"

#include <linux/close_range.h>
#include <linux/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstring>
#include <filesystem>

#include "host_process.hpp"
#include "netswitch.hpp"

namespace vhosts {
namespace {

constexpr int kHostNamespaces = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;

void become_root_of_user_namespace() {
  const std::string uid = std::to_string(::geteuid()), gid = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER) != 0) {
    throw NotAllowed(std::string("neither root's rights nor user namespaces are there: ") + std::strerror(errno));
  }
  try {
    write_file("/proc/self/uid_map", "0 " + uid + " 1");
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/gid_map", "0 " + gid + " 1");
  } catch (const std::system_error& error) {
    throw NotAllowed(std::string("user namespaces cannot be set up: ") + error.what());
  }
}

std::string replace_all(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// The child is process 1 of its own namespaces. It must see only its end of the control socket: a copy of another
// host's end would keep that host alive.
pid_t clone_host(const HostSpec& spec, int control) {
  const long pid = ::syscall(SYS_clone, kHostNamespaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid < 0 && (errno == EPERM || errno == ENOSYS || errno == EINVAL || errno == ENOSPC)) {
    throw NotAllowed(std::string("namespaces cannot be made: ") + std::strerror(errno));
  }
  check(static_cast<int>(pid), "clone");
  if (pid == 0) {
    constexpr unsigned kFirst = STDERR_FILENO + 1;
    ::dup2(control, kFirst);
    ::syscall(SYS_close_range, kFirst + 1, ~0U, 0);
    be_host(spec, kFirst);
  }
  return static_cast<pid_t>(pid);
}

// The bucket holds 2 ms of 1 Gbit/s. A host whose cores are busy is late by that much at times, and loses what does not
// fit.
std::string limit_of(const ClusterSpec& spec, int network) {
  const std::size_t index = std::min(static_cast<std::size_t>(network), spec.rates.size() - 1);
  return " root tbf rate " + spec.rates[index] + " burst 256kb latency 20ms";
}

}  // namespace

std::string host_name(int host) { return "h" + std::to_string(host); }
std::string port_name(int host, int network) {
  return "p" + std::to_string(host) + (network == 0 ? "" : "n" + std::to_string(network));
}
std::string ipv4_address(int host, int network) {
  return "10." + std::to_string(77 + network) + ".0." + std::to_string(host + 1);
}

Cluster::Cluster(const ClusterSpec& spec) : networks_(spec.networks) {
  enter_own_namespaces();
  find_folder();
  std::string names = "127.0.0.1 localhost\n::1 localhost\n";
  for (int i = 0; i < spec.hosts; ++i) names += ipv4_address(i) + " " + host_name(i) + "\n";
  write_file(folder_ + "/hosts", names);
  for (int i = 0; i < spec.hosts; ++i) start_host(spec, i);
  for (int i = 0; i < spec.hosts; ++i) expect_done(i, "setting up");
  lay_cables(spec);
  for (int i = 0; i < spec.hosts; ++i) configure_host(spec, i);
  for (int i = 0; i < spec.hosts; ++i) expect_done(i, "configuring");
}

Cluster::~Cluster() {
  for (int i = 0; i < size(); ++i) kill_host(i);
  if (switch_ > 0) {
    ::kill(switch_, SIGKILL);
    ::waitpid(switch_, nullptr, 0);
  }
}

void Cluster::enter_own_namespaces() {
  if (::unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) {
    become_root_of_user_namespace();
    if (::unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) {
      throw NotAllowed(std::string("namespaces cannot be made: ") + std::strerror(errno));
    }
  }
  check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
}

// Mounts a private file system, visible in all hosts only, on an empty folder that exists on every machine.
void Cluster::find_folder() {
  for (const char* candidate : {"/mnt", "/media", "/srv", "/opt"}) {
    std::error_code error;
    if (!std::filesystem::is_empty(candidate, error) || error) continue;
    check(::mount("vhosts", candidate, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"), std::string("mount ") + candidate);
    folder_ = candidate;
    return;
  }
  throw NotAllowed("none of /mnt, /media, /srv, /opt is empty, so the hosts have no place to meet");
}

void Cluster::start_host(const ClusterSpec& spec, int index) {
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
  Fd own(ends[0]), theirs(ends[1]);
  HostSpec host{index, host_name(index), folder_, spec.congestion, spec.private_tmp};
  if (!spec.cores.empty()) host.core = spec.cores[static_cast<std::size_t>(index) % spec.cores.size()];
  hosts_.push_back({clone_host(host, theirs.get()), std::move(own)});
}

void Cluster::expect_done(int host, const std::string& what) const {
  Message answer;
  if (!receive_message(control(host), answer)) throw Failure(what + " " + host_name(host) + ": it died");
  if (!answer.text.empty()) throw Failure(what + " " + host_name(host) + ": " + answer.text);
}

void Cluster::lay_cables(const ClusterSpec& spec) {
  const std::string mtu = std::to_string(spec.mtu);
  std::string lines = "link set lo up\n";
  for (int network = 0; network < spec.networks; ++network) {
    const bool bridged = network != 0 || !spec.impairment.any();
    const std::string number = std::to_string(network);
    if (bridged) {
      lines += "link add br" + number + " type bridge stp_state 0 forward_delay 0 mcast_snooping 0\n";
      lines += "link set br" + number + " mtu " + mtu + " up\n";
    }
    for (int i = 0; i < size(); ++i) {
      // The kernel reports a carrier at once only if the two ends of a cable have different numbers.
      constexpr int kFirstIndex = 100;
      lines += "link add name " + port_name(i, network) + " index " +
               std::to_string(kFirstIndex + network * size() + i) + " mtu " + mtu + " type veth peer name eth" +
               number + " mtu " + mtu + " netns " + std::to_string(hosts_[static_cast<std::size_t>(i)].pid) + "\n";
      lines += "link set " + port_name(i, network) + (bridged ? " master br" + number : "") + " up\n";
    }
  }
  run_program({"ip", "-batch", "-"}, lines);
  if (!spec.rates.empty()) limit_ports(spec);
  if (spec.impairment.any()) switch_ = start_switch(spec.impairment, size());
}

// Frames of packet sockets may bypass the queue of a host's interface, but not those of the switch.
void Cluster::limit_ports(const ClusterSpec& spec) const {
  std::string lines;
  for (int network = 0; network < networks_; ++network)
    for (int i = 0; i < size(); ++i) lines += "qdisc add dev " + port_name(i, network) + limit_of(spec, network) + "\n";
  run_program({"tc", "-batch", "-"}, lines);
}

void Cluster::configure_host(const ClusterSpec& spec, int index) const {
  const std::string number = std::to_string(index + 1);
  std::string lines = "link set lo up\n";
  for (int network = 0; network < spec.networks; ++network) {
    const std::string interface = "eth" + std::to_string(network);
    if (spec.ipv4) lines += "addr add " + ipv4_address(index, network) + "/24 dev " + interface + "\n";
    if (spec.ipv6) {
      lines += "addr add fd" + std::to_string(77 + network) + "::" + number + "/64 dev " + interface + " nodad\n";
    } else {
      lines += "link set " + interface + " addrgenmode none\n";
    }
    lines += "link set " + interface + " up\n";
    if (!spec.rates.empty()) lines += "tc qdisc add dev " + interface + limit_of(spec, network) + "\n";
  }
  for (const std::string& line : spec.host_lines) lines += replace_all(line, "{n}", number) + "\n";
  send_message(control(index), {Kind::configure, 0, 0, lines});
}

// This process may change the port, since it is in the switch's network namespace.
void Cluster::set_link(int host, int network, bool up) {
  const Fd socket(check(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  for (int i = std::max(network, 0); i < (network < 0 ? networks_ : network + 1); ++i) {
    const std::string port = port_name(host, i);
    ifreq request{};
    port.copy(request.ifr_name, sizeof request.ifr_name - 1);
    check(::ioctl(socket.get(), SIOCGIFFLAGS, &request), "read the state of " + port);
    const int flags = up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP;
    request.ifr_flags = static_cast<short>(flags);
    check(::ioctl(socket.get(), SIOCSIFFLAGS, &request), "set the state of " + port);
  }
}

void Cluster::kill_host(int host) {
  Host& victim = hosts_.at(static_cast<std::size_t>(host));
  if (victim.pid <= 0) return;
  ::kill(victim.pid, SIGKILL);
  ::waitpid(victim.pid, nullptr, 0);  // returns after all its processes have ended
  victim.pid = 0;
}

std::string Cluster::left_behind(int host) const {
  send_message(control(host), {Kind::inspect});
  Message answer;
  do {
    if (!receive_message(control(host), answer)) return "";
  } while (answer.kind != Kind::done);
  return answer.text;
}

}  // namespace vhosts
