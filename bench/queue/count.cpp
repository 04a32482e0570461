#include "count.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "path.hpp"

using namespace shmemx::nemesis;

// A function of its own for each situation, so that callgrind separates them.
extern "C" {
#define BENCH_OPERATION [[gnu::noinline, gnu::noipa]]
BENCH_OPERATION void count_enqueue_into_empty(MpscQueue* queue, Cell* cell) { queue->enqueue(cell); }
BENCH_OPERATION void count_enqueue_behind(MpscQueue* queue, Cell* cell) { queue->enqueue(cell); }
BENCH_OPERATION Cell* count_dequeue_only_one(MpscQueue* queue) { return queue->try_dequeue(); }
BENCH_OPERATION Cell* count_dequeue_first_of_three(MpscQueue* queue) { return queue->try_dequeue(); }
BENCH_OPERATION Cell* count_dequeue_second_of_three(MpscQueue* queue) { return queue->try_dequeue(); }
BENCH_OPERATION Cell* count_dequeue_last_of_three(MpscQueue* queue) { return queue->try_dequeue(); }
BENCH_OPERATION Cell* count_dequeue_from_empty(MpscQueue* queue) { return queue->try_dequeue(); }
BENCH_OPERATION void count_plain_enqueue(PlainQueue* queue, Cell* cell) { queue->enqueue(cell); }
BENCH_OPERATION Cell* count_plain_dequeue(PlainQueue* queue) { return queue->try_dequeue(); }
BENCH_OPERATION void count_stack_push(CellStack* stack, Cell* cell) { stack->push(cell); }
BENCH_OPERATION Cell* count_stack_pop(CellStack* stack) { return stack->try_pop(); }
BENCH_OPERATION BoxSlot* count_box_claim(BoxWriter* writer, Fastbox* box, const Consumed* consumed, Number* known) {
  return writer->try_claim(*box, *consumed, *known);
}
BENCH_OPERATION void count_box_publish(BoxWriter* writer, BoxSlot* slot, Number number) {
  writer->publish(*slot, number);
}
BENCH_OPERATION BoxSlot* count_box_find(BoxReader* reader, Fastbox* box, Number number) {
  return reader->find(*box, number);
}
BENCH_OPERATION void count_box_release(BoxReader* reader, Number number) { reader->release(number); }
}

namespace shmemx::bench {

void run_counted_operations() {
  auto place = std::make_unique<Place>();
  std::byte* const memory = static_cast<std::byte*>(std::aligned_alloc(kCacheLine, 4 * kCacheLine));
  Cell* const cells[3] = {new (memory) Cell, new (memory + kCacheLine) Cell, new (memory + 2 * kCacheLine) Cell};
  MpscQueue& queue = place->receive[0];
  Boxes& boxes = place->boxes[0];
  OwnState own;
  for (int i = 0; i < kCountedCalls; ++i) {
    count_enqueue_into_empty(&queue, cells[0]);
    count_dequeue_only_one(&queue);
    count_dequeue_from_empty(&queue);
    queue.enqueue(cells[0]);
    count_enqueue_behind(&queue, cells[1]);
    queue.enqueue(cells[2]);
    count_dequeue_first_of_three(&queue);
    count_dequeue_second_of_three(&queue);
    count_dequeue_last_of_three(&queue);
    count_plain_enqueue(&place->plain_receive[0], cells[0]);
    count_plain_dequeue(&place->plain_receive[0]);
    count_stack_push(&place->free_stacks[0], cells[0]);
    count_stack_pop(&place->free_stacks[0]);
    BoxSlot* const slot = count_box_claim(&own.writer, &boxes.box, &boxes.consumed, &own.known);
    count_box_publish(&own.writer, slot, ++own.sent);
    keep(count_box_find(&own.reader, &boxes.box, ++own.received));
    count_box_release(&own.reader, own.received);
    own.known = own.received;
  }
  std::free(memory);
}

namespace {

// A function's block begins with "fn=(id) name". Cost lines are "position instructions", and so is the line after
// "calls=", which holds the cost of the callee.
std::map<std::string, double> read_counts(const std::string& path) {
  std::map<std::string, double> counts;
  std::map<std::string, std::string> names;
  std::ifstream file(path);
  std::string current;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("fn=", 0) == 0) {
      const std::string id = line.substr(3, line.find(')') - 2);
      if (line.size() > 4 + id.size()) names[id] = line.substr(4 + id.size());
      current = names[id];
    } else if (line.rfind("cfn=", 0) == 0) {
      const std::string id = line.substr(4, line.find(')') - 3);
      if (line.size() > 5 + id.size()) names[id] = line.substr(5 + id.size());
    } else if (!line.empty() && std::string("0123456789+-*").find(line[0]) != std::string::npos) {
      const std::size_t space = line.find(' ');
      if (space != std::string::npos && current.rfind("count_", 0) == 0)
        counts[current] += std::atof(line.c_str() + space) / kCountedCalls;
    }
  }
  for (auto& [name, count] : counts) count -= 1;  // the return
  return counts;
}

}  // namespace

std::map<std::string, double> count_instructions(const std::string& program) {
  char folder[] = "/tmp/bench_queue.XXXXXX";
  if (mkdtemp(folder) == nullptr) return {};
  const std::string path = std::string(folder) + "/counts";
  const std::string option = "--callgrind-out-file=" + path;
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) std::_Exit(1);
    execlp("valgrind", "valgrind", "--tool=callgrind", option.c_str(), program.c_str(), "--counted", nullptr);
    std::_Exit(127);
  }
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  std::map<std::string, double> counts;
  if (child > 0 && status == 0) counts = read_counts(path);
  unlink(path.c_str());
  rmdir(folder);
  return counts;
}

}  // namespace shmemx::bench
