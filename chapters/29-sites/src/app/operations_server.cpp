#include "app/operations_server.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

#include "app/serve_options.h"
#include "app/setting.h"
#include "base/ascii.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

auto HttpOfOperations() -> HttpOptions {
  HttpOptions http;
  http.body.max_body_bytes = 0;
  // There are few slots, and a monitor returns soon: silent clients must not block them.
  http.head_timeout = std::chrono::seconds(5);
  http.idle_timeout = std::chrono::seconds(5);
  return http;
}

auto OneLoop() -> ServerOptions {
  ServerOptions options;
  options.threads = 1;
  options.max_connections = kMaxOperationsConnections;
  options.stop_timeout = std::chrono::seconds(1);
  return options;
}

}  // namespace

auto ParseHostAndPort(const std::string& text)
    -> std::optional<std::pair<std::string, std::uint16_t>> {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return std::nullopt;
  }
  std::string host = text.substr(0, colon);
  const std::string port = text.substr(colon + 1);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) {
    host = host.substr(1, host.size() - 2);
  }
  // Without brackets the end of an IPv6 address would be ambiguous.
  const bool is_host = !host.empty() && host.find_first_of("[]") == std::string::npos &&
                       brackets == (host.find(':') != std::string::npos);
  const bool is_number =
      !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), ascii::IsDigit);
  if (!is_host || !is_number || std::stoi(port) > 65535) {
    return std::nullopt;
  }
  return std::pair(std::move(host), static_cast<std::uint16_t>(std::stoi(port)));
}

OperationsServer::OperationsServer(const std::string& places, InheritedListeners& inherited,
                                   Operations& operations)
    : server_(HttpOfOperations(), OneLoop()), listening_(inherited, server_) {
  for (const std::string& place : SplitList(places)) {
    if (place.compare(0, kUnixPrefix.size(), kUnixPrefix) == 0) {
      listening_.AtPath(place.substr(kUnixPrefix.size()));
      continue;
    }
    const auto parsed = ParseHostAndPort(place);
    if (!parsed) {
      throw std::invalid_argument("operations: '" + place + "' is not an address with a port");
    }
    listening_.At(NetAddress(parsed->first, parsed->second));
  }
  listeners_ = server_.ListenerFds();
  operations.AddTo(server_);
}

// Not in the constructor, which may run as root, before the process becomes another user.
void OperationsServer::Start() {
  if (thread_.joinable()) {
    return;
  }
  thread_ = std::thread([this, begin = begin_.get_future()] {
    try {
      begin.wait();
      server_.Begin();
    } catch (...) {
      LogException("operations");  // the other server continues to serve its clients
      failure_ = std::current_exception();
      failed_.store(true, std::memory_order_release);
    }
  });
}

void OperationsServer::Begin() {
  if (!begun_) {
    Start();
    begun_ = true;
    begin_.set_value();
  }
}

auto OperationsServer::IsReady() const -> bool {
  if (failed_.load(std::memory_order_acquire)) {
    std::rethrow_exception(failure_);
  }
  return server_.IsReady();
}

OperationsServer::~OperationsServer() {
  if (!left_) {
    server_.Stop();
  }
  if (!begun_) {
    begin_.set_value();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void OperationsServer::AddTo(HandOverOptions& successor) const {
  const std::vector<std::string>& names = listening_.Names();
  successor.listeners.insert(successor.listeners.end(), listeners_.begin(), listeners_.end());
  successor.names.insert(successor.names.end(), names.begin(), names.end());
}

void OperationsServer::Leave() {
  left_ = true;
  listening_.LeaveFiles();
  server_.Drain(ListenQueue::kHandedOver);
}

}  // namespace TURTLE_SERVER
