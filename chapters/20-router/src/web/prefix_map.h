// Maps prefixes of paths to values.
//
//   PrefixMap<int> map;
//   map.Add("/", 1);
//   map.Add("/api", 2);
//   *map.Find("/api/todos").value;  // 2; for "/apis" it is 1
//
// Thread: the owner's while it is filled; afterwards any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Throws std::invalid_argument unless `prefix` is "/" or a path without a slash at its end.
/// @param what describes its purpose; the message starts with it
/// @param prefix such as "/cgi-bin"
inline void RequirePrefix(const std::string& what, const std::string& prefix) {
  const bool is_path = !prefix.empty() && prefix.front() == '/';
  if (!is_path || (prefix.size() > 1 && prefix.back() == '/')) {
    throw std::invalid_argument(what + " \"" + prefix + "\": not a path such as / or /cgi-bin");
  }
}

/// Maps prefixes of paths to values; the longest prefix wins.
template <typename Value>
class PrefixMap {
 public:
  /// A value, and the length of its prefix.
  struct Match {
    const Value* value;        ///< nullptr: the path has none
    std::size_t prefix_bytes;  ///< of the path; of "/" 0
  };

  /// @param prefix "/", or a path such as "/cgi-bin", without a slash at its end. A second value
  ///     for the same prefix is ignored.
  /// @param value for the paths under it
  void Add(std::string prefix, Value value) {
    if (prefix == "/") {
      prefix.clear();
    }
    entries_.push_back({std::move(prefix), std::move(value)});
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.prefix.size() > b.prefix.size();
    });
  }

  /// Returns the value of the longest prefix of `path`, in whole segments: "/cgi-bin" is a prefix
  /// of "/cgi-bin/add", and not of "/cgi-binary".
  [[nodiscard]] auto Find(std::string_view path) const noexcept -> Match {
    for (const Entry& entry : entries_) {
      const std::string_view prefix = entry.prefix;
      const bool whole_segments = path.size() == prefix.size() ||
                                  (path.size() > prefix.size() && path[prefix.size()] == '/');
      if (prefix.empty() || (whole_segments && path.substr(0, prefix.size()) == prefix)) {
        return {&entry.value, prefix.size()};
      }
    }
    return {nullptr, 0};
  }

  /// Returns true as long as nothing was added.
  [[nodiscard]] auto Empty() const noexcept -> bool { return entries_.empty(); }

 private:
  struct Entry {
    std::string prefix;  // "" for the root
    Value value;
  };

  std::vector<Entry> entries_;  // longest prefix first
};

}  // namespace TURTLE_SERVER
