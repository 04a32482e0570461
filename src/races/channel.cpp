#include "races/channel.hpp"

#include <mutex>

namespace shmemx::races {
namespace {

constexpr std::uintptr_t kContexts = 1 << 12;  // a handle's low bits are an index

struct ContextChannels {
  std::atomic<Channel*> channels{nullptr};  // one for each PE of the world
  std::atomic<shmem_ctx_t> handle{nullptr};
  shmem_team_t team = SHMEM_TEAM_WORLD;
};
constinit ContextChannels contexts[kContexts];
constinit SpinLock contexts_lock;

constexpr auto kRelaxed = std::memory_order_relaxed;  // counters: their order is the program's own

ContextChannels& entry_of(shmem_ctx_t context) noexcept {
  return contexts[reinterpret_cast<std::uintptr_t>(context) % kContexts];
}

// Looks at a handle for the first time. Channels stay when an index gets a new handle: epochs go on.
void note_context(ContextChannels& entry, shmem_ctx_t context) noexcept {
  shmem_team_t team = SHMEM_TEAM_WORLD;
  if (context != SHMEM_CTX_DEFAULT) pshmem_ctx_get_team(context, &team);
  const std::lock_guard guard(contexts_lock);
  if (entry.channels.load(kRelaxed) == nullptr)
    entry.channels.store(new Channel[static_cast<std::size_t>(job.n_pes())], std::memory_order_release);
  entry.team = team;
  entry.handle.store(context, std::memory_order_release);
}

void assign_slots(Channel& channel, int pe) noexcept {
  const std::lock_guard guard(contexts_lock);
  if (channel.puts != kNoSlot) return;
  const auto slot = [pe](Component component) {
    return job.new_slot({.component = component, .pe = job.my_pe(), .target = pe});
  };
  channel.fetches = slot(Component::fetches);
  channel.issued = slot(Component::none);
  channel.fenced = slot(Component::none);
  if (channel.fenced == kNoSlot) return;
  std::atomic_ref(channel.puts).store(slot(Component::deliveries), std::memory_order_release);
}

template <class Use>
void for_channels(shmem_ctx_t context, int pe, const Use& use) noexcept {
  ContextChannels& entry = entry_of(context);
  Channel* const channels = entry.channels.load(std::memory_order_acquire);
  if (channels == nullptr || entry.handle.load(std::memory_order_acquire) != context) return;
  if (pe != kAllPes && entry.team != SHMEM_TEAM_WORLD) pe = pshmem_team_translate_pe(entry.team, pe, SHMEM_TEAM_WORLD);
  for (int i = 0; i < job.n_pes(); ++i) {
    if ((pe == kAllPes || pe == i) && channels[i].puts != kNoSlot) use(channels[i]);
  }
}

}  // namespace

Channel& channel_to(shmem_ctx_t context, int pe, int& world_pe) noexcept {
  ContextChannels& entry = entry_of(context);
  if (entry.handle.load(std::memory_order_acquire) != context) note_context(entry, context);
  world_pe = entry.team == SHMEM_TEAM_WORLD ? pe : pshmem_team_translate_pe(entry.team, pe, SHMEM_TEAM_WORLD);
  const bool is_valid = world_pe >= 0 && world_pe < job.n_pes();  // else the library ends the job
  Channel& channel = entry.channels.load(std::memory_order_acquire)[is_valid ? world_pe : 0];
  if (std::atomic_ref(channel.puts).load(std::memory_order_acquire) == kNoSlot) assign_slots(channel, world_pe);
  return channel;
}

void fence_channels(shmem_ctx_t context, Thread& thread) noexcept {
  for_channels(context, kAllPes,
               [&](Channel& channel) { thread.clock->raise(channel.fenced, thread.clock->prefix(channel.issued)); });
}

void quiet_channels(shmem_ctx_t context, int pe, Thread& thread) noexcept {
  for_channels(context, pe, [&](Channel& channel) {
    const Epoch issued = thread.clock->prefix(channel.issued);
    thread.clock->raise(channel.fenced, issued);
    thread.clock->raise(channel.puts, issued);
    thread.clock->raise(channel.fetches, issued);
  });
}

void forget_context(shmem_ctx_t context) noexcept { entry_of(context).handle.store(nullptr, kRelaxed); }

void forget_contexts() noexcept {
  for (ContextChannels& entry : contexts) {
    delete[] entry.channels.exchange(nullptr);
    entry.handle.store(nullptr, kRelaxed);
  }
}

namespace {
Stamp next(Channel& channel, Slot slot, Thread& thread) noexcept {
  if (channel.puts == kNoSlot) return thread.now;
  const Epoch number = channel.n_operations.fetch_add(1, kRelaxed) + 1;
  thread.clock->raise(channel.issued, number);
  return {slot, number};
}
}  // namespace

Stamp next_put(Channel& channel, Thread& thread) noexcept { return next(channel, channel.puts, thread); }
Stamp next_fetch(Channel& channel, Thread& thread) noexcept { return next(channel, channel.fetches, thread); }

Knowledge knowledge_of_put(const Channel& channel, const Thread& thread) noexcept {
  return {thread.clock, {channel.puts, channel.puts == kNoSlot ? 0 : thread.clock->prefix(channel.fenced)}};
}

}  // namespace shmemx::races
