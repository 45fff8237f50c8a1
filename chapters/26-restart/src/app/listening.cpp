#include "app/listening.h"

#include <optional>
#include <utility>

#include "app/serve_options.h"

namespace TURTLE_SERVER {

namespace {

// Marks, between two of us, a listener whose file we make and remove. Files of systemd belong to
// systemd.
constexpr const char* kOwnPath = "turtle-path";

}  // namespace

void Listening::AtPath(const std::string& path) {
  const std::string place = std::string(kUnixPrefix) + path;
  std::optional<InheritedListeners::Listener> found = inherited_.TakePath(path);
  if (found && found->name != kOwnPath) {
    Add(std::move(found->socket), found->name, place);
    return;
  }
  paths_.push_back(found ? std::make_unique<UnixListener>(path, std::move(found->socket))
                         : std::make_unique<UnixListener>(path));
  Add(paths_.back()->TakeSocket(), kOwnPath, place);
}

void Listening::At(const NetAddress& address) {
  std::optional<InheritedListeners::Listener> found = inherited_.Take(address);
  Socket listener;
  if (found) {
    listener = std::move(found->socket);
  } else {
    listener.Bind(address);
    listener.Listen();
  }
  const std::string place = "http://" + listener.LocalAddress().ToString() + "/";
  Add(std::move(listener), found ? found->name : "turtle", place);
}

void Listening::TakeFiles() {
  for (const std::unique_ptr<UnixListener>& path : paths_) {
    path->TakeFile();
  }
}

void Listening::LeaveFiles() {
  for (const std::unique_ptr<UnixListener>& path : paths_) {
    path->LeaveFile();
  }
}

void Listening::Add(Socket listener, std::string name, const std::string& place) {
  server_.AlsoListen(std::move(listener));
  names_.push_back(std::move(name));
  places_ += (places_.empty() ? "" : ", ") + place;
}

}  // namespace TURTLE_SERVER
