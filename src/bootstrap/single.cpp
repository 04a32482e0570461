#include "bootstrap/backends.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {
namespace {

class Single final : public Bootstrap {
 public:
  explicit Single(std::string note) : note_(std::move(note)) {}
  Identity identity() const override { return {}; }
  std::string_view name() const override { return "single"; }
  Result<UniqueFd> arena() override { return create_job_file(1, random_id()); }
  void abort(int) override {}
  void finalize() override {}
  std::string note() const override { return note_; }

 private:
  std::string note_;
};

}  // namespace

const NodeMap& one_node() {
  static const NodeMap* const map = new NodeMap;  // other static destructors may still use the library
  return *map;
}

std::vector<int> NodeMap::pes_with(int pe, int n_pes) const {
  const auto own = static_cast<std::uint32_t>(node(pe));
  std::vector<int> pes;
  for_each(n_pes, [&](int other, std::uint32_t its) {
    if (its == own) pes.push_back(other);
  });
  return pes;
}

Result<std::string> nothing_to_exchange() {
  return Error{Errc::unsupported, 0, "a job on one node has nothing to exchange"};
}

BootstrapPtr make_single(std::string note) { return std::make_unique<Single>(std::move(note)); }

}  // namespace shmemx::bootstrap
