// The fields in which proxies name their clients: Forwarded (RFC 7239), X-Forwarded-For and
// X-Forwarded-Proto.
//
//     Forwarded: for=192.0.2.7;proto=https, for="[2001:db8::7]:4711"
//     X-Forwarded-For: 192.0.2.7, 2001:db8::7
//
// Each proxy appends an element about the peer from which it got the request. So the nearest proxy
// has written the last one, and a client may have written all that precede the first proxy's. The
// lists are therefore read from their end: nothing before an element, such as a quote that is left
// open, changes how that element is read.
//
// Nothing proves who has written a field. Only a request of a proxy that is trusted may be read
// with these functions.
//
// Interface:
//  * ForwardedList takes the elements off, the last one first.
//  * ParseForwardedNode() divides the address of an element.
//  * LastForwardedProto() returns the scheme of X-Forwarded-Proto.
//
// All of it is linear in the length of the fields, and allocates nothing.
//
// Thread: a value, and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/headers.h"

namespace TURTLE_SERVER {

/// An element of a list: what a proxy writes about its peer. Views into the field.
struct ForwardedElement {
  std::string_view node{};   ///< the peer, for ParseForwardedNode(); empty: not named
  std::string_view proto{};  ///< the scheme of the peer's request, in any case; empty: not named
};

/// The result of ForwardedList::TakeLast().
enum class ForwardedState : std::uint8_t {
  kTaken,  ///< an element
  kEnd,    ///< none is left
  kBad,    ///< the last element is malformed
};

/// The elements of a request's Forwarded lines or, without such a line, its X-Forwarded-For lines.
class ForwardedList {
 public:
  /// @param fields of the request; they outlive this object, and don't change
  explicit ForwardedList(const Headers& fields) noexcept;

  /// Takes the last element off. Empty elements are skipped (RFC 9110, section 5.6.1.2).
  /// @param element is set if the result is kTaken
  /// @return kBad for an element that has no form of RFC 7239, section 4, or one parameter twice.
  ///     Unquoted addresses with a colon or brackets are accepted.
  [[nodiscard]] auto TakeLast(ForwardedElement& element) noexcept -> ForwardedState;

 private:
  auto TakeLine() noexcept -> bool;

  const Headers& fields_;
  const KnownField field_;
  std::size_t lines_left_;   // of all the request's fields, from the first on
  std::string_view line_{};  // what is left of the one that is being read
};

/// An address of an element.
struct ForwardedNode {
  /// The kind of an address.
  enum class Kind : std::uint8_t {
    kBad,     ///< Malformed.
    kHidden,  ///< "unknown", or a name such as "_gateway7" in place of the address.
    kIpv4,    ///< Perhaps an IPv4 address: only its place in the text was checked.
    kIpv6     ///< Perhaps an IPv6 address, likewise.
  };

  Kind kind = Kind::kBad;   ///< What it is.
  std::string_view ip{};    ///< The address without brackets and port.
  std::string_view port{};  ///< The text after the colon; empty: none, or one that is hidden.
};

/// Divides an address (RFC 7239, section 6): "192.0.2.7", "192.0.2.7:80", "[2001:db8::7]:80",
/// "unknown", "_gateway7". An IPv6 address without a port may lack its brackets, as it does in
/// X-Forwarded-For.
[[nodiscard]] auto ParseForwardedNode(std::string_view node) noexcept -> ForwardedNode;

/// Returns the last element of X-Forwarded-Proto; "" if there is none.
[[nodiscard]] auto LastForwardedProto(const Headers& fields) noexcept -> std::string_view;

}  // namespace TURTLE_SERVER
