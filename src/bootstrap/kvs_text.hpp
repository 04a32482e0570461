// Passes long texts and arbitrary bytes through a store that takes short values of few characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "bootstrap/backends.hpp"

namespace shmemx::bootstrap {

// Puts and gets a text in pieces, under "<key>-0", "<key>-1"... The first piece holds their number.
Status put_text(Kvs& kvs, const std::string& key, const std::string& text);
Result<std::string> get_text(Kvs& kvs, int owner, const std::string& key);

// Encode six bits in each character: letters, digits, '-' and '_'.
std::string encode_bytes(std::span<const std::byte> bytes);
Result<std::string> decode_bytes(const std::string& text);

}  // namespace shmemx::bootstrap
