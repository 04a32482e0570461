// The arena under a foreign launcher. Three fences:
//   cards    every PE says which machine it is on
//   offer    PE 0 says how to reach the arena, or that the PEs do not share a machine: all PEs learn the same
//   attached PE 0 may stop serving
#include <fcntl.h>
#include <unistd.h>

#include <cctype>

#include "bootstrap/backends.hpp"
#include "bootstrap/handover.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr char kSpread[] = "spread:";  // verdict of PE 0: "spread:<pe>:<host>"

std::string read_boot_id() {
  UniqueFd fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char text[64];
  const ssize_t n = fd.valid() ? ::read(fd.get(), text, sizeof text) : 0;
  std::string id(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id.empty() ? "unknown" : id;
}

std::string host_name() {
  char name[65] = "";
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "unknown";
  for (char* c = name; *c != '\0'; ++c) {
    if (std::isalnum(static_cast<unsigned char>(*c)) == 0 && *c != '.' && *c != '-') *c = '_';
  }
  return name;
}

class KvsBootstrap final : public Bootstrap {
 public:
  explicit KvsBootstrap(KvsPtr kvs) : kvs_(std::move(kvs)) {}

  Identity identity() const override { return kvs_->identity(); }
  std::string_view name() const override { return kvs_->name(); }
  Result<UniqueFd> arena() override;
  void abort(int status) override { kvs_->abort(status); }
  void finalize() override { kvs_->finalize(); }

 private:
  std::string key(const char* what) const { return "shmemx-" + std::to_string(generation_) + "-" + what; }
  Result<std::string> find_stranger(const std::string& own_card);
  Result<UniqueFd> give();
  Result<UniqueFd> take();

  KvsPtr kvs_;
  int generation_ = 0;  // keys cannot be put twice
};

// The verdict when some PE runs on another machine than this one; empty when all are here.
Result<std::string> KvsBootstrap::find_stranger(const std::string& own_card) {
  const std::string machine = own_card.substr(0, own_card.find(':'));
  for (int pe = 1; pe < identity().n_pes; ++pe) {
    SHMEMX_TRY_ASSIGN(card, kvs_->get(pe, key("card")));
    const std::size_t colon = card.find(':');
    if (card.substr(0, colon) != machine) {
      return kSpread + std::to_string(pe) + ":" + (colon == std::string::npos ? card : card.substr(colon + 1));
    }
  }
  return std::string();
}

Error spread_error(const std::string& verdict, const std::string& first_host) {
  const std::string rest = verdict.substr(sizeof kSpread - 1);
  const std::size_t colon = rest.find(':');
  return Error{Errc::unsupported, 0,
               "pe 0 runs on host " + first_host + ", pe " + rest.substr(0, colon) + " on host " +
                   rest.substr(colon + 1) +
                   ": jobs over several nodes are not supported by this version; start all PEs on one node"};
}

Result<UniqueFd> KvsBootstrap::give() {
  const std::string card = read_boot_id() + ":" + host_name();
  SHMEMX_TRY_ASSIGN(stranger, find_stranger(card));
  if (!stranger.empty()) {
    SHMEMX_TRY(kvs_->put(key("offer"), stranger));
    SHMEMX_TRY(kvs_->fence());
    return spread_error(stranger, host_name());
  }
  Offer offer{random_id(), random_id(), random_id(), ::geteuid(), static_cast<std::uint64_t>(::getpid()), 0};
  SHMEMX_TRY_ASSIGN(fd, create_job_file(static_cast<std::uint32_t>(identity().n_pes), offer.job_id));
  offer.fd = static_cast<std::uint64_t>(fd.get());
  SHMEMX_TRY_ASSIGN(server, ArenaServer::start(fd.get(), offer));
  SHMEMX_TRY(kvs_->put(key("offer"), encode(offer)));
  SHMEMX_TRY(kvs_->fence());
  SHMEMX_TRY(kvs_->fence());  // until it returns the server's thread answers the others
  return fd;
}

Result<UniqueFd> KvsBootstrap::take() {
  SHMEMX_TRY(kvs_->fence());
  SHMEMX_TRY_ASSIGN(verdict, kvs_->get(0, key("offer")));
  if (verdict.compare(0, sizeof kSpread - 1, kSpread) == 0) {
    SHMEMX_TRY_ASSIGN(first, kvs_->get(0, key("card")));
    const std::size_t colon = first.find(':');
    return spread_error(verdict, colon == std::string::npos ? first : first.substr(colon + 1));
  }
  SHMEMX_TRY_ASSIGN(offer, decode_offer(verdict));
  SHMEMX_TRY_ASSIGN(fd, take_arena(offer, static_cast<std::uint32_t>(identity().n_pes), kPatienceMs));
  SHMEMX_TRY(kvs_->fence());
  return fd;
}

Result<UniqueFd> KvsBootstrap::arena() {
  if (identity().n_pes > kMaxNodePes) {
    return Error{Errc::unsupported, 0,
                 "the launcher started " + std::to_string(identity().n_pes) + " PEs, allowed are 1.." +
                     std::to_string(kMaxNodePes)};
  }
  ++generation_;
  if (identity().n_pes == 1) return create_job_file(1, random_id());
  SHMEMX_TRY(kvs_->put(key("card"), read_boot_id() + ":" + host_name()));
  SHMEMX_TRY(kvs_->fence());
  return identity().pe == 0 ? give() : take();
}

}  // namespace

BootstrapPtr make_kvs_bootstrap(KvsPtr kvs) { return std::make_unique<KvsBootstrap>(std::move(kvs)); }

}  // namespace shmemx::bootstrap
