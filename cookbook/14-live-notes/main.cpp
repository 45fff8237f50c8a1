// Notes, and a message to those who look at one when it changes: live_notes [PORT]
//
//   GET, PUT /notes/{id}  a note; an id has letters, digits and '-', 40 at most
//   /changes              a WebSocket: the client sends "+id" to watch a note, and "-id" to stop.
//                         It gets "id" at once, and then each time that the note has changed.
#include <algorithm>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <turtle/base/argument.h>
#include <turtle/base/mutex.h>
#include <turtle/web/http_server.h>
#include <turtle/websocket/topics.h>
#include <turtle/websocket/websocket.h>
#include <turtle/websocket/websocket_options.h>

using namespace turtle;

namespace {

constexpr std::size_t kMaxId = 40;
constexpr std::size_t kMaxNotes = 10'000;
constexpr std::size_t kMaxWatched = 100;  // of one client

auto IsId(std::string_view id) -> bool {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
  return !id.empty() && id.size() <= kMaxId &&
         id.find_first_not_of(kLetters) == std::string_view::npos;
}

// Any thread.
class Notes {
 public:
  [[nodiscard]] auto Get(const std::string& id) const -> std::string {
    const MutexLock lock(mutex_);
    const auto found = notes_.find(id);
    if (found == notes_.end()) {
      throw HttpError(404);
    }
    return found->second;
  }

  void Put(const std::string& id, std::string_view text) {
    const MutexLock lock(mutex_);
    if (notes_.size() >= kMaxNotes && notes_.count(id) == 0) {
      throw HttpError(507, "there are too many notes");
    }
    notes_[id] = text;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::string> notes_ TURTLE_GUARDED_BY(mutex_);
};

using Watched = std::set<std::string>;  // ids, kept with the client's socket

void Watch(const Topics& changes, WebSocket& client, const std::string& id) {
  auto& watched = *client.Data<Watched>();
  if (watched.insert(id).second && watched.size() > kMaxWatched) {
    client.Close(CloseCode::kPolicyViolation, "too many notes");
    return;
  }
  changes.Subscribe(client, id);
  client.SendText(id);  // whatever the client reads from now on, it learns of later changes
}

void Handle(const Topics& changes, WebSocket& client, const Message& message) {
  const std::string id(message.bytes.substr(std::min<std::size_t>(message.bytes.size(), 1)));
  if (!IsId(id) || (message.bytes[0] != '+' && message.bytes[0] != '-')) {
    client.Close(CloseCode::kUnsupported, "+id or -id");
  } else if (message.bytes[0] == '+') {
    Watch(changes, client, id);
  } else if (changes.Unsubscribe(client, id)) {
    client.Data<Watched>()->erase(id);
  }
}

auto IdIn(const ServerRequest& req) -> std::string {
  const std::string id(req.Parameter("id"));
  if (!IsId(id)) {
    throw HttpError(404);
  }
  return id;
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  Notes notes;
  const Topics changes;
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 8080));
  server.Get("/notes/{id}", [&notes](const ServerRequest& req, ServerResponse& res) {
    res.Set("Cache-Control", "no-cache").Text(notes.Get(IdIn(req)));
  });
  server.Put("/notes/{id}",
             [&](const ServerRequest& req, ServerResponse& res) {
               const std::string id = IdIn(req);
               notes.Put(id, req.Body());
               changes.Publish(id, MessageKind::kText, id);  // after the change
               res.Status(204);
             },
             {10'000});

  WebSocketHandlers clients;
  clients.on_open = [](WebSocket& client) { client.SetData(std::make_shared<Watched>()); };
  clients.on_message = [&changes](WebSocket& client, const Message& message) {
    Handle(changes, client, message);
  };
  WebSocketOptions options;
  options.max_message_bytes = 1 + kMaxId;
  server.WebSocket("/changes", clients, options);
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "live_notes: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "live_notes: " << error.what() << '\n';
  return 1;
}
