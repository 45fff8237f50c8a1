#include "web/http_exchange.h"

#include <utility>
#include <variant>

namespace TURTLE_SERVER {

namespace {

// Skips line ends before a request, which old clients send: RFC 9112, section 2.2.
auto WithoutLineEnds(std::string_view input) -> std::string_view {
  while (input.substr(0, 2) == "\r\n") {
    input.remove_prefix(2);
  }
  return input;
}

void WriteBody(Connection& connection, const Response& response) {
  for (const BodyPiece& piece : response.Pieces()) {
    if (const auto* text = std::get_if<std::string>(&piece)) {
      connection.WriteToWriteBuffer(*text);
    } else {
      connection.WriteFile(std::get<FileSlice>(piece));
    }
  }
}

}  // namespace

auto Http1Shared::HeadScratch() noexcept -> std::string& {
  head_.clear();
  return head_;
}

auto HttpExchange::Open(Session& session, HttpParser& parser) -> ParseResult {
  Exchange::Open(session, loop_.Http().NextNumber());
  const ParseResult result = parser.Parse(GetConnection().Read(), RoomForRequest());
  if (result.state != ParseState::kDone) {
    return result;
  }
  const Request& request = GetRequest();
  unconsumed_bytes_ = result.head_bytes;
  // A body can't be read yet, and must not be taken for the next request. Neither must the bytes
  // after a CONNECT, which may be meant for a tunnel.
  keep_alive_ =
      request.keep_alive && !request.framing.HasBody() && request.method != Method::kConnect;
  return result;
}

void HttpExchange::Keep() {
  RoomForRequest().Detach();
  GetConnection().Consume(std::exchange(unconsumed_bytes_, 0));
}

auto HttpExchange::HowToClose() const noexcept -> Closing {
  const Request& request = GetRequest();
  const bool may_send = request.framing.HasBody() || request.method == Method::kConnect;
  return may_send ? Closing::kLinger : Closing::kAuto;
}

// Returns true if a part of a later request has been read. Its client wasn't told that the
// connection ends, so it gets a response even if the server is about to stop.
auto HttpExchange::HasTakenMore() const noexcept -> bool {
  return !WithoutLineEnds(GetConnection().Read().substr(unconsumed_bytes_)).empty();
}

void HttpExchange::SendWhole(const Response& response) {
  const Request& request = GetRequest();
  keep_alive_ = keep_alive_ && (!loop_.Http().Ending() || HasTakenMore());
  HeadContext context;
  context.date = loop_.Http().Date();
  context.minor_version = request.minor_version;
  context.keep_alive = keep_alive_;
  std::string& head = loop_.HeadScratch();
  response.AppendHead(context, head);
  GetConnection().WriteToWriteBuffer(head);
  if (request.method != Method::kHead && response.HasBody()) {
    WriteBody(GetConnection(), response);
  }
}

}  // namespace TURTLE_SERVER
