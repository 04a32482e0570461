// Finds nodes and makes their arenas under a foreign launcher, in these steps:
//   hosts     where all PEs run, combined at PE 0 along a tree (combining.hpp)
//   plan      PE 0 puts which PEs try to share an arena (plan.hpp)
//   offers    the lowest PE of each group makes an arena and puts how to open it; a plan of one group contains the
//             offer
//   attached  the others open it, or fail; each marks its success in the arena
//   missing   the PEs that could not, combined along a tree of the makers of arenas
// A job on one node ends after `attached`, since the marks show that all have opened the arena. Otherwise the missing
// PEs are grouped once more, more narrowly. A PE that fails again is a node of its own.
#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <numeric>
#include <span>

#include "base/loaded_library.hpp"
#include "base/mutex.hpp"
#include "base/streams.hpp"
#include "bootstrap/backends.hpp"
#include "bootstrap/combining.hpp"
#include "bootstrap/counted_kvs.hpp"
#include "bootstrap/handover.hpp"
#include "bootstrap/host_table.hpp"
#include "bootstrap/kvs_text.hpp"
#include "bootstrap/placement.hpp"
#include "bootstrap/plan.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr int kPatienceMs = 2'000;

Members members_of(const std::vector<int>& pes, int own_pe) {
  const auto own = std::lower_bound(pes.begin(), pes.end(), own_pe);
  const bool is_member = own != pes.end() && *own == own_pe;
  return {static_cast<int>(pes.size()), is_member ? static_cast<int>(own - pes.begin()) : -1,
          [&pes](int member) { return pes[static_cast<std::size_t>(member)]; }};
}

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

class KvsBootstrap final : public Bootstrap {
 public:
  KvsBootstrap(KvsPtr kvs, HostDescription own)
      : kvs_(std::make_unique<CountedKvs>(std::move(kvs))), host_(std::move(own)) {}

  Identity identity() const override { return kvs_->identity(); }
  std::string_view name() const override { return kvs_->name(); }
  Result<UniqueFd> arena() override;
  const NodeMap& nodes() const override { return nodes_; }
  void look_up_nodes_in(const PeLocation* locations, std::vector<std::uint32_t> parts) override {
    nodes_.look_up_in(locations, std::move(parts));
  }
  Result<std::string> combine(std::string mine, const Merge& merge) override;
  Status publish(std::span<const std::byte> bytes) override;
  Result<std::string> fetch(int node) override;
  bool may_fetch_later() const override { return !shares_with_mpi_; }
  Traffic traffic() const override {
    const std::lock_guard guard(fetching_);
    return kvs_->traffic();
  }
  // Flushes streams first: the launcher kills all PEs at once, this one included.
  void abort(int status) override {
    flush_all_streams();
    kvs_->abort(status);
  }
  bool ends_all() const override { return kvs_->ends_all(); }
  void finalize() override {
    const std::lock_guard guard(fetching_);
    is_finalized_ = true;
    kvs_->finalize();
  }

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
  std::vector<int> missing_here(const Leaders& leaders);
  Result<std::vector<int>> collect_missing(int round, const Plan& plan);
  Status stay_alone(const std::vector<int>& pes);
  Result<MakerHosts> agree_on_hosts();
  Status number_nodes();

  std::unique_ptr<CountedKvs> kvs_;
  mutable Mutex fetching_;  // guards the store from the end of the start on: any thread may fetch
  bool is_finalized_ = false;
  bool shares_with_mpi_ = false;  // MPI uses the store's connection to the launcher, too
  HostDescription host_;
  int generation_ = 0;  // part of each key, since keys cannot be put twice
  NodeMap nodes_;
  std::vector<int> first_pes_;  // by node

  // While the nodes are being found.
  Hosts hosts_;  // on PE 0
  NewJob job_{};
  UniqueFd arena_;
  MappedHeader header_;
  std::unique_ptr<ArenaServer> server_;
  std::vector<int> makers_;  // of arenas that are final
  MakerHosts maker_hosts_;
  Leaders maker_of_;
};

// Collects where all PEs run, on PE 0. Collective.
Status KvsBootstrap::collect_hosts() {
  const Merge merge = [](const std::string& lower, const std::string& higher) -> Result<std::string> {
    SHMEMX_TRY_ASSIGN(table, HostTable::of_text(lower));
    SHMEMX_TRY_ASSIGN(added, HostTable::of_text(higher));
    table.append(added);
    return table.text();
  };
  const Members all{n_pes(), pe(), [](int member) { return member; }};
  SHMEMX_TRY_ASSIGN(text, combine_at_first(*kvs_, key("hosts"), all, HostTable(host_).text(), merge));
  if (pe() != 0) return {};
  SHMEMX_TRY_ASSIGN(table, HostTable::of_text(text));
  SHMEMX_TRY_ASSIGN(hosts, table.hosts());
  hosts_ = std::move(hosts);
  return {};
}

// Puts the plan of a round. Called by PE 0.
Status KvsBootstrap::announce(int round, const std::vector<int>& members) {
  Plan plan;
  plan.leaders = group_by(round == 0 ? Likeness::machine : Likeness::namespaces, hosts_, members);
  plan.one_group = std::all_of(plan.leaders.begin(), plan.leaders.end(), [](int leader) { return leader == 0; });
  if (plan.one_group) {
    SHMEMX_TRY_ASSIGN(offer, make_offer(n_pes()));
    plan.offer = offer;
  } else {
    plan.job_id = job_.job_id;
    std::copy_n(job_.secret, 2, plan.secret);
    plan.makers = describe_makers(makers_of(plan.leaders), hosts_);
  }
  return put_text(*kvs_, key("plan", round), encode(plan));
}

Result<Plan> KvsBootstrap::get_plan(int round) {
  SHMEMX_TRY_ASSIGN(text, get_text(*kvs_, 0, key("plan", round)));
  SHMEMX_TRY_ASSIGN(plan, decode_plan(text, n_pes()));
  if (!plan.one_group) {
    job_.job_id = plan.job_id;
    std::copy_n(plan.secret, 2, job_.secret);
  }
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

// Tries to share arenas as planned. Collective over the job. Afterwards this PE holds an arena, unless it has no group
// or could not open the arena of its group.
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

// Returns which PEs of this maker's group have not opened the arena, and writes the number of the others into it.
std::vector<int> KvsBootstrap::missing_here(const Leaders& leaders) {
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
  return missing;
}

// Returns the PEs that have not opened the arena of their group. Collective. Notes who shares whose arena.
Result<std::vector<int>> KvsBootstrap::collect_missing(int round, const Plan& plan) {
  const std::vector<int> makers = makers_of(plan.leaders);
  const Members members = members_of(makers, pe());
  const Merge merge = [this](const std::string& lower, const std::string& higher) -> Result<std::string> {
    SHMEMX_TRY_ASSIGN(first, decode_pes(lower, n_pes()));
    SHMEMX_TRY_ASSIGN(second, decode_pes(higher, n_pes()));
    std::vector<int> both;
    std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(both));
    return encode_pes(both);
  };
  std::string mine = members.own >= 0 ? encode_pes(missing_here(plan.leaders)) : std::string();
  SHMEMX_TRY_ASSIGN(text, bootstrap::combine(*kvs_, key("missing", round), members, std::move(mine), merge, true));
  SHMEMX_TRY_ASSIGN(left_over, decode_pes(text, n_pes()));
  for (int other = 0; other < n_pes(); ++other) {
    const int maker = plan.leaders[static_cast<std::size_t>(other)];
    if (maker != kNoGroup && !std::binary_search(left_over.begin(), left_over.end(), other))
      maker_of_[static_cast<std::size_t>(other)] = maker;
  }
  makers_.insert(makers_.end(), makers.begin(), makers.end());
  return left_over;
}

Status KvsBootstrap::stay_alone(const std::vector<int>& pes) {
  for (const int other : pes) {
    makers_.push_back(other);
    maker_of_[static_cast<std::size_t>(other)] = other;
    if (other == pe()) SHMEMX_TRY(make_file(1));
  }
  return {};
}

// Passes the hosts of all makers on from PE 0, if the first plan has failed in some places. Collective.
Result<MakerHosts> KvsBootstrap::agree_on_hosts() {
  std::sort(makers_.begin(), makers_.end());
  if (pe() == 0) SHMEMX_TRY(put_text(*kvs_, key("makers"), encode(describe_makers(makers_, hosts_))));
  SHMEMX_TRY(kvs_->fence());
  SHMEMX_TRY_ASSIGN(text, get_text(*kvs_, 0, key("makers")));
  return decode_maker_hosts(text);
}

// Fills the map of the nodes from the makers and their hosts.
Status KvsBootstrap::number_nodes() {
  first_pes_ = std::move(makers_);
  hosts_ = {};
  if (first_pes_.size() == 1) return {};
  if (maker_hosts_.names.size() != first_pes_.size())
    return Error{Errc::protocol, 0, "the first PE names other hosts than there are nodes"};
  nodes_.why = std::move(maker_hosts_.why);
  nodes_.hosts = std::move(maker_hosts_.names);
  for (std::size_t node = 0; node < first_pes_.size(); ++node) {
    if (kvs_->is_real(first_pes_[node])) nodes_.real_nodes.push_back(static_cast<int>(node));
  }
  if (nodes_.real_nodes.size() == first_pes_.size()) nodes_.real_nodes.clear();
  auto at = first_pes_.begin();
  for (const int maker : maker_of_) {
    if (*at != maker) at = std::lower_bound(first_pes_.begin(), first_pes_.end(), maker);
    nodes_.node_of.add(static_cast<std::uint32_t>(at - first_pes_.begin()));
  }
  maker_of_ = Leaders();
  return {};
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
      makers_ = {0};
      maker_of_ = plan.leaders;
      return {};
    }
    SHMEMX_TRY_ASSIGN(left_over, collect_missing(round, plan));
    members = std::move(left_over);
    maker_hosts_ = std::move(plan.makers);
    if (round == 0 && members.empty()) return {};
  }
  SHMEMX_TRY(stay_alone(members));
  SHMEMX_TRY_ASSIGN(hosts, agree_on_hosts());
  maker_hosts_ = std::move(hosts);
  return {};
}

Result<UniqueFd> KvsBootstrap::arena() {
  if (n_pes() > kMaxPes) {
    return Error{Errc::unsupported, 0,
                 "the launcher started " + std::to_string(n_pes()) + " PEs, allowed are 1.." + std::to_string(kMaxPes)};
  }
  ++generation_;
  shares_with_mpi_ = kvs_->is_shared_with_mpi() && is_library_loaded("libmpi");
  if (n_pes() == 1) return create_job_file(1, random_id());
  job_ = {0, 0, random_id(), {random_id(), random_id()}};  // PE 0's values are used
  SHMEMX_TRY(collect_hosts());
  SHMEMX_TRY(find_nodes());
  SHMEMX_TRY(number_nodes());
  header_.reset();
  return std::move(arena_);
}

// The contributions travel as characters that every store takes.
Result<std::string> KvsBootstrap::combine(std::string mine, const Merge& merge) {
  if (nodes_.n_nodes() == 1) return nothing_to_exchange();
  const auto encode_text = [](const std::string& text) {
    return encode_bytes(std::as_bytes(std::span(text.data(), text.size())));
  };
  const Merge merge_encoded = [&](const std::string& lower, const std::string& higher) -> Result<std::string> {
    SHMEMX_TRY_ASSIGN(first, decode_bytes(lower));
    SHMEMX_TRY_ASSIGN(second, decode_bytes(higher));
    SHMEMX_TRY_ASSIGN(joined, merge(first, second));
    return encode_text(joined);
  };
  const Members members = members_of(first_pes_, pe());
  SHMEMX_TRY_ASSIGN(text, bootstrap::combine(*kvs_, key("nodes"), members, encode_text(mine), merge_encoded));
  return decode_bytes(text);
}

Status KvsBootstrap::publish(std::span<const std::byte> bytes) {
  return put_text(*kvs_, key("blob"), encode_bytes(bytes));
}

Result<std::string> KvsBootstrap::fetch(int node) {
  const std::lock_guard guard(fetching_);
  if (is_finalized_) return Error{Errc::no_launcher, 0, "the process has ended its session with the launcher"};
  if (!shares_with_mpi_ && kvs_->is_shared_with_mpi() && is_library_loaded("libmpi")) {
    return Error{Errc::unsupported, 0,
                 "MPI has been loaded after shmem_init and uses the same connection to the launcher; link the program "
                 "with MPI, or load it before shmem_init"};
  }
  SHMEMX_TRY_ASSIGN(text, get_text(*kvs_, first_pes_[static_cast<std::size_t>(node)], key("blob")));
  return decode_bytes(text);
}

}  // namespace

BootstrapPtr make_kvs_bootstrap(KvsPtr kvs, HostDescription own) {
  return std::make_unique<KvsBootstrap>(std::move(kvs), std::move(own));
}

}  // namespace shmemx::bootstrap
