// Integer sort: keys of a hump-shaped distribution, in buckets by their value. All PEs count keys in ranges, agree
// which PE owns which ranges so that loads are about equal, put the keys to their owners behind a counter that each
// owner keeps, and sort what they got by counting. Verified: keys ascend within a PE and from PE to PE, and as many
// keys of each value exist as before, by a sum over a hash of each key. --scale: keys of a PE.
#include <algorithm>

#include "kernel.hpp"

namespace {
using namespace shmemx::bench;

constexpr int kKeyBits = 20, kBucketBits = 10;
constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;
constexpr long kDefaultKeys = 1L << 17;
using Key = std::uint32_t;

std::size_t bucket_of(Key key) { return key >> (kKeyBits - kBucketBits); }

class IntegerSort {
 public:
  explicit IntegerSort(long keys)
      : me_(shmem_my_pe()),
        pes_(shmem_n_pes()),
        keys_(static_cast<std::size_t>(keys)),
        local_(allocate<long>(kBuckets)),
        total_(allocate<long>(kBuckets)),
        filled_(allocate<long>(1)),
        room_(static_cast<std::size_t>(keys) * static_cast<std::size_t>(pes_)),
        edge_(allocate<Key>(1)),
        edge_count_(allocate<long>(1)) {
    // The mean of four draws.
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const std::uint64_t at = (static_cast<std::uint64_t>(me_) * keys_.size() + i) * 4;
      std::uint64_t sum = 0;
      for (std::uint64_t k = 0; k < 4; ++k) sum += random_at(at + k) >> (64 - kKeyBits);
      keys_[i] = static_cast<Key>(sum / 4);
    }
    received_ = allocate<Key>(room_);
  }
  IntegerSort(const IntegerSort&) = delete;
  IntegerSort& operator=(const IntegerSort&) = delete;
  ~IntegerSort() {
    for (void* memory : {static_cast<void*>(received_), static_cast<void*>(edge_count_), static_cast<void*>(edge_),
                         static_cast<void*>(filled_), static_cast<void*>(total_), static_cast<void*>(local_)})
      shmem_free(memory);
  }

  void sort() {
    *filled_ = 0;
    std::fill_n(local_, kBuckets, 0);
    for (const Key key : keys_) ++local_[bucket_of(key)];
    sum_of_all(total_, local_, kBuckets);
    assign_buckets();
    shmem_barrier_all();  // the counters are zero everywhere
    send_keys();
    shmem_barrier_all();
    sort_received();
  }

  void check(Sum& sum, bool spoil) {
    if (spoil && *filled_ != 0) received_[*filled_ / 2] ^= 1;
    const auto count = static_cast<std::size_t>(*filled_);
    verify(sum, std::is_sorted(received_, received_ + count), "keys of a PE do not ascend");
    verify(sum, sum.of(*filled_) == static_cast<long>(keys_.size()) * pes_, "keys are lost");
    verify(sum, sum.of(digest(keys_.data(), keys_.size())) == sum.of(digest(received_, count)), "keys have changed");
    *edge_count_ = *filled_;
    *edge_ = count != 0 ? received_[0] : 0;
    shmem_barrier_all();
    bool ascends = true;  // to the next PE that has keys
    for (int pe = me_ + 1; pe < pes_ && count != 0; ++pe) {
      if (shmem_long_g(edge_count_, pe) == 0) continue;
      ascends = received_[count - 1] <= shmem_uint32_g(edge_, pe);
      break;
    }
    verify(sum, ascends, "keys do not ascend from PE to PE");
  }

 private:
  // Each PE gets buckets until it has its part of all keys.
  void assign_buckets() {
    owners_.assign(kBuckets, pes_ - 1);
    const double all = static_cast<double>(keys_.size()) * pes_;
    double before = 0;
    for (std::size_t b = 0; b < kBuckets; ++b) {
      owners_[b] = std::min(pes_ - 1, static_cast<int>(before / all * pes_));
      before += static_cast<double>(total_[b]);
    }
  }

  void send_keys() {
    std::vector<std::vector<Key>> to(static_cast<std::size_t>(pes_));
    for (const Key key : keys_) to[static_cast<std::size_t>(owners_[bucket_of(key)])].push_back(key);
    for (int i = 0; i < pes_; ++i) {
      const int pe = (me_ + i) % pes_;  // not all to the same one at once
      const auto& mine = to[static_cast<std::size_t>(pe)];
      if (mine.empty()) continue;
      const long at = shmem_long_atomic_fetch_add(filled_, static_cast<long>(mine.size()), pe);
      shmem_uint32_put_nbi(received_ + at, mine.data(), mine.size(), pe);
    }
    shmem_quiet();
  }

  void sort_received() {
    const auto count = static_cast<std::size_t>(*filled_);
    std::vector<std::uint32_t> occurrences(std::size_t{1} << kKeyBits);
    for (std::size_t i = 0; i < count; ++i) ++occurrences[received_[i]];
    std::size_t at = 0;
    for (std::size_t key = 0; key < occurrences.size(); ++key)
      for (std::uint32_t n = occurrences[key]; n != 0; --n) received_[at++] = static_cast<Key>(key);
  }

  // Independent of the order.
  static long digest(const Key* keys, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += random_at(keys[i]) >> 16;
    return static_cast<long>(sum);
  }

  int me_, pes_;
  std::vector<Key> keys_;
  std::vector<int> owners_;
  long *local_, *total_, *filled_;
  std::size_t room_;
  Key* edge_;
  long* edge_count_;
  Key* received_;
};
}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  const KernelOptions options = kernel_options(argc, argv);
  const long keys = options.scale > 0 ? options.scale : kDefaultKeys;
  {
    IntegerSort sort(keys);
    Sum sum;
    repeat_kernel("kernel_is", static_cast<std::size_t>(keys) * sizeof(Key), options, [&] { sort.sort(); });
    sort.check(sum, options.spoil);
  }
  shmem_finalize();
  return 0;
}
