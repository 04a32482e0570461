/* Objects that send each other tasks, for C++17. Stands on tasks.h alone; not included by <shmemx.h>.

   An object_array<T> is an array of objects of which each PE has some. An entry is a member function of T that any PE
   calls on any object by send(); it runs as a task on the PE that owns the object (tasks.h). With several objects on a
   PE, one computes while others wait for messages.

       struct Cell {
         Cell(shmemx::object_array<Cell>& cells, std::size_t index);
         void add(double value);                                        // an entry
       };
       shmemx::object_array<Cell> cells(1000);                          // collective
       cells.send<&Cell::add>(7, 0.5);
       shmemx_scheduler_quiesce();

   An entry may have a result. call() brings it to the caller, by a task_future:

       shmemx::task_future<double> value = cells.call<&Cell::value>(7);  // double Cell::value()
       use(value.get());

   Arguments and results of entries are trivially copyable. An entry is named at compile time, since the addresses of
   functions may differ between PEs. All PEs construct the arrays of a program in the same order. Construction is
   collective, destruction is not: it makes no PE wait, so an exception that unwinds the stack of one PE hangs no other.
   The arrays of all types use the number SHMEMX_TASK_HANDLERS - 1 of tasks.h. One thread of a PE uses them, the one
   that is in the scheduler. */
#ifndef SHMEMX_TASKS_HPP
#define SHMEMX_TASKS_HPP

#include <shmemx.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shmemx {

template <class T>
class object_array;

/* The result of a call, which comes later: of object_array::call, or of task_call. R is trivially copyable or void. A
   PE that waits for it runs its own tasks meanwhile, since others may need them first; so get() and the destructor of a
   future whose result has not come belong outside of handlers. In a handler, test is_ready() instead. */
template <class R>
class task_future {
 public:
  static_assert(std::is_void_v<R> || std::is_trivially_copyable_v<R>, "results are trivially copyable");

  task_future() = default; /* of no call */
  /* Calls handler `id` of a PE, which replies with an R. */
  task_future(int pe, int id, const void* payload, std::size_t bytes) : state_(new state) {
    shmemx_task_call(pe, id, payload, bytes, state_->value, result_bytes, &state_->request);
  }
  task_future(task_future&&) noexcept = default;
  task_future& operator=(task_future&& other) noexcept {
    end();
    state_ = std::move(other.state_);
    return *this;
  }
  ~task_future() { end(); }

  /* Is it of a call whose result has not been taken? */
  bool valid() const noexcept { return state_ != nullptr; }
  /* Returns whether the result has come. Sends what has gathered. Requires valid(). */
  bool is_ready() noexcept {
    if (state_->request == SHMEMX_REQUEST_NULL) return true;
    shmemx_task_flush();
    int is_complete = 0;
    shmemx_test(&state_->request, &is_complete, nullptr);
    return is_complete != 0;
  }
  /* Waits for the result and takes it. Requires valid(). */
  R get() {
    wait();
    const std::unique_ptr<state> last = std::move(state_);
    if constexpr (!std::is_void_v<R>) return *std::launder(reinterpret_cast<R*>(last->value));
  }
  /* Waits for the result. Requires valid(). */
  void wait() noexcept {
    while (!is_ready()) shmemx_scheduler_poll(64);
  }

 private:
  using stored = std::conditional_t<std::is_void_v<R>, unsigned char, R>;
  static constexpr std::size_t result_bytes = std::is_void_v<R> ? 0 : sizeof(stored);
  struct state {
    alignas(stored) unsigned char value[sizeof(stored)] = {};
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
  };

  void end() noexcept {
    if (valid()) wait(); /* the reply is written to the state */
  }

  std::unique_ptr<state> state_;
};

/* Calls handler `id` of a PE (tasks.h) with one argument. It replies by task_reply. */
template <class R, class A>
task_future<R> task_call(int pe, int id, const A& argument) {
  static_assert(std::is_trivially_copyable_v<A>, "arguments are trivially copyable");
  return task_future<R>(pe, id, &argument, sizeof argument);
}
template <class R>
task_future<R> task_call(int pe, int id) {
  return task_future<R>(pe, id, nullptr, 0);
}
/* Inside the handler of a call, once. */
template <class R>
void task_reply(const R& result) {
  static_assert(std::is_trivially_copyable_v<R>, "results are trivially copyable");
  shmemx_task_reply(&result, sizeof result);
}

/* Operators of contribute(). Any type of the program without members that has such an operator() does. */
struct sum {
  template <class V>
  V operator()(const V& a, const V& b) const {
    return a + b;
  }
};
struct least {
  template <class V>
  V operator()(const V& a, const V& b) const {
    return b < a ? b : a;
  }
};
struct greatest {
  template <class V>
  V operator()(const V& a, const V& b) const {
    return a < b ? b : a;
  }
};

namespace tasks_detail {

inline constexpr int kObjects = SHMEMX_TASK_HANDLERS - 1;

/* The same in all executables of a job. */
constexpr std::uint64_t hash_of(const char* text) {
  std::uint64_t hash = 14695981039346656037U;
  for (; *text != 0; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 1099511628211U;
  return hash;
}

class writer {
 public:
  template <class V>
  void put(const V& value) {
    static_assert(std::is_trivially_copyable_v<V>, "arguments of entries are trivially copyable");
    const std::size_t at = bytes_.size();
    bytes_.resize(at + (sizeof value + 7) / 8 * 8);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  const void* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<unsigned char> bytes_;
};

class reader {
 public:
  explicit reader(const void* at) : at_(static_cast<const unsigned char*>(at)) {}
  template <class V>
  V take() {
    std::aligned_storage_t<sizeof(V), alignof(V)> place;
    std::memcpy(&place, at_, sizeof(V));
    at_ += (sizeof(V) + 7) / 8 * 8;
    return *reinterpret_cast<V*>(&place);
  }

 private:
  const unsigned char* at_;
};

enum class action : std::uint64_t { one, all, partial, call };

struct head {
  action what;
  std::uint64_t array;
  std::uint64_t entry;
  std::uint64_t index; /* one, call: of the object; partial: of the reduction */
};

struct any_array {
  virtual void act(const head& of, reader arguments) = 0;

 protected:
  ~any_array() = default;
};

inline std::vector<any_array*>& arrays() {
  static std::vector<any_array*> list;
  return list;
}

/* Ends the job: a task for an array that this PE has destroyed, or whose construction has failed here. */
inline void end_without_array(int from, std::uint64_t index) {
  std::fprintf(stderr,
               "[pe %d/%d] shmemx::object_array: PE %d has sent a task for object %llu of an array that this PE has "
               "no more; allowed are tasks that have run before the array ends on any PE: call "
               "shmemx_scheduler_quiesce before. Job ended.\n",
               shmem_my_pe(), shmem_n_pes(), from, static_cast<unsigned long long>(index));
  shmem_global_exit(1);
}

inline void on_task(int from, const void* payload, std::size_t, void*) {
  reader arguments(payload);
  const head of = arguments.take<head>();
  any_array* const array = arrays()[of.array];
  if (array == nullptr) return end_without_array(from, of.index);
  array->act(of, arguments);
}

/* The construction of an array on this PE. When it ends, also by an exception, this PE meets the others. */
struct construction {
  explicit construction(any_array* array) : number(arrays().size()) { arrays().push_back(array); }
  construction(const construction&) = delete;
  construction& operator=(const construction&) = delete;
  ~construction() {
    if (!is_complete) arrays()[number] = nullptr;
    shmem_barrier_all();
  }

  const std::uint64_t number;
  bool is_complete = false;
};

/* What a type's arrays know of an entry, by the hash of its name. */
template <class T>
struct entry_functions {
  void (*call)(T& object, reader arguments, bool replies);
  void (*add)(object_array<T>& array, std::uint64_t number, reader arguments); /* of contribute() alone */
};
template <class T>
std::unordered_map<std::uint64_t, entry_functions<T>>& entries_of() {
  static std::unordered_map<std::uint64_t, entry_functions<T>> map;
  return map;
}

template <class Method>
struct method_traits;
template <class T, class R, class... P>
struct method_traits<R (T::*)(P...)> {
  using object = T;
  using result = R;
  using arguments = std::tuple<std::decay_t<P>...>;
  template <class... A>
  static void write(writer& to, A&&... values) {
    static_assert(sizeof...(A) == sizeof...(P), "as many arguments as the entry has");
    (to.put(static_cast<std::decay_t<P>>(std::forward<A>(values))), ...);
  }
  template <R (T::*Method)(P...)>
  static void call(T& object, [[maybe_unused]] reader from, [[maybe_unused]] bool replies) {
    arguments values{from.take<std::decay_t<P>>()...}; /* braces: from left to right */
    if constexpr (std::is_void_v<R>) {
      std::apply([&](auto&... each) { (object.*Method)(each...); }, values); /* a call is answered when this returns */
    } else {
      const R result = std::apply([&](auto&... each) { return (object.*Method)(each...); }, values);
      if (replies) task_reply(result);
    }
  }
};

template <auto Method>
struct entry {
  using traits = method_traits<decltype(Method)>;
  using object = typename traits::object;
  static constexpr std::uint64_t hash() { return hash_of(__PRETTY_FUNCTION__); }
  static bool add() {
    return entries_of<object>()
        .emplace(hash(), entry_functions<object>{&traits::template call<Method>, nullptr})
        .second;
  }
  static inline const bool is_added = add();
};

template <auto Method, class V, class Op>
struct reduction {
  using object = typename entry<Method>::object;
  static constexpr std::uint64_t hash() { return hash_of(__PRETTY_FUNCTION__); }
  static void add_partial(object_array<object>& array, std::uint64_t number, reader from) {
    const auto objects = from.take<std::uint64_t>();
    array.template add_to_reduction<Method, V, Op>(number, from.take<V>(), objects);
  }
  static bool add() {
    return entries_of<object>().emplace(hash(), entry_functions<object>{nullptr, &add_partial}).second;
  }
  static inline const bool is_added = add();
};

} /* namespace tasks_detail */

template <class T>
class object_array final : private tasks_detail::any_array {
 public:
  /* Collective: `n` objects; owner(index) is the PE of each, the same on all PEs. By default blocks of equal size. An
     exception of a constructor of T leaves after all PEs have arrived; the other PEs have the array then, without the
     objects of this one. */
  explicit object_array(std::size_t n) : object_array(n, [n](std::size_t index) { return block_owner(n, index); }) {}
  template <class Owner>
  object_array(std::size_t n, Owner owner) : owners_(n), me_(shmem_my_pe()) {
    tasks_detail::construction all(this);
    number_ = all.number;
    shmemx_task_register(tasks_detail::kObjects, tasks_detail::on_task, nullptr);
    for (std::size_t i = 0; i < n; ++i) {
      owners_[i] = owner(i);
      if (owners_[i] == me_) objects_.emplace(i, std::make_unique<T>(*this, i));
      if (is_below(owners_[i])) ++below_;
    }
    all.is_complete = true;
  }
  object_array(const object_array&) = delete;
  object_array& operator=(const object_array&) = delete;
  /* Ends the objects of this PE alone; other PEs may keep theirs. No entry may be under way (shmemx_scheduler_quiesce):
     a task that comes later ends the job with a line. */
  ~object_array() { tasks_detail::arrays()[number_] = nullptr; }

  std::size_t size() const { return owners_.size(); }
  int owner(std::size_t index) const { return owners_[index]; }
  /* Returns null if another PE owns the object. */
  T* local(std::size_t index) {
    const auto found = objects_.find(index);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  /* Calls use(object) for the objects of this PE, in the order of their indices. */
  template <class Use>
  void for_each_local(Use use) {
    for (auto& object : objects_) use(*object.second);
  }

  /* Calls an entry of an object. With a priority: smaller ones first. */
  template <auto Method, class... A>
  void send(std::size_t index, A&&... arguments) {
    send_at<Method>(0, index, std::forward<A>(arguments)...);
  }
  template <auto Method, class... A>
  void send_at(int priority, std::size_t index, A&&... arguments) {
    const tasks_detail::writer task =
        make_task<Method>(tasks_detail::action::one, index, std::forward<A>(arguments)...);
    shmemx_task_send(owners_[index], tasks_detail::kObjects, task.data(), task.size(), priority);
  }
  /* The same, and brings the result of the entry. */
  template <auto Method, class... A>
  task_future<typename tasks_detail::entry<Method>::traits::result> call(std::size_t index, A&&... arguments) {
    const tasks_detail::writer task =
        make_task<Method>(tasks_detail::action::call, index, std::forward<A>(arguments)...);
    return {owners_[index], tasks_detail::kObjects, task.data(), task.size()};
  }
  /* Calls an entry of all objects. */
  template <auto Method, class... A>
  void broadcast(A&&... arguments) {
    const tasks_detail::writer task = make_task<Method>(tasks_detail::action::all, 0, std::forward<A>(arguments)...);
    shmemx_task_multicast(SHMEM_TEAM_WORLD, tasks_detail::kObjects, task.data(), task.size(), 0);
  }
  /* To be called by each object once for a reduction: when all have, an entry of all objects is called with the result.
     Reductions may overlap; all objects take part in them in the same order. `op` is commutative and associative. */
  template <auto Method, class V, class Op>
  void contribute(const T& object, const V& value, Op) {
    static_assert(std::is_trivially_copyable_v<V> && std::is_empty_v<Op>);
    add_to_reduction<Method, V, Op>(contributed_[&object]++, value, 1);
  }

  /* For reductions of other PEs, not for programs. */
  template <auto Method, class V, class Op>
  void add_to_reduction(std::uint64_t number, const V& value, std::uint64_t objects) {
    static_cast<void>(tasks_detail::reduction<Method, V, Op>::is_added);
    partial& sum = partials_[number];
    if (sum.objects == 0) {
      sum.value.resize(sizeof(V));
      std::memcpy(sum.value.data(), &value, sizeof(V));
    } else {
      const V both = Op()(tasks_detail::reader(sum.value.data()).template take<V>(), value);
      std::memcpy(sum.value.data(), &both, sizeof(V));
    }
    sum.objects += objects;
    if (sum.objects != below_) return;
    const V whole = tasks_detail::reader(sum.value.data()).template take<V>();
    partials_.erase(number);
    if (me_ == 0) return broadcast<Method>(whole);
    tasks_detail::writer task;
    task.put(tasks_detail::head{tasks_detail::action::partial, number_, tasks_detail::reduction<Method, V, Op>::hash(),
                                number});
    task.put(below_);
    task.put(whole);
    shmemx_task_send((me_ - 1) / 2, tasks_detail::kObjects, task.data(), task.size(), 0);
  }

 private:
  struct partial {
    std::uint64_t objects = 0;
    std::vector<unsigned char> value;
  };

  static int block_owner(std::size_t n, std::size_t index) {
    return static_cast<int>(index * static_cast<std::size_t>(shmem_n_pes()) / n);
  }
  /* Returns whether the reductions of that PE pass through this one: PEs form a binary tree. */
  bool is_below(int pe) const {
    while (pe > me_) pe = (pe - 1) / 2;
    return pe == me_;
  }

  template <auto Method, class... A>
  tasks_detail::writer make_task(tasks_detail::action what, std::uint64_t index, A&&... arguments) {
    using entry = tasks_detail::entry<Method>;
    static_assert(std::is_same_v<typename entry::object, T>, "an entry of this array's objects");
    static_cast<void>(entry::is_added);
    tasks_detail::writer task;
    task.put(tasks_detail::head{what, number_, entry::hash(), index});
    entry::traits::write(task, std::forward<A>(arguments)...);
    return task;
  }

  void act(const tasks_detail::head& of, tasks_detail::reader arguments) override {
    const auto& functions = tasks_detail::entries_of<T>().at(of.entry);
    switch (of.what) {
      case tasks_detail::action::one:
        return functions.call(*objects_.at(of.index), arguments, false);
      case tasks_detail::action::call:
        return functions.call(*objects_.at(of.index), arguments, true);
      case tasks_detail::action::all:
        for (auto& object : objects_) functions.call(*object.second, arguments, false);
        return;
      case tasks_detail::action::partial:
        return functions.add(*this, of.index, arguments);
    }
  }

  std::vector<int> owners_;
  int me_;
  std::uint64_t number_ = 0;
  std::uint64_t below_ = 0; /* objects of this PE and of those below it in the tree */
  std::map<std::size_t, std::unique_ptr<T>> objects_;
  std::unordered_map<const T*, std::uint64_t> contributed_;
  std::map<std::uint64_t, partial> partials_;
};

} /* namespace shmemx */

#endif
