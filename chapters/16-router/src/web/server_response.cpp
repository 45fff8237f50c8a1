#include "web/server_response.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <variant>

#include "http/json.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

auto ServerResponse::Status(int status) -> ServerResponse& {
  if (status < 200) {
    throw std::invalid_argument("response status " + std::to_string(status) +
                                ": not the last word on a request");
  }
  head_.SetStatus(status);
  return *this;
}

auto ServerResponse::Set(std::string_view name, std::string_view value) -> ServerResponse& {
  head_.Set(name, value);
  return *this;
}

auto ServerResponse::Add(std::string_view name, std::string_view value) -> ServerResponse& {
  head_.Add(name, value);
  return *this;
}

auto ServerResponse::SetCookie(const TURTLE_SERVER::SetCookie& cookie) -> ServerResponse& {
  head_.Add("Set-Cookie", cookie.Text());
  return *this;
}

auto ServerResponse::Body(std::string_view bytes, std::string_view type) -> ServerResponse& {
  if (!type.empty()) {
    head_.Set("Content-Type", type);
  }
  DropFile();
  body_.assign(bytes);
  return *this;
}

auto ServerResponse::Body(FileSlice slice, std::string_view type) -> ServerResponse& {
  if (!type.empty()) {
    head_.Set("Content-Type", type);
  }
  WithoutBody().Body(std::move(slice));
  return *this;
}

auto ServerResponse::WithoutBody() -> Response& {
  body_.clear();
  DropFile();
  return head_;
}

void ServerResponse::DropFile() {
  if (!head_.Pieces().empty()) {
    head_.Body(std::string());
  }
}

auto ServerResponse::Text(std::string_view text) -> ServerResponse& {
  return Body(text, "text/plain; charset=utf-8");
}

auto ServerResponse::Html(std::string_view page) -> ServerResponse& {
  return Body(page, "text/html; charset=utf-8");
}

auto ServerResponse::Json(const nlohmann::json& value) -> ServerResponse& {
  head_.Set("Content-Type", "application/json");
  DropFile();
  body_ = FormatJson(value);
  return *this;
}

auto ServerResponse::Redirect(std::string_view location, int status) -> ServerResponse& {
  return Status(status).Set("Location", location);
}

auto ServerResponse::Page(int status, std::string_view detail) -> ServerResponse& {
  const Response page = ErrorResponse(status, detail);
  return Status(status).Html(std::get<std::string>(page.Pieces().front()));
}

void ServerResponse::Reset() {
  constexpr std::size_t kMaxKept = std::size_t{64} * 1024;
  head_.Reset(200);
  body_.clear();
  if (body_.capacity() > kMaxKept) {
    body_.shrink_to_fit();  // one large reply is not to be paid for ever after
  }
}

void ServerResponse::SendTo(Exchange& exchange) const {
  if (!head_.Pieces().empty()) {
    exchange.Reply(head_);
    return;
  }
  exchange.BeginReply(head_, body_.size());
  exchange.Write(body_);
  exchange.End();
}

void ServerResponse::BeginAt(Exchange& exchange) const {
  exchange.BeginReply(head_);
  for (const BodyPiece& piece : head_.Pieces()) {
    std::visit([&exchange](const auto& part) { exchange.Write(part); }, piece);
  }
  exchange.Write(body_);
}

}  // namespace TURTLE_SERVER
