// A stencil in three dimensions with six neighbours, of several objects on each PE, over a network with a delay: the
// time of a step. An object computes when the faces of all its neighbours have come. A face that comes from another PE
// is held back for the delay, 0.8 of the computation of a PE in a step, while the scheduler runs the other objects; the
// computation is a loop of that time, so that caches do not matter. The objects of a PE share its computation.
//   stencil [--rounds n]
// Lines: a step by the objects on a PE, with and without delay; the comparator has one object.
#include <shmemx.h>

#include <algorithm>
#include <array>
#include <deque>

#include "program.hpp"
#include "stencil.hpp"

namespace {
using namespace shmemx::bench;

enum : int { kFace = 1 };
struct Object {
  long step = 0;               // that it computes next
  std::array<int, 2> faces{};  // that have come for this step and for the next
};

// The objects of this PE, a share of a grid that is periodic: 2 x 2 x n, or thinner if there are fewer.
class Grid {
 public:
  Grid(int objects, std::int64_t delay_ns) : delay_ns_(delay_ns), mine_(static_cast<std::size_t>(objects)) {
    const long all = static_cast<long>(objects) * shmem_n_pes();
    for (long& extent : extents_) extent = 1;
    for (std::size_t axis = 2; extents_[0] * extents_[1] * extents_[2] < all; axis = (axis + 2) % 3)
      extents_[axis] *= 2;
  }

  // Returns the seconds of a step.
  double run(long steps) {
    last_ = steps;
    left_ = static_cast<int>(mine_.size());
    shmem_barrier_all();
    const std::int64_t begin = now_ns();
    for (std::size_t i = 0; i < mine_.size(); ++i) send_faces(static_cast<long>(i));
    shmemx_task_flush();
    while (left_ > 0) {
      shmemx_scheduler_poll(64);
      take_due_faces();
      compute_one();
    }
    shmemx_scheduler_quiesce();
    return seconds_since(begin) / static_cast<double>(steps);
  }

  void receive(int source, const Face& face) {
    if (source == shmem_my_pe()) return note(face.object, face.step);
    held_.push_back({face.object, face.step, face.due_ns});
  }

 private:
  struct Held {
    long object;
    long step;
    std::int64_t due_ns;
  };

  long first() const { return static_cast<long>(mine_.size()) * shmem_my_pe(); }

  void send_faces(long own) {
    static Face face{};
    const long number = first() + own;
    face.step = mine_[static_cast<std::size_t>(own)].step;
    face.due_ns = now_ns() + delay_ns_;
    long stride = 1;
    for (const long extent : extents_) {
      const long place = number / stride % extent;
      for (const long offset : {extent - 1, 1L}) {
        face.object = number + ((place + offset) % extent - place) * stride;
        const int pe = static_cast<int>(face.object / static_cast<long>(mine_.size()));
        if (pe == shmem_my_pe()) {
          note(face.object, face.step);
        } else {
          shmemx_task_send(pe, kFace, &face, sizeof face, 0);
        }
      }
      stride *= extent;
    }
  }

  void take_due_faces() {
    while (!held_.empty() && held_.front().due_ns <= now_ns()) {
      note(held_.front().object, held_.front().step);
      held_.pop_front();
    }
  }

  void note(long object, long step) {
    Object& of = mine_[static_cast<std::size_t>(object - first())];
    ++of.faces[static_cast<std::size_t>(step % 2)];
    if (step == of.step) add_if_ready(object - first());
  }

  void add_if_ready(long own) {
    const Object& object = mine_[static_cast<std::size_t>(own)];
    if (object.faces[static_cast<std::size_t>(object.step % 2)] == kFaces) ready_.push_back(own);
  }

  void compute_one() {
    if (ready_.empty()) return;
    const long own = ready_.front();
    ready_.pop_front();
    Object& object = mine_[static_cast<std::size_t>(own)];
    compute_ns(kComputationNs / static_cast<std::int64_t>(mine_.size()));
    object.faces[static_cast<std::size_t>(object.step % 2)] = 0;
    if (++object.step < last_) {
      add_if_ready(own);  // a neighbour may be a step ahead
      send_faces(own);
      shmemx_task_flush();
    } else {
      --left_;
    }
  }

  const std::int64_t delay_ns_;
  std::vector<Object> mine_;
  std::array<long, 3> extents_{};
  std::deque<Held> held_;  // in the order of sending, nearly that of their ends
  std::deque<long> ready_;
  long last_ = 0;
  int left_ = 0;
};

Grid* grid = nullptr;
void on_face(int source, const void* payload, std::size_t, void*) {
  grid->receive(source, *static_cast<const Face*>(payload));
}

double measure(int objects, std::int64_t delay_ns, long steps) {
  Grid own(objects, delay_ns);
  grid = &own;
  const double seconds = own.run(steps);
  shmem_barrier_all();
  return seconds * 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  constexpr std::array kObjects{1, 2, 4, 8};
  shmem_init();
  shmemx_task_register(kFace, on_face, nullptr);
  shmem_barrier_all();
  const long steps = options.rounds <= 1 ? 5 : 50;
  for (const std::int64_t delay : {kDelayNs, std::int64_t{0}}) {
    std::array<std::vector<double>, kObjects.size()> samples;
    for (int round = 0; round < options.rounds; ++round)
      for (std::size_t i = 0; i < kObjects.size(); ++i) samples[i].push_back(measure(kObjects[i], delay, steps));
    for (std::size_t i = 0; shmem_my_pe() == 0 && i < kObjects.size(); ++i) {
      const Figure figure{"tasks_stencil", sizeof(Face), "ms", state_of_stencil(kObjects[i], delay != 0)};
      print_figure(figure, shmem_n_pes(), samples[i], "");
      print_figure(figure, shmem_n_pes(), samples[0], kComparator);
    }
  }
  shmem_finalize();
  return 0;
}
