// vhosts: virtual hosts on this machine, and jobs on them.
//   vhosts run   --hosts 2 --pes 2,2 -- prog args    a job; vhosts is its launcher (PMI-1)
//   vhosts shell --hosts 2 -- cmd args               one program on host h0, for launchers of others
//   vhosts enter h1 cmd args                         inside: a program on host h1 (vhosts-enter has the arguments of
//   ssh) vhosts fault 'cut h1'                            inside: a fault of a host
#include <CLI/CLI.hpp>
#include <cstdio>
#include <numeric>

#include "cluster.hpp"
#include "enter.hpp"
#include "job.hpp"

namespace vhosts {
namespace {

constexpr int kWrongUse = 2;
constexpr int kSkipped = 77;

struct Arguments {
  ClusterSpec cluster;
  JobSpec job;
  std::vector<int> pes{1};
  bool cyclic = false, unwatched = false, keep = false, no_ipv4 = false, no_ipv6 = false;
  std::vector<std::string> faults;
  std::string host;
};

void add_cluster_options(CLI::App& app, Arguments& a) {
  app.add_option("--hosts", a.cluster.hosts, "Number of hosts")->check(CLI::Range(1, 100));
  app.add_option("--networks", a.cluster.networks, "Number of networks; each host is on all of them")
      ->check(CLI::Range(1, 4));
  app.add_option("--mtu", a.cluster.mtu, "Bytes of a packet")->check(CLI::Range(1280, 65535));
  app.add_option("--rate", a.cluster.rates, "Speed of each host's link, as tc writes it, by network: 1gbit,100mbit")
      ->delimiter(',');
  app.add_option("--congestion", a.cluster.congestion, "TCP congestion control; reno where it is not allowed");
  app.add_flag("--no-ipv4", a.no_ipv4, "The links have IPv6 addresses only");
  app.add_flag("--no-ipv6", a.no_ipv6, "The links have IPv4 addresses only");
  app.add_flag("--private-tmp", a.cluster.private_tmp, "Each host has a /tmp of its own");
  app.add_option("--cores", a.cluster.cores, "Core of each host, in turn: 0,1")->delimiter(',');
  app.add_option("--ip", a.cluster.host_lines, "Arguments of an `ip` to run in each host; {n} is 1, 2, ...");
  Impairment& bad = a.cluster.impairment;
  app.add_option("--loss", bad.loss, "Frames lost, in percent")->check(CLI::Range(0.0, 100.0));
  app.add_option("--duplicate", bad.duplicate, "Frames doubled, in percent")->check(CLI::Range(0.0, 100.0));
  app.add_option("--reorder", bad.reorder, "Frames out of order, in percent")->check(CLI::Range(0.0, 100.0));
  app.add_option("--corrupt", bad.corrupt, "Frames of which one bit is changed, in percent")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--delay", bad.delay_us, "Time on the link, in microseconds");
  app.add_option("--jitter", bad.jitter_us, "Spread of that time, in microseconds");
  app.add_option("--seed", bad.seed, "Of the random choices");
  app.add_option("--timeout", a.job.timeout_seconds, "Seconds after which everything is ended");
  app.add_option("--fault", a.faults,
                 "'cut h1@2s', 'cut h1/1@2s', 'join h1@3s', 'kill h1@1s', 'off h1@1s', 'kill pe3@1s'");
  app.add_option("command", a.job.argv, "Program and its arguments")->required();
  app.positionals_at_end();
}

void place_pes(Arguments& a) {
  std::vector<int> left(static_cast<std::size_t>(a.cluster.hosts));
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = a.pes[std::min(i, a.pes.size() - 1)];
  if (a.pes.size() > left.size()) throw Failure("--pes names more hosts than there are");
  const int total = std::accumulate(left.begin(), left.end(), 0);
  if (total < 1 || *std::min_element(left.begin(), left.end()) < 0) throw Failure("--pes leaves no PE");
  for (std::size_t host = 0; static_cast<int>(a.job.host_of.size()) < total;) {
    if (left[host] > 0) {
      --left[host];
      a.job.host_of.push_back(static_cast<int>(host));
    }
    if (a.cyclic || left[host] == 0) host = (host + 1) % left.size();
  }
}

int run_job(Arguments& a) {
  for (const std::string& text : a.faults) a.job.faults.push_back(parse_fault(text));
  a.cluster.ipv4 = !a.no_ipv4;
  a.cluster.ipv6 = !a.no_ipv6;
  a.job.watch = !a.unwatched;
  Cluster cluster(a.cluster);
  return Job(cluster, a.job).run();
}

int chosen(CLI::App& app, Arguments& a) {
  if (app.got_subcommand("enter")) return enter_host(a.host, a.job.argv);
  if (app.got_subcommand("fault")) {
    request_fault(a.host);
    return 0;
  }
  if (app.got_subcommand("shell")) {
    a.job.pmi = false;
    a.job.host_of = {0};
  } else {
    place_pes(a);
  }
  return run_job(a);
}

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app("Virtual hosts on this machine, and jobs on them.", "vhosts");
  app.require_subcommand(1);
  CLI::App* const run = app.add_subcommand("run", "Runs a job of one program and is its launcher");
  add_cluster_options(*run, a);
  run->add_option("--pes", a.pes, "PEs of each host; the last number counts for the rest")->delimiter(',');
  run->add_flag("--cyclic", a.cyclic, "PE numbers go round the hosts instead of filling one after the other");
  run->add_flag("--label", a.job.label, "Say before each line of output which PE wrote it");
  run->add_flag("--no-watch", a.unwatched, "Do not end the job when a PE ends badly");
  CLI::App* const shell = app.add_subcommand("shell", "Runs a program on host h0");
  add_cluster_options(*shell, a);
  CLI::App* const enter = app.add_subcommand("enter", "Inside: runs a program on another host");
  enter->add_option("host", a.host)->required();
  enter->add_option("command", a.job.argv)->required();
  enter->prefix_command();
  app.add_subcommand("fault", "Inside: does something to a host")->add_option("what", a.host)->required();
  CLI11_PARSE(app, argc, argv);
  return chosen(app, a);
}

}  // namespace
}  // namespace vhosts

int main(int argc, char** argv) {
  try {
    return vhosts::main(argc, argv);
  } catch (const vhosts::NotAllowed& error) {
    std::fprintf(stderr, "skipped: %s\n", error.what());
    return vhosts::kSkipped;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vhosts: %s\n", error.what());
    return vhosts::kWrongUse;
  }
}
