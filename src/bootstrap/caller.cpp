// A key-value store over allgather and barrier of the program that starts the library. A fence gathers what all PEs
// have put since the previous one, so every PE has all values, and get() asks nobody.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "bootstrap/backends.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr std::size_t kLongestValue = std::size_t{1} << 20;
constexpr std::size_t kLongestPiece = std::size_t{1} << 16;  // documented in shmemx/start.h
constexpr std::size_t kPieceOfAll = std::size_t{1} << 24;    // bytes of all PEs that one allgather should not exceed

// The first piece of each PE in a fence. All PEs see all of these, so they all find the same errors.
struct FirstPiece {
  std::int32_t pe;
  std::int32_t n_pes;
  std::uint64_t bytes;  // of the text; what does not fit here follows in longer pieces
  char text[240];
};
static_assert(sizeof(FirstPiece) == 256);

class CallerKvs final : public Kvs {
 public:
  explicit CallerKvs(const Caller& caller)
      : caller_(caller), values_(static_cast<std::size_t>(caller.identity.n_pes)) {}

  Identity identity() const override { return caller_.identity; }
  std::string_view name() const override { return "caller"; }
  std::size_t value_bytes() const override { return kLongestValue; }
  Status put(const std::string& key, const std::string& value) override {
    staged_ += key + "=" + value + "\n";
    return {};
  }
  Status fence() override;
  Status barrier() override;
  Result<std::string> get(int owner, const std::string& key) override;
  void abort(int status) override {
    if (caller_.abort != nullptr) caller_.abort(status, caller_.user);
  }
  bool ends_all() const override { return caller_.abort != nullptr; }
  void finalize() override {}

 private:
  Status gather(const void* mine, void* all, std::size_t bytes) const;
  Result<std::vector<FirstPiece>> gather_first_pieces() const;
  void keep(std::size_t pe, const std::string& text);

  Caller caller_;
  std::string staged_;                                      // put since the last fence
  std::vector<std::map<std::string, std::string>> values_;  // by PE
};

Status CallerKvs::gather(const void* mine, void* all, std::size_t bytes) const {
  const int result = caller_.allgather(mine, all, bytes, caller_.user);
  if (result == 0) return {};
  return Error{Errc::protocol, 0, "the calling program's allgather returned " + std::to_string(result)};
}

Result<std::vector<FirstPiece>> CallerKvs::gather_first_pieces() const {
  FirstPiece mine{caller_.identity.pe, caller_.identity.n_pes, staged_.size(), {}};
  std::memcpy(mine.text, staged_.data(), std::min(staged_.size(), sizeof mine.text));
  std::vector<FirstPiece> all(values_.size());
  SHMEMX_TRY(gather(&mine, all.data(), sizeof mine));
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    if (all[pe].pe == static_cast<int>(pe) && all[pe].n_pes == caller_.identity.n_pes) continue;
    return Error{Errc::invalid_argument, 0,
                 "the calling program's allgather delivers data of PE " + std::to_string(all[pe].pe) + " of " +
                     std::to_string(all[pe].n_pes) + " in the place of PE " + std::to_string(pe) + " of " +
                     std::to_string(caller_.identity.n_pes) +
                     "; 'my_pe' and 'n_pes' have to be those of the processes over which it gathers"};
  }
  return all;
}

void CallerKvs::keep(std::size_t pe, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t equals = std::min(text.find('=', at), end);
    values_[pe][text.substr(at, equals - at)] = text.substr(std::min(equals + 1, end), end - std::min(equals + 1, end));
    at = end + 1;
  }
}

Status CallerKvs::fence() {
  SHMEMX_TRY_ASSIGN(first, gather_first_pieces());
  std::vector<std::string> texts;
  std::uint64_t longest = 0;
  for (const FirstPiece& piece : first) {
    texts.emplace_back(piece.text, std::min<std::size_t>(piece.bytes, sizeof piece.text));
    longest = std::max(longest, piece.bytes);
  }
  const std::size_t most = std::clamp(kPieceOfAll / first.size(), sizeof(FirstPiece), kLongestPiece);
  for (std::size_t at = sizeof first[0].text; at < longest;) {
    const std::size_t bytes = std::min<std::size_t>(longest - at, most);
    std::string mine(bytes, '\0');
    if (at < staged_.size()) staged_.copy(mine.data(), bytes, at);
    std::string all(bytes * first.size(), '\0');
    SHMEMX_TRY(gather(mine.data(), all.data(), bytes));
    for (std::size_t pe = 0; pe < texts.size(); ++pe) {
      if (first[pe].bytes > at) texts[pe].append(all, pe * bytes, std::min<std::size_t>(first[pe].bytes - at, bytes));
    }
    at += bytes;
  }
  staged_.clear();
  for (std::size_t pe = 0; pe < texts.size(); ++pe) keep(pe, texts[pe]);
  return {};
}

Status CallerKvs::barrier() {
  const int result = caller_.barrier(caller_.user);
  if (result == 0) return {};
  return Error{Errc::protocol, 0, "the calling program's barrier returned " + std::to_string(result)};
}

Result<std::string> CallerKvs::get(int owner, const std::string& key) {
  const auto& values = values_[static_cast<std::size_t>(owner)];
  const auto found = values.find(key);
  if (found == values.end()) return Error{Errc::protocol, 0, "PE " + std::to_string(owner) + " has not put " + key};
  return found->second;
}

}  // namespace

KvsPtr make_caller_kvs(const Caller& caller) { return std::make_unique<CallerKvs>(caller); }

}  // namespace shmemx::bootstrap
