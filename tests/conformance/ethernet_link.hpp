// Engines of the transport ethernet on a simulated segment with a clock of its own. Frames may be lost, duplicated,
// delayed behind later ones, and changed, with given probabilities and always in the same way.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "endpoints.hpp"
#include "transport/ethernet/engine.hpp"

namespace ethernet_test {

using shmemx::ethernet::EndpointAddress;
using shmemx::ethernet::Engine;
using shmemx::ethernet::OutgoingFrame;
using shmemx::ethernet::Port;
using shmemx::transport::Bytes;
using transport_test::AddressBook;
using transport_test::Recorder;
using transport_test::Setup;

struct Faults {
  double loss = 0;
  double duplicates = 0;
  double reordered = 0;
  double changed = 0;       // one bit of the frame
  std::size_t largest = 0;  // frames with a longer content vanish, as in a switch with a smaller MTU; 0: none do
};

using Frame = std::vector<std::byte>;  // from the Ethernet header on

class Segment {
 public:
  struct Options {
    int n = 2;
    unsigned networks = 1;                     // each PE has an interface to each
    std::vector<std::uint16_t> mtus = {1500};  // by PE; the last one holds for the others
    Faults faults = {};
    std::uint32_t silence_ms = 1000;
    std::uint32_t ring_frames = 1024;  // that a PE receives at once
    unsigned seed = 1;
  };
  explicit Segment(const Options& options);
  ~Segment();

  Engine& operator[](int pe) { return *engines_[static_cast<std::size_t>(pe)]; }
  Recorder& sink(int pe) { return *sinks_[static_cast<std::size_t>(pe)]; }
  Faults faults;
  std::vector<Frame> record;  // all frames that were sent, if is_recording
  bool is_recording = false;
  std::function<void()> before_send;  // called before frames are copied to the wire; may be empty
  int frozen = -1;                    // this PE computes: its engine is not called, and its frames wait
  int queue_room = -1;                // of each PE's port, in frames of a step; negative: no limit
  std::uint64_t overflows = 0;        // frames that found no room in a ring

  // Ends the engine of `pe` and starts another one, of a new life, at the same place.
  void restart(int pe);
  // Cuts or joins the link of `pe` to a network: frames to it vanish, and its port takes none.
  void set_link(int pe, unsigned network, bool works) { links_[static_cast<std::size_t>(pe)][network].works = works; }
  // Frames that `pe` sends to a network vanish.
  void set_mute(int pe, unsigned network, bool is_mute) {
    links_[static_cast<std::size_t>(pe)][network].is_mute = is_mute;
  }
  // A network carries this number of frames to each PE in a step; 0: no limit.
  void set_rate(unsigned network, std::size_t frames) { rates_[network] = frames; }
  // The port of `pe` to a network fails, as that of an interface that was taken down.
  void set_error(int pe, unsigned network, int error);
  void end(int pe) { engines_[static_cast<std::size_t>(pe)].reset(); }
  // Delivers what is on the way, lets all engines run, and lets a little time pass.
  void step();
  // Returns false if it does not happen within many steps.
  template <class Done>
  bool run_until(Done done, int steps = 400'000) {
    for (int i = 0; i < steps; ++i) {
      if (done()) return true;
      step();
    }
    return done();
  }
  // Gives a frame to whom it is addressed.
  void deliver(const Frame& frame);
  bool is_on_wire(const Frame& frame) const {
    return std::find(on_wire_.begin(), on_wire_.end(), frame) != on_wire_.end();
  }

  static std::uint64_t now() noexcept { return now_ns_; }

 private:
  struct Wire final : Port {
    Wire(Segment& owner, int number, unsigned of) : segment(owner), pe(number), network(of) {}
    std::size_t send(std::span<const OutgoingFrame> frames) noexcept override;
    void set_error(int error) { error_ = error; }
    Segment& segment;
    int pe;
    unsigned network;
    int in_queue = 0;
  };

  void open(int pe);
  struct Link {
    bool works = true;
    bool is_mute = false;
  };
  void put_on_wire(Frame frame);
  bool passes(const Frame& frame) const;
  bool happens(double probability) { return std::uniform_real_distribution<>(0, 1)(random_) < probability; }

  static inline std::uint64_t now_ns_ = 1'000'000'000;
  Options options_;
  std::mt19937 random_;
  std::vector<std::vector<std::unique_ptr<Wire>>> wires_;  // by PE and network
  std::vector<std::vector<Link>> links_;
  std::size_t rates_[4] = {};
  std::deque<Frame> on_wire_;
  std::uint32_t lives_ = 0;
  AddressBook book_;
  std::vector<std::unique_ptr<Recorder>> sinks_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace ethernet_test
