#include "web/server_response.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "http/json.h"

namespace TURTLE_SERVER {

auto ServerResponse::Status(int status) -> ServerResponse& {
  if (status < 200) {
    throw std::invalid_argument("response status " + std::to_string(status) +
                                ": not a final status");
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
  body_.assign(bytes);  // first: it may be a part of a page
  DropPieces();
  return *this;
}

auto ServerResponse::Body(FileSlice slice, std::string_view type) -> ServerResponse& {
  if (!type.empty()) {
    head_.Set("Content-Type", type);
  }
  WithoutBody().Body(std::move(slice));
  return *this;
}

auto ServerResponse::Body() const noexcept -> std::string_view {
  const std::vector<BodyPiece>& pieces = head_.Pieces();
  const auto* page = pieces.size() == 1 ? std::get_if<std::string>(&pieces.front()) : nullptr;
  return page != nullptr ? *page : std::string_view(body_);
}

auto ServerResponse::WithoutBody() -> Response& {
  body_.clear();
  DropPieces();
  return head_;
}

void ServerResponse::DropPieces() {
  if (!head_.Pieces().empty()) {
    head_.Body(std::string());
  }
}

auto ServerResponse::Json(const nlohmann::json& value) -> ServerResponse& {
  head_.Set("Content-Type", "application/json");
  DropPieces();
  body_ = FormatJson(value);
  return *this;
}

auto ServerResponse::Redirect(std::string_view location, int status) -> ServerResponse& {
  return Status(status).Set("Location", location);
}

auto ServerResponse::Page(int status, std::string_view detail) -> ServerResponse& {
  Status(status);
  head_.ErrorPage(detail);  // first: `detail` may be a part of the body
  body_.clear();
  return *this;
}

void ServerResponse::Reset() {
  head_.Reset(200);
  body_.clear();
  if (body_.capacity() > kMaxKept) {
    body_.shrink_to_fit();  // one large response must not occupy memory forever
  }
}

auto ServerResponse::Whole() -> Response {
  Response whole = std::exchange(head_, Response(200));
  if (whole.Pieces().empty()) {
    whole.Body(TakeBody());
  }
  return whole;
}

}  // namespace TURTLE_SERVER
