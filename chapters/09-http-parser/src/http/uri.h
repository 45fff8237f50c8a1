// The target of a request (RFC 9112, section 3.2), split, decoded and made safe.
//
// Path() is what a server looks up: percent-decoded exactly once, without dot segments and without
// empty segments. Decoding twice, or checking first and decoding afterwards, is how "%2e%2e" has
// escaped from many a document root. So only one place decodes, and it refuses anything that could
// mean something else to the next reader: an encoded slash, a backslash, a control character, NUL.
//
// Interface:
//  * Parse() takes the target; the views then refer to it.
//  * Form(), Path(), RawPath(), Query(), Authority() return its parts.
//
// A path that needs no change is a view into the target; otherwise it is kept here, in a string
// whose memory is reused for the next target.
//
// Thread: like a std::string, one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/head_fault.h"
#include "http/method.h"
#include "http/view_shift.h"

namespace TURTLE_SERVER {

/// The four forms of a request target.
enum class TargetForm : std::uint8_t {
  kOrigin,     ///< "/path?query": what browsers send.
  kAbsolute,   ///< "http://host/path?query", or https: for proxies; every server must accept it.
  kAuthority,  ///< "host:port", both of them: CONNECT only.
  kAsterisk,   ///< "*": OPTIONS only, meaning the server itself.
};

/// A parsed request target.
class Uri {
 public:
  /// Parses `target`, which consists of visible ASCII only (the parser has checked that).
  /// @param target the text between method and version; must outlive the returned views
  /// @param method Decides which forms are allowed.
  /// @return No fault, or 400: unknown form, bad authority, bad or refused percent-encoding, a
  ///     backslash in the path, a fragment, a path that climbs above the root.
  auto Parse(std::string_view target, Method method) -> HeadFault;

  /// Returns which of the four forms the target has.
  [[nodiscard]] auto Form() const -> TargetForm { return form_; }

  /// Returns the path to look up: it begins with '/', contains no "//", no "." and no ".." segment,
  /// no NUL or other control character, no backslash. "*" in asterisk-form, "" in authority-form.
  /// Valid until the next Parse(), while the target's bytes live, and not across a move.
  [[nodiscard]] auto Path() const -> std::string_view {
    return is_rewritten_ ? std::string_view(rewritten_) : raw_path_;
  }

  /// Returns the path as sent, for logs; "" if an absolute-form target has none.
  [[nodiscard]] auto RawPath() const -> std::string_view { return raw_path_; }

  /// Returns the text after the '?', as sent; "" without one.
  [[nodiscard]] auto Query() const -> std::string_view { return query_; }

  /// True if there is a '?', even with nothing after it.
  [[nodiscard]] auto HasQuery() const -> bool { return query_.data() != nullptr; }

  /// Returns "host" or "host:port" of an absolute-form or authority-form target; otherwise "".
  [[nodiscard]] auto Authority() const -> std::string_view { return authority_; }

  /// Makes all views refer to a copy of their text.
  void Rebase(const ViewShift& shift);

 private:
  auto ParseAbsolute(std::string_view target) -> HeadFault;
  auto ParsePathAndQuery(std::string_view text) -> HeadFault;
  auto RewritePath() -> HeadFault;

  std::string_view raw_path_;
  std::string_view query_;
  std::string_view authority_;
  std::string rewritten_;  // the path, if it differs from raw_path_
  bool is_rewritten_ = false;
  TargetForm form_ = TargetForm::kOrigin;
};

/// True if `text` is a valid value for Host: a name, an IPv4 address or, in brackets, an IPv6
/// address or one of a later kind (RFC 3986, section 3.2.2). A colon and a port may follow; the
/// port may be empty, and 65535 at most. "" is valid too (RFC 9112, section 3.2), but not a port
/// alone.
[[nodiscard]] auto IsValidHost(std::string_view text) -> bool;

}  // namespace TURTLE_SERVER
