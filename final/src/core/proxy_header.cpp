#include "core/proxy_header.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "core/ip_text.h"

namespace TURTLE_SERVER {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSignature = "\r\n\r\n\0\r\nQUIT\n"sv;  // of version 2
constexpr std::string_view kPrefix = "PROXY "sv;                   // of version 1

// The fixed part of version 2, which begins with the signature.
constexpr std::size_t kCommandAt = kSignature.size();
constexpr std::size_t kFamilyAt = 13;
constexpr std::size_t kLengthAt = 14;
constexpr std::size_t kFixedBytes = 16;
constexpr unsigned kLocal = 0x20;  // version and command
constexpr unsigned kProxy = 0x21;
constexpr unsigned kInet = 1;
constexpr unsigned kInet6 = 2;
constexpr unsigned kMaxTransport = 2;

// Returns true if `input` and `text` agree as far as both go.
auto AgreesWith(std::string_view input, std::string_view text) noexcept -> bool {
  const std::size_t bytes = std::min(input.size(), text.size());
  return input.substr(0, bytes) == text.substr(0, bytes);
}

auto More() noexcept -> ProxyHeader { return {}; }

auto Bad(const char* reason) noexcept -> ProxyHeader {
  return {ProxyHeader::State::kBad, 0, {}, reason};
}

auto Done(std::size_t bytes, const NetAddress& source = {}) noexcept -> ProxyHeader {
  return {ProxyHeader::State::kDone, bytes, source, ""};
}

// Cuts a word off that a space ends, or the end of the text.
auto TakeWord(std::string_view& text) noexcept -> std::string_view {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// Reads "TCP4 192.0.2.7 192.0.2.1 56324 80".
auto ParseLine(std::string_view line, std::size_t bytes) noexcept -> ProxyHeader {
  const std::string_view protocol = TakeWord(line);
  if (protocol == "UNKNOWN") {
    return Done(bytes);  // the rest of the line is to be ignored
  }
  const int family = protocol == "TCP4" ? AF_INET : AF_INET6;
  if (family == AF_INET6 && protocol != "TCP6") {
    return Bad("a protocol other than TCP4, TCP6 and UNKNOWN");
  }
  const std::string_view source = TakeWord(line);
  const auto destination = ParseIp(family, TakeWord(line), 0);
  const auto source_port = ParsePort(TakeWord(line));
  const auto destination_port = ParsePort(line);
  const auto address = ParseIp(family, source, source_port.value_or(0));
  if (!address || !destination || !source_port || !destination_port) {
    return Bad("a malformed address or port");
  }
  return Done(bytes, *address);
}

auto ParseText(std::string_view input) noexcept -> ProxyHeader {
  const std::size_t end = input.substr(0, kMaxProxyLine).find("\r\n");
  if (end == std::string_view::npos) {
    return input.size() < kMaxProxyLine ? More() : Bad("a line that is too long");
  }
  return ParseLine(input.substr(kPrefix.size(), end - kPrefix.size()), end + 2);
}

auto ByteAt(std::string_view input, std::size_t at) noexcept -> unsigned {
  return static_cast<unsigned char>(input[at]);
}

auto NumberAt(std::string_view input, std::size_t at) noexcept -> std::uint16_t {
  return static_cast<std::uint16_t>(ByteAt(input, at) << 8U | ByteAt(input, at + 1));
}

// The bytes of two addresses and two ports, by family: unspecified, IPv4, IPv6, Unix.
constexpr std::array<std::size_t, 4> kAddressBytes{0, 12, 36, 216};

// Returns what is wrong with the fixed part, as far as it is there; nullptr: nothing. The sender of
// a LOCAL header may put anything where the addresses are described.
auto FaultOfFixedPart(std::string_view input) noexcept -> const char* {
  if (input.size() <= kCommandAt) {
    return nullptr;
  }
  const unsigned command = ByteAt(input, kCommandAt);
  if (command != kLocal && command != kProxy) {
    return "an unknown version or command";
  }
  const bool describes = command == kProxy && input.size() > kFamilyAt;
  const unsigned protocol = describes ? ByteAt(input, kFamilyAt) : 0;
  const std::size_t family = protocol >> 4U;
  if (family >= kAddressBytes.size() || (protocol & 0x0fU) > kMaxTransport) {
    return "an unknown address family or transport";
  }
  if (input.size() < kFixedBytes) {
    return nullptr;
  }
  const std::size_t rest = NumberAt(input, kLengthAt);
  const bool fits = rest >= kAddressBytes[family] && kFixedBytes + rest <= kMaxProxyHeader;
  return fits ? nullptr : "a length that can't be right";
}

// Reads the addresses of a complete header. Options may follow them.
auto SourceOf(std::string_view header) noexcept -> NetAddress {
  const char* const addresses = header.data() + kFixedBytes;
  if (ByteAt(header, kCommandAt) == kLocal) {
    return {};
  }
  switch (ByteAt(header, kFamilyAt) >> 4U) {
    case kInet:
      return Ipv4Address(addresses, NumberAt(header, kFixedBytes + 8));
    case kInet6:
      return Ipv6Address(addresses, NumberAt(header, kFixedBytes + 32));
    default:
      return {};
  }
}

auto ParseBinary(std::string_view input) noexcept -> ProxyHeader {
  if (const char* const fault = FaultOfFixedPart(input)) {
    return Bad(fault);
  }
  if (input.size() < kFixedBytes) {
    return More();
  }
  const std::size_t bytes = kFixedBytes + NumberAt(input, kLengthAt);
  return input.size() < bytes ? More() : Done(bytes, SourceOf(input));
}

}  // namespace

auto ParseProxyHeader(std::string_view input) noexcept -> ProxyHeader {
  if (AgreesWith(input, kSignature)) {
    return ParseBinary(input);
  }
  return AgreesWith(input, kPrefix) ? ParseText(input)
                                    : Bad("the stream begins with something else");
}

}  // namespace TURTLE_SERVER
