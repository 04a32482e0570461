// Tables by PE that take memory for the PEs in contact only: the state of a PE comes with the first message.
//
// ContactTable is an array of zeros in address space that the kernel backs on first touch, page by page, or, if it is
// small, on the heap. A look-up costs what it costs in any array, entries never move, and threads use it under the
// rules for arrays. Nothing may walk it: whoever has to visit PEs keeps a list of those in contact.
// Contacts is such a list, of objects with constructors, with a table to find them by PE. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace shmemx {

// Reserves zeros, aligned to cache lines. Aborts if there is no memory.
std::byte* reserve_zeros(std::size_t bytes) noexcept;
void release_zeros(std::byte* memory, std::size_t bytes) noexcept;

// All zeros must be the state of a PE that was never in contact.
template <class T>
class ContactTable {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  constexpr ContactTable() noexcept = default;
  ContactTable(const ContactTable&) = delete;
  ContactTable& operator=(const ContactTable&) = delete;
  constexpr ~ContactTable() { release(); }

  // Makes all entries zero, whatever the table has held before.
  void open(std::size_t n_pes) noexcept {
    release();
    entries_ = reinterpret_cast<T*>(reserve_zeros(n_pes * sizeof(T)));
    size_ = n_pes;
  }

  [[gnu::always_inline]] T& operator[](int pe) noexcept { return entries_[static_cast<std::size_t>(pe)]; }
  [[gnu::always_inline]] const T& operator[](int pe) const noexcept { return entries_[static_cast<std::size_t>(pe)]; }
  std::size_t size() const noexcept { return size_; }
  // The whole table, for those that look entries up without it.
  std::span<T> entries() const noexcept { return {entries_, size_}; }

 private:
  constexpr void release() noexcept {
    if (entries_ != nullptr) release_zeros(reinterpret_cast<std::byte*>(entries_), size_ * sizeof(T));
    entries_ = nullptr;
  }

  T* entries_ = nullptr;
  std::size_t size_ = 0;
};

// One thread at a time.
template <class T>
class Contacts {
 public:
  Contacts() = default;
  explicit Contacts(std::size_t n_pes) { open(n_pes); }
  Contacts(const Contacts&) = delete;
  Contacts& operator=(const Contacts&) = delete;
  ~Contacts() { clear(); }

  void open(std::size_t n_pes) {
    clear();
    table_.open(n_pes);
  }
  std::size_t n_pes() const noexcept { return table_.size(); }
  // Returns null before the first contact.
  T* find(int pe) const noexcept { return table_[pe]; }
  T* of(std::uint32_t pe) const noexcept { return entries()[pe]; }  // the same, without an extension of the sign
  // The objects by PE, null before the first contact.
  T* const* entries() const noexcept { return table_.entries().data(); }
  // Returns the object of `pe`; makes it at the first contact.
  template <class... Arguments>
  T& get(int pe, Arguments&&... arguments) {
    T* const known = find(pe);
    return known != nullptr ? *known : add(pe, std::forward<Arguments>(arguments)...);
  }
  // Makes the object of `pe`, which must have none.
  template <class... Arguments>
  T& add(int pe, Arguments&&... arguments) {
    T* const made = new T(std::forward<Arguments>(arguments)...);
    table_[pe] = made;
    list_.push_back(made);
    pes_.push_back(pe);
    return *made;
  }
  // The objects, in the order of contact.
  const std::vector<T*>& list() const noexcept { return list_; }
  void clear() noexcept {
    for (const std::int32_t pe : pes_) delete std::exchange(table_[pe], nullptr);
    list_.clear();
    pes_.clear();
  }

 private:
  ContactTable<T*> table_;
  std::vector<T*> list_;
  std::vector<std::int32_t> pes_;  // of `list_`
};

}  // namespace shmemx
