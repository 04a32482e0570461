#include "coll/active_set/reduce.hpp"

#include "base/bulk_copy.hpp"
#include "base/recycled_memory.hpp"
#include "coll/active_set/members.hpp"
#include "coll/common/select.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {
namespace {

// Memory for one block of each PE, and for the result.
class Gathered {
 public:
  Gathered(int n_pes, std::size_t element_bytes)
      : block_elements_(active_reduction_block(n_pes) / element_bytes),
        block_bytes_(block_elements_ * element_bytes),
        memory_(take_memory(static_cast<std::size_t>(n_pes + 1) * block_bytes_)) {}
  std::size_t block_elements() const { return block_elements_; }
  std::byte* of(int pe) const { return memory_.get() + static_cast<std::size_t>(pe + 1) * block_bytes_; }
  std::byte* result() const { return memory_.get(); }

 private:
  std::size_t block_elements_;
  std::size_t block_bytes_;
  RecycledMemory memory_;
};

// Gets the same part of every member's source. All gets are under way at once.
void gather(const ActiveGroup& group, const Gathered& into, const std::byte* own_source, std::size_t bytes) {
  for (int i = 1; i <= group.size(); ++i) {
    const int pe = pe_ahead(group, i);
    if (context::is_mapped(group.route(), pe)) {
      rma::copy(into.of(pe), mapped_copy(group.route(), own_source, pe), bytes);
    } else {
      onesided::get_nbi(group.routine(), context::default_context(), into.of(pe),
                        context::place_of(group.route(), own_source, pe), bytes);
    }
  }
  flush(group);
}

}  // namespace

void reduce_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Combine combine) noexcept {
  group.sync();
  const Share share = share_of(nelems, group.me(), group.size());
  const Gathered gathered(group.size(), combine.element_bytes);
  for (std::size_t at = share.begin; at < share.end; at += gathered.block_elements()) {
    const std::size_t count = std::min(gathered.block_elements(), share.end - at);
    const std::size_t offset = at * combine.element_bytes;
    const std::size_t bytes = count * combine.element_bytes;
    gather(group, gathered, source.pe0 + offset, bytes);
    copy_block(gathered.result(), gathered.of(0), bytes);
    for (int pe = 1; pe < group.size(); ++pe) combine.accumulate(gathered.result(), gathered.of(pe), count);
    put_to_all(group, dest.pe0 + offset, gathered.result(), bytes);
  }
  group.flush_and_sync();
}

}  // namespace shmemx::coll
