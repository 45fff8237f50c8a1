#include "app/listening.h"

#include <optional>
#include <utility>

#include "app/serve_options.h"
#include "core/reuse_port.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

// Marks, between two of us, a listener whose file we make and remove. Files of systemd belong to
// systemd.
constexpr const char* kOwnPath = "turtle-path";

}  // namespace

void Listening::AtPath(const std::string& path) {
  std::optional<InheritedListeners::Listener> found = inherited_.TakePath(path);
  names_.push_back(found ? found->name : kOwnPath);
  if (found && found->name != kOwnPath) {
    server_.AlsoListen(std::move(found->socket));
  } else {
    paths_.push_back(found ? std::make_unique<UnixListener>(path, std::move(found->socket))
                           : std::make_unique<UnixListener>(path));
    server_.AlsoListen(paths_.back()->TakeSocket());
  }
  AddPlace(std::string(kUnixPrefix) + path);
}

auto Listening::At(const NetAddress& address, const std::string& scheme) -> std::uint16_t {
  std::vector<Socket> listeners;
  std::optional<InheritedListeners::Listener> found = inherited_.Take(address);
  while (found) {
    listeners.push_back(std::move(found->socket));
    names_.push_back(found->name);
    found = inherited_.Take(listeners.front().LocalAddress());
  }
  const bool inherited = !listeners.empty();
  if (!inherited) {
    listeners = OpenListeners(address, each_);
    names_.resize(listeners.size() + names_.size(), "turtle");
  }
  const NetAddress local = listeners.front().LocalAddress();
  const std::string place = local.ToString();
  if (inherited && listeners.size() < each_) {
    Log(LogLevel::kInfo, "accept: " + place + " was left with " + std::to_string(listeners.size()) +
                             " of " + std::to_string(each_) +
                             " listeners: the first loop accepts for all");
  }
  server_.AlsoListen(std::move(listeners));
  AddPlace(scheme + "://" + place + "/");
  return static_cast<std::uint16_t>(local.Port());
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

void Listening::AddPlace(const std::string& place) {
  places_ += (places_.empty() ? "" : ", ") + place;
}

}  // namespace TURTLE_SERVER
