#include "windows/memory_watch.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/cache_line.hpp"
#include "base/machine.hpp"

namespace shmemx::windows {
namespace {

constexpr std::size_t kWatchStackBytes = std::size_t{64} << 10;
constexpr std::uint64_t kReports = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;

// Without the right to handle faults of the kernel, which are none of ours: nobody needs a privilege for it.
UniqueFd open_reports() noexcept {
  UniqueFd fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kReports;
  if (!fd.valid() || ::ioctl(fd.get(), UFFDIO_API, &api) != 0 || (api.features & kReports) != kReports) fd.reset();
  return fd;
}

std::pair<std::uint64_t, std::uint64_t> pages_of(const std::byte* base, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  return {round_down(begin, page_bytes()), round_up(begin + bytes, page_bytes())};
}

}  // namespace

bool MemoryWatch::open() noexcept {
  if (reports_.valid()) return true;
  if (has_failed_) return false;
  reports_ = open_reports();
  stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (reports_.valid() && stop_.valid() && start_thread()) return true;
  has_failed_ = true;
  reports_.reset();
  stop_.reset();
  return false;
}

// Signals of the program go to the program's threads.
bool MemoryWatch::start_thread() noexcept {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kWatchStackBytes);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&thread_, &attributes, run, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return error == 0;
}

void* MemoryWatch::run(void* watch) {
  auto& self = *static_cast<MemoryWatch*>(watch);
  thread_id_.store(::gettid(), std::memory_order_relaxed);  // a thread that is not known counts as the program's
  ::prctl(PR_SET_NAME, "shmemx-watch");
  pollfd files[] = {{self.reports_.get(), POLLIN, 0}, {self.stop_.get(), POLLIN, 0}};
  while (files[1].revents == 0) {
    if (::poll(files, 2, -1) > 0 && files[0].revents != 0) self.read_reports();
  }
  return nullptr;
}

void MemoryWatch::read_reports() noexcept {
  is_reading_.store(true, std::memory_order_seq_cst);  // before a call of the program that waits for the read returns
  uffd_msg report;
  while (::read(reports_.get(), &report, sizeof report) == static_cast<ssize_t>(sizeof report)) {
    if (report.event == UFFD_EVENT_REMAP)
      note_change(report.arg.remap.from, report.arg.remap.from + report.arg.remap.len);
    else if (report.event == UFFD_EVENT_UNMAP || report.event == UFFD_EVENT_REMOVE)
      note_change(report.arg.remove.start, report.arg.remove.end);
  }
  is_reading_.store(false, std::memory_order_release);  // changed
}

void MemoryWatch::note_change(std::uint64_t begin, std::uint64_t end) noexcept {
  for (Range& range : ranges_) {
    const std::uint64_t range_end = range.end.load(std::memory_order_acquire);  // watched
    if (begin < range_end && range.begin.load(std::memory_order_relaxed) < end)
      range.is_changed.store(true, std::memory_order_relaxed);  // changed publishes it
  }
}

std::uint32_t MemoryWatch::watch(const std::byte* base, std::size_t bytes) noexcept {
  if (bytes == 0 || !open()) return 0;
  const auto is_free = [](const Range& range) { return range.end.load(std::memory_order_relaxed) == 0; };
  Range* const range = std::find_if(std::begin(ranges_), std::end(ranges_), is_free);
  if (range == std::end(ranges_)) return 0;
  const auto [begin, end] = pages_of(base, bytes);
  range->begin.store(begin, std::memory_order_relaxed);
  range->is_changed.store(false, std::memory_order_relaxed);
  range->end.store(end, std::memory_order_release);  // watched
  if (register_anonymous(begin, end)) return static_cast<std::uint32_t>(range - std::begin(ranges_)) + 1;
  range->end.store(0, std::memory_order_relaxed);
  return 0;
}

// Registers no page for faults that happen: none is write-protected. Holes that are punched into a file, or its
// truncation, are not reported; only mappings of files in memory can be registered for minor faults.
bool MemoryWatch::register_anonymous(std::uint64_t begin, std::uint64_t end) noexcept {
  uffdio_register request{};
  request.range = {begin, end - begin};
  request.mode = UFFDIO_REGISTER_MODE_MINOR;
  if (::ioctl(reports_.get(), UFFDIO_REGISTER, &request) == 0) {
    unregister(begin, end);
    return false;
  }
  request.mode = UFFDIO_REGISTER_MODE_WP;
  return ::ioctl(reports_.get(), UFFDIO_REGISTER, &request) == 0;
}

bool MemoryWatch::end_watch(std::uint32_t number) noexcept {
  Range& range = ranges_[number - 1];
  // Before the thread sees the end: a report that it notes at the moment would not be marked any more.
  const bool unchanged =
      !is_reading_.load(std::memory_order_seq_cst) && !range.is_changed.load(std::memory_order_relaxed);  // changed
  const std::uint64_t begin = range.begin.load(std::memory_order_relaxed);
  unregister_unshared(begin, range.end.exchange(0, std::memory_order_relaxed));
  return unchanged;
}

// Pages may belong to other ranges, too.
void MemoryWatch::unregister_unshared(std::uint64_t begin, std::uint64_t end) noexcept {
  while (begin < end) {
    std::uint64_t next = end;  // where the nearest other range begins
    std::uint64_t covered = begin;
    for (const Range& other : ranges_) {
      const std::uint64_t other_begin = other.begin.load(std::memory_order_relaxed);
      const std::uint64_t other_end = other.end.load(std::memory_order_relaxed);
      if (other_end <= begin) continue;
      if (other_begin <= begin)
        covered = std::max(covered, other_end);
      else
        next = std::min(next, other_begin);
    }
    if (covered == begin) unregister(begin, next);
    begin = covered == begin ? next : covered;
  }
}

// Where parts have been unmapped or replaced by mappings of other kinds, the kernel refuses the whole.
void MemoryWatch::unregister(std::uint64_t begin, std::uint64_t end) noexcept {
  uffdio_range range{begin, end - begin};
  if (::ioctl(reports_.get(), UFFDIO_UNREGISTER, &range) == 0 || end - begin <= page_bytes()) return;
  const std::uint64_t middle = round_down(begin + (end - begin) / 2, page_bytes());
  unregister(begin, middle);
  unregister(middle, end);
}

void MemoryWatch::close() noexcept {
  if (!reports_.valid()) return;
  for (std::uint32_t i = 0; i < kRanges; ++i) {
    if (ranges_[i].end.load(std::memory_order_relaxed) != 0) end_watch(i + 1);
  }
  const std::uint64_t one = 1;
  static_cast<void>(::write(stop_.get(), &one, sizeof one));
  ::pthread_join(thread_, nullptr);
  thread_id_.store(0, std::memory_order_relaxed);
  reports_.reset();
  stop_.reset();
}

}  // namespace shmemx::windows
