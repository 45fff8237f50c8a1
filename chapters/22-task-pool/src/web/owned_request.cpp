#include "web/owned_request.h"

#include <utility>

namespace TURTLE_SERVER {

namespace {

// The target is usually in the head, but not after a program's local redirect
// (Exchange::ReplyFrom). So it is copied separately, and so is the method.
auto TextOf(const Request& head) -> std::string {
  std::string text;
  text.reserve(head.head.size() + head.target.size() + head.method_text.size());
  return text.append(head.head).append(head.target).append(head.method_text);
}

}  // namespace

OwnedRequest::OwnedRequest(const ServerRequest& request, const std::atomic<bool>& cancelled)
    : text_(TextOf(request.Head())),
      head_(CopyHead(request.Head())),
      ends_{request.Source(), request.Destination()},
      context_(request.Context()),
      request_(head_, ends_, CopyParameters(request), body_, fields_, context_, cancelled) {
  if (request.body_ != nullptr) {
    body_ = std::exchange(*request.body_, {});
  }
}

auto OwnedRequest::CopyHead(const Request& from) const -> Request {
  const std::string_view text = text_;
  Request copy;
  copy.head = text.substr(0, from.head.size());
  copy.target = text.substr(from.head.size(), from.target.size());
  copy.method_text = text.substr(from.head.size() + from.target.size());
  const ViewShift in_head{from.head.data(), copy.head.data()};
  copy.host = from.host;
  in_head(copy.host);
  copy.headers = from.headers;
  copy.headers.Rebase(in_head);
  copy.uri = from.uri;
  copy.uri.Rebase({from.target.data(), copy.target.data()});
  copy.method = from.method;
  copy.minor_version = from.minor_version;
  copy.framing = from.framing;
  copy.keep_alive = from.keep_alive;
  copy.expectation = from.expectation;
  return copy;
}

auto OwnedRequest::CopyParameters(const ServerRequest& from) -> RouteParameters {
  RouteParameters parameters = from.parameters_;
  parameters.Rebase({from.Path().data(), head_.uri.Path().data()}, names_);
  return parameters;
}

}  // namespace TURTLE_SERVER
