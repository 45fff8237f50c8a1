#include "reference/replies.h"

#include <cstdint>

#include "reference/chunked.h"
#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

constexpr std::string_view kStart = "HTTP/1.1 ";

// The fields that determine where a body ends.
struct Framing {
  std::vector<std::string> lengths;
  std::vector<std::string> codings;
};

// Reads status-line and field lines; returns their fault or "".
auto ReadHead(std::string_view head, Reply& reply, Framing& framing) -> std::string {
  const std::vector<std::string_view> lines = Split(head, "\r\n");
  const std::string_view line = lines[0];
  if (line.substr(0, kStart.size()) != kStart || line.size() < 13 ||
      !IsAll(line.substr(9, 3), IsDigit) || line[12] != ' ') {
    return "no status line: " + std::string(line);
  }
  reply.status = std::stoi(std::string(line.substr(9, 3)));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t colon = lines[i].find(':');
    if (colon == std::string_view::npos || !IsAll(lines[i].substr(0, colon), IsTchar)) {
      return "no field line: " + std::string(lines[i]);
    }
    const std::string name = Lower(lines[i].substr(0, colon));
    const std::string_view value = Trim(lines[i].substr(colon + 1));
    for (const char c : value) {
      if (IsCtl(c) && c != '\t') {
        return "a control character in " + name;
      }
    }
    if (name == "content-length") {
      framing.lengths.emplace_back(value);
    } else if (name == "transfer-encoding") {
      framing.codings.emplace_back(value);
    }
  }
  if (framing.lengths.size() + framing.codings.size() > 1) {
    return "two ends of one body";
  }
  return "";
}

// Takes the body off `rest`; returns its fault or "".
auto ReadBody(std::string_view& rest, const Framing& framing, Reply& reply) -> std::string {
  if (!framing.codings.empty()) {
    const ChunkedBody body = ReadChunked(rest, {UINT64_MAX, 0, 0});
    if (framing.codings[0] != "chunked" || body.status > 0) {
      return "malformed chunks";
    }
    reply.body = body.content;
    reply.is_complete = body.status == 0;
    rest.remove_prefix(reply.is_complete ? body.bytes : rest.size());
  } else if (!framing.lengths.empty()) {
    if (!IsAll(framing.lengths[0], IsDigit)) {
      return "a length that is no number";
    }
    const std::size_t length = std::stoull(framing.lengths[0]);
    reply.body = rest.substr(0, length);
    reply.is_complete = reply.body.size() == length;
    rest.remove_prefix(reply.body.size());
  } else {
    reply.body = rest;
    rest = {};
  }
  return "";
}

}  // namespace

auto ReadReplies(std::string_view bytes, bool may_be_head) -> Replies {
  Replies replies;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    Reply reply;
    Framing framing;
    const std::size_t end = rest.find("\r\n\r\n");
    if (end == std::string_view::npos) {
      reply.is_complete = false;
      replies.all.push_back(reply);
      return replies;
    }
    replies.fault = ReadHead(rest.substr(0, end), reply, framing);
    rest.remove_prefix(end + 4);
    const bool has_body = reply.status >= 200 && reply.status != 204 && reply.status != 304;
    const bool is_left_away =
        may_be_head && (rest.empty() || rest.substr(0, kStart.size()) == kStart);
    if (replies.fault.empty() && has_body && !is_left_away) {
      replies.fault = ReadBody(rest, framing, reply);
    }
    if (!replies.fault.empty()) {
      return replies;
    }
    replies.all.push_back(reply);
  }
  return replies;
}

}  // namespace TURTLE_SERVER::reference
