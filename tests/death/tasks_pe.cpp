// Wrong uses of remote tasks, by name.
#include <shmemx/tasks.hpp>

#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace {

int last_pe() { return shmem_n_pes() - 1; }
void nothing(int, const void*, size_t, void*) {}

void unregistered() {
  if (shmem_my_pe() == 0) shmemx_task_send(last_pe(), 77, nullptr, 0, 0);
  shmemx_scheduler_run();
}

void nested_run() {
  shmemx_task_register(
      1, [](int, const void*, size_t, void*) { shmemx_scheduler_run(); }, nullptr);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmemx_task_send(last_pe(), 1, nullptr, 0, 0);
  shmemx_scheduler_run();
}

void second_thread() {
  if (shmem_my_pe() != last_pe()) {
    shmemx_scheduler_run();
    return;
  }
  shmemx_task_register(
      1, [](int, const void*, size_t, void*) { std::thread([] { shmemx_scheduler_poll(1); }).join(); }, nullptr);
  shmemx_task_send(shmem_my_pe(), 1, nullptr, 0, 0);
  shmemx_scheduler_run();
}

void left_at_finalize() {
  shmemx_task_register(1, nothing, nullptr);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    for (int i = 0; i < 3; ++i) shmemx_task_send(last_pe(), 1, &i, sizeof i, 0);
  }
  shmem_finalize();
}

// PE 0 has run its own, and the others wait in finalize.
void send_multicast() {
  shmemx_task_register(
      1, [](int, const void*, size_t, void*) { shmemx_scheduler_stop(); }, nullptr);
  shmem_barrier_all();
  if (shmem_my_pe() != 0) return;
  shmemx_task_multicast(SHMEM_TEAM_WORLD, 1, nullptr, 0, 0);
  shmemx_scheduler_run();
}

void multicast_at_finalize() {
  send_multicast();
  shmem_finalize();
}

// The program returns from main.
void multicast_at_exit() { send_multicast(); }

void after_at_finalize() {
  shmemx_task_register(1, nothing, nullptr);
  shmem_barrier_all();
  static int never_sent;
  shmemx_request_t request;
  if (shmem_my_pe() == last_pe()) {
    shmemx_irecv(&never_sent, sizeof never_sent, 0, 5, &request);
    shmemx_task_after(&request, 1, nullptr, 0, 0);
  }
  shmem_finalize();
}

void finalize_in_handler() {
  shmemx_task_register(
      1, [](int, const void*, size_t, void*) { shmem_finalize(); }, nullptr);
  shmem_barrier_all();
  if (shmem_my_pe() == last_pe()) {
    shmemx_task_send(shmem_my_pe(), 1, nullptr, 0, 0);
    shmemx_scheduler_run();
  }
  shmem_finalize();
}

// The last PE receives in the barrier, and runs nothing.
void too_many() {
  shmemx_task_register(1, nothing, nullptr);
  shmem_barrier_all();
  std::vector<char> data(30000);
  if (shmem_my_pe() == 0) {
    for (int i = 0; i < 1000; ++i) shmemx_task_send(last_pe(), 1, data.data(), data.size(), 0);
    shmemx_task_flush();
  }
  shmem_barrier_all();
}

void active_number() {
  shmemx_am_register(9, nothing, nullptr);
  shmem_barrier_all();
  if (shmem_my_pe() == last_pe()) shmemx_task_register(9, nothing, nullptr);
  shmem_barrier_all();
}

void bad_number() {
  if (shmem_my_pe() == last_pe()) shmemx_task_send(0, 65536, nullptr, 0, 0);
  shmem_barrier_all();
}

void keep_outside() {
  if (shmem_my_pe() == last_pe()) shmemx_task_keep();
  shmem_barrier_all();
}

struct Target {
  Target(shmemx::object_array<Target>&, std::size_t) {}
  void visit() {}
};

// The last PE has left the array that PE 0 still sends to.
void array_is_gone() {
  std::optional<shmemx::object_array<Target>> targets;
  targets.emplace(static_cast<std::size_t>(shmem_n_pes()));
  if (shmem_my_pe() == last_pe()) targets.reset();
  shmem_barrier_all();
  if (shmem_my_pe() == 0) targets->send<&Target::visit>(targets->size() - 1);
  shmemx_scheduler_run();
}

constexpr struct {
  const char* name;
  void (*run)();
} kWrong[] = {{"unregistered", unregistered},
              {"nested_run", nested_run},
              {"second_thread", second_thread},
              {"left_at_finalize", left_at_finalize},
              {"multicast_at_finalize", multicast_at_finalize},
              {"multicast_at_exit", multicast_at_exit},
              {"after_at_finalize", after_at_finalize},
              {"finalize_in_handler", finalize_in_handler},
              {"too_many", too_many},
              {"active_number", active_number},
              {"bad_number", bad_number},
              {"keep_outside", keep_outside},
              {"array_is_gone", array_is_gone}};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  for (const auto& wrong : kWrong) {
    if (std::strcmp(wrong.name, argv[1]) == 0) wrong.run();
  }
  return 0;
}
