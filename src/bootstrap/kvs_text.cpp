#include "bootstrap/kvs_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace shmemx::bootstrap {
namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kCountBytes = 8;  // "<pieces>:" of the first piece
constexpr std::size_t kMaxPieces = 999'999;

std::string piece_key(const std::string& key, std::size_t piece) { return key + "-" + std::to_string(piece); }

// Returns -1 for a character that is no digit.
int digit_value(char c) {
  const char* const end = kDigits + 64;
  const char* const at = std::find(kDigits, end, c);
  return at == end ? -1 : static_cast<int>(at - kDigits);
}

}  // namespace

Status put_text(Kvs& kvs, const std::string& key, const std::string& text) {
  const std::size_t room = kvs.value_bytes();
  if (room <= kCountBytes) return Error{Errc::protocol, 0, "the launcher's key-value store takes no useful values"};
  const std::size_t first = std::min(text.size(), room - kCountBytes);
  const std::size_t n_pieces = 1 + (text.size() - first + room - 1) / room;
  if (n_pieces > kMaxPieces) {
    return Error{Errc::protocol, 0, std::to_string(text.size()) + " bytes are too much for the key-value store"};
  }
  SHMEMX_TRY(kvs.put(piece_key(key, 0), std::to_string(n_pieces) + ":" + text.substr(0, first)));
  for (std::size_t piece = 1; piece < n_pieces; ++piece) {
    SHMEMX_TRY(kvs.put(piece_key(key, piece), text.substr(first + (piece - 1) * room, room)));
  }
  return {};
}

Result<std::string> get_text(Kvs& kvs, int owner, const std::string& key) {
  SHMEMX_TRY_ASSIGN(head, kvs.get(owner, piece_key(key, 0)));
  char* end = nullptr;
  const unsigned long n_pieces = std::strtoul(head.c_str(), &end, 10);
  if (*end != ':' || n_pieces < 1 || n_pieces > kMaxPieces) {
    return Error{Errc::protocol, 0, "the value of " + key + " in the key-value store is not readable: '" + head + "'"};
  }
  std::string text = head.substr(static_cast<std::size_t>(end - head.c_str()) + 1);
  for (std::size_t piece = 1; piece < n_pieces; ++piece) {
    SHMEMX_TRY_ASSIGN(more, kvs.get(owner, piece_key(key, piece)));
    text += more;
  }
  return text;
}

std::string encode_bytes(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(bytes.size() * 4 / 3 + 1);
  std::uint32_t bits = 0;
  int n_bits = 0;
  for (const std::byte byte : bytes) {
    bits = bits << 8 | std::to_integer<std::uint32_t>(byte);
    for (n_bits += 8; n_bits >= 6; n_bits -= 6) text += kDigits[bits >> (n_bits - 6) & 63];
  }
  if (n_bits > 0) text += kDigits[bits << (6 - n_bits) & 63];
  return text;
}

Result<std::string> decode_bytes(const std::string& text) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int n_bits = 0;
  for (const char c : text) {
    const int value = digit_value(c);
    if (value < 0) return Error{Errc::protocol, 0, "the key-value store holds characters that nobody put there"};
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    n_bits += 6;
    if (n_bits < 8) continue;
    n_bits -= 8;
    bytes += static_cast<char>(bits >> n_bits & 0xff);
  }
  return bytes;
}

}  // namespace shmemx::bootstrap
