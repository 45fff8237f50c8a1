#include "web/server_request.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "base/ascii.h"
#include "http/json.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

namespace {

// Removes the parameters: "text/html; charset=utf-8" becomes text/html.
auto MediaType(std::string_view content_type) -> std::string_view {
  return ascii::TrimOws(content_type.substr(0, content_type.find(';')));
}

}  // namespace

ServerRequest::ServerRequest(Exchange& exchange, const RouteParameters& parameters,
                             std::string* body, RequestFields& fields) noexcept
    : exchange_(&exchange),
      head_(exchange.GetRequest()),
      ends_(nullptr),
      parameters_(parameters),
      body_(body),
      fields_(fields),
      context_(exchange.Context()),
      cancelled_(nullptr) {
  fields_.query_read = fields_.form_read = fields_.cookies_read = false;
}

ServerRequest::ServerRequest(const Request& head, const ConnectionEnds& ends,
                             const RouteParameters& parameters, std::string& body,
                             RequestFields& fields, RequestContext& context,
                             const std::atomic<bool>& cancelled) noexcept
    : exchange_(nullptr),
      head_(head),
      ends_(&ends),
      parameters_(parameters),
      body_(&body),
      fields_(fields),
      context_(context),
      cancelled_(&cancelled) {
  fields_.query_read = fields_.form_read = fields_.cookies_read = false;
}

auto ServerRequest::Parameter(std::string_view name) const -> std::string_view {
  const auto value = parameters_.Find(name);
  if (!value) {
    throw std::out_of_range("the route has no parameter \"" + std::string(name) + '"');
  }
  return *value;
}

auto ServerRequest::Integer(std::string_view name) const -> std::int64_t {
  const std::string_view text = Parameter(name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::out_of_range("parameter \"" + std::string(name) + "\" is not a 64-bit integer");
  }
  return value;
}

auto ServerRequest::Query() const -> const TURTLE_SERVER::Form& {
  if (!fields_.query_read) {
    Require(fields_.query.Parse(Head().uri.Query()));
    fields_.query_read = true;
  }
  return fields_.query;
}

auto ServerRequest::Cookie(std::string_view name) const -> std::optional<std::string_view> {
  if (!fields_.cookies_read) {
    Require(fields_.cookies.Parse(Head().headers));
    fields_.cookies_read = true;
  }
  return fields_.cookies.Find(name);
}

auto ServerRequest::Form() const -> const TURTLE_SERVER::Form& {
  if (!fields_.form_read) {
    constexpr std::string_view kType = "application/x-www-form-urlencoded";
    if (!ascii::EqualIgnoreCase(MediaType(Header("Content-Type").value_or("")), kType)) {
      throw HttpError(415, "A form is required here, application/x-www-form-urlencoded.");
    }
    Require(fields_.form.Parse(Body()));
    fields_.form_read = true;
  }
  return fields_.form;
}

auto ServerRequest::Json() const -> RequestJson { return RequestJson(ParseJson(Body())); }

auto ServerRequest::Source() const -> NetAddress {
  if (ends_ != nullptr) {
    return ends_->source;
  }
  const NetAddress* const named = exchange_->NamedClient();
  return named != nullptr ? *named : fields_.ends.SourceOf(exchange_->GetConnection());
}

auto ServerRequest::Destination() const -> NetAddress {
  return ends_ != nullptr ? ends_->destination
                          : fields_.ends.DestinationOf(exchange_->GetConnection());
}

}  // namespace TURTLE_SERVER
