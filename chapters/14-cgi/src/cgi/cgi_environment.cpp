#include "cgi/cgi_environment.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

namespace TURTLE_SERVER {

namespace {

constexpr char kDefaultPath[] = "/usr/local/bin:/usr/bin:/bin";

auto ToUpper(char c) -> char { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Turns "X-Real-Ip" into "HTTP_X_REAL_IP"; empty if the field must not become a variable.
auto VariableName(std::string_view field) -> std::string {
  std::string name = "HTTP_";
  for (const char c : field) {
    const char upper = ToUpper(c);
    const bool is_plain = (upper >= 'A' && upper <= 'Z') || (c >= '0' && c <= '9');
    if (!is_plain && c != '-') {
      return {};
    }
    name += c == '-' ? '_' : upper;
  }
  static constexpr std::array<std::string_view, 13> kLeftOut = {"HTTP_",
                                                                "HTTP_AUTHORIZATION",
                                                                "HTTP_CONNECTION",
                                                                "HTTP_CONTENT_LENGTH",
                                                                "HTTP_CONTENT_TYPE",
                                                                "HTTP_EXPECT",
                                                                "HTTP_KEEP_ALIVE",
                                                                "HTTP_PROXY",
                                                                "HTTP_PROXY_AUTHORIZATION",
                                                                "HTTP_PROXY_CONNECTION",
                                                                "HTTP_TE",
                                                                "HTTP_TRANSFER_ENCODING",
                                                                "HTTP_UPGRADE"};
  const bool is_left_out = std::find(kLeftOut.begin(), kLeftOut.end(), name) != kLeftOut.end();
  return is_left_out ? std::string() : name;
}

auto NameOf(std::string_view entry) -> std::string_view { return entry.substr(0, entry.find('=')); }

}  // namespace

auto HostNumber(const NetAddress& address) -> std::string {
  std::string ip = address.Ip();
  ip.erase(std::min(ip.find('%'), ip.size()));
  return ip;
}

auto InheritVariables(const std::vector<std::string>& names) -> std::vector<std::string> {
  const char* path = std::getenv("PATH");
  std::vector<std::string> entries{std::string("PATH=") + (path != nullptr ? path : kDefaultPath)};
  for (const std::string& name : names) {
    if (name.empty() || name.find('=') != std::string::npos) {
      throw std::invalid_argument("environment variable '" + name + "': not a name");
    }
    const char* value = std::getenv(name.c_str());
    if (value != nullptr && name != "PATH") {
      entries.push_back(name + "=" + value);
    }
  }
  return entries;
}

auto CgiEnvironment::Build(const CgiRequestInfo& info, const std::vector<std::string>& inherited)
    -> std::optional<CgiEnvironment> {
  CgiEnvironment environment;
  environment.Set("GATEWAY_INTERFACE", "CGI/1.1");
  environment.Set("SERVER_SOFTWARE", info.server_software);
  environment.Set("SERVER_NAME", info.server_name);
  environment.Set("SERVER_PORT", std::to_string(info.server_port));
  environment.Set("SERVER_PROTOCOL", info.server_protocol);
  environment.SetIfAny("HTTPS", info.https ? "on" : "");
  environment.Set("REQUEST_METHOD", info.method);
  environment.Set("SCRIPT_NAME", info.script_name);
  environment.Set("QUERY_STRING", info.query_string);
  environment.Set("REMOTE_ADDR", info.remote_addr);
  // No name lookup, which could block. The address may be used instead (RFC 3875, 4.1.9).
  environment.Set("REMOTE_HOST", info.remote_addr);
  environment.SetIfAny("AUTH_TYPE", info.auth_type);
  environment.SetIfAny("REMOTE_USER", info.remote_user);
  environment.SetIfAny("CONTENT_TYPE", info.content_type);
  if (info.content_length) {
    environment.Set("CONTENT_LENGTH", std::to_string(*info.content_length));
  }
  if (!info.path_info.empty()) {
    environment.Set("PATH_INFO", info.path_info);
    environment.SetIfAny("PATH_TRANSLATED", info.path_translated);
  }
  for (const auto& [name, value] : info.headers) {
    environment.AddHeader(name, value);
  }
  for (const std::string& entry : inherited) {
    if (environment.FindEntry(NameOf(entry)) == nullptr) {
      environment.entries_.push_back(entry);
    }
  }
  if (!environment.Seal()) {
    return std::nullopt;
  }
  return environment;
}

auto CgiEnvironment::Find(std::string_view name) const -> std::optional<std::string_view> {
  for (const std::string_view entry : entries_) {
    if (NameOf(entry) == name) {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

void CgiEnvironment::Set(std::string_view name, std::string_view value) {
  std::string& entry = entries_.emplace_back();
  entry.reserve(name.size() + 1 + value.size());
  entry.append(name).append("=").append(value);
}

void CgiEnvironment::SetIfAny(std::string_view name, std::string_view value) {
  if (!value.empty()) {
    Set(name, value);
  }
}

void CgiEnvironment::AddHeader(std::string_view name, std::string_view value) {
  const std::string variable = VariableName(name);
  if (variable.empty()) {
    return;
  }
  if (std::string* entry = FindEntry(variable)) {
    entry->append(variable == "HTTP_COOKIE" ? "; " : ", ").append(value);
  } else {
    Set(variable, value);
  }
}

auto CgiEnvironment::FindEntry(std::string_view name) -> std::string* {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const std::string& each) { return NameOf(each) == name; });
  return entry == entries_.end() ? nullptr : &*entry;
}

// Fixes the pointers; returns false if execve(2) would truncate an entry or refuse it.
auto CgiEnvironment::Seal() -> bool {
  pointers_.reserve(entries_.size() + 1);
  for (std::string& entry : entries_) {
    if (entry.size() >= kMaxEntryBytes || entry.find('\0') != std::string::npos) {
      return false;
    }
    pointers_.push_back(entry.data());
  }
  pointers_.push_back(nullptr);
  return true;
}

}  // namespace TURTLE_SERVER
