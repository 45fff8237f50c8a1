#include "web/long_poll.h"

namespace TURTLE_SERVER {

class LongPoll::Room {};

LongPoll::LongPoll(std::size_t /*max_waiting*/) {
  // TODO
}

LongPoll::~LongPoll() = default;

void LongPoll::Wait(std::int64_t /*after*/, const Responder& /*responder*/) {
  // TODO
}

auto LongPoll::Say(std::string_view /*text*/) -> std::int64_t {
  return 0;  // TODO
}

void LongPoll::End() {
  // TODO
}

auto LongPoll::Waiting() const -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
