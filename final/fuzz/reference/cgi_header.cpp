#include "reference/cgi_header.h"

#include <algorithm>

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

using Names = std::vector<std::string_view>;

auto IsOneOf(std::string_view name, const Names& names) -> bool {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// All lines so far, names in lower case.
struct Lines {
  std::vector<std::pair<std::string, std::string>> all;

  auto Count(std::string_view name) const -> std::size_t {
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const auto& line) { return line.first == name; }));
  }
};

// Reads one line; false if it makes the block a bad one.
auto ReadLine(std::string_view line, Lines& lines, CgiBlock& block) -> bool {
  const Names singles{"status",           "location",      "content-type", "age",
                      "content-location", "content-range", "etag",         "expires",
                      "last-modified",    "retry-after"};
  const Names of_the_server{
      "connection", "keep-alive", "proxy-connection",  "te",     "trailer",
      "upgrade",    "date",       "transfer-encoding", "server", "proxy-authenticate"};
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsAll(line.substr(0, colon), IsTchar)) {
    return false;
  }
  const std::string name = Lower(line.substr(0, colon));
  const std::string value(Trim(line.substr(colon + 1)));
  for (const char c : value) {
    if (IsCtl(c) && c != '\t') {
      return false;
    }
  }
  lines.all.emplace_back(name, value);
  if (IsOneOf(name, singles) && lines.Count(name) > 1) {
    return false;
  }
  if (name == "status") {
    // "200" or "200 " and anything; 1xx is not a final response
    if (value.size() < 3 || !IsAll(value.substr(0, 3), IsDigit) || value[0] < '2' ||
        value[0] > '5' || (value.size() > 3 && value[3] != ' ')) {
      return false;
    }
    block.status = std::stoi(value.substr(0, 3));
    block.reason = Trim(std::string_view(value).substr(3));
  } else if (name == "location") {
    block.location = value;
  } else if (name == "content-type") {
    block.content_type = value;
  } else if (name == "content-length") {
    const std::string length = Decimal(value);
    if (length.empty() || IsLess("9223372036854775807", length) ||
        (!block.content_length.empty() && block.content_length != length)) {
      return false;
    }
    block.content_length = length;
  } else if (!IsOneOf(name, of_the_server)) {
    block.fields.emplace_back(line.substr(0, colon), value);
  }
  return true;
}

// absolute-URI, judged by its scheme.
auto IsAbsoluteUri(std::string_view text) -> bool {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && colon + 1 < text.size() && IsAlpha(text[0]) &&
         IsAll(text.substr(0, colon),
               [](char c) { return IsAlpha(c) || IsDigit(c) || c == '+' || c == '-' || c == '.'; });
}

// Checks a complete block; false if it is not a response.
auto Finish(const Lines& lines, CgiBlock& block) -> bool {
  const bool has_status = lines.Count("status") > 0;
  const bool has_location = lines.Count("location") > 0;
  if (!has_status && !has_location && lines.Count("content-type") == 0) {
    return false;
  }
  if (block.status == 304) {
    block.content_type = "";
    block.fields.erase(
        std::remove_if(block.fields.begin(), block.fields.end(),
                       [](const auto& field) {
                         return IsOneOf(Lower(field.first),
                                        {"content-encoding", "content-language", "content-range"});
                       }),
        block.fields.end());
  }
  if (!has_location) {
    return true;
  }
  const bool is_path = block.location.substr(0, 1) == "/";
  if ((!is_path && !IsAbsoluteUri(block.location)) ||
      block.location.find_first_of(" \t") != std::string::npos) {
    return false;
  }
  if (!has_status) {
    block.kind = is_path ? 'l' : 'c';
    block.status = 302;
  } else if (block.status >= 300 && block.status < 400) {
    block.kind = 'c';
  }
  return true;
}

}  // namespace

auto ReadCgiBlock(std::string_view output, std::size_t max_bytes, std::size_t max_fields)
    -> CgiBlock {
  CgiBlock block;
  Lines lines;
  std::size_t at = 0;
  for (;;) {
    const std::size_t end = output.find('\n', at);
    const std::size_t used = end == std::string_view::npos ? output.size() : end + 1;
    if (used > max_bytes) {
      block.verdict = 'b';
      return block;
    }
    if (end == std::string_view::npos) {
      return block;
    }
    std::string_view line = output.substr(at, end - at);
    at = used;
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    if (line.empty()) {
      block.verdict = Finish(lines, block) ? 'd' : 'b';
      block.bytes = used;
      return block;
    }
    if (!ReadLine(line, lines, block) || lines.all.size() > max_fields) {
      block.verdict = 'b';
      return block;
    }
  }
}

}  // namespace TURTLE_SERVER::reference
