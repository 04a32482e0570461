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
  channel.fetches = job.new_slot({.component = Component::fetches, .pe = job.my_pe(), .target = pe});
  std::atomic_ref(channel.puts)
      .store(job.new_slot({.component = Component::deliveries, .pe = job.my_pe(), .target = pe}), std::memory_order_release);
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

void fence_channels(shmem_ctx_t context) noexcept {
  for_channels(context, kAllPes, [](Channel& channel) { channel.n_fenced.store(channel.n_puts.load(kRelaxed), kRelaxed); });
}

void quiet_channels(shmem_ctx_t context, int pe, Thread& thread) noexcept {
  for_channels(context, pe, [&](Channel& channel) {
    const Epoch n_puts = channel.n_puts.load(kRelaxed);
    channel.n_fenced.store(n_puts, kRelaxed);
    thread.clock->raise(channel.puts, n_puts);
    if (channel.fetches != kNoSlot) thread.clock->raise(channel.fetches, channel.n_fetches.load(kRelaxed));
  });
}

void forget_context(shmem_ctx_t context) noexcept { entry_of(context).handle.store(nullptr, kRelaxed); }

void forget_contexts() noexcept {
  for (ContextChannels& entry : contexts) {
    delete[] entry.channels.exchange(nullptr);
    entry.handle.store(nullptr, kRelaxed);
  }
}

Stamp next_put(Channel& channel, const Thread& thread) noexcept {
  if (channel.puts == kNoSlot) return thread.now;
  return {channel.puts, channel.n_puts.fetch_add(1, kRelaxed) + 1};
}

Stamp next_fetch(Channel& channel, const Thread& thread) noexcept {
  if (channel.fetches == kNoSlot) return thread.now;
  return {channel.fetches, channel.n_fetches.fetch_add(1, kRelaxed) + 1};
}

Knowledge knowledge_of_put(const Channel& channel, const Thread& thread) noexcept {
  return {thread.clock, {channel.puts, channel.puts == kNoSlot ? 0 : channel.n_fenced.load(kRelaxed)}};
}

}  // namespace shmemx::races
