// Many senders, two receivers, few cells: no message is lost, duplicated, reordered or torn, and at the end all cells
// are free.
//   queue_stress threads|processes at_sender|at_receiver|global [seconds [seed]]
#include <sys/wait.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "queue_shared.hpp"

namespace {

using namespace queue_stress;
using namespace shmemx::nemesis;

constexpr int kSenders = 8;
constexpr int kReceivers = 2;
constexpr int kCellsEach = 24;
constexpr int kStores = kSenders;  // at least as many as receivers
constexpr int kCells = kSenders * kCellsEach;
constexpr double kWedgedSeconds = 60;

// Valid when all bytes are zero.
struct Shared {
  alignas(kCacheLine) std::atomic<bool> stop;
  alignas(kCacheLine) std::atomic<int> senders_done;                 // edge `over`: publishes `sent`
  std::array<std::array<std::uint64_t, kReceivers>, kSenders> sent;  // written before senders_done
  std::array<std::uint64_t, kReceivers> received;                    // written before a receiver ends
  std::array<MpscQueue, kReceivers> receive;
  std::array<MpscQueue, kStores> free_queues;
  std::array<CellStack, kStores> free_stacks;
  alignas(kCacheLine) std::array<std::array<std::byte, kCellBytes>, kCells> cells;
};

template <class Free>
Free make_free(Shared& shared);
template <>
FreeAtSender make_free(Shared& shared) {
  return {shared.free_queues.data(), sizeof(MpscQueue)};
}
template <>
FreeAtReceiver make_free(Shared& shared) {
  return {shared.free_stacks.data(), sizeof(CellStack)};
}
template <>
FreeGlobal make_free(Shared& shared) {
  return FreeGlobal(shared.free_stacks[0]);
}

// Puts every cell into the free queue or stack of the variant once.
template <class Free>
void fill(Shared& shared) {
  const Free free = make_free<Free>(shared);
  for (int i = 0; i < kCells; ++i)
    free.give_back(reinterpret_cast<Cell*>(shared.cells[static_cast<std::size_t>(i)].data()), i % kSenders,
                   i % kReceivers);
}

template <class Free>
int count_free(Shared& shared) {
  const Free free = make_free<Free>(shared);
  std::vector<bool> seen(kCells);
  int count = 0;
  for (int i = 0; i < kSenders; ++i) {
    while (const Cell* const cell = free.try_take(i, i % kReceivers)) {
      const auto index =
          static_cast<std::size_t>(reinterpret_cast<const std::byte*>(cell) - shared.cells[0].data()) / kCellBytes;
      if (index >= kCells || seen[index]) fail("a cell is free twice");
      seen[index] = true;
      ++count;
    }
  }
  return count;
}

template <class Free>
void send(Shared& shared, int me, unsigned seed) {
  const Free free = make_free<Free>(shared);
  std::minstd_rand random(seed + static_cast<unsigned>(me) * 7919);
  std::array<std::uint64_t, kReceivers> number{};
  while (!shared.stop.load(std::memory_order_relaxed)) {
    // Bursts to one receiver, so that its queue is alternately empty and the only one in use.
    const auto target = static_cast<int>(random() % kReceivers);
    for (auto burst = random() % 40; burst > 0 && !shared.stop.load(std::memory_order_relaxed); --burst) {
      Cell* const cell = free.try_take(me, target);
      if (cell == nullptr) {
        sched_yield();
        continue;
      }
      write_content(cell, static_cast<std::uint32_t>(me), ++number[static_cast<std::size_t>(target)],
                    static_cast<std::uint32_t>(random() % 6));
      shared.receive[static_cast<std::size_t>(target)].enqueue(cell);
    }
    if (random() % 8 == 0) sched_yield();
  }
  shared.sent[static_cast<std::size_t>(me)] = number;
  shared.senders_done.fetch_add(1, std::memory_order_release);  // over
}

template <class Free>
void receive(Shared& shared, int me, unsigned seed) {
  const Free free = make_free<Free>(shared);
  MpscQueue& queue = shared.receive[static_cast<std::size_t>(me)];
  std::minstd_rand random(seed + 100 + static_cast<unsigned>(me));
  std::array<std::uint64_t, kSenders> number{};
  std::uint64_t count = 0;
  Clock since_last;
  for (;;) {
    const bool all_sent = shared.senders_done.load(std::memory_order_acquire) == kSenders;  // over
    Cell* const shown = random() % 4 == 0 ? queue.first_cell() : nullptr;
    Cell* const cell = queue.try_dequeue();
    if (shown != nullptr && cell != nullptr && shown != cell) fail("first_cell() returns another cell than dequeue");
    if (cell == nullptr) {
      if (all_sent) break;
      if (since_last.seconds() > kWedgedSeconds) fail("no message arrives any more");
      sched_yield();
      continue;
    }
    Content content;
    if (!read_content(cell, content) || content.source >= kSenders) fail("a corrupted message has arrived");
    if (content.number != ++number[content.source]) fail("a message is lost, duplicated or out of order");
    std::memset(cell->payload(), 0xa5, sizeof(Content));  // corrupts the message for a reader that still uses the cell
    free.give_back(cell, static_cast<int>(content.source), me);
    ++count;
    if (count % 1024 == 0) since_last = Clock();
    if (random() % 512 == 0) sched_yield();
  }
  for (std::size_t i = 0; i < kSenders; ++i)
    if (shared.sent[i][static_cast<std::size_t>(me)] != number[i]) fail("the last messages are missing");
  shared.received[static_cast<std::size_t>(me)] = count;
}

template <class Free>
void run_as(Shared& shared, int role, unsigned seed) {
  if (role < kReceivers) return receive<Free>(shared, role, seed);
  send<Free>(shared, role - kReceivers, seed);
}

void sleep_seconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

template <class Free>
void run_threads(SharedMemory& memory, double seconds, unsigned seed) {
  Shared& shared = *reinterpret_cast<Shared*>(memory.base());
  std::vector<std::thread> threads;
  for (int role = 0; role < kReceivers + kSenders; ++role)
    threads.emplace_back([&shared, role, seed] { run_as<Free>(shared, role, seed); });
  sleep_seconds(seconds);
  shared.stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

template <class Free>
void run_processes(SharedMemory& memory, double seconds, unsigned seed) {
  for (int role = 0; role < kReceivers + kSenders; ++role) {
    const pid_t child = fork();
    if (child < 0) fail("cannot fork");
    if (child != 0) continue;
    for (int i = 0; i <= role; ++i) memory.move();
    run_as<Free>(*reinterpret_cast<Shared*>(memory.base()), role, seed);
    std::_Exit(0);
  }
  sleep_seconds(seconds);
  reinterpret_cast<Shared*>(memory.base())->stop.store(true);
  bool all_well = true;
  int status = 0;
  while (wait(&status) > 0) all_well = all_well && status == 0;
  if (!all_well) fail("a process has failed");
}

template <class Free>
int run(bool threads, double seconds, unsigned seed) {
  SharedMemory memory(sizeof(Shared));
  Shared& shared = *reinterpret_cast<Shared*>(memory.base());
  fill<Free>(shared);
  threads ? run_threads<Free>(memory, seconds, seed) : run_processes<Free>(memory, seconds, seed);
  if (count_free<Free>(shared) != kCells) fail("cells are missing at the end");
  std::uint64_t received = 0;
  for (const std::uint64_t count : shared.received) received += count;
  std::printf("%.3g million cells received in order, %.3g million a second\n", static_cast<double>(received) / 1e6,
              static_cast<double>(received) / 1e6 / seconds);
  if (received < 1000) fail("too few messages were sent");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "threads";
  const std::string where = argc > 2 ? argv[2] : "at_sender";
  const double seconds = argc > 3 ? std::atof(argv[3]) : seconds_asked(2);
  const unsigned seed = argc > 4 ? static_cast<unsigned>(std::atol(argv[4])) : std::random_device{}();
  std::printf("%s, %s, %g s, seed %u\n", how.c_str(), where.c_str(), seconds, seed);
  std::fflush(nullptr);
  if (how != "threads" && how != "processes") fail("the first argument is threads or processes");
  const bool threads = how == "threads";
  if (where == "at_sender") return run<FreeAtSender>(threads, seconds, seed);
  if (where == "at_receiver") return run<FreeAtReceiver>(threads, seconds, seed);
  if (where == "global") return run<FreeGlobal>(threads, seconds, seed);
  fail("the second argument is at_sender, at_receiver or global");
}
