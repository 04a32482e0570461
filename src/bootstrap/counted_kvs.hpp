// A key-value store that counts what goes through it.
#pragma once

#include "bootstrap/backends.hpp"

namespace shmemx::bootstrap {

class CountedKvs final : public Kvs {
 public:
  explicit CountedKvs(KvsPtr store) : store_(std::move(store)) {}
  const Traffic& traffic() const { return traffic_; }

  Identity identity() const override { return store_->identity(); }
  std::string_view name() const override { return store_->name(); }
  std::size_t value_bytes() const override { return store_->value_bytes(); }
  Status put(const std::string& key, const std::string& value) override {
    ++traffic_.puts;
    traffic_.put_bytes += value.size();
    return store_->put(key, value);
  }
  Status fence() override {
    ++traffic_.fences;
    return store_->fence();
  }
  Status barrier() override {
    ++traffic_.fences;
    return store_->barrier();
  }
  Result<std::string> get(int owner, const std::string& key) override {
    auto value = store_->get(owner, key);
    ++traffic_.gets;
    if (value) traffic_.got_bytes += value->size();
    return value;
  }
  void abort(int status) override { store_->abort(status); }
  bool ends_all() const override { return store_->ends_all(); }
  bool is_real(int pe) const override { return store_->is_real(pe); }
  bool is_shared_with_mpi() const override { return store_->is_shared_with_mpi(); }
  void finalize() override { store_->finalize(); }

 private:
  KvsPtr store_;
  Traffic traffic_;
};

}  // namespace shmemx::bootstrap
