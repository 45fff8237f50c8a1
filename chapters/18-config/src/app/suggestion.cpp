#include "app/suggestion.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace TURTLE_SERVER {

namespace {

// Returns the part of "http.root_path" after the last dot, "root_path".
auto Own(std::string_view name) -> std::string_view { return name.substr(name.rfind('.') + 1); }

// Returns the part before the last dot, "http"; "" if there is no dot.
auto Group(std::string_view name) -> std::string_view {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : name.substr(0, dot);
}

// Returns how many letters of a word may be wrong.
auto MostWrong(std::string_view word) -> std::size_t { return (word.size() + 2) / 4; }

// Returns whether a name is in another group than the word: "http.port" means "port" rather than
// "tls.port", although the latter has more of its letters.
auto IsInAnotherGroup(std::string_view name, std::string_view word) -> bool {
  const std::string_view group = Group(word);
  return !Group(name).empty() && EditDistance(group, Group(name)) > MostWrong(group);
}

}  // namespace

auto EditDistance(std::string_view one, std::string_view other) -> std::size_t {
  std::vector<std::size_t> before(other.size() + 1);  // two letters of `one` ago
  std::vector<std::size_t> last(other.size() + 1);
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= one.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t changed = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

auto NearestName(std::string_view word, const std::vector<std::string>& names)
    -> std::optional<std::string> {
  constexpr std::size_t kMaxWord = 64;  // no typing error is longer
  if (word.size() > kMaxWord) {
    return std::nullopt;
  }
  const std::size_t most = MostWrong(Own(word));
  std::optional<std::string> best;
  std::tuple<std::size_t, bool, std::size_t> least;
  for (const std::string& name : names) {
    const std::size_t whole = EditDistance(word, name);
    const std::size_t near = std::min(whole, EditDistance(Own(word), Own(name)));
    const std::tuple wrong(near, IsInAnotherGroup(name, word), whole);
    if (near <= most && (!best || wrong < least)) {
      best = name;
      least = wrong;
    }
  }
  return best;
}

}  // namespace TURTLE_SERVER
