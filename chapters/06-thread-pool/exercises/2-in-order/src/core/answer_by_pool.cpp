#include "core/answer_by_pool.h"

#include <string_view>
#include <utility>

namespace TURTLE_SERVER {

namespace {

// TODO: on the pool. Here, all clients of this loop wait.
void Handle(Connection* client, const Answer& answer) {
  const bool exit = client->Recv().exit;
  for (std::size_t end = client->Read().find('\n'); end != std::string_view::npos;
       end = client->Read().find('\n')) {
    client->WriteToWriteBuffer(answer(std::string(client->Read().substr(0, end))));
    client->Consume(end + 1);
  }
  if (exit) {
    client->GetLooper()->DeleteConnection(client->GetFd());
  }
}

}  // namespace

auto AnswerByPool(ThreadPool& /*pool*/, Answer answer) -> ConnectionCallbacks {
  return {{}, [answer = std::move(answer)](Connection* client) { Handle(client, answer); }};
}

}  // namespace TURTLE_SERVER
