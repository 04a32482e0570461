#include "settings.hpp"

#include <rdma/fabric.h>
#include <sys/random.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "random.hpp"
#include "shared.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

constexpr int kBasic = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
constexpr std::size_t kGigabyte = std::size_t{1} << 30;
constexpr std::size_t kMostEager = kInlineBytes;
constexpr std::uint64_t kVerbsOrder = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAW | FI_ORDER_WAS |
                                      FI_ORDER_SAW | FI_ORDER_SAS | FI_ORDER_RMA_WAW | FI_ORDER_RMA_RAR |
                                      FI_ORDER_RMA_RAW;

// clang-format off
//  name     mode         mr_mode                           key  order
//           inject sends receives message     eager          parts remote
constexpr Mode kModes[] = {
  {"plain", 0,           kBasic,                            8,   FI_ORDER_SAS | FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_RMA_WAW,
            {256,   128,  128,     kGigabyte,  kMostEager,    4,    4}, kWaitFd | kWaitSet | kFence | kAvMap},
  {"efa",   FI_CONTEXT2, kBasic | FI_MR_LOCAL,              8,   FI_ORDER_SAS,
            {32,    32,   64,      kGigabyte,  kMostEager,    4,    1}, kAvMap},
  {"cxi",   0,           FI_MR_ENDPOINT | FI_MR_ALLOCATED,  4,   FI_ORDER_SAS,
            {192,   64,   64,      kGigabyte,  16384,         1,    1}, kWaitFd | kFence | kSeparateRelease},
  {"verbs", 0,           kBasic | FI_MR_LOCAL,              8,   kVerbsOrder,
            {64,    16,   64,      128 << 10,  kMostEager,    4,    4}, kWaitFd | kAvMap | kSlowConnect},
  {"psm3",  FI_CONTEXT2, 0,                                 8,   FI_ORDER_SAS,
            {64,    64,   64,      kGigabyte,  kMostEager,    4,    1}, kWaitFd | kAvMap | kAutoControl},
  {"raw",   FI_CONTEXT,  kBasic | FI_MR_RAW,                24,  FI_ORDER_SAS | FI_ORDER_SAW,
            {64,    32,   64,      kGigabyte,  16384,         4,    1}, kWaitFd | kAvMap},
};
// clang-format on

}  // namespace

const Mode* mode_of(const char* name) noexcept {
  for (const Mode& mode : kModes) {
    if (std::strcmp(mode.name, name) == 0) return &mode;
  }
  return nullptr;
}

const Mode& chosen_mode() {
  const char* name = std::getenv("SHMEMX_TEST_PROVIDER");
  if (name == nullptr || name[0] == '\0') name = "plain";
  const Mode* mode = mode_of(name);
  if (mode == nullptr)
    violation("SHMEMX_TEST_PROVIDER is '%s', allowed are plain, efa, cxi, verbs, psm3 and raw", name);
  return *mode;
}

std::uint64_t chosen_seed() noexcept {
  const char* text = std::getenv("SHMEMX_TEST_PROVIDER_SEED");
  return text != nullptr && text[0] != '\0' ? std::strtoull(text, nullptr, 0) : 1;
}

SoftwareRma chosen_software() {
  const char* text = std::getenv("SHMEMX_TEST_PROVIDER_SOFTWARE");
  const std::string_view name = text != nullptr ? text : "";
  if (name != "" && name != "rma" && name != "reads" && name != "writes")
    violation("SHMEMX_TEST_PROVIDER_SOFTWARE is '%s', allowed are rma, reads and writes", text);
  return {name == "rma" || name == "reads", name == "rma" || name == "writes"};
}

std::uint64_t chosen_registration_limit() noexcept {
  const char* text = std::getenv("SHMEMX_TEST_PROVIDER_MEMORY");
  return text != nullptr && text[0] != '\0' ? std::strtoull(text, nullptr, 0) : ~std::uint64_t{0};
}

const char* log_file() noexcept {
  const char* name = std::getenv("SHMEMX_TEST_PROVIDER_LOG");
  return name != nullptr && name[0] != '\0' ? name : nullptr;
}

std::uint64_t unique_number() noexcept {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number) continue;
  return number | 1;
}

}  // namespace strict_provider
