#include "stats/trace_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "base/call_site.hpp"
#include "base/unique_fd.hpp"
#include "stats/ring.hpp"

namespace shmemx::stats {
namespace {

// A file of a node, mapped.
class NodeFile {
 public:
  explicit NodeFile(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!fd.valid() || ::fstat(fd.get(), &status) != 0 || status.st_size < static_cast<off_t>(part_bytes(1))) return;
    bytes_ = static_cast<std::size_t>(status.st_size);
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd.get(), 0);
    at_ = memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
  }
  NodeFile(NodeFile&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  NodeFile& operator=(NodeFile&&) = delete;
  ~NodeFile() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
  }

  // Returns the parts of the last job that wrote here.
  std::vector<Part> parts() const {
    std::vector<Part> found;
    const std::size_t step = part_step();
    const RingHeader* newest = nullptr;
    for (std::size_t at = 0; step != 0 && at + step <= bytes_; at += step) {
      const Part part{at_ + at};
      if (!is_valid(part.header(), step)) continue;
      if (newest == nullptr || part.header().begun_ns > newest->begun_ns) newest = &part.header();
      found.push_back(part);
    }
    std::erase_if(found, [newest](const Part& part) { return part.header().job != newest->job; });
    return found;
  }

 private:
  static bool is_valid(const RingHeader& header, std::size_t step) {
    return header.magic == kRingMagic && header.capacity != 0 && part_bytes(header.capacity) == step &&
           header.owner.pe < header.owner.n_pes;
  }
  // The first part may be of a PE that has not begun.
  std::size_t part_step() const {
    for (std::size_t at = 0; at_ != nullptr && at + kPageBytes <= bytes_; at += kPageBytes) {
      const auto& header = *reinterpret_cast<const RingHeader*>(at_ + at);
      if (header.magic == kRingMagic && header.capacity != 0 && header.n_parts != 0 && bytes_ % header.n_parts == 0)
        return bytes_ / header.n_parts;
    }
    return 0;
  }

  std::byte* at_ = nullptr;
  std::size_t bytes_ = 0;
};

struct TimedEvent {
  std::int64_t begin_ns;  // of PE 0's clock
  std::uint64_t ns;
  const TraceEvent* event;
};

// One PE: its part, and the clock of its node.
struct PeTrace {
  Part part;
  ClockMap clock;
  std::vector<TimedEvent> spans;
  std::uint64_t lost = 0;

  const OpenCall* open() const noexcept { return part.header().open; }
};

// The end of what has been recorded, for calls that have not ended.
std::int64_t last_end(const std::vector<PeTrace>& pes) {
  std::int64_t last = INT64_MIN;
  for (const PeTrace& pe : pes) {
    for (const TimedEvent& span : pe.spans) last = std::max(last, span.begin_ns + static_cast<std::int64_t>(span.ns));
    for (std::size_t i = 0; i < kOpenCalls; ++i) {
      const std::uint64_t begin_ns = pe.open()[i].begin_ns.load(std::memory_order_acquire);  // recorded
      if (begin_ns != 0) last = std::max(last, pe.clock.reference_ns(begin_ns));
    }
  }
  return last;
}

using Site = std::pair<std::string, std::uintptr_t>;  // an executable, and an address of its file
using Places = std::map<Site, std::string>;

Site site_of(const PeTrace& pe, const TraceEvent& event) {
  const RingProgram& program = pe.part.header().program;
  if (event.caller <= program.begin || event.caller > program.end) return {{}, 0};
  return {program.path, event.caller - 1 - program.load_bias};  // within the call, not behind it
}

// Spans that the PE has written to their end.
void read_spans(PeTrace& pe) {
  const RingHeader& header = pe.part.header();
  const std::uint64_t end = header.written.load(std::memory_order_relaxed);
  const std::uint64_t begin = end > header.capacity ? end - header.capacity : 0;
  pe.lost = begin;
  for (std::uint64_t index = begin; index < end; ++index) {
    const TraceEvent& event = pe.part.slots()[index % header.capacity].event;
    const auto round = static_cast<std::uint32_t>(index / header.capacity) + 1;
    if (event.sequence.load(std::memory_order_acquire) != round) continue;  // recorded
    if (event.end_ns < event.begin_ns || event.routine >= kRoutines) continue;
    const std::int64_t begin_ns = pe.clock.reference_ns(event.begin_ns);
    pe.spans.push_back({begin_ns, static_cast<std::uint64_t>(pe.clock.reference_ns(event.end_ns) - begin_ns), &event});
  }
  std::sort(pe.spans.begin(), pe.spans.end(), [](const TimedEvent& a, const TimedEvent& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.ns > b.ns;
  });
}

std::vector<PeTrace> read_pes(const std::vector<NodeFile>& files) {
  std::vector<PeTrace> pes;
  for (const NodeFile& file : files) {
    const std::vector<Part> parts = file.parts();
    if (parts.empty()) continue;
    const ClockMap clock = parts.front().header().clock;  // of the lowest PE of the node
    for (const Part& part : parts) {
      pes.push_back({part, clock, {}});
      read_spans(pes.back());
    }
  }
  std::sort(pes.begin(), pes.end(),
            [](const PeTrace& a, const PeTrace& b) { return a.part.header().owner.pe < b.part.header().owner.pe; });
  return pes;
}

Places find_places(const std::vector<PeTrace>& pes) {
  Places places;
  for (const PeTrace& pe : pes) {
    for (const TimedEvent& span : pe.spans) {
      const Site site = site_of(pe, *span.event);
      if (site.second != 0) places[site];
    }
  }
  for (auto first = places.begin(); first != places.end();) {
    const std::string& executable = first->first.first;
    auto last = first;
    std::vector<std::uintptr_t> sites;
    for (; last != places.end() && last->first.first == executable; ++last) sites.push_back(last->first.second);
    const std::vector<std::string> texts = call_site_texts(executable, sites);
    for (std::size_t i = 0; first != last; ++first) first->second = texts[i++];
  }
  return places;
}

// ---- JSON ----

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

// Microseconds with all digits of nanoseconds.
std::string micros(std::uint64_t ns) {
  char text[48];
  std::snprintf(text, sizeof text, "%" PRIu64 ".%03u", ns / 1000, static_cast<unsigned>(ns % 1000));
  return text;
}

class Writer {
 public:
  struct Times {
    std::int64_t begin_ns;
    std::int64_t end_ns;
  };
  Writer(std::FILE* file, const Places& places, Times times) : file_(file), places_(places), times_(times) {}

  void write_pe(const PeTrace& pe) {
    const RingOwner& owner = pe.part.header().owner;
    write_name(owner, "process_name", "\"name\":\"PE " + std::to_string(owner.pe) + "\"");
    write_name(owner, "process_labels",
               "\"labels\":" + quoted("node " + std::to_string(owner.node) + ", " + owner.host));
    write_name(owner, "process_sort_index", "\"sort_index\":" + std::to_string(owner.pe));
    for (const TimedEvent& span : pe.spans) write_span(pe, span);
    for (std::size_t i = 0; i < kOpenCalls; ++i) write_open(pe, i);
  }

 private:
  void begin_row() {
    std::fputs(is_first_ ? "\n" : ",\n", file_);
    is_first_ = false;
  }

  void write_name(const RingOwner& owner, const char* what, const std::string& arguments) {
    begin_row();
    std::fprintf(file_, R"({"ph":"M","pid":%u,"name":"%s","args":{%s}})", owner.pe, what, arguments.c_str());
  }

  void write_span(const PeTrace& pe, const TimedEvent& span) {
    const TraceEvent& event = *span.event;
    begin_row();
    std::fprintf(file_, R"({"ph":"X","pid":%u,"tid":%u,"ts":%s,"dur":%s,"cat":"%s","name":%s,"args":{%s}})",
                 pe.part.header().owner.pe, event.thread,
                 micros(static_cast<std::uint64_t>(span.begin_ns - times_.begin_ns)).c_str(), micros(span.ns).c_str(),
                 category(event.family), quoted(name_of(pe, event.routine)).c_str(), arguments(pe, event).c_str());
  }

  void write_open(const PeTrace& pe, std::size_t thread) {
    const OpenCall& open = pe.open()[thread];
    const std::uint64_t own_ns = open.begin_ns.load(std::memory_order_acquire);  // recorded
    const std::int64_t begin_ns = pe.clock.reference_ns(own_ns);
    if (own_ns == 0 || begin_ns < times_.begin_ns || open.routine >= kRoutines) return;
    begin_row();
    std::fprintf(
        file_, R"({"ph":"X","pid":%u,"tid":%zu,"ts":%s,"dur":%s,"cat":"%s","name":%s,"args":{"unfinished":1}})",
        pe.part.header().owner.pe, thread + 1, micros(static_cast<std::uint64_t>(begin_ns - times_.begin_ns)).c_str(),
        micros(static_cast<std::uint64_t>(times_.end_ns - begin_ns)).c_str(), category(open.family),
        quoted(name_of(pe, open.routine)).c_str());
  }

  static const char* category(Family of) {
    const std::size_t family = index_of(of);
    return family < kFamilies ? kFamilyNames[family] : "unknown";
  }

  static std::string_view name_of(const PeTrace& pe, RoutineId routine) {
    const std::string_view name(pe.part.name(routine), kRoutineBytes);
    return name.substr(0, name.find('\0'));
  }

  std::string arguments(const PeTrace& pe, const TraceEvent& event) const {
    std::string text;
    const auto add = [&text](const char* name, const std::string& value) {
      text += (text.empty() ? "\"" : ",\"") + std::string(name) + "\":" + value;
    };
    if (event.family == Family::task) {
      add("from", std::to_string(event.pe));
      add("handler", std::to_string(event.context));
    } else if (event.pe >= 0) {
      add("pe", std::to_string(event.pe));
      add("path", quoted(kPathNames[index_of(event.path) % kPaths]));
    }
    if (event.family != Family::wait) add("bytes", std::to_string(event.bytes));
    if (event.context != 0 && event.family != Family::task) add("context", std::to_string(event.context));
    const auto place = places_.find(site_of(pe, event));
    if (place != places_.end() && !place->second.empty()) add("place", quoted(place->second));
    return text;
  }

  std::FILE* const file_;
  const Places& places_;
  const Times times_;
  bool is_first_ = true;
};

std::int64_t first_begin(const std::vector<PeTrace>& pes) {
  std::int64_t first = INT64_MAX;
  for (const PeTrace& pe : pes) {
    if (!pe.spans.empty()) first = std::min(first, pe.spans.front().begin_ns);
  }
  return first == INT64_MAX ? 0 : first;
}

void write_all(std::FILE* file, const std::vector<PeTrace>& pes, const TraceResult& result) {
  const Places places = find_places(pes);
  std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
  Writer writer(file, places, {first_begin(pes), last_end(pes)});
  for (const PeTrace& pe : pes) writer.write_pe(pe);
  std::uint64_t error_ns = 0;
  std::int64_t drift_ns = 0;
  int comparisons = 0;
  for (const PeTrace& pe : pes) {
    error_ns = std::max(error_ns, pe.clock.error_ns());
    comparisons = std::max(comparisons, pe.clock.comparisons());
    if (std::abs(pe.clock.drift_ns()) > std::abs(drift_ns)) drift_ns = pe.clock.drift_ns();
  }
  std::fprintf(file,
               "\n],\"otherData\":{\"library\":\"shmemx\",\"pes\":%zu,\"missing_pes\":%zu,\"lost_events\":%zu,"
               "\"clock_error_ns\":%" PRIu64 ",\"clock_drift_ns\":%" PRId64 ",\"clock_comparisons\":%d}}\n",
               result.n_pes, result.n_missing, result.n_lost, error_ns, drift_ns, comparisons);
}

TraceResult result_of(const std::vector<PeTrace>& pes) {
  TraceResult result{.n_pes = pes.size()};
  result.n_missing = pes.front().part.header().owner.n_pes - pes.size();
  for (const PeTrace& pe : pes) {
    result.n_events += pe.spans.size();
    result.n_lost += pe.lost;
  }
  return result;
}

}  // namespace

// A reader of the output never sees half of it.
Result<TraceResult> write_trace(const TraceSource& source, const std::string& output) {
  std::vector<NodeFile> files;
  for (const std::string& path : source.files) files.emplace_back(path);
  const std::vector<PeTrace> pes = read_pes(files);
  if (pes.empty()) return Error{Errc::invalid_argument, 0, "no file of a trace can be read"};
  const TraceResult result = result_of(pes);
  const std::string unfinished = output + ".part";
  std::FILE* const file = std::fopen(unfinished.c_str(), "we");
  if (file == nullptr) return system_error("cannot write " + unfinished);
  write_all(file, pes, result);
  const bool is_written = std::ferror(file) == 0;
  if (std::fclose(file) != 0 || !is_written || std::rename(unfinished.c_str(), output.c_str()) != 0)
    return system_error("cannot write " + output);
  return result;
}

}  // namespace shmemx::stats
