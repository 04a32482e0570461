// The places that long messages have been given and that are not complete. If the network that carries them fails,
// another one asks for places of the same messages, in the same order: a layer above has answered already, and is not
// asked twice. Under the endpoint's lock.
#pragma once

#include <cstddef>
#include <deque>
#include <unordered_map>

namespace shmemx::am {

class PendingPlaces {
 public:
  // Returns whether the place of the next message of `source` is known from another network.
  bool find(int source, unsigned network, std::byte*& place) {
    const auto found = sources_.find(source);
    if (found == sources_.end()) return false;
    Source& from = found->second;
    if (from.network != network) {
      from.network = network;
      from.again = from.places.size();
    }
    if (from.again == 0) return false;
    place = from.places[from.places.size() - from.again--];
    return true;
  }
  void note(int source, unsigned network, std::byte* place) {
    Source& from = sources_[source];
    from.network = network;
    from.places.push_back(place);
  }
  // The first one is complete.
  void note_complete(int source) {
    const auto found = sources_.find(source);
    if (found == sources_.end()) return;
    found->second.places.pop_front();
    if (found->second.places.empty()) sources_.erase(found);
  }

 private:
  struct Source {
    unsigned network = 0;
    std::size_t again = 0;  // of the places, the last ones, which the network has not asked for yet
    std::deque<std::byte*> places;
  };
  std::unordered_map<int, Source> sources_;
};

}  // namespace shmemx::am
