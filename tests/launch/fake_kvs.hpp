// A key-value store between threads of a test, each of which is a PE. It can simulate machines and unusable offers, and
// counts what each PE does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/backends.hpp"

namespace fake_kvs {

namespace boot = shmemx::bootstrap;

inline constexpr std::size_t kFakeValueBytes = 127;
inline constexpr std::chrono::seconds kPatience{120};

// The state that the PEs of one job share.
struct Store {
  explicit Store(int n_pes)
      : size(n_pes), gets(static_cast<std::size_t>(n_pes)), fences(static_cast<std::size_t>(n_pes)) {}
  std::mutex mutex;
  std::condition_variable all_there;
  std::map<std::string, std::string> values;
  int size;
  int waiting = 0;
  int turn = 0;
  std::vector<std::size_t> gets;  // by PE
  std::vector<int> fences;
  std::size_t value_bytes = kFakeValueBytes;
  bool fetches_all = true;     // the lowest PEs of nodes read what all nodes have published
  std::vector<int> machine;    // by PE, empty: one
  std::vector<int> container;  // by PE, empty: one
  bool lazy_fences = false;    // a fence returns at once, a get waits
  bool shares_with_mpi = false;
  bool broken_offers = false;  // no PE's arena can be opened
  std::set<int> walled;        // PEs that cannot open an arena offered in the first round
};

inline bool is_allowed(const std::string& text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:.") ==
         std::string::npos;
}

class FakeKvs final : public boot::Kvs {
 public:
  FakeKvs(Store& store, int pe) : store_(store), pe_(pe) {}
  boot::Identity identity() const override { return {pe_, store_.size}; }
  std::string_view name() const override { return "fake"; }
  std::size_t value_bytes() const override { return store_.value_bytes; }
  bool is_shared_with_mpi() const override { return store_.shares_with_mpi; }
  void abort(int) override {}
  void finalize() override {}

  shmemx::Status put(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(store_.mutex);
    const std::string full = key + "-" + std::to_string(pe_);
    const bool fresh = staged_.emplace(full, edited(key, value)).second && store_.values.count(full) == 0;
    if (fresh && full.size() < 64 && value.size() <= store_.value_bytes && is_allowed(full) && is_allowed(value))
      return {};
    return shmemx::Error{shmemx::Errc::protocol, 0, "put of " + full + "=" + value + " is refused"};
  }
  shmemx::Status fence() override {
    {
      const std::lock_guard lock(store_.mutex);
      store_.values.merge(staged_);
      ++store_.fences[static_cast<std::size_t>(pe_)];
      store_.all_there.notify_all();
    }
    return store_.lazy_fences ? shmemx::Status() : meet();
  }
  shmemx::Status barrier() override { return store_.lazy_fences ? meet() : fence(); }
  shmemx::Status meet() {
    std::unique_lock lock(store_.mutex);
    const int turn = store_.turn;
    if (++store_.waiting == store_.size) {
      store_.waiting = 0;
      ++store_.turn;
      store_.all_there.notify_all();
    }
    const bool in_time = store_.all_there.wait_for(lock, kPatience, [&] { return store_.turn != turn; });
    if (in_time) return {};
    return shmemx::Error{shmemx::Errc::protocol, 0, "not all PEs came to the fence"};
  }
  shmemx::Result<std::string> get(int owner, const std::string& key) override {
    std::unique_lock lock(store_.mutex);
    ++store_.gets[static_cast<std::size_t>(pe_)];
    const std::string full = key + "-" + std::to_string(owner);
    if (store_.lazy_fences) {
      store_.all_there.wait_for(lock, kPatience, [&] { return store_.values.count(full) == 1; });
    }
    const auto found = store_.values.find(full);
    if (found == store_.values.end()) {
      return shmemx::Error{shmemx::Errc::protocol, 0, "no PE has put " + key + " of " + std::to_string(owner)};
    }
    const bool spoilt = store_.walled.count(pe_) == 1 && key.find("offer0") != std::string::npos;
    return spoilt ? with_unusable_endpoint(found->second) : found->second;
  }

 private:
  std::string edited(const std::string& key, const std::string& value) const {
    const std::size_t one = value.find("one:");
    if (store_.broken_offers && one != std::string::npos) {
      return value.substr(0, one + 4) + with_unusable_endpoint(value.substr(one + 4));
    }
    return store_.broken_offers && key.find("offer") != std::string::npos ? with_unusable_endpoint(value) : value;
  }
  // Replaces socket and process of an offer by ones that do not exist.
  static std::string with_unusable_endpoint(const std::string& offer) {
    const std::size_t job_end = offer.find(':');
    return offer.substr(0, job_end) + ":1:1:0:7ffffff0:3";
  }

  Store& store_;
  int pe_;
  std::map<std::string, std::string> staged_;
};

}  // namespace fake_kvs
