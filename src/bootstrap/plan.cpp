#include "bootstrap/plan.hpp"

#include <inttypes.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "bootstrap/combining.hpp"
#include "bootstrap/kvs_text.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr std::string_view kOneGroup = "one:";     // then the offer
constexpr std::string_view kManyGroups = "many:";  // then the job, the leaders, and the makers' hosts, each after ':'

Error damaged() { return Error{Errc::protocol, 0, "the first PE's plan in the key-value store is damaged"}; }

}  // namespace

std::string encode(const MakerHosts& hosts) {
  std::vector<std::string> lines = hosts.names;
  lines.push_back(hosts.why);
  const std::string text = pack_lines(lines);
  return encode_bytes(std::as_bytes(std::span(text.data(), text.size())));
}

Result<MakerHosts> decode_maker_hosts(const std::string& text) {
  SHMEMX_TRY_ASSIGN(bytes, decode_bytes(text));
  SHMEMX_TRY_ASSIGN(lines, unpack_lines(bytes));
  if (lines.empty()) return damaged();
  MakerHosts hosts;
  hosts.why = std::move(lines.back());
  lines.pop_back();
  hosts.names = std::move(lines);
  return hosts;
}

std::string encode(const Plan& plan) {
  if (plan.one_group) return std::string(kOneGroup) + encode(plan.offer);
  char job[3 * 17 + 1];
  std::snprintf(job, sizeof job, "%" PRIx64 ".%" PRIx64 ".%" PRIx64, plan.job_id, plan.secret[0], plan.secret[1]);
  return std::string(kManyGroups) + job + ":" + encode(plan.leaders) + ":" + encode(plan.makers);
}

Result<Plan> decode_plan(const std::string& text, int n_pes) {
  Plan plan;
  if (text.starts_with(kOneGroup)) {
    SHMEMX_TRY_ASSIGN(offer, decode_offer(text.substr(kOneGroup.size())));
    plan.leaders.assign(static_cast<std::size_t>(n_pes), 0);
    plan.one_group = true;
    plan.offer = offer;
    return plan;
  }
  int end = -1;
  const int n = std::sscanf(text.c_str(), "many:%" SCNx64 ".%" SCNx64 ".%" SCNx64 ":%n", &plan.job_id, &plan.secret[0],
                            &plan.secret[1], &end);
  const std::size_t first = n == 3 && end > 0 ? static_cast<std::size_t>(end) : text.size();
  const std::size_t colon = text.find(':', first);
  if (colon == std::string::npos) return damaged();
  SHMEMX_TRY_ASSIGN(leaders, decode_leaders(text.substr(first, colon - first), n_pes));
  SHMEMX_TRY_ASSIGN(makers, decode_maker_hosts(text.substr(colon + 1)));
  if (makers.names.size() != makers_of(leaders).size()) return damaged();
  plan.leaders = std::move(leaders);
  plan.makers = std::move(makers);
  return plan;
}

std::vector<int> makers_of(const Leaders& leaders) {
  std::vector<int> makers;
  for (std::size_t pe = 0; pe < leaders.size(); ++pe) {
    if (leaders[pe] == static_cast<int>(pe)) makers.push_back(leaders[pe]);
  }
  return makers;
}

MakerHosts describe_makers(const std::vector<int>& makers, const Hosts& hosts) {
  MakerHosts described;
  std::map<std::uint64_t, int> first_of;  // by machine
  for (const int maker : makers) {
    const HostDescription& host = hosts.of(maker);
    described.names.push_back(host.host);
    const auto [first, is_new] = first_of.emplace(host.machine, maker);
    if (!is_new && described.why.empty())
      described.why = describe_parting(first->second, hosts.of(first->second), maker, host);
  }
  return described;
}

}  // namespace shmemx::bootstrap
