#include "working_set.hpp"

#include <numeric>
#include <random>

#include "support/clock.hpp"

namespace shmemx::bench {

WorkingSet::WorkingSet(std::size_t bytes) : lines_(bytes / sizeof(Line)), other_(bytes * 8 / sizeof(std::uint64_t)) {
  std::vector<std::size_t> order(lines_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(20060814);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  for (std::size_t i = 0; i < order.size(); ++i) lines_[order[i]].next = &lines_[order[(i + 1) % order.size()]];
}

void WorkingSet::walk() {
  const Line* line = lines_.data();
  for (std::size_t i = 0; i < lines_.size(); ++i) line = line->next;
  keep(line);
}

void WorkingSet::warm() {
  walk();
  walk();
}

void WorkingSet::evict() {
  for (std::size_t i = 0; i < other_.size(); i += 8) ++other_[i];
  forget_memory();
}

double WorkingSet::read_ns() {
  const std::int64_t begin = now_ns();
  walk();
  return static_cast<double>(now_ns() - begin);
}

}  // namespace shmemx::bench
