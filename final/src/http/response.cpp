#include "http/response.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "base/ascii.h"
#include "http/html.h"
#include "http/status.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::array<std::string_view, 3> kOwnFields{"Connection", "Content-Length",
                                                     "Transfer-Encoding"};

// The place of a field in the text of all fields: its line, without the end.
struct FieldLine {
  std::size_t start;
  std::size_t length;
};

auto FindLine(std::string_view fields, std::string_view name) -> std::optional<FieldLine> {
  for (std::size_t start = 0; start < fields.size();) {
    const std::size_t length = fields.find(kLineEnd, start) - start;
    const std::string_view line = fields.substr(start, length);
    if (line.find(':') == name.size() &&
        ascii::EqualIgnoreCase(line.substr(0, name.size()), name)) {
      return FieldLine{start, length};
    }
    start += length + kLineEnd.size();
  }
  return std::nullopt;
}

void RemoveLines(std::string_view name, std::string& fields) {
  while (const auto line = FindLine(fields, name)) {
    fields.erase(line->start, line->length + kLineEnd.size());
  }
}

void Check(std::string_view name, std::string_view value) {
  if (name.empty() || !std::all_of(name.begin(), name.end(), ascii::IsToken)) {
    throw std::invalid_argument("response field: the name is not a token: \"" + std::string(name) +
                                '"');
  }
  const auto bad = [](char c) { return ascii::IsControl(c) && c != '\t'; };
  if (std::any_of(value.begin(), value.end(), bad)) {
    throw std::invalid_argument("response field " + std::string(name) +
                                ": the value has a control character");
  }
  const auto own = [&](std::string_view field) { return ascii::EqualIgnoreCase(field, name); };
  if (std::any_of(kOwnFields.begin(), kOwnFields.end(), own)) {
    throw std::invalid_argument("response field " + std::string(name) +
                                ": written by the server itself");
  }
}

auto Checked(int status) -> int {
  if (status < 100 || status > 999) {
    throw std::invalid_argument("response status " + std::to_string(status) +
                                ": not a number of three digits");
  }
  return status;
}

auto SizeOf(const BodyPiece& piece) -> std::uint64_t {
  const auto* const text = std::get_if<std::string>(&piece);
  return text != nullptr ? text->size() : std::get_if<FileSlice>(&piece)->length;
}

}  // namespace

Response::Response(int status) : status_(Checked(status)) {}

void Response::Reset(int status) {
  SetStatus(status);
  fields_.clear();
  pieces_.clear();
  error_detail_.reset();
}

void Response::SetStatus(int status) { status_ = Checked(status); }

// Separate from fields_, since the arguments may refer to that; its memory is kept.
void Response::MakeLine(std::string_view name, std::string_view value) {
  Check(name, value);
  line_.clear();
  line_.reserve(name.size() + value.size() + 4);
  line_.append(name).append(": ").append(value).append(kLineEnd);
}

auto Response::Set(std::string_view name, std::string_view value) -> Response& {
  MakeLine(name, value);
  RemoveLines(std::string_view(line_).substr(0, name.size()), fields_);
  fields_ += line_;
  return *this;
}

auto Response::Remove(std::string_view name) -> Response& {
  line_.assign(name);
  RemoveLines(line_, fields_);
  return *this;
}

auto Response::Add(std::string_view name, std::string_view value) -> Response& {
  MakeLine(name, value);
  fields_ += line_;
  return *this;
}

auto Response::Find(std::string_view name) const -> std::optional<std::string_view> {
  const auto line = FindLine(fields_, name);
  if (!line) {
    return std::nullopt;
  }
  const std::size_t before = name.size() + 2;  // ": "
  return std::string_view(fields_).substr(line->start + before, line->length - before);
}

auto Response::Body(std::string text) -> Response& {
  pieces_.clear();
  return AddBody(std::move(text));
}

auto Response::Body(FileSlice slice) -> Response& {
  pieces_.clear();
  return AddBody(std::move(slice));
}

auto Response::AddBody(BodyPiece piece) -> Response& {
  error_detail_.reset();
  if (SizeOf(piece) > 0) {
    pieces_.push_back(std::move(piece));
  }
  return *this;
}

auto Response::ErrorPage(std::string_view detail) -> Response& {
  std::string kept(detail);  // it may be a part of the old page
  std::string title = std::to_string(status_);
  if (const std::string_view phrase = ReasonPhrase(status_); !phrase.empty()) {
    title.append(" ").append(phrase);
  }
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>";
  page.append(title).append("</title></head>\n<body>\n<h1>").append(title).append("</h1>\n");
  if (!kept.empty()) {
    page += "<p>";
    AppendEscaped(kept, page);
    page += "</p>\n";
  }
  page += "</body>\n</html>\n";
  Set("Content-Type", "text/html; charset=utf-8").Body(std::move(page));
  error_detail_ = std::move(kept);
  return *this;
}

auto Response::BodySize() const noexcept -> std::uint64_t {
  std::uint64_t size = 0;
  for (const BodyPiece& piece : pieces_) {
    size += SizeOf(piece);
  }
  return size;
}

auto Response::HasBody() const noexcept -> bool { return StatusAllowsBody(status_); }

void Response::AppendHead(const HeadContext& context, std::string& out) const {
  // The version that the server speaks, even to a client of 1.0 (RFC 9110, section 6.2).
  out.append("HTTP/1.1 ").append(std::to_string(status_)).append(" ");
  out.append(ReasonPhrase(status_)).append(kLineEnd);
  const bool interim = status_ < 200;
  if (!interim && !context.date.empty() && !Find("Date")) {
    out.append("Date: ").append(context.date).append(kLineEnd);
  }
  if (HasBody()) {
    if (context.body_end == BodyEnd::kLength) {
      out.append("Content-Length: ")
          .append(std::to_string(context.length.value_or(BodySize())))
          .append(kLineEnd);
    } else if (context.body_end == BodyEnd::kChunked) {
      out.append("Transfer-Encoding: chunked\r\n");
    }
  }
  const bool keep = context.keep_alive && !(HasBody() && context.body_end == BodyEnd::kClose);
  if (!interim && !keep) {
    out.append("Connection: close\r\n");
  } else if (!interim && context.minor_version == 0) {
    out.append("Connection: keep-alive\r\n");
  }
  if (status_ == 426) {
    out.append("Connection: upgrade\r\n");  // with each Upgrade: RFC 9110, section 7.8
  }
  out.append(fields_).append(kLineEnd);
}

auto TextResponse(int status, std::string_view text) -> Response {
  Response response(status);
  response.Set("Content-Type", "text/plain; charset=utf-8").Body(std::string(text));
  return response;
}

auto ErrorResponse(int status, std::string_view detail) -> Response {
  Response response(status);
  response.ErrorPage(detail);
  return response;
}

}  // namespace TURTLE_SERVER
