#include "app/serve_check.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "app/byte_size.h"
#include "app/operations_server.h"
#include "app/privileges.h"
#include "app/serve_settings.h"
#include "base/unique_fd.h"
#include "core/ip_text.h"
#include "core/net_address.h"
#include "core/socket.h"
#include "log/log.h"
#include "log/log_writer.h"
#include "sites/site_table.h"
#include "tls/tls.h"

namespace TURTLE_SERVER {

namespace {

#ifdef __linux__
constexpr bool kAnyIsAll = true;  // a listener on 0.0.0.0 keeps others from each single address
#else
constexpr bool kAnyIsAll = false;
#endif

// A place to listen at.
struct Place {
  std::string key;     // of its setting
  std::string text;    // as it is written there
  std::string path{};  // of a socket; empty: an address
  NetAddress address{};
};

auto WhatIsWrong(const std::string& key, const std::string& value, const std::string& reason)
    -> std::string {
  return key + ": '" + value + "': " + reason;
}

auto TextOf(int error) -> std::string { return std::generic_category().message(error); }

// Returns the reason of a refusal, or "". Checks for the user that will open it.
auto Refusal(const std::string& path, int mode) -> std::string {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 ? "" : TextOf(errno);
}

// Returns where a dangling link points: open(2) would create the file there.
auto EndOf(std::filesystem::path path) -> std::filesystem::path {
  constexpr int kMostLinks = 40;  // path_resolution(7)
  std::error_code ignored;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, ignored); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, ignored);
  }
  return path;
}

// Returns true for the directory of open descriptors, where no file can be created.
auto IsDescriptorFolder(const std::string& folder) -> bool {
  std::error_code ignored;
  return std::filesystem::equivalent(folder, "/dev/fd", ignored);
}

// Returns why a missing file can't be created at `path`, or "".
auto WhyNotMade(const std::filesystem::path& path) -> std::string {
  const std::string parent = path.parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  struct stat status {};
  std::string reason = ::stat(folder.c_str(), &status) != 0 ? TextOf(errno)
                       : !S_ISDIR(status.st_mode)           ? TextOf(ENOTDIR)
                       : IsDescriptorFolder(folder)         ? TextOf(ENOENT)
                                                            : Refusal(folder, W_OK | X_OK);
  return reason.empty() ? "" : "its directory " + folder + ": " + reason;
}

// An existing socket may be a running server's, so it is not touched.
auto WhyNoSocket(const std::string& path) -> std::string {
  if (path.size() >= sizeof sockaddr_un{}.sun_path) {
    return "too long for a socket, unix(7)";
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    return S_ISSOCK(status.st_mode) ? "" : "it exists and is not a socket";
  }
  return errno == ENOENT || errno == ENOTDIR ? WhyNotMade(path) : TextOf(errno);
}

// Opens a device to find out: /dev/tty fails without a terminal.
auto WhyNoDevice(const std::string& file) -> std::string {
  const UniqueFd device(::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  return device ? "" : TextOf(errno);
}

// A FIFO is not opened: its reader would mistake us for a writer.
auto WhyNoLog(const std::string& file) -> std::string {
  if (const std::optional<int> descriptor = DescriptorOf(file)) {
    return file.empty() || ::fcntl(*descriptor, F_GETFD) >= 0 ? "" : TextOf(errno);
  }
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? WhyNotMade(EndOf(file)) : TextOf(errno);
  }
  return S_ISDIR(status.st_mode)    ? TextOf(EISDIR)
         : S_ISSOCK(status.st_mode) ? TextOf(ENXIO)
         : S_ISCHR(status.st_mode)  ? WhyNoDevice(file)
                                    : Refusal(file, W_OK);
}

// Whether its process runs doesn't matter: a check may come beside a running server.
auto WhyNoPidFile(const std::string& file) -> std::string {
  if (file.find('\0') != std::string::npos) {
    return "it has a NUL byte";
  }
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? WhyNotMade(file) : TextOf(errno);
  }
  return S_ISREG(status.st_mode) ? Refusal(file, R_OK) : "it exists and is not a regular file";
}

// Binding to port 0 shows whether the address belongs to this machine, without using a port that is
// in use.
auto AddressOf(const std::string& host, std::uint16_t port) -> NetAddress {
  NetAddress address(host, port);
  Socket().Bind(NetAddress(address.Ip(), 0));
  return address;
}

// Ports below 1024 need a privilege, unless a service manager hands in a listener.
auto WhyNotBound(const NetAddress& address) -> std::string {
  if (address.Port() == 0 || address.Port() >= IPPORT_RESERVED) {
    return "";
  }
  try {
    Socket().Bind(address);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::permission_denied) {
      return std::string(error.what()) +
             "; this user needs CAP_NET_BIND_SERVICE, or a listener from systemd";
    }
  }
  return "";
}

auto IsAny(const NetAddress& address) -> bool {
  return address.Ip() == "0.0.0.0" || address.Ip() == "::";
}

auto IsSameFile(const std::string& one, const std::string& other) -> bool {
  std::error_code ignored;
  const auto resolved = [&ignored](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  const std::filesystem::path first = resolved(one);
  return !first.empty() && first == resolved(other);
}

auto Collide(const Place& one, const Place& other) -> bool {
  if (!one.path.empty() || !other.path.empty()) {
    return !one.path.empty() && !other.path.empty() && IsSameFile(one.path, other.path);
  }
  if (one.address.Port() == 0 || one.address.Port() != other.address.Port() ||
      one.address.Family() != other.address.Family()) {
    return false;  // our IPv6 sockets take no IPv4 clients
  }
  const bool any = IsAny(one.address) || IsAny(other.address);
  return one.address.Ip() == other.address.Ip() || (kAnyIsAll && any);
}

auto IsAddress(const std::string& host) -> bool {
  return host.find_first_of("[:") != std::string::npos || ParseIp(AF_INET, host, 0).has_value();
}

// Returns true if a client that asks for this host gets a certificate for it, and for an address,
// which no client names in its handshake (RFC 6066, section 3). A certificate's star is one label,
// and a site's is any number of them: what is below is not checked.
auto IsCertified(const std::string& host, const std::set<std::string>& names) -> bool {
  const std::string pattern = "*" + host.substr(std::min(host.find('.'), host.size()));
  return IsAddress(host) || names.count(host) != 0 || names.count(pattern) != 0;
}

// Finds all faults, in the order of the settings.
class Check {
 public:
  // Notes a place where a server would listen.
  void Listens(Place place, const std::string& host, std::uint16_t port) {
    const bool is_path = place.text.compare(0, kUnixPrefix.size(), kUnixPrefix) == 0;
    if (is_path) {
      place.path = place.text.substr(kUnixPrefix.size());
      Refuses(place.key, place.text, WhyNoSocket(place.path));
    } else {
      try {
        place.address = AddressOf(host, port);
      } catch (const std::exception& error) {
        Refuses(place.key, place.text, error.what());
        return;
      }
      if (const std::string reason = WhyNotBound(place.address); !reason.empty()) {
        warnings_.push_back(WhatIsWrong(place.key, place.text, reason));
      }
    }
    for (const Place& other : places_) {
      if (Collide(place, other)) {
        Refuses(place.key, place.text, "taken already, by " + other.key + " '" + other.text + "'");
        break;
      }
    }
    places_.push_back(std::move(place));
  }

  // Checks a directory that will be entered.
  void Enters(const std::string& key, const std::string& folder) {
    if (!folder.empty()) {
      Refuses(key, folder, Refusal(folder, X_OK));
    }
  }

  // Checks everything about sites that has no setting of its own.
  void Compiles(const SitesOptions& sites) {
    try {
      static_cast<void>(SiteTable(sites));
    } catch (const std::exception& error) {
      faults_.push_back(std::string("sites: ") + error.what());
    }
  }

  // Checks the certificates and their keys, and warns of hosts that have none.
  void Encrypts(const HttpsOptions& https, const SitesOptions& sites) {
    try {
      const std::set<std::string> names = Tls(TlsOf(https)).Names();
      for (std::size_t i = 0; i < sites.size(); ++i) {
        WarnsOfUncertified("sites[" + std::to_string(i) + "].names", sites[i].names, names);
      }
    } catch (const std::exception& error) {
      faults_.push_back(std::string("tls: ") + error.what());
    }
  }

  // Checks the user that the process is to become.
  void Becomes(const std::string& user, const std::string& group) {
    try {
      static_cast<void>(Privileges(user, group));
    } catch (const std::exception& error) {
      faults_.emplace_back(error.what());
    }
  }

  // Warns if root would serve other machines: a service manager may start it as another user.
  void ServesAs(const std::string& user) {
    for (const Place& place : places_) {
      const bool is_address = place.key == "address" && place.path.empty();
      const std::string reason = is_address ? WhyNotAsRoot(place.address, user) : "";
      if (!reason.empty()) {
        warnings_.push_back(reason);
        return;
      }
    }
  }

  // Checks the file for the number of the process.
  void Numbers(const std::string& key, const std::string& file) {
    if (!file.empty()) {
      Refuses(key, file, WhyNoPidFile(file));
    }
  }

  // Checks a file that will be written to.
  void Writes(const std::string& key, const std::string& file) {
    Refuses(key, file, WhyNoLog(file));
  }

  auto TakeFaults() noexcept -> std::vector<std::string> { return std::move(faults_); }
  auto TakeWarnings() noexcept -> std::vector<std::string> { return std::move(warnings_); }

 private:
  // Warns of the hosts of a site that have no certificate. `names` are the certificates'.
  void WarnsOfUncertified(const std::string& key, const std::vector<std::string>& hosts,
                          const std::set<std::string>& names) {
    for (const std::string& host : hosts) {
      if (!IsCertified(host, names)) {
        warnings_.push_back(WhatIsWrong(key, host, "no certificate is valid for this host"));
      }
    }
  }

  void Refuses(const std::string& key, const std::string& value, const std::string& reason) {
    if (!reason.empty()) {
      faults_.push_back(WhatIsWrong(key, value, reason));
    }
  }

  std::vector<Place> places_;
  std::vector<std::string> faults_;
  std::vector<std::string> warnings_;
};

auto CheckOf(const ServeOptions& options) -> Check {
  Check check;
  check.Enters("http.root_path", options.directory);
  for (std::size_t i = 0; i < options.sites.size(); ++i) {
    const std::string key = "sites[" + std::to_string(i) + "]";
    check.Enters(key + ".root_path", options.sites[i].root);
    check.Writes(key + ".access_log", options.sites[i].access_log);
  }
  check.Compiles(options.sites);
  const bool has_tls = options.https.HasTls();
  const bool is_plain = !has_tls || options.https.plain != PlainHttp::kOff;
  for (const std::string& place : SplitList(options.address)) {
    const bool is_path = place.compare(0, kUnixPrefix.size(), kUnixPrefix) == 0;
    if (is_plain || is_path) {
      check.Listens({"address", place}, place, options.port);
    }
    if (has_tls && !is_path) {
      check.Listens({"address", place}, place, options.https.port);
    }
  }
  if (has_tls) {
    check.Encrypts(options.https, options.sites);
  }
  check.ServesAs(options.user);
  check.Becomes(options.user, options.group);
  check.Numbers("pid_file", options.pid_file);
  check.Enters("http.cgi_path", options.cgi_dir);
  check.Writes(options.log_base_name.empty() ? "log.file" : "log.base_name",
               options.log.writer.file);
  check.Writes("access_log.file", options.access_log.file);
  for (const std::string& place : SplitList(options.operations)) {
    const auto parsed = ParseHostAndPort(place);  // nullopt: a path
    check.Listens({"operations.address", place}, parsed ? parsed->first : "",
                  parsed ? parsed->second : 0);
  }
  return check;
}

}  // namespace

auto ServeFaults(const ServeOptions& options) -> std::vector<std::string> {
  return CheckOf(options).TakeFaults();
}

auto StartWarnings(const ServeOptions& options) -> std::vector<std::string> {
  return CheckOf(options).TakeWarnings();
}

auto ServeWarnings(ServeOptions options) -> std::vector<std::string> {
  constexpr std::uint64_t kFew = 1024;
  std::vector<std::string> warnings;
  const SettingList settings = ServeSettings(options);
  for (const Setting& setting : settings.All()) {
    const std::uint64_t size =
        setting.type == SettingType::kSize ? ParseByteSize(setting.show()).value_or(0) : 0;
    if (size != 0 && size < kFew) {
      const std::string digits = std::to_string(size);
      std::string warning = setting.name.key;
      warning.append(": ").append(digits).append(" means ").append(digits);
      warning.append(" bytes; is ").append(digits).append("K or ").append(digits);
      warnings.push_back(warning.append("M what was meant?"));
    }
  }
  return warnings;
}

void LogWarnings(const ServeOptions& options) {
  for (const std::string& warning : ServeWarnings(options)) {
    Log(LogLevel::kWarning, warning);
  }
}

}  // namespace TURTLE_SERVER
