// Kills a process after each instruction of its work on a queue or a stack, one after the other. The other processes
// never block, and receive all complete messages and no corrupted one.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>
#include <vector>

#include "queue_shared.hpp"

namespace {

using namespace queue_stress;
using namespace shmemx::nemesis;

constexpr std::size_t kVictimCells = 3;
constexpr std::size_t kOtherCells = 4;
constexpr int kStepLimit = 20000;
constexpr std::uint32_t kVictim = 1;
constexpr std::uint32_t kOther = 2;

struct Shared {
  MpscQueue queue;
  CellStack stack;
  alignas(kCacheLine) std::atomic<std::uint32_t> completed;  // operations that the victim has completed
  alignas(kCacheLine) std::byte cells[kVictimCells + kOtherCells][kCellBytes];

  Cell* cell(std::size_t index) { return reinterpret_cast<Cell*>(cells[index]); }
  Cell* other_cell(std::size_t index) { return cell(kVictimCells + index); }
};

Shared& fresh(const SharedMemory& memory) {
  std::memset(memory.base(), 0, sizeof(Shared));
  return *reinterpret_cast<Shared*>(memory.base());
}

void enqueue_all(Shared& shared) {
  for (std::size_t i = 0; i < kVictimCells; ++i) {
    write_content(shared.cell(i), kVictim, i + 1, 3);
    shared.queue.enqueue(shared.cell(i));
    shared.completed.fetch_add(1);
  }
}

void pop_and_push(Shared& shared) {
  Cell* const first = shared.stack.try_pop();
  Cell* const second = shared.stack.try_pop();
  if (first != nullptr) shared.stack.push(first);
  if (second != nullptr) shared.stack.push(second);
  shared.completed.fetch_add(1);
}

// Starts a process that stops before `work`, and single-steps it for `steps` instructions; calls `meanwhile` after
// each. Then kills it. Returns false if it had completed all its work, `until` operations, before.
template <class Meanwhile>
bool step_and_kill(Shared& shared, void (*work)(Shared&), std::uint32_t until, int steps, Meanwhile meanwhile) {
  const pid_t victim = fork();
  if (victim < 0) fail("cannot fork");
  if (victim == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) std::_Exit(77);
    raise(SIGSTOP);
    work(shared);
    for (;;) pause();
  }
  int status = 0;
  waitpid(victim, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    std::printf("SKIPPED: this process may not trace\n");
    std::fflush(nullptr);
    std::_Exit(77);
  }
  bool busy = true;
  for (int i = 0; i < steps && busy; ++i) {
    if (ptrace(PTRACE_SINGLESTEP, victim, nullptr, nullptr) != 0) fail("cannot step");
    waitpid(victim, &status, 0);
    if (!WIFSTOPPED(status)) fail("the victim has exited");
    meanwhile();
    busy = shared.completed.load() < until;
  }
  kill(victim, SIGKILL);
  while (waitpid(victim, &status, 0) == victim && WIFSTOPPED(status)) continue;
  return busy;
}

class Receiver {
 public:
  explicit Receiver(Shared& shared) : shared_(shared) {}

  // Calls try_dequeue once; the call must return.
  bool take() {
    const Cell* const cell = shared_.queue.try_dequeue();
    if (cell != nullptr) check(cell);
    return cell != nullptr;
  }
  // A message that is visible but cannot be dequeued counts as received.
  void read_doorbell() {
    const Cell* const cell = shared_.queue.first_cell();
    if (cell != nullptr) check(cell);
  }
  std::uint64_t victims() const { return number_[kVictim]; }
  std::uint64_t others() const { return number_[kOther]; }

 private:
  void check(const Cell* cell) {
    Content content;
    if (!read_content(cell, content)) fail("a corrupted message has arrived");
    if (content.source != kVictim && content.source != kOther) fail("a message of an unknown source has arrived");
    if (content.number != ++number_[content.source]) fail("a message is lost, duplicated or out of order");
  }
  Shared& shared_;
  std::uint64_t number_[3] = {};
};

// `ahead` cells are in the queue when the victim starts; the receiver has dequeued one of them if `looked`, and
// dequeues one after each of the victim's steps if `greedy`.
struct Scene {
  std::size_t ahead;
  bool looked;
  bool greedy;
};

bool kill_in_enqueue(const SharedMemory& memory, const Scene& scene, int steps) {
  Shared& shared = fresh(memory);
  Receiver receiver(shared);
  for (std::size_t i = 0; i < scene.ahead; ++i) {
    write_content(shared.other_cell(i), kOther, i + 1, 5);
    shared.queue.enqueue(shared.other_cell(i));
  }
  if (scene.looked) receiver.take();
  const bool busy = step_and_kill(shared, enqueue_all, kVictimCells, steps, [&] {
    if (scene.greedy) receiver.take();
  });
  // Another producer continues to send.
  write_content(shared.other_cell(scene.ahead), kOther, scene.ahead + 1, 1);
  shared.queue.enqueue(shared.other_cell(scene.ahead));
  while (receiver.take()) continue;
  const std::uint64_t taken = receiver.others();
  receiver.read_doorbell();
  const std::uint32_t completed = shared.completed.load();
  if (receiver.victims() < completed) fail("a message that was complete has not arrived");
  if (receiver.victims() > completed + 1) fail("more has arrived than was sent");
  if (receiver.others() < scene.ahead) fail("a message from before has not arrived");
  if (!busy && taken != scene.ahead + 1) fail("no process was killed, but the queue is blocked");
  return busy;
}

bool kill_in_stack(const SharedMemory& memory, int steps) {
  Shared& shared = fresh(memory);
  for (std::size_t i = 0; i < kOtherCells; ++i) shared.stack.push(shared.other_cell(i));
  const bool busy = step_and_kill(shared, pop_and_push, 1, steps, [] {});
  std::vector<Cell*> found;
  while (Cell* const cell = shared.stack.try_pop()) {
    for (const Cell* const other : found)
      if (other == cell) fail("a cell is free twice");
    found.push_back(cell);
    if (found.size() > kOtherCells) fail("there are more cells than at the start");
  }
  if (found.size() + 2 < kOtherCells) fail("more cells are lost than the victim held");
  if (!busy && found.size() != kOtherCells) fail("no process was killed, but cells are lost");
  return busy;
}

// Kills after 0, 1, 2... steps until the victim has completed its work before the kill.
template <class Once>
int kill_everywhere(Once once) {
  for (int steps = 0; steps < kStepLimit; ++steps)
    if (!once(steps)) return steps;
  fail("the victim's work never ends");
}

}  // namespace

int main() {
  const SharedMemory memory(sizeof(Shared));
  const Clock clock;
  int kills = 0;
  for (const Scene& scene : {Scene{0, false, false}, Scene{0, false, true}, Scene{1, false, false},
                             Scene{1, true, true}, Scene{3, true, false}, Scene{3, false, true}})
    kills += kill_everywhere([&](int steps) { return kill_in_enqueue(memory, scene, steps); });
  const int stack_kills = kill_everywhere([&](int steps) { return kill_in_stack(memory, steps); });
  std::printf("%d kills around enqueue, %d around the stack, %.1f s\n", kills, stack_kills, clock.seconds());
  return 0;
}
