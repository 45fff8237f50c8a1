#include "http/status.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace TURTLE_SERVER {

namespace {

struct Entry {
  int status;
  std::string_view phrase;
};

constexpr auto kPhrases = std::array{
    Entry{100, "Continue"},
    Entry{101, "Switching Protocols"},
    Entry{103, "Early Hints"},
    Entry{200, "OK"},
    Entry{201, "Created"},
    Entry{202, "Accepted"},
    Entry{203, "Non-Authoritative Information"},
    Entry{204, "No Content"},
    Entry{205, "Reset Content"},
    Entry{206, "Partial Content"},
    Entry{300, "Multiple Choices"},
    Entry{301, "Moved Permanently"},
    Entry{302, "Found"},
    Entry{303, "See Other"},
    Entry{304, "Not Modified"},
    Entry{307, "Temporary Redirect"},
    Entry{308, "Permanent Redirect"},
    Entry{400, "Bad Request"},
    Entry{401, "Unauthorized"},
    Entry{402, "Payment Required"},
    Entry{403, "Forbidden"},
    Entry{404, "Not Found"},
    Entry{405, "Method Not Allowed"},
    Entry{406, "Not Acceptable"},
    Entry{407, "Proxy Authentication Required"},
    Entry{408, "Request Timeout"},
    Entry{409, "Conflict"},
    Entry{410, "Gone"},
    Entry{411, "Length Required"},
    Entry{412, "Precondition Failed"},
    Entry{413, "Content Too Large"},
    Entry{414, "URI Too Long"},
    Entry{415, "Unsupported Media Type"},
    Entry{416, "Range Not Satisfiable"},
    Entry{417, "Expectation Failed"},
    Entry{421, "Misdirected Request"},
    Entry{422, "Unprocessable Content"},
    Entry{425, "Too Early"},
    Entry{426, "Upgrade Required"},
    Entry{428, "Precondition Required"},
    Entry{429, "Too Many Requests"},
    Entry{431, "Request Header Fields Too Large"},
    Entry{451, "Unavailable For Legal Reasons"},
    Entry{500, "Internal Server Error"},
    Entry{501, "Not Implemented"},
    Entry{502, "Bad Gateway"},
    Entry{503, "Service Unavailable"},
    Entry{504, "Gateway Timeout"},
    Entry{505, "HTTP Version Not Supported"},
    Entry{511, "Network Authentication Required"},
};

constexpr auto IsSorted() -> bool {
  for (std::size_t i = 1; i < kPhrases.size(); ++i) {
    if (kPhrases[i - 1].status >= kPhrases[i].status) {
      return false;
    }
  }
  return true;
}
static_assert(IsSorted(), "the binary search needs the table in order");

}  // namespace

auto ReasonPhrase(int status) noexcept -> std::string_view {
  const auto* const found =
      std::lower_bound(kPhrases.begin(), kPhrases.end(), status,
                       [](const Entry& entry, int wanted) { return entry.status < wanted; });
  return found != kPhrases.end() && found->status == status ? found->phrase : std::string_view();
}

}  // namespace TURTLE_SERVER
