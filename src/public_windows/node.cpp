#include "public_windows/node.hpp"

#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "am/endpoint.hpp"
#include "base/mutex.hpp"
#include "context/context.hpp"
#include "onesided/locks.hpp"
#include "progress/policy.hpp"
#include "progress/threads.hpp"
#include "public_windows/area.hpp"
#include "public_windows/attached.hpp"
#include "public_windows/completion.hpp"

namespace shmemx::public_windows {
namespace {

enum class Started : int { no, yes, failed };

constinit std::atomic<Started> state{Started::no};
Node facts;  // written once, before `state` says yes
constinit Mutex open_mutex;

// Kept until the process ends.
std::span<const int> node_pes() {
  static auto* const pes = new std::vector<int>;
  for (int pe = 0; pe < facts.n_pes; ++pe) {
    if (!am::is_internode(pe)) pes->push_back(pe);
  }
  return *pes;
}

bool maps_peers() {
  const context::Context& world = context::default_context();
  for (int pe = 0; pe < facts.n_pes; ++pe) {
    if (!am::is_internode(pe) && !context::is_mapped(world, pe)) return false;
  }
  return true;
}

}  // namespace

bool start(const Node& node) noexcept {
  // Edge start: state.store -> state.load: the facts.
  if (state.load(std::memory_order_acquire) == Started::yes) return true;
  static constinit Mutex mutex;
  const std::lock_guard lock(mutex);
  if (state.load(std::memory_order_relaxed) != Started::no)  // written under the mutex only
    return state.load(std::memory_order_relaxed) == Started::yes;
  facts = node;
  facts.maps_peers = maps_peers();
  const bool ok = set_up_areas();
  if (ok) {
    set_up_trackers();
    publish_probe();
    // Before this PE has a window, so no message has taken one of the private locks for an element of a window.
    const am::Locked endpoint;
    if (Directory* const own = directory_of(facts.me)) {
      atomic::own_element_locks = &own->element_locks;
      onesided::lock_setup = {own->locks, node_pes()};
    }
  }
  state.store(ok ? Started::yes : Started::failed, std::memory_order_release);  // start
  return ok;
}

bool is_started() noexcept { return state.load(std::memory_order_acquire) == Started::yes; }  // start

const Node& node() noexcept { return facts; }

void serve_messages() noexcept {
  const bool is_alone = onesided::lock_setup.node_pes.size() == 1;
  if (facts.agent && !is_alone) return progress::start_node_thread();
  expect_answers();
}

void expect_answers() noexcept {
  const std::lock_guard lock(open_mutex);
  if (!progress::is_open()) progress::open();
}

}  // namespace shmemx::public_windows
