// Breadth-first search in a random graph whose vertices are objects in blocks: a visit is a task to the block that owns
// the vertex. No PE waits for another one; the search ends when no task is left anywhere.
//
//   oshrun -n 4 ./bfs [vertices] [edges of a vertex]
//
// Prints how many vertices have which distance from vertex 0, and checks it against a search on one PE.
#include <shmemx/tasks.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <vector>

namespace {

constexpr std::uint32_t kFar = UINT32_MAX;
constexpr std::size_t kMostLevels = 32;
using Levels = std::array<long, kMostLevels>;

struct AddLevels {
  Levels operator()(Levels a, const Levels &b) const {
    for (std::size_t i = 0; i < kMostLevels; ++i) a[i] += b[i];
    return a;
  }
};

struct Graph {
  std::uint64_t vertices = 20000;
  std::uint64_t degree = 4;
  // The i-th neighbour: all PEs compute the same graph.
  std::uint64_t neighbour(std::uint64_t vertex, std::uint64_t i) const {
    std::uint64_t x = vertex * degree + i + 1;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return (x ^ (x >> 31)) % vertices;
  }
};
Graph graph;
Levels result;
constexpr std::uint64_t kBlock = 500;  // vertices of an object

class Block {
 public:
  Block(shmemx::object_array<Block> &blocks, std::size_t index) : blocks_(blocks), first_(index * kBlock) {}

  // An entry: a path of that length leads to the vertex. Short paths have the smaller priority, so few are corrected.
  void visit(std::uint64_t vertex, std::uint32_t distance) {
    std::uint32_t &known = distance_[vertex - first_];
    if (distance >= known) return;
    known = distance;
    for (std::uint64_t i = 0; i < graph.degree; ++i) {
      const std::uint64_t next = graph.neighbour(vertex, i);
      blocks_.send_at<&Block::visit>(static_cast<int>(distance), next / kBlock, next, distance + 1);
    }
  }
  // An entry: all blocks add up their vertices by distance.
  void count() {
    Levels levels{};
    for (const std::uint32_t distance : distance_) {
      if (distance < kMostLevels) ++levels[distance];
    }
    blocks_.contribute<&Block::report>(*this, levels, AddLevels());
  }
  // An entry, with the result.
  void report(Levels levels) { result = levels; }

 private:
  shmemx::object_array<Block> &blocks_;
  std::uint64_t first_;
  std::vector<std::uint32_t> distance_ = std::vector<std::uint32_t>(kBlock, kFar);
};

Levels search_alone() {
  std::vector<std::uint32_t> distance(graph.vertices, kFar);
  std::queue<std::uint64_t> next;
  distance[0] = 0;
  next.push(0);
  Levels levels{};
  for (; !next.empty(); next.pop()) {
    const std::uint64_t vertex = next.front();
    if (distance[vertex] < kMostLevels) ++levels[distance[vertex]];
    for (std::uint64_t i = 0; i < graph.degree; ++i) {
      std::uint32_t &known = distance[graph.neighbour(vertex, i)];
      if (known != kFar) continue;
      known = distance[vertex] + 1;
      next.push(graph.neighbour(vertex, i));
    }
  }
  return levels;
}

}  // namespace

int main(int argc, char **argv) {
  shmem_init();
  if (argc > 1) graph.vertices = std::strtoull(argv[1], nullptr, 0);
  if (argc > 2) graph.degree = std::strtoull(argv[2], nullptr, 0);
  int wrong = 0;
  {
    shmemx::object_array<Block> blocks((graph.vertices + kBlock - 1) / kBlock);
    if (shmem_my_pe() == 0) blocks.send<&Block::visit>(0, std::uint64_t{0}, 0U);
    shmemx_scheduler_quiesce();
    if (shmem_my_pe() == 0) blocks.broadcast<&Block::count>();
    shmemx_scheduler_quiesce();
    if (shmem_my_pe() == 0) {
      wrong = result == search_alone() ? 0 : 1;
      for (std::size_t i = 0; i < kMostLevels && result[i] != 0; ++i)
        std::printf("distance %2zu: %ld vertices\n", i, result[i]);
      std::printf(wrong ? "WRONG\n" : "as a search on one PE finds\n");
    }
  }
  shmem_finalize();
  return wrong;
}
