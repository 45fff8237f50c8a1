#include "core/proxy_header.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

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

auto Bad() noexcept -> ProxyHeader { return {ProxyHeader::State::kBad}; }

auto Done(std::size_t bytes, const NetAddress& source = {}) noexcept -> ProxyHeader {
  return {ProxyHeader::State::kDone, bytes, source};
}

auto Ipv4(const void* bytes, std::uint16_t port) noexcept -> NetAddress {
  NetAddress address;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(address.Data());
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  std::memcpy(&v4->sin_addr, bytes, sizeof v4->sin_addr);
  *address.Length() = sizeof(sockaddr_in);
  return address;
}

auto Ipv6(const void* bytes, std::uint16_t port) noexcept -> NetAddress {
  NetAddress address;
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(address.Data());
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  std::memcpy(&v6->sin6_addr, bytes, sizeof v6->sin6_addr);
  *address.Length() = sizeof(sockaddr_in6);
  return address;
}

// Cuts a word off that a space ends, or the end of the text.
auto TakeWord(std::string_view& text) noexcept -> std::string_view {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// Digits without a sign and without leading zeros.
auto PortOf(std::string_view word) noexcept -> std::optional<std::uint16_t> {
  std::uint16_t port = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), port);
  const bool has_zeros = word.size() > 1 && word.front() == '0';
  if (word.empty() || has_zeros || error != std::errc() || stop != word.data() + word.size()) {
    return std::nullopt;
  }
  return port;
}

// Returns the bytes of an address in text.
auto BytesOf(int family, std::string_view word) noexcept
    -> std::optional<std::array<unsigned char, 16>> {
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::array<unsigned char, 16> bytes{};
  if (word.size() >= text.size() || word.find('\0') != std::string_view::npos) {
    return std::nullopt;  // inet_pton(3) stops reading at a NUL
  }
  std::copy(word.begin(), word.end(), text.begin());
  return ::inet_pton(family, text.data(), bytes.data()) == 1 ? std::optional(bytes) : std::nullopt;
}

// Reads "TCP4 192.0.2.7 192.0.2.1 56324 80".
auto ParseLine(std::string_view line, std::size_t bytes) noexcept -> ProxyHeader {
  const std::string_view protocol = TakeWord(line);
  if (protocol == "UNKNOWN") {
    return Done(bytes);  // the rest of the line is to be ignored
  }
  const int family = protocol == "TCP4" ? AF_INET : AF_INET6;
  if (family == AF_INET6 && protocol != "TCP6") {
    return Bad();
  }
  const auto source = BytesOf(family, TakeWord(line));
  const auto destination = BytesOf(family, TakeWord(line));
  const auto source_port = PortOf(TakeWord(line));
  const auto destination_port = PortOf(line);
  if (!source || !destination || !source_port || !destination_port) {
    return Bad();
  }
  return Done(bytes, family == AF_INET ? Ipv4(source->data(), *source_port)
                                       : Ipv6(source->data(), *source_port));
}

auto ParseText(std::string_view input) noexcept -> ProxyHeader {
  const std::size_t end = input.substr(0, kMaxProxyLine).find("\r\n");
  if (end == std::string_view::npos) {
    return input.size() < kMaxProxyLine ? More() : Bad();
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

// Returns true unless a byte of the fixed part, as far as it is there, is wrong. The sender of a
// LOCAL header may put anything where the addresses are described.
auto AllowsFixedPart(std::string_view input) noexcept -> bool {
  if (input.size() <= kCommandAt) {
    return true;
  }
  const unsigned command = ByteAt(input, kCommandAt);
  if (command != kLocal && command != kProxy) {
    return false;
  }
  const bool describes = command == kProxy && input.size() > kFamilyAt;
  const unsigned protocol = describes ? ByteAt(input, kFamilyAt) : 0;
  const std::size_t family = protocol >> 4U;
  if (family >= kAddressBytes.size() || (protocol & 0x0fU) > kMaxTransport) {
    return false;
  }
  if (input.size() < kFixedBytes) {
    return true;
  }
  const std::size_t rest = NumberAt(input, kLengthAt);
  return rest >= kAddressBytes[family] && kFixedBytes + rest <= kMaxProxyHeader;
}

// Reads the addresses of a complete header. Options may follow them.
auto SourceOf(std::string_view header) noexcept -> NetAddress {
  const char* const addresses = header.data() + kFixedBytes;
  if (ByteAt(header, kCommandAt) == kLocal) {
    return {};
  }
  switch (ByteAt(header, kFamilyAt) >> 4U) {
    case kInet:
      return Ipv4(addresses, NumberAt(header, kFixedBytes + 8));
    case kInet6:
      return Ipv6(addresses, NumberAt(header, kFixedBytes + 32));
    default:
      return {};
  }
}

auto ParseBinary(std::string_view input) noexcept -> ProxyHeader {
  if (!AllowsFixedPart(input)) {
    return Bad();
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
  return AgreesWith(input, kPrefix) ? ParseText(input) : Bad();
}

}  // namespace TURTLE_SERVER
