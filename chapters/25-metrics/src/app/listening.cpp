#include "app/listening.h"

#include <utility>

#include "app/serve_options.h"

namespace TURTLE_SERVER {

void Listening::AtPath(const std::string& path) {
  paths_.push_back(std::make_unique<UnixListener>(path));
  Add(paths_.back()->TakeSocket(), std::string(kUnixPrefix) + path);
}

void Listening::At(const NetAddress& address) {
  Socket listener;
  listener.Bind(address);
  listener.Listen();
  const std::string place = "http://" + listener.LocalAddress().ToString() + "/";
  Add(std::move(listener), place);
}

void Listening::Add(Socket listener, const std::string& place) {
  server_.AlsoListen(std::move(listener));
  places_ += (places_.empty() ? "" : ", ") + place;
}

}  // namespace TURTLE_SERVER
