// Closes a site while a file exists: `touch` begins the maintenance, and `rm` ends it.
//
//   class Site final : public RequestHandler {
//     void Handle(Exchange& exchange) override {
//       const NetAddress& client = ends_.SourceOf(exchange.GetConnection());
//       if (const auto closed = maintenance_.Respond(client, looper_.Now())) {
//         exchange.Reply(*closed);
//       } else {
//         inner_->Handle(exchange);
//       }
//     }
//
//     Looper& looper_;
//     MaintenanceMode maintenance_{"/run/turtle/maintenance", {"192.0.2.0/24"}};
//     ConnectionEndsTable ends_;
//     std::unique_ptr<RequestHandler> inner_;
//   };
//
// Interface:
//  * Respond() returns the response of a closed site.
//
// Thread: one, such as a loop's. Each loop has its own object.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/net_address.h"
#include "http/response.h"

namespace TURTLE_SERVER {

/// Whether a site is closed for maintenance.
class MaintenanceMode {
 public:
  /// @param path of the file. Anything of that name counts, even a directory; a symbolic link
  ///     counts if its target exists.
  /// @param networks with the clients that are served nevertheless; CidrSet
  /// @param retry_after when a refused client should come back, at least 1 s
  /// @throws std::invalid_argument "maintenance: no path" and "maintenance: retry after 0 s: at
  ///     least 1", and as CidrSet
  explicit MaintenanceMode(std::string path, const std::vector<std::string>& networks = {},
                           std::chrono::seconds retry_after = std::chrono::seconds(60));

  /// Looks for the file, in the first call that needs to know and then at most once a second: not
  /// before one second after the last look. Calls in between make no system call. While the site is
  /// open, no call allocates.
  ///
  /// If the system can't tell whether the file exists, for example without permission for its
  /// directory, the site stays as it was. At the beginning it is open.
  ///
  /// @param client the client's address; one that is not an IP address is in no network
  /// @param now the loop's time; it never goes back, and may begin with any value
  /// @return a 503 with Retry-After in seconds; nullopt if the request is to be served
  [[nodiscard]] auto Respond(const NetAddress& client, TimePoint now) -> std::optional<Response>;

 private:
  // TODO: its data
};

}  // namespace TURTLE_SERVER
