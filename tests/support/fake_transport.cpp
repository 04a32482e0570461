#include "fake_transport.hpp"

namespace test_support {

namespace transport = shmemx::transport;

const char* FakeTransport::name() const noexcept { return name_; }

transport::Sent FakeTransport::send(int pe, const transport::Header& fixed, transport::Bytes header,
                                    transport::Bytes payload, transport::Outgoing*,
                                    transport::Urgency urgency) noexcept {
  if (is_full) return transport::Sent::no;
  std::vector<std::byte> content(header.begin(), header.end());
  content.insert(content.end(), payload.begin(), payload.end());
  sent.push_back({pe, fixed.handler});
  contents.push_back(std::move(content));
  flags.push_back(fixed.flags);
  urgencies.push_back(urgency);
  return transport::Sent::yes;
}

}  // namespace test_support
