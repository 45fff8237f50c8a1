#include "sites/listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/unique_fd.h"
#include "files/open_beneath.h"
#include "http/encode_path.h"
#include "http/html.h"
#include "http/http_date.h"
#include "http/json.h"

namespace TURTLE_SERVER {

namespace {

// Keeps errno for the caller.
struct DirectoryCloser {
  void operator()(DIR* stream) const noexcept {
    const int error = errno;
    closedir(stream);
    errno = error;
  }
};
using DirectoryStream = std::unique_ptr<DIR, DirectoryCloser>;

auto OpenStream(int root, const std::string& path) noexcept -> DirectoryStream {
  UniqueFd own = OpenBeneath(root, path);
  DirectoryStream stream(own ? fdopendir(own.Get()) : nullptr);
  if (stream) {
    static_cast<void>(own.Release());  // closedir() closes it
  }
  return stream;
}

auto IsListed(std::string_view name, bool dot_files) noexcept -> bool {
  return dot_files ? name != "." && name != ".." : name.substr(0, 1) != ".";
}

auto IsFileOrDirectory(const struct stat& status) noexcept -> bool {
  return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

// Looks at the target of a link only if a client could open it. @return false: it is not listed, or
// has just been removed
auto Look(int root, const std::string& path, const char* name, int directory, struct stat& status)
    -> bool {
  if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(status.st_mode)) {
    return IsFileOrDirectory(status);
  }
  const UniqueFd target = OpenBeneath(root, path + '/' + name);
  return target && fstat(target.Get(), &status) == 0 && IsFileOrDirectory(status);
}

auto EntryOf(const char* name, const struct stat& status) -> ListingEntry {
  ListingEntry entry;
  entry.name = name;
  entry.is_directory = S_ISDIR(status.st_mode);
  entry.bytes = entry.is_directory ? 0 : static_cast<std::uint64_t>(status.st_size);
  entry.modified = status.st_mtime;
  return entry;
}

// Returns the next name that may be listed; nullptr at the end, or with an errno other than 0.
auto NextName(DIR* stream, bool dot_files) noexcept -> const char* {
  while (true) {
    errno = 0;
    const dirent* const next = readdir(stream);
    if (next == nullptr || IsListed(next->d_name, dot_files)) {
      return next == nullptr ? nullptr : next->d_name;
    }
  }
}

auto IsBefore(const ListingEntry& one, const ListingEntry& other) noexcept -> bool {
  return one.is_directory != other.is_directory ? one.is_directory : one.name < other.name;
}

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// The start of a text: a character of UTF-8, or bytes that are none.
struct TextPart {
  std::size_t bytes;  // at least 1
  bool is_shown;      // false: U+FFFD stands for it
};

// Takes as many wrong bytes as browsers do, and as ListingJson() does (Unicode, table 3-7).
auto FirstPart(std::string_view text) noexcept -> TextPart {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {1, lead >= ' ' && lead != 0x7f};
  }
  if (lead < 0xc2 || lead > 0xf4) {
    return {1, false};
  }
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  std::size_t count = 1;
  while (count < size && count < text.size() && byte(count) >= least && byte(count) <= most) {
    ++count;
    least = 0x80;
    most = 0xbf;
  }
  const bool is_control = lead == 0xc2 && count == 2 && byte(1) < 0xa0;
  return {count, count == size && !is_control};
}

// HTML may have neither control characters nor bytes that are not UTF-8.
void AppendText(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const TextPart part = FirstPart(text);
    if (part.is_shown) {
      AppendEscaped(text.substr(0, part.bytes), out);
    } else {
      out += kReplacement;
    }
    text.remove_prefix(part.bytes);
  }
}

void AppendNumber(int value, std::size_t width, std::string& out) {
  const std::string digits = std::to_string(value);
  out.append(width - std::min(width, digits.size()), '0').append(digits);
}

// A time in UTC. Like a Last-Modified, it has four digits for the year.
class UtcTime {
 public:
  explicit UtcTime(std::time_t time) noexcept {
    const auto seconds =
        static_cast<std::time_t>(std::clamp(HttpTime(time), kMinHttpTime, kMaxHttpTime).count());
    gmtime_r(&seconds, &fields_);
  }

  // Appends "2026-01-31T23:59", with any other separator.
  void AppendMinutes(char separator, std::string& out) const {
    AppendNumber(fields_.tm_year + 1900, 4, out);
    AppendNumber(fields_.tm_mon + 1, 2, out += '-');
    AppendNumber(fields_.tm_mday, 2, out += '-');
    AppendNumber(fields_.tm_hour, 2, out += separator);
    AppendNumber(fields_.tm_min, 2, out += ':');
  }

  // Appends "2026-01-31T23:59:59Z".
  void AppendSeconds(std::string& out) const {
    AppendMinutes('T', out);
    AppendNumber(fields_.tm_sec, 2, out += ':');
    out += 'Z';
  }

 private:
  std::tm fields_{};
};

// Appends "1.4 MB".
void AppendRoundedSize(std::uint64_t bytes, std::string& out) {
  if (bytes < 1000) {
    out.append(std::to_string(bytes)).append(" B");
    return;
  }
  constexpr std::string_view kPrefixes = "kMGTPE";  // 64 bits end within the last one
  std::uint64_t tenth = 100;                        // of the unit
  const auto tenths = [&] { return bytes / tenth + (bytes % tenth >= tenth / 2 ? 1 : 0); };
  std::size_t prefix = 0;
  for (; tenths() >= 10'000; ++prefix) {
    tenth *= 1000;
  }
  out.append(std::to_string(tenths() / 10)).append(".").append(std::to_string(tenths() % 10));
  out.append(" ").append(1, kPrefixes[prefix]).append("B");
}

void AppendSizeCell(const ListingEntry& entry, std::string& out) {
  if (entry.is_directory) {
    out += "<td></td>";
    return;
  }
  out.append(R"(<td class="number" title=")").append(std::to_string(entry.bytes));
  out += entry.bytes == 1 ? " byte\">" : " bytes\">";
  AppendRoundedSize(entry.bytes, out);
  out += "</td>";
}

void AppendNameCell(const ListingEntry& entry, std::string& out) {
  const std::string_view slash = entry.is_directory ? "/" : "";
  out += R"(<th scope="row"><a href=")";
  if (entry.name.find(':') != std::string::npos) {
    out += "./";  // or a browser takes it for a scheme
  }
  AppendEscaped(EncodePath(entry.name), out);
  out.append(slash).append("\">");
  AppendText(entry.name, out);
  out.append(slash).append("</a></th>");
}

void AppendRow(const ListingEntry& entry, std::string& out) {
  const UtcTime modified(entry.modified);
  out += "<tr>";
  AppendNameCell(entry, out);
  AppendSizeCell(entry, out);
  out += R"(<td class="number"><time datetime=")";
  modified.AppendSeconds(out);
  out += "\">";
  modified.AppendMinutes(' ', out);
  out += "</time></td></tr>\n";
}

void AppendTable(const std::vector<ListingEntry>& entries, std::string& out) {
  out += R"(<table>
<thead>
<tr>
<th scope="col">Name</th>
<th scope="col" class="number">Size</th>
<th scope="col" class="number">Modified (UTC)</th>
</tr>
</thead>
<tbody>
)";
  for (const ListingEntry& entry : entries) {
    AppendRow(entry, out);
  }
  out += "</tbody>\n</table>\n";
}

// Appends a sentence, if there is something to say about the number of entries.
void AppendNote(const Listing& listing, std::string& out) {
  const std::size_t count = listing.entries.size();
  if (listing.is_cut && count == 1) {
    out += "<p>Only the first entry is shown.</p>\n";
  } else if (listing.is_cut) {
    out.append("<p>Only the first ").append(std::to_string(count));
    out += " entries are shown.</p>\n";
  } else if (count == 0) {
    out += "<p>There are no entries to show.</p>\n";
  }
}

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body { font-family: system-ui, sans-serif; line-height: 1.5; margin: 1rem auto; max-width: 60rem;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8886; padding: 0.25rem 0.5rem; text-align: left;
  vertical-align: top; }
tbody th { font-weight: normal; overflow-wrap: anywhere; white-space: pre-wrap; }
.number { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
</style>
)";

void AppendHead(std::string_view path, std::string& out) {
  std::string title = "Index of ";
  AppendText(path, title);
  out.append(kHead).append("<title>").append(title).append("</title>\n</head>\n<body>\n<main>\n");
  out.append("<h1>").append(title).append("</h1>\n");
}

}  // namespace

auto ReadListing(int root, const std::string& path, bool dot_files, std::size_t most)
    -> std::optional<Listing> {
  Listing listing;
  const DirectoryStream stream = OpenStream(root, path);
  if (!stream) {
    return std::nullopt;
  }
  std::size_t count = 0;
  while (const char* const name = NextName(stream.get(), dot_files)) {
    if (count++ == most) {
      listing.is_cut = true;
      break;
    }
    struct stat status {};
    if (Look(root, path, name, dirfd(stream.get()), status)) {
      listing.entries.push_back(EntryOf(name, status));
    }
  }
  if (!listing.is_cut && errno != 0) {
    return std::nullopt;
  }
  std::sort(listing.entries.begin(), listing.entries.end(), IsBefore);
  return listing;
}

auto ListingHtml(std::string_view path, const Listing& listing) -> std::string {
  std::string page;
  AppendHead(path, page);
  if (path != "/") {
    page += "<p><a href=\"../\">Parent directory</a></p>\n";
  }
  if (!listing.entries.empty()) {
    AppendTable(listing.entries, page);
  }
  AppendNote(listing, page);
  page += "</main>\n</body>\n</html>\n";
  return page;
}

auto ListingJson(std::string_view path, const Listing& listing) -> std::string {
  nlohmann::json entries = nlohmann::json::array();
  for (const ListingEntry& entry : listing.entries) {
    std::string modified;
    UtcTime(entry.modified).AppendSeconds(modified);
    nlohmann::json& shown = entries.emplace_back(nlohmann::json{
        {"name", entry.name},
        {"type", entry.is_directory ? "directory" : "file"},
        {"modified", std::move(modified)},
    });
    if (!entry.is_directory) {
      shown["size"] = entry.bytes;
    }
  }
  return FormatJson(
      {{"path", path}, {"complete", !listing.is_cut}, {"entries", std::move(entries)}});
}

}  // namespace TURTLE_SERVER
