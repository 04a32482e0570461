#include "transport/ofi/peer.hpp"

#include <cctype>
#include <cstring>
#include <utility>

#include "transport/common/descriptors.hpp"

namespace shmemx::ofi {
namespace {

// An endpoint address: the provider's name, a zero byte, the endpoint's name.
struct AddressParts {
  std::string provider;
  std::string name;
};

bool parse_address(Bytes address, AddressParts& parts) {
  const char* text = reinterpret_cast<const char*>(address.data());
  const void* zero = address.empty() ? nullptr : std::memchr(text, 0, address.size());
  if (zero == nullptr) return false;
  const auto length = static_cast<std::size_t>(static_cast<const char*>(zero) - text);
  parts.provider.assign(text, length);
  parts.name.assign(text + length + 1, address.size() - length - 1);
  return !parts.name.empty();
}

}  // namespace

Peers::Peers(Fabric& fabric, const Setup& setup)
    : fabric_(fabric), setup_(setup), peers_(static_cast<std::size_t>(setup.n_pes)) {}

std::string Peers::own_address() const { return fabric_.provider() + '\0' + fabric_.name(); }

Peer& Peers::contact(int pe) { return peers_.get(pe, pe, setup_, *source_, active_); }

bool Peers::connect(Peer& peer) {
  if (peer.address != FI_ADDR_NOTAVAIL) return true;
  if (peer.is_lost) return false;
  const Status status = insert(peer);
  if (!status) fail(peer, status.error().text);
  return status.has_value();
}

Status Peers::insert(Peer& peer) {
  const Bytes address = addresses_ != nullptr ? addresses_->address_of(peer.pe) : Bytes();
  if (address.empty()) return Error{Errc::unsupported, 0, "it has no libfabric endpoint"};
  AddressParts parts;
  if (!parse_address(address, parts)) return Error{Errc::protocol, 0, "its endpoint address cannot be read"};
  if (parts.provider != fabric_.provider()) {
    return Error{Errc::unsupported, 0,
                 "its libfabric provider is " + parts.provider + ", here it is " + fabric_.provider()};
  }
  if (fabric_.is_stream()) {
    std::string why = transport::why_no_more_connections("ofi", setup_.has_reserve);
    if (!why.empty()) return Error{Errc::no_memory, 0, std::move(why)};
  }
  const std::string own = fabric_.name();
  // The provider trusts the length of what it is given.
  if (parts.name.size() != own.size() ||
      fi_av_insert(fabric_.av.get(), parts.name.data(), 1, &peer.address, 0, nullptr) != 1) {
    peer.address = FI_ADDR_NOTAVAIL;
    return Error{Errc::unsupported, 0, fabric_.provider() + " does not accept its address"};
  }
  peer.name = std::move(parts.name);
  return {};
}

void Peers::fail(Peer& peer, std::string cause) {
  if (peer.is_lost) return;
  peer.is_lost = true;
  peer.in.queue.stop();
  newly_lost_.push_back(&peer);
  if (!cause.empty() && cause.size() > 1 && std::islower(static_cast<unsigned char>(cause[1])) != 0)
    cause[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(cause[0])));
  if (!peer.end.has_left) failures_.push_back({&peer, std::move(cause)});
}

std::vector<Peer*> Peers::take_newly_lost() { return std::exchange(newly_lost_, {}); }

bool Peers::report(bool is_closing) {
  if (failures_.empty()) return false;
  std::vector<Failure> failures;
  failures.swap(failures_);
  if (is_closing) return false;
  for (const Failure& failure : failures) setup_.sink->lost(failure.peer->pe, failure.cause);
  return true;
}

}  // namespace shmemx::ofi
