#include "core/lines_in_time.h"

#include <cstddef>
#include <utility>

namespace TURTLE_SERVER {

namespace {

void Await(Connection* client, Clock::duration time) {
  Looper* looper = client->GetLooper();
  looper->SetDeadline(client, looper->Now() + time);
}

// TODO: a client that sends a byte now and then stays forever.
void Handle(Connection* client, LineTimes times, const LineHandler& on_line) {
  const auto [read, exit] = client->Recv();
  if (exit) {
    client->GetLooper()->DeleteConnection(client->GetFd());
    return;
  }
  for (std::size_t end = client->Read().find('\n'); end != std::string_view::npos;
       end = client->Read().find('\n')) {
    on_line(client, client->Read().substr(0, end));
    client->Consume(end + 1);
  }
  if (read != 0) {
    Await(client, times.idle);
  }
}

}  // namespace

auto LinesInTime(LineTimes times, LineHandler on_line) -> ConnectionCallbacks {
  return {[times](Connection* client) { Await(client, times.idle); },
          [times, on_line = std::move(on_line)](Connection* client) {
            Handle(client, times, on_line);
          }};
}

}  // namespace TURTLE_SERVER
