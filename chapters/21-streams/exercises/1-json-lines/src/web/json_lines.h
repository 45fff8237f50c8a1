// A response of JSON values, one per line (application/x-ndjson), that are sent as they become
// known.
//
//   server.Get("/export", [&pool](const ServerRequest&, const Responder& responder) {
//     Export(JsonLines(responder));
//   });
//
// Thread: any.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "web/reply_stream.h"
#include "web/responder.h"

namespace TURTLE_SERVER {

/// A response that grows by one line for each value. Copies share it.
class JsonLines {
 public:
  /// Begins the response.
  /// @param responder of the request
  /// @param head its status and fields, besides Content-Type
  explicit JsonLines(const Responder& responder, ServerResponse head = ServerResponse());

  /// Sends `value`, as FormatJson() writes it, and a newline, in one piece.
  /// @return as for ReplyStream::Write()
  auto Send(const nlohmann::json& value) const -> StreamState;

  /// Ends the response. If the last copy is destroyed before that, the response is cut.
  void End() const;

 private:
  ReplyStream stream_;
};

}  // namespace TURTLE_SERVER
