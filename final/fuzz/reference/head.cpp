#include "reference/head.h"

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

// Returns all values of a field, in their order.
auto ValuesOf(const Head& head, std::string_view name) -> std::vector<std::string> {
  std::vector<std::string> values;
  for (const auto& [key, value] : head.fields) {
    if (Lower(key) == name) {
      values.push_back(value);
    }
  }
  return values;
}

// request-line = method SP request-target SP HTTP-version. Returns a status, 0 for none.
auto ReadRequestLine(std::string_view line, const HeadLimits& limits, Head& head) -> int {
  const std::size_t method = Prefix(line, IsTchar);
  if (method > 32) {
    return 501;
  }
  if (method == 0 || method == line.size() || line[method] != ' ') {
    return 400;
  }
  head.method = line.substr(0, method);
  line.remove_prefix(method + 1);

  const std::size_t target = Prefix(line, IsVchar);
  if (target > limits.target_bytes) {
    return 414;
  }
  if (target == 0 || target == line.size() || line[target] != ' ') {
    return 400;
  }
  head.target = line.substr(0, target);
  line.remove_prefix(target + 1);

  // HTTP-version = "HTTP" "/" DIGIT "." DIGIT
  if (line.size() < 8 || line.substr(0, 5) != "HTTP/" || !IsDigit(line[5]) || line[6] != '.' ||
      !IsDigit(line[7])) {
    return 400;
  }
  if (line[5] != '1') {
    return 505;
  }
  head.minor = line[7] == '0' ? 0 : 1;
  if (line.size() != 8) {
    return 400;
  }
  const std::optional<Target> uri = ReadTarget(head.target, head.method);
  if (!uri) {
    return 400;
  }
  head.uri = *uri;
  return 0;
}

// field-line = field-name ":" OWS field-value OWS
auto ReadField(std::string_view line, Head& head) -> int {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsAll(line.substr(0, colon), IsTchar)) {
    return 400;
  }
  const std::string_view value = Trim(line.substr(colon + 1));
  for (const char c : value) {
    if (IsCtl(c) && c != '\t') {
      return 400;
    }
  }
  head.fields.emplace_back(line.substr(0, colon), value);
  return 0;
}

// RFC 9112, section 3.2.
auto CheckHost(Head& head) -> int {
  const std::vector<std::string> hosts = ValuesOf(head, "host");
  if (hosts.size() > 1 || (hosts.empty() && head.minor == 1) ||
      (hosts.size() == 1 && !IsHostField(hosts[0]))) {
    return 400;
  }
  head.host = !head.uri.authority.empty() ? head.uri.authority : hosts.empty() ? "" : hosts[0];
  return 0;
}

// RFC 9112, section 6.1: the only coding that is understood is chunked, once and as the last.
auto CheckCodings(const std::vector<std::string>& values) -> int {
  std::vector<std::string> codings;
  for (const std::string& value : values) {
    for (const std::string_view element : Elements(value)) {
      codings.push_back(Lower(element));
    }
  }
  std::size_t chunked = 0;
  bool well_formed = true;
  for (const std::string& coding : codings) {
    chunked += coding == "chunked" ? 1 : 0;
    const std::string_view name = Trim(std::string_view(coding).substr(0, coding.find(';')));
    well_formed = well_formed && IsAll(name, IsTchar);
  }
  if (codings.back() != "chunked" || chunked != 1 || !well_formed) {
    return 400;
  }
  return codings.size() == 1 ? 0 : 501;
}

// RFC 9112, section 6.3.
auto CheckFraming(Head& head) -> int {
  const std::vector<std::string> codings = ValuesOf(head, "transfer-encoding");
  const std::vector<std::string> lengths = ValuesOf(head, "content-length");
  if (!codings.empty()) {
    if (!lengths.empty() || head.minor == 0) {
      return 400;
    }
    head.framing = 'c';
    return CheckCodings(codings);
  }
  if (!lengths.empty()) {
    head.framing = 'l';
    head.length = Decimal(lengths[0]);
    const bool fits = !IsLess("9223372036854775807", head.length);  // an off_t
    return lengths.size() == 1 && !head.length.empty() && fits ? 0 : 400;
  }
  return 0;
}

// RFC 9112, section 9.3, and RFC 9110, section 10.1.1.
void ReadWishes(Head& head) {
  bool close = false;
  bool keep = head.minor == 1;
  for (const std::string& value : ValuesOf(head, "connection")) {
    for (const std::string_view option : Elements(value)) {
      close = close || Lower(option) == "close";
      keep = keep || Lower(option) == "keep-alive";
    }
  }
  head.keep_alive = keep && !close;
  if (head.minor == 0) {
    return;
  }
  for (const std::string& value : ValuesOf(head, "expect")) {
    for (const std::string_view wish : Elements(value)) {
      if (!wish.empty() && head.expectation != 'u') {
        head.expectation = Lower(wish) == "100-continue" ? 'c' : 'u';
      }
    }
  }
}

auto ReadLines(const std::vector<std::string_view>& lines, const HeadLimits& limits, Head& head)
    -> int {
  if (const int status = ReadRequestLine(lines[0], limits, head)) {
    return status;
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (i > limits.fields && lines[i].substr(0, 1) != "\r") {
      return 431;
    }
    if (const int status = ReadField(lines[i], head)) {
      return status;
    }
  }
  if (const int status = CheckHost(head)) {
    return status;
  }
  return CheckFraming(head);
}

}  // namespace

auto ReadHead(std::string_view input, const HeadLimits& limits) -> Head {
  Head head;
  const std::string_view text = input.substr(0, limits.head_bytes);
  // RFC 9112, section 2.2: up to four empty lines before a request are skipped.
  std::size_t start = 0;
  while (text.substr(start, 2) == "\r\n") {
    start += 2;
    if (start > 8) {
      head.status = 400;
      return head;
    }
  }
  const std::size_t end = text.find("\r\n\r\n", start);
  if (end == std::string_view::npos) {
    return head;
  }
  head.bytes = end + 4;
  head.status = ReadLines(Split(text.substr(start, end - start), "\r\n"), limits, head);
  if (head.status == 0) {
    ReadWishes(head);
  }
  return head;
}

}  // namespace TURTLE_SERVER::reference
