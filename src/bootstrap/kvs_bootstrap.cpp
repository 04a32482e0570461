// Finds nodes and makes their arenas under a foreign launcher, in these steps:
//   hosts     every PE puts where it runs
//   plan      PE 0 puts which PEs try to share an arena
//   offers    the lowest PE of each group makes an arena and puts how to open it; a plan of one group contains the offer
//   attached  the others open it, or fail; each marks its success in the arena
//   verdicts  the maker of each arena puts which PEs are missing
// A job on one node ends after `attached`, since the marks show that all have opened the arena. Otherwise the missing PEs are
// grouped once more, more narrowly. A PE that fails again is a node of its own.
#include <fcntl.h>
#include <inttypes.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

#include "base/streams.hpp"
#include "bootstrap/backends.hpp"
#include "bootstrap/handover.hpp"
#include "bootstrap/kvs_text.hpp"
#include "bootstrap/placement.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr int kPatienceMs = 2'000;
constexpr std::string_view kOneGroup = "one:";     // then the offer
constexpr std::string_view kManyGroups = "many:";  // then the job, ':', and the leaders

// What PE 0 decides.
struct Plan {
  Leaders leaders;
  bool one_group = false;
  Offer offer;  // of PE 0, when there is one group
};

// An arena's header, mapped while the nodes are found.
class MappedHeader {
 public:
  MappedHeader() = default;
  ~MappedHeader() { reset(); }
  MappedHeader(const MappedHeader&) = delete;
  MappedHeader& operator=(const MappedHeader&) = delete;

  void reset(JobHeader* header = nullptr) {
    if (header_ != nullptr) unmap_job_header(header_);
    header_ = header;
  }
  JobHeader* operator->() const { return header_; }
  explicit operator bool() const { return header_ != nullptr; }

  // `place`: of a PE in the group that shares the arena; its maker has place 0.
  void mark(int place) const {
    const auto bit = static_cast<std::size_t>(place);
    // edge: marks set before a barrier of the store are visible after it; the store's sockets order them
    header_->takers[bit / 64].fetch_or(std::uint64_t{1} << bit % 64, std::memory_order_acq_rel);
  }
  bool is_marked(int place) const {
    const auto bit = static_cast<std::size_t>(place);
    return (header_->takers[bit / 64].load(std::memory_order_acquire) >> bit % 64 & 1) != 0;
  }

 private:
  JobHeader* header_ = nullptr;
};

// Returns the place of `pe` in its group.
int place_in_group(const Leaders& leaders, int pe) {
  const auto end = leaders.begin() + pe;
  return static_cast<int>(std::count(leaders.begin(), end, *end));
}

Status check_group_size(std::ptrdiff_t n_pes) {
  if (n_pes <= kMaxNodePes) return {};
  return Error{Errc::unsupported, 0,
               "the launcher started " + std::to_string(n_pes) + " PEs on one node, allowed are 1.." +
                   std::to_string(kMaxNodePes)};
}

std::string encode_job(const NewJob& job) {
  char text[3 * 17 + 1];
  std::snprintf(text, sizeof text, "%" PRIx64 ".%" PRIx64 ".%" PRIx64, job.job_id, job.secret[0], job.secret[1]);
  return text;
}

class KvsBootstrap final : public Bootstrap {
 public:
  KvsBootstrap(KvsPtr kvs, HostDescription own) : kvs_(std::move(kvs)), host_(std::move(own)) {}

  Identity identity() const override { return kvs_->identity(); }
  std::string_view name() const override { return kvs_->name(); }
  Result<UniqueFd> arena() override;
  const NodeMap& nodes() const override { return nodes_; }
  Result<std::vector<std::string>> exchange(std::span<const std::byte> mine) override;
  // Flushes streams first: the launcher kills all PEs at once, this one included.
  void abort(int status) override {
    flush_all_streams();
    kvs_->abort(status);
  }
  bool ends_all() const override { return kvs_->ends_all(); }
  void finalize() override { kvs_->finalize(); }

 private:
  int pe() const { return kvs_->identity().pe; }
  int n_pes() const { return kvs_->identity().n_pes; }
  std::string key(const std::string& what) const { return "shmemx-" + std::to_string(generation_) + "-" + what; }
  std::string key(const char* what, int number) const { return key(what + std::to_string(number)); }

  Status find_nodes();
  Status collect_hosts();
  Status announce(int round, const std::vector<int>& members);
  Result<Plan> get_plan(int round);
  Status attempt(int round, const Plan& plan);
  Result<Offer> make_offer(int n_node_pes);
  Status make_file(int n_node_pes);
  void take(const Offer& offer, int place);
  bool is_complete() const;
  Result<std::vector<int>> collect_verdicts(int round, const Plan& plan);
  Status put_verdict(int round, const Leaders& leaders);
  Status stay_alone(const std::vector<int>& pes);
  void number_nodes();
  std::string explain() const;

  KvsPtr kvs_;
  HostDescription host_;
  int generation_ = 0;  // part of each key, since keys cannot be put twice
  int n_exchanges_ = 0;
  NodeMap nodes_;
  std::vector<int> first_pes_;  // by node

  // While the nodes are being found.
  std::vector<HostDescription> hosts_;  // PE 0 has all
  NewJob job_{};
  UniqueFd arena_;
  MappedHeader header_;
  std::unique_ptr<ArenaServer> server_;
  std::map<int, HostDescription> makers_;  // by PE: makers of arenas that are final
  Leaders maker_of_;
};

Status KvsBootstrap::collect_hosts() {
  hosts_.assign(1, host_);
  for (int pe = 1; pe < n_pes(); ++pe) {
    SHMEMX_TRY_ASSIGN(text, kvs_->get(pe, key("host")));
    SHMEMX_TRY_ASSIGN(host, decode_host(text));
    hosts_.push_back(std::move(host));
  }
  return {};
}

// Puts the plan of a round. Called by PE 0.
Status KvsBootstrap::announce(int round, const std::vector<int>& members) {
  const Leaders leaders = group_by(round == 0 ? Likeness::machine : Likeness::namespaces, hosts_, members);
  if (std::all_of(leaders.begin(), leaders.end(), [](int leader) { return leader == 0; })) {
    SHMEMX_TRY_ASSIGN(offer, make_offer(n_pes()));
    return put_text(*kvs_, key("plan", round), std::string(kOneGroup) + encode(offer));
  }
  return put_text(*kvs_, key("plan", round), std::string(kManyGroups) + encode_job(job_) + ":" + encode(leaders));
}

Result<Plan> KvsBootstrap::get_plan(int round) {
  SHMEMX_TRY_ASSIGN(text, get_text(*kvs_, 0, key("plan", round)));
  Plan plan;
  if (text.compare(0, kOneGroup.size(), kOneGroup) == 0) {
    SHMEMX_TRY_ASSIGN(offer, decode_offer(text.substr(kOneGroup.size())));
    plan.leaders.assign(static_cast<std::size_t>(n_pes()), 0);
    plan.one_group = true;
    plan.offer = offer;
    return plan;
  }
  int end = -1;
  const int n = std::sscanf(text.c_str(), "many:%" SCNx64 ".%" SCNx64 ".%" SCNx64 ":%n", &job_.job_id, &job_.secret[0],
                            &job_.secret[1], &end);
  if (n != 3 || end < 0) return Error{Errc::protocol, 0, "the first PE's plan is not readable: '" + text + "'"};
  SHMEMX_TRY_ASSIGN(leaders, decode_leaders(text.substr(static_cast<std::size_t>(end)), n_pes()));
  plan.leaders = std::move(leaders);
  return plan;
}

Status KvsBootstrap::make_file(int n_node_pes) {
  job_.n_pes = static_cast<std::uint32_t>(n_pes());
  job_.n_node_pes = static_cast<std::uint32_t>(n_node_pes);
  SHMEMX_TRY_ASSIGN(file, create_job_file(job_));
  SHMEMX_TRY_ASSIGN(header, map_job_header(file.get(), job_.n_pes, job_.job_id));
  arena_ = std::move(file);
  header_.reset(header);
  header_.mark(0);
  return {};
}

Result<Offer> KvsBootstrap::make_offer(int n_node_pes) {
  SHMEMX_TRY(make_file(n_node_pes));
  const Offer offer{job_.job_id,
                    random_id(),
                    random_id(),
                    ::geteuid(),
                    static_cast<std::uint64_t>(::getpid()),
                    static_cast<std::uint64_t>(arena_.get())};
  SHMEMX_TRY_ASSIGN(server, ArenaServer::start(arena_.get(), offer));
  server_ = std::move(server);
  return offer;
}

// Opens the arena that was offered. A failure is no error: this PE is on another node then.
void KvsBootstrap::take(const Offer& offer, int place) {
  auto file = take_arena(offer, static_cast<std::uint32_t>(n_pes()), kPatienceMs);
  auto header = file ? map_job_header(file->get(), static_cast<std::uint32_t>(n_pes()), offer.job_id)
                     : Result<JobHeader*>(file.error());
  if (!header) return;
  arena_ = std::move(*file);
  header_.reset(*header);
  header_.mark(place);
}

// Tries to share arenas as planned. Collective over the job. Afterwards this PE holds an arena, unless it has no group or
// could not open the arena of its group.
Status KvsBootstrap::attempt(int round, const Plan& plan) {
  const int leader = plan.leaders[static_cast<std::size_t>(pe())];
  if (leader != kNoGroup) SHMEMX_TRY(check_group_size(std::count(plan.leaders.begin(), plan.leaders.end(), leader)));
  if (!plan.one_group) {
    if (leader == pe()) {
      const auto members = std::count(plan.leaders.begin(), plan.leaders.end(), leader);
      SHMEMX_TRY_ASSIGN(offer, make_offer(static_cast<int>(members)));
      SHMEMX_TRY(kvs_->put(key("offer", round), encode(offer)));
    }
    SHMEMX_TRY(kvs_->fence());
  }
  if (leader != kNoGroup && leader != pe()) {
    Offer offer = plan.offer;
    if (!plan.one_group) {
      SHMEMX_TRY_ASSIGN(text, kvs_->get(leader, key("offer", round)));
      SHMEMX_TRY_ASSIGN(decoded, decode_offer(text));
      offer = decoded;
    }
    take(offer, place_in_group(plan.leaders, pe()));
  }
  SHMEMX_TRY(kvs_->barrier());  // the server's thread serves the others until it returns
  server_.reset();
  return {};
}

// Returns true if all PEs of a job in one group have opened the arena. The result is the same on all PEs.
bool KvsBootstrap::is_complete() const {
  if (!header_) return false;
  for (int other = 0; other < n_pes(); ++other) {
    if (!header_.is_marked(other)) return false;
  }
  return true;
}

Status KvsBootstrap::put_verdict(int round, const Leaders& leaders) {
  std::vector<int> missing;
  std::uint32_t present = 0;
  int place = 0;
  for (int other = 0; other < n_pes(); ++other) {
    if (leaders[static_cast<std::size_t>(other)] != pe()) continue;
    if (header_.is_marked(place++)) {
      ++present;
    } else {
      missing.push_back(other);
    }
  }
  header_->n_node_pes = present;  // ordered before its first use by the fence that follows
  return put_text(*kvs_, key("verdict", round), encode(host_) + "_" + encode_pes(missing));
}

// Collects the verdicts of a round. Collective. Notes who shares whose arena, and returns the PEs that are left over.
Result<std::vector<int>> KvsBootstrap::collect_verdicts(int round, const Plan& plan) {
  const bool is_maker = plan.leaders[static_cast<std::size_t>(pe())] == pe();
  if (is_maker) SHMEMX_TRY(put_verdict(round, plan.leaders));
  SHMEMX_TRY(kvs_->fence());
  std::vector<int> left_over;
  for (int maker = 0; maker < n_pes(); ++maker) {
    if (plan.leaders[static_cast<std::size_t>(maker)] != maker) continue;
    SHMEMX_TRY_ASSIGN(text, get_text(*kvs_, maker, key("verdict", round)));
    const std::size_t part = std::min(text.rfind('_'), text.size());
    SHMEMX_TRY_ASSIGN(host, decode_host(text.substr(0, part)));
    SHMEMX_TRY_ASSIGN(missing, decode_pes(text.substr(std::min(part + 1, text.size())), n_pes()));
    makers_[maker] = std::move(host);
    left_over.insert(left_over.end(), missing.begin(), missing.end());
  }
  std::sort(left_over.begin(), left_over.end());
  for (int other = 0; other < n_pes(); ++other) {
    const int maker = plan.leaders[static_cast<std::size_t>(other)];
    if (maker != kNoGroup && !std::binary_search(left_over.begin(), left_over.end(), other)) {
      maker_of_[static_cast<std::size_t>(other)] = maker;
    }
  }
  return left_over;
}

Status KvsBootstrap::stay_alone(const std::vector<int>& pes) {
  for (const int other : pes) {
    SHMEMX_TRY_ASSIGN(text, kvs_->get(other, key("host")));
    SHMEMX_TRY_ASSIGN(host, decode_host(text));
    makers_[other] = std::move(host);
    maker_of_[static_cast<std::size_t>(other)] = other;
    if (other == pe()) SHMEMX_TRY(make_file(1));
  }
  return {};
}

// Explains the first pair of nodes that share a machine.
std::string KvsBootstrap::explain() const {
  std::map<std::uint64_t, int> first_of;
  for (const auto& [maker, host] : makers_) {
    const auto [first, fresh] = first_of.emplace(host.machine, maker);
    if (fresh) continue;
    return describe_parting(first->second, makers_.at(first->second), maker, host);
  }
  return {};
}

void KvsBootstrap::number_nodes() {
  std::map<int, std::uint32_t> number;
  for (const auto& [maker, host] : makers_) {  // in ascending order
    number[maker] = static_cast<std::uint32_t>(first_pes_.size());
    first_pes_.push_back(maker);
    nodes_.hosts.push_back(host.host);
  }
  if (first_pes_.size() == 1) return;
  for (const int maker : maker_of_) nodes_.node_of.push_back(number[maker]);
  nodes_.why = explain();
}

// Finds the nodes, in two rounds at most. Collective.
Status KvsBootstrap::find_nodes() {
  std::vector<int> members(static_cast<std::size_t>(n_pes()));
  std::iota(members.begin(), members.end(), 0);
  maker_of_.assign(members.size(), kNoGroup);
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds && !members.empty(); ++round) {
    if (pe() == 0) SHMEMX_TRY(announce(round, members));
    SHMEMX_TRY(kvs_->fence());
    SHMEMX_TRY_ASSIGN(plan, get_plan(round));
    SHMEMX_TRY(attempt(round, plan));
    if (plan.one_group && is_complete()) {
      makers_[0] = host_;
      maker_of_ = plan.leaders;
      return {};
    }
    SHMEMX_TRY_ASSIGN(left_over, collect_verdicts(round, plan));
    members = std::move(left_over);
  }
  return stay_alone(members);
}

Result<UniqueFd> KvsBootstrap::arena() {
  if (n_pes() > kMaxPes) {
    return Error{Errc::unsupported, 0,
                 "the launcher started " + std::to_string(n_pes()) + " PEs, allowed are 1.." + std::to_string(kMaxPes)};
  }
  ++generation_;
  if (n_pes() == 1) return create_job_file(1, random_id());
  job_ = {0, 0, random_id(), {random_id(), random_id()}};  // PE 0's values are used
  SHMEMX_TRY(kvs_->put(key("host"), encode(host_)));
  SHMEMX_TRY(kvs_->fence());
  if (pe() == 0) SHMEMX_TRY(collect_hosts());
  SHMEMX_TRY(find_nodes());
  number_nodes();
  header_.reset();
  return std::move(arena_);
}

Result<std::vector<std::string>> KvsBootstrap::exchange(std::span<const std::byte> mine) {
  if (nodes_.n_nodes() == 1) return nothing_to_exchange();
  const std::string name = key("node", n_exchanges_++);
  const bool is_first_of_node = std::find(first_pes_.begin(), first_pes_.end(), pe()) != first_pes_.end();
  if (is_first_of_node) SHMEMX_TRY(put_text(*kvs_, name, encode_bytes(mine)));
  SHMEMX_TRY(kvs_->fence());
  std::vector<std::string> all;
  if (!is_first_of_node) return all;
  for (const int first : first_pes_) {
    SHMEMX_TRY_ASSIGN(text, get_text(*kvs_, first, name));
    SHMEMX_TRY_ASSIGN(bytes, decode_bytes(text));
    all.push_back(std::move(bytes));
  }
  return all;
}

}  // namespace

BootstrapPtr make_kvs_bootstrap(KvsPtr kvs, HostDescription own) {
  return std::make_unique<KvsBootstrap>(std::move(kvs), std::move(own));
}

}  // namespace shmemx::bootstrap
