#include "websocket/handshake.h"

#include <algorithm>

#include "base/ascii.h"
#include "http/headers.h"
#include "websocket/accept_key.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kKey = "Sec-WebSocket-Key";
constexpr std::string_view kVersion = "Sec-WebSocket-Version";
constexpr std::string_view kProtocol = "Sec-WebSocket-Protocol";
constexpr std::string_view kExtensions = "Sec-WebSocket-Extensions";

auto Lists(const Headers& headers, std::string_view field, std::string_view name) -> bool {
  bool found = false;
  headers.ForEach(field, [&](std::string_view list) {
    while (!list.empty()) {
      found = found || ascii::EqualIgnoreCase(TakeListElement(list), name);
    }
  });
  return found;
}

// Returns the value of a field that must come once; nullopt: it doesn't.
auto Only(const Headers& headers, std::string_view field) -> std::optional<std::string_view> {
  std::optional<std::string_view> value;
  int count = 0;
  headers.ForEach(field, [&](std::string_view each) {
    value = each;
    ++count;
  });
  return count == 1 ? value : std::nullopt;
}

// Joins the lines of a list.
auto Joined(const Headers& headers, std::string_view field) -> std::string {
  std::string list;
  headers.ForEach(
      field, [&](std::string_view each) { list.append(list.empty() ? "" : ", ").append(each); });
  return list;
}

auto UpgradeRequired(std::string_view detail) -> Response {
  Response response = ErrorResponse(426, detail);
  response.Set("Upgrade", "websocket").Set(kVersion, kWebSocketVersion);
  return response;
}

// The client's order counts: it lists what it likes best first.
auto ChooseProtocol(const Headers& headers, const std::vector<std::string>& known) -> std::size_t {
  const std::string list = Joined(headers, kProtocol);
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto found = std::find(known.begin(), known.end(), TakeListElement(rest));
    if (found != known.end()) {
      return static_cast<std::size_t>(found - known.begin());
    }
  }
  return Agreement::kNoProtocol;
}

}  // namespace

auto CheckHandshake(const Request& request, const WebSocketOptions& options)
    -> std::optional<Response> {
  const Headers& headers = request.headers;
  if (request.method != Method::kGet) {
    return ErrorResponse(405).Set("Allow", "GET");
  }
  if (request.minor_version == 0 || !Lists(headers, "Upgrade", "websocket")) {
    return UpgradeRequired("This address speaks WebSocket.");
  }
  if (!Lists(headers, "Connection", "upgrade")) {
    return ErrorResponse(400, "The field Connection doesn't list \"upgrade\".");
  }
  const auto version = Only(headers, kVersion);
  if (!version || *version != kWebSocketVersion) {
    return UpgradeRequired("The version of WebSocket is 13.");
  }
  const auto key = Only(headers, kKey);
  if (!key || !IsClientKey(*key)) {
    return ErrorResponse(400, "Sec-WebSocket-Key is not 16 bytes in base64.");
  }
  const auto origin = headers.Find(KnownField::kOrigin);
  const std::string_view host = headers.Find(KnownField::kHost).value_or("");
  if (origin && (headers.IsRepeated(KnownField::kOrigin) ||
                 !IsAllowedOrigin(*origin, host, options.origins))) {
    return ErrorResponse(403, "This page may not connect.");
  }
  if (request.framing.HasBody() || !request.keep_alive) {
    return ErrorResponse(400, "A handshake has no content, and keeps its connection.");
  }
  return std::nullopt;
}

auto IsAllowedOrigin(std::string_view origin, std::string_view host,
                     const std::vector<std::string>& allowed) noexcept -> bool {
  if (!allowed.empty()) {
    return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& each) {
      return each == "*" || ascii::EqualIgnoreCase(each, origin);
    });
  }
  const std::size_t scheme_end = origin.find("://");
  return scheme_end != std::string_view::npos &&
         ascii::EqualIgnoreCase(origin.substr(scheme_end + 3), host);
}

auto Agree(const Request& request, const WebSocketOptions& options) -> Agreement {
  Agreement agreement;
  agreement.protocol = ChooseProtocol(request.headers, options.protocols);
  agreement.deflate = AgreeOnDeflate(Joined(request.headers, kExtensions), options.deflate);
  return agreement;
}

auto AcceptFields(const Request& request, const WebSocketOptions& options,
                  const Agreement& agreement) -> Response {
  Response fields(101);
  fields.Set("Sec-WebSocket-Accept", AcceptKey(*request.headers.Find(kKey)));
  if (agreement.protocol != Agreement::kNoProtocol) {
    fields.Set(kProtocol, options.protocols[agreement.protocol]);
  }
  if (agreement.deflate) {
    fields.Set(kExtensions, TextOf(*agreement.deflate));
  }
  return fields;
}

}  // namespace TURTLE_SERVER
