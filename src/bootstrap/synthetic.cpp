// A job of oshrun that claims to be part of a much larger one, for tests: some nodes are real, of the others nothing
// exists. The real PEs start over a key-value store like those of any launcher (kvs_bootstrap.cpp). What they read of
// others is made up here: hosts, what the others combine below them in trees, endpoint addresses. PE 0 is real, so all
// that one PE tells all others is real, too.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>

#include "base/futex.hpp"
#include "bootstrap/backends.hpp"
#include "bootstrap/host_table.hpp"
#include "bootstrap/kvs_text.hpp"
#include "bootstrap/synthetic_nodes.hpp"
#include "bootstrap/wire.hpp"
#include "config/synthetic_world.hpp"

namespace shmemx::bootstrap {
namespace {

// What the real PEs gather from each other, through the arena that oshrun has made for them: behind all that lies
// there.
class OshrunGather {
 public:
  OshrunGather(const OshrunJob& job, JobHeader* header)
      : job_(job), header_(header), begin_(round_up(layout_of(header).bytes(), kHugePageBytes)) {}

  int gather(const void* mine, void* all, std::size_t bytes) {
    const auto own = static_cast<std::size_t>(job_.identity.pe);
    const auto n_pes = static_cast<std::size_t>(job_.identity.n_pes);
    if (::pwrite(job_.fd, mine, bytes, offset_of(own * bytes)) != static_cast<ssize_t>(bytes)) return errno;
    meet();
    if (::pread(job_.fd, all, n_pes * bytes, offset_of(0)) != static_cast<ssize_t>(n_pes * bytes)) return errno;
    meet();
    return 0;
  }
  int meet() {
    constexpr std::uint64_t kCheckNs = 100'000'000;
    const auto n_pes = static_cast<std::uint32_t>(job_.identity.n_pes);
    const std::uint32_t ticket = header_->arrived.fetch_add(1, std::memory_order_acq_rel);
    const std::uint32_t complete = (ticket / n_pes + 1) * n_pes;
    if (ticket + 1 == complete) futex_wake(header_->arrived, FutexScope::node);
    for (std::uint32_t seen; (seen = header_->arrived.load(std::memory_order_acquire)) < complete;)
      futex_sleep(header_->arrived, seen, kCheckNs, FutexScope::node);
    return 0;
  }
  // oshrun reads that and ends the others.
  void end_job(int status) {
    std::uint64_t running = 0;
    const JobEnd end{JobState::aborted, status, job_.identity.pe};
    header_->end_word.compare_exchange_strong(running, end.word(), std::memory_order_acq_rel);
  }
  // oshrun reads that, too.
  void set_phase(PePhase phase) {
    PeRecord& record = *record_of(header_, static_cast<std::size_t>(job_.identity.pe));
    record.pid = ::getpid();
    record.phase.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
  }
  Caller caller() {
    return {job_.identity,
            [](const void* mine, void* all, std::size_t bytes, void* self) {
              return static_cast<OshrunGather*>(self)->gather(mine, all, bytes);
            },
            [](void* self) { return static_cast<OshrunGather*>(self)->meet(); },
            [](int status, void* self) { static_cast<OshrunGather*>(self)->end_job(status); }, this};
  }

 private:
  off_t offset_of(std::size_t offset) const { return static_cast<off_t>(begin_ + offset); }

  OshrunJob job_;
  JobHeader* header_;
  std::size_t begin_;
};

// Takes texts apart as put_text() does for a launcher.
class PieceKvs final : public Kvs {
 public:
  explicit PieceKvs(std::size_t value_bytes) : value_bytes_(value_bytes) {}
  Identity identity() const override { return {}; }
  std::string_view name() const override { return "pieces"; }
  std::size_t value_bytes() const override { return value_bytes_; }
  Status put(const std::string& key, const std::string& value) override {
    values_[key] = value;
    return {};
  }
  Status fence() override { return {}; }
  Result<std::string> get(int, const std::string& key) override {
    const auto found = values_.find(key);
    if (found == values_.end()) return Error{Errc::protocol, 0, "there is no " + key};
    return found->second;
  }
  void abort(int) override {}
  void finalize() override {}

 private:
  std::size_t value_bytes_;
  std::map<std::string, std::string> values_;
};

class SyntheticKvs final : public Kvs {
 public:
  SyntheticKvs(std::unique_ptr<OshrunGather> gather, SyntheticNodes nodes)
      : gather_(std::move(gather)), nodes_(std::move(nodes)), real_(make_caller_kvs(gather_->caller())) {}

  // Where all real PEs run.
  Status learn_hosts(const HostDescription& own) {
    gather_->set_phase(PePhase::attached);
    SHMEMX_TRY(put_text(*real_, "real-host", encode(own)));
    SHMEMX_TRY(real_->fence());
    for (int real = 0; real < real_->identity().n_pes; ++real) {
      SHMEMX_TRY_ASSIGN(host, get_text(*real_, real, "real-host"));
      hosts_.push_back(std::move(host));
    }
    return {};
  }

  Identity identity() const override { return {nodes_.pe_of_real(real_->identity().pe), nodes_.n_pes()}; }
  std::string_view name() const override { return "synthetic"; }
  std::size_t value_bytes() const override { return 1000; }  // about that of PMI
  Status put(const std::string& key, const std::string& value) override {
    if (key.find("-missing") != std::string::npos && !value.starts_with("1:"))
      return Error{Errc::protocol, 0, "a real PE of a synthetic world cannot open its node's memory"};
    return real_->put(key, value);
  }
  Status fence() override { return real_->fence(); }
  Status barrier() override { return real_->barrier(); }
  Result<std::string> get(int owner, const std::string& key) override;
  void abort(int status) override { real_->abort(status); }
  bool is_real(int pe) const override { return nodes_.real_of_pe(pe) >= 0; }
  void finalize() override { gather_->set_phase(PePhase::finalized); }

 private:
  Result<std::string> make_up(int owner, const std::string& what, int step);
  std::string hosts_text(int first, int end) const;
  Result<std::string> records_text(const std::string& key, int owner, int step);
  Result<std::string> addresses_text(const std::string& key, int owner);

  std::unique_ptr<OshrunGather> gather_;
  SyntheticNodes nodes_;
  KvsPtr real_;
  std::vector<std::string> hosts_;  // of the real PEs
  std::string made_up_key_;         // the text whose pieces are being read
  std::unique_ptr<PieceKvs> made_up_;
};

// Keys are "shmemx-<generation>-<what>[u<step>]-<piece>".
Result<std::string> SyntheticKvs::get(int owner, const std::string& key) {
  if (const int real = nodes_.real_of_pe(owner); real >= 0) return real_->get(real, key);
  const std::string text_key = key.substr(0, key.rfind('-'));
  if (const std::string which = std::to_string(owner) + text_key; which != made_up_key_) {
    const std::size_t last = text_key.rfind('u');
    const bool has_step = last != std::string::npos && last + 1 < text_key.size() &&
                          text_key.find_first_not_of("0123456789", last + 1) == std::string::npos;
    SHMEMX_TRY_ASSIGN(text, make_up(owner, text_key, has_step ? std::stoi(text_key.substr(last + 1)) : 0));
    made_up_ = std::make_unique<PieceKvs>(value_bytes());
    SHMEMX_TRY(put_text(*made_up_, text_key, text));
    made_up_key_ = which;
  }
  return made_up_->get(owner, key);
}

Result<std::string> SyntheticKvs::make_up(int owner, const std::string& key, int step) {
  if (key.find("-hosts") != std::string::npos) return hosts_text(owner, std::min(owner + step, nodes_.n_pes()));
  if (key.find("-missing") != std::string::npos) return std::string();  // nobody is
  if (key.find("-nodes") != std::string::npos) return records_text(key, owner, step);
  if (key.find("-blob") != std::string::npos) return addresses_text(key, owner);
  return Error{Errc::protocol, 0, "a synthetic world cannot make up '" + key + "'"};
}

std::string SyntheticKvs::hosts_text(int first, int end) const {
  std::vector<std::string> different;
  std::map<std::string, int> known;
  Leaders index;
  for (int pe = first; pe < end;) {
    const SyntheticNode node = nodes_.node_of(pe);
    const bool is_real = nodes_.real_of_pe(pe) >= 0;
    const int same_end = is_real ? pe + 1 : std::min(end, node.first_pe + node.n_pes);
    HostDescription host;
    host.host = "unreal" + std::to_string(node.number);
    host.machine = static_cast<std::uint64_t>(node.number) + 1;
    const std::string text = is_real ? hosts_[static_cast<std::size_t>(nodes_.real_of_pe(pe))] : encode(host);
    const auto [at, is_new] = known.emplace(text, static_cast<int>(different.size()));
    if (is_new) different.push_back(text);
    index.insert(index.end(), static_cast<std::size_t>(same_end - pe), at->second);
    pe = same_end;
  }
  return HostTable(std::move(different), std::move(index)).text();
}

// What the real nodes below `owner` have put; the others' records are like theirs.
Result<std::string> SyntheticKvs::records_text(const std::string& key, int owner, int step) {
  constexpr int kRadix = 16;
  const int begin = nodes_.node_of(owner).number;
  std::string all;
  int covered = begin;
  for (const int number : nodes_.real_nodes()) {
    if (number < covered || number >= begin + step) continue;
    int own_step = 1;
    while (number % (own_step * kRadix) == 0) own_step *= kRadix;
    const std::string own_key = key.substr(0, key.rfind('u') + 1) + std::to_string(own_step);
    SHMEMX_TRY_ASSIGN(text, get_text(*real_, nodes_.real_of_pe(nodes_.node_at(number).first_pe), own_key));
    SHMEMX_TRY_ASSIGN(bytes, decode_bytes(text));
    all += bytes;
    covered = number + own_step;
  }
  return encode_bytes(std::as_bytes(std::span(all.data(), all.size())));
}

// As many bytes as those of PE 0. They lead nowhere, and nobody uses them.
Result<std::string> SyntheticKvs::addresses_text(const std::string& key, int owner) {
  SHMEMX_TRY_ASSIGN(encoded, get_text(*real_, 0, key));
  SHMEMX_TRY_ASSIGN(bytes, decode_bytes(encoded));
  PublishedEntry entry{};
  if (bytes.size() < sizeof entry) return Error{Errc::protocol, 0, "PE 0 has published no addresses"};
  std::memcpy(&entry, bytes.data(), sizeof entry);
  const std::string addresses = bytes.substr(sizeof entry, entry.address_bytes);
  const SyntheticNode node = nodes_.node_of(owner);
  std::string all;
  for (int pe = node.first_pe; pe < node.first_pe + node.n_pes; ++pe) {
    entry.pe = static_cast<std::uint32_t>(pe);
    all.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    all += addresses;
  }
  return encode_bytes(std::as_bytes(std::span(all.data(), all.size())));
}

}  // namespace

Result<BootstrapPtr> connect_synthetic(const std::string& text) {
  config::SyntheticWorld world;
  if (const auto complaint = config::kind::synthetic_world::parse(text, world); complaint != nullptr)
    return Error{Errc::invalid_argument, 0,
                 std::string(kEnvSyntheticWorld) + "='" + text + "' " + complaint + "; allowed is " +
                     config::kind::synthetic_world::allowed + ", for example " +
                     config::kind::synthetic_world::example};
  SHMEMX_TRY_ASSIGN(job, read_oshrun_job());
  SHMEMX_TRY_ASSIGN(nodes, SyntheticNodes::make(world, job.identity.n_pes));
  SHMEMX_TRY_ASSIGN(header, map_job_header(job.fd, static_cast<std::uint32_t>(job.identity.n_pes), job.job_id));
  ::fcntl(job.fd, F_SETFD, FD_CLOEXEC);
  // Each real node is a machine of its own, or they would share one arena.
  HostDescription own = describe_own_host();
  own.machine += static_cast<std::uint64_t>(nodes.node_of(nodes.pe_of_real(job.identity.pe)).number);
  auto kvs = std::make_unique<SyntheticKvs>(std::make_unique<OshrunGather>(job, header), std::move(nodes));
  SHMEMX_TRY(kvs->learn_hosts(own));
  return make_kvs_bootstrap(std::move(kvs), own);
}

}  // namespace shmemx::bootstrap
