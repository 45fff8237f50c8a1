#include "udp/udp_asker.h"

namespace TURTLE_SERVER {

UdpAsker::UdpAsker(Looper& /*looper*/, const NetAddress& /*server*/,
                   const AskOptions& /*options*/) {}

UdpAsker::~UdpAsker() = default;

auto UdpAsker::Ask(std::string_view /*question*/, AnswerCallback /*callback*/) -> bool {
  return false;  // TODO: send, and send again
}

auto UdpAsker::Open() const noexcept -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
