// Makes the environment of a CGI program: the request's meta-variables (RFC 3875, section 4.1).
//
// Interface:
//  * InheritVariables() reads the few variables of the server that all programs get, once.
//  * CgiEnvironment::Build() makes the environment of one request.
//  * Envp() returns it for execve(2).
//
// The client chooses header fields, path and query, so they only become values, or names that start
// with HTTP_. Fields with ambiguous names are left out: see Build().
//
// Thread: Build() is pure. InheritVariables() reads the process's environment: call it during the
// server's setup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/net_address.h"

namespace TURTLE_SERVER {

/// The facts about the request. All text is borrowed for the call of Build().
struct CgiRequestInfo {
  std::string_view method;           ///< REQUEST_METHOD
  std::string_view script_name;      ///< SCRIPT_NAME, decoded: "/cgi-bin/add".
  std::string_view path_info;        ///< PATH_INFO, decoded; empty: not set.
  std::string_view path_translated;  ///< PATH_TRANSLATED; set only if `path_info` is not empty.
  std::string_view query_string;     ///< QUERY_STRING, still encoded; always set.
  std::string_view content_type;     ///< CONTENT_TYPE; empty: not set.
  std::optional<std::uint64_t> content_length;  ///< CONTENT_LENGTH in bytes; nullopt: no body.
  std::string_view server_name;                 ///< SERVER_NAME, without the port.
  int server_port = 0;                          ///< SERVER_PORT
  std::string_view server_protocol;             ///< SERVER_PROTOCOL: "HTTP/1.1".
  std::string_view server_software;             ///< SERVER_SOFTWARE: "turtle/1.0".
  bool https = false;                           ///< HTTPS, "on" or not set: no RFC has it.
  std::string_view remote_addr;                 ///< REMOTE_ADDR and, unresolved, REMOTE_HOST.
  std::string_view auth_type;                   ///< AUTH_TYPE; empty: no authentication.
  std::string_view remote_user;                 ///< REMOTE_USER; empty: no authentication.
  std::vector<std::pair<std::string_view, std::string_view>> headers;  ///< Name and value.
};

/// Returns the address (RFC 3875, section 4.1.8) without a zone, such as that of "fe80::1%eth0".
[[nodiscard]] auto HostNumber(const NetAddress& address) -> std::string;

/// Returns variables of the server's own environment, each as `NAME=value`. PATH is always among
/// them, with a common default if the server has none; others that are not set are left out.
/// @param names of further variables, such as "TZ" or "LANG".
/// @return the entries for Build().
/// @throws std::invalid_argument for a name that is empty or contains a '='.
[[nodiscard]] auto InheritVariables(const std::vector<std::string>& names)
    -> std::vector<std::string>;

/// The environment of one program.
class CgiEnvironment {
 public:
  /// Linux accepts no longer argument or variable, with its zero byte (execve(2): MAX_ARG_STRLEN).
  static constexpr std::size_t kMaxEntryBytes = std::size_t{128} * 1024;

  CgiEnvironment(const CgiEnvironment&) = delete;                     ///< Owns memory of Envp().
  auto operator=(const CgiEnvironment&) -> CgiEnvironment& = delete;  ///< Not copied.
  CgiEnvironment(CgiEnvironment&&) noexcept = default;                ///< Envp() stays valid.
  auto operator=(CgiEnvironment&&) noexcept -> CgiEnvironment& = default;  ///< As above.
  ~CgiEnvironment() = default;

  /// Makes the environment of a request. A header field `Accept-Language` becomes
  /// HTTP_ACCEPT_LANGUAGE; fields of the same name are joined with a comma (Cookie: a semicolon).
  /// Left out are:
  ///  * `Proxy`: many programs take HTTP_PROXY for the proxy of their own requests;
  ///  * names with anything but letters, digits and '-': `X_User` would look like `X-User`;
  ///  * `Authorization` and `Proxy-Authorization`: secrets; other users may read environments;
  ///  * `Content-Type` and `Content-Length`: they have their own variables;
  ///  * fields of the connection alone, such as `Transfer-Encoding`.
  ///
  /// @param info the request.
  /// @param inherited entries `NAME=value`; a variable of the request overrides them, and the first
  ///        of two with the same name wins.
  /// @return nullopt if a value has a NUL byte, which no environment can hold, or an entry has
  ///         kMaxEntryBytes or more: respond with 400.
  [[nodiscard]] static auto Build(const CgiRequestInfo& info,
                                  const std::vector<std::string>& inherited)
      -> std::optional<CgiEnvironment>;

  /// Returns the entries `NAME=value` and a null pointer at the end; valid as long as this object.
  [[nodiscard]] auto Envp() const noexcept -> char* const* { return pointers_.data(); }

  /// Returns the value of a variable; nullopt: not set.
  [[nodiscard]] auto Find(std::string_view name) const -> std::optional<std::string_view>;

  /// Returns the entries `NAME=value`.
  [[nodiscard]] auto Entries() const noexcept -> const std::vector<std::string>& {
    return entries_;
  }

 private:
  CgiEnvironment() = default;
  void Set(std::string_view name, std::string_view value);
  void SetIfAny(std::string_view name, std::string_view value);
  void AddHeader(std::string_view name, std::string_view value);
  auto FindEntry(std::string_view name) -> std::string*;
  auto Seal() -> bool;

  std::vector<std::string> entries_;
  std::vector<char*> pointers_;  // into entries_; moving a vector leaves its elements in place
};

}  // namespace TURTLE_SERVER
