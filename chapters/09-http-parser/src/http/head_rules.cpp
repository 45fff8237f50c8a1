#include "http/head_rules.h"

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "http/headers.h"

namespace TURTLE_SERVER {

namespace {

constexpr auto Bad(const char* reason) -> HeadFault { return {400, reason}; }

// RFC 9112, section 3.2: exactly one Host in HTTP/1.1, at most one in HTTP/1.0, always valid. A
// target in absolute-form wins, but an invalid or missing Host is still wrong.
auto ApplyHost(Request& request) -> HeadFault {
  const std::optional<std::string_view> host = request.headers.Find(KnownField::kHost);
  if (!host && request.minor_version > 0) {
    return Bad("HTTP/1.1 without Host");
  }
  if (request.headers.IsRepeated(KnownField::kHost)) {
    return Bad("more than one Host");
  }
  if (host && !IsValidHost(*host)) {
    return Bad("invalid Host");
  }
  const std::string_view authority = request.uri.Authority();
  request.host = authority.empty() ? host.value_or("") : authority;
  return {};
}

// RFC 9110, section 8.6. "5, 5" and two equal lines may be accepted or refused. They are refused,
// since a client that is sure of its length sends it once. Digits alone, up to 2^63 - 1.
auto ParseContentLength(const Headers& headers, std::uint64_t& length) -> HeadFault {
  if (headers.IsRepeated(KnownField::kContentLength)) {
    return Bad("more than one Content-Length");
  }
  const std::string_view text = *headers.Find(KnownField::kContentLength);
  if (text.empty()) {
    return Bad("invalid Content-Length");
  }
  // Signed, since sooner or later a length becomes an off_t.
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  length = 0;
  for (char c : text) {
    if (!ascii::IsDigit(c)) {
      return Bad("invalid Content-Length");
    }
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (length > (kMax - digit) / 10) {
      return Bad("Content-Length out of range");
    }
    length = length * 10 + digit;
  }
  return {};
}

// True if it could be a coding, with or without parameters (RFC 9112, section 7).
auto IsCoding(std::string_view element) -> bool {
  const std::string_view name = ascii::TrimOws(element.substr(0, element.find(';')));
  return !name.empty() && std::all_of(name.begin(), name.end(), ascii::IsToken);
}

// RFC 9112, sections 6.1 and 6.3. The only coding is chunked, once. A request whose last coding is
// another one has no detectable end: 400. So has one whose list two readers could read differently,
// such as one with an empty element, even as the last. Another coding under chunked could be framed
// but not decoded: 501.
auto CheckTransferEncoding(const Headers& headers) -> HeadFault {
  std::size_t codings = 0;
  std::size_t chunked = 0;
  bool well_formed = true;
  std::string_view last;
  headers.ForEach(KnownField::kTransferEncoding, [&](std::string_view value) {
    last = ascii::TrimOws(value.substr(value.rfind(',') + 1));
    do {  // an empty line is an empty element
      const std::string_view element = TakeListElement(value);
      well_formed = well_formed && IsCoding(element);
      chunked += ascii::EqualIgnoreCase(element, "chunked") ? 1U : 0U;
      ++codings;
    } while (!value.empty());
  });
  if (!ascii::EqualIgnoreCase(last, "chunked") || chunked > 1) {
    return Bad("Transfer-Encoding does not end with one chunked");
  }
  if (!well_formed) {
    return Bad("malformed Transfer-Encoding");
  }
  return codings == 1 ? HeadFault{} : HeadFault{501, "unknown transfer coding"};
}

auto ApplyFraming(Request& request) -> HeadFault {
  const bool has_length = request.headers.Has(KnownField::kContentLength);
  if (request.headers.Has(KnownField::kTransferEncoding)) {
    if (has_length) {
      return Bad("both Content-Length and Transfer-Encoding");
    }
    if (request.minor_version == 0) {
      return Bad("Transfer-Encoding in HTTP/1.0");
    }
    request.framing.kind = BodyKind::kChunked;
    return CheckTransferEncoding(request.headers);
  }
  if (has_length) {
    request.framing.kind = BodyKind::kLength;
    return ParseContentLength(request.headers, request.framing.length);
  }
  return {};
}

// RFC 9112, section 9.3: close wins, then the version's default.
void ApplyConnection(Request& request) {
  bool close = false;
  bool keep = request.minor_version > 0;
  request.headers.ForEach(KnownField::kConnection, [&](std::string_view rest) {
    while (!rest.empty()) {
      const std::string_view option = TakeListElement(rest);
      close = close || ascii::EqualIgnoreCase(option, "close");
      keep = keep || ascii::EqualIgnoreCase(option, "keep-alive");
    }
  });
  request.keep_alive = keep && !close;
}

// RFC 9110, section 10.1.1. From HTTP/1.0 it is ignored: such a client can't understand a 100. An
// empty element of a list means nothing (section 5.6.1.2).
void ApplyExpect(Request& request) {
  if (request.minor_version == 0) {
    return;
  }
  request.headers.ForEach(KnownField::kExpect, [&](std::string_view rest) {
    while (!rest.empty()) {
      const std::string_view wish = TakeListElement(rest);
      if (wish.empty()) {
        continue;
      }
      if (!ascii::EqualIgnoreCase(wish, "100-continue")) {
        request.expectation = Expectation::kUnknown;
      } else if (request.expectation == Expectation::kNone) {
        request.expectation = Expectation::kContinue;
      }
    }
  });
}

}  // namespace

auto ApplyHeadRules(Request& request) -> HeadFault {
  if (const HeadFault fault = ApplyHost(request)) {
    return fault;
  }
  if (const HeadFault fault = ApplyFraming(request)) {
    return fault;
  }
  ApplyConnection(request);
  ApplyExpect(request);
  return {};
}

}  // namespace TURTLE_SERVER
