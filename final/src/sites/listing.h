// Lists the files of a directory, as a page or as JSON.
//
// Interface:
//  * ReadListing() reads the names, sizes and times of a directory.
//  * ListingHtml() and ListingJson() show them.
//
// Thread: any; reading waits for the file system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// One file or directory.
struct ListingEntry {
  std::string name;           ///< any bytes but '/' and NUL; need not be UTF-8
  bool is_directory = false;  ///< a link counts as its target
  std::uint64_t bytes = 0;    ///< of a file; 0 for a directory
  std::time_t modified = 0;   ///< last change, in seconds since 1970, UTC
};

/// The content of a directory.
struct Listing {
  std::vector<ListingEntry> entries;  ///< directories first, each part sorted by bytes of the name
  bool is_cut = false;                ///< there are more than were read
};

/// The default limit of names: the loop waits for each of them.
constexpr std::size_t kMaxListed = 1000;

/// Reads a directory. Left out are devices, pipes and sockets, links that dangle or lead out of the
/// root, and, unless wanted, names that begin with a dot.
/// @param root the open root directory
/// @param path of the directory to read, relative to the root, as for OpenBeneath()
/// @param dot_files true: names that begin with a dot are listed
/// @param most how many names are looked up, in the order of the file system; names that turn out
///     to be devices or such links count, too
/// @return nullopt if it can't be read; errno tells why
[[nodiscard]] auto ReadListing(int root, const std::string& path, bool dot_files,
                               std::size_t most = kMaxListed) -> std::optional<Listing>;

/// Returns an HTML page: a title, a link to the directory above unless the path is "/", and a table
/// with name, size and time in UTC. Everything is escaped; links are relative and
/// percent-encoded, and those of directories end with a slash. Control characters and bytes that
/// are not UTF-8 are shown as U+FFFD. There is a note if the listing is cut or empty.
/// @param path of the directory, decoded, with a slash at its end
/// @param listing its content
[[nodiscard]] auto ListingHtml(std::string_view path, const Listing& listing) -> std::string;

/// Returns a JSON object (RFC 8259): {"path": …, "complete": true, "entries": [{"name": …, "type":
/// "file" or "directory", "size": …, "modified": "2026-01-31T23:59:59Z"}, …]}. Only files have a
/// size. Bytes that are not UTF-8 become U+FFFD. The order of members is not fixed.
/// @param path as above
/// @param listing as above
[[nodiscard]] auto ListingJson(std::string_view path, const Listing& listing) -> std::string;

}  // namespace TURTLE_SERVER
