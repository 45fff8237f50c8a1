#include "sites/password_hash.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

enum class Fit : std::uint8_t { kGood, kMalformed, kSlow };

struct HashKind {
  std::string_view prefix;
  std::string_view probe;
  Fit (*fit)(std::string_view rest);
};

// The alphabet of crypt(5), which is in the order of ASCII.
auto IsHashText(std::string_view text) noexcept -> bool {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '.' || c == '/' || ascii::IsDigit(c) || ascii::IsLetter(c);
  });
}

// Cuts the text before the next '$' off, and the '$'. Without one, it is the whole text.
auto TakePart(std::string_view& rest) noexcept -> std::string_view {
  const std::size_t end = std::min(rest.find('$'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// "12$", a salt of 22 characters, and a digest of 31.
auto FitBcrypt(std::string_view rest) -> Fit {
  const std::string_view cost = TakePart(rest);
  if (cost.size() != 2 || !ascii::IsDigit(cost[0]) || !ascii::IsDigit(cost[1]) || cost < "04" ||
      rest.size() != 53 || !IsHashText(rest)) {
    return Fit::kMalformed;
  }
  return cost > "15" ? Fit::kSlow : Fit::kGood;
}

// Only the form that crypt(3) writes itself: the result must be equal to the text.
auto FitRounds(std::string_view digits) -> Fit {
  std::uint32_t rounds = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, rounds);
  if (digits.empty() || digits.front() == '0' || error != std::errc() || stop != end ||
      rounds < 1000) {
    return Fit::kMalformed;
  }
  return rounds > 5'000'000 ? Fit::kSlow : Fit::kGood;
}

// Perhaps "rounds=9999$", then a salt, '$', and a digest.
auto FitSha(std::string_view rest, std::size_t digest) -> Fit {
  constexpr std::string_view kRounds = "rounds=";
  Fit fit = Fit::kGood;
  if (rest.substr(0, kRounds.size()) == kRounds) {
    fit = FitRounds(TakePart(rest).substr(kRounds.size()));
  }
  const std::string_view salt = TakePart(rest);
  const bool good = !salt.empty() && salt.size() <= 16 && IsHashText(salt) && rest.size() == digest;
  return good && IsHashText(rest) ? fit : Fit::kMalformed;
}

auto FitSha256(std::string_view rest) -> Fit { return FitSha(rest, 43); }

auto FitSha512(std::string_view rest) -> Fit { return FitSha(rest, 86); }

// The parameters as crypt_gensalt(3) writes them: "j", the memory, the size of a block.
auto FitYescrypt(std::string_view rest) -> Fit {
  const std::string_view cost = TakePart(rest);
  const std::string_view salt = TakePart(rest);
  if (cost.size() != 3 || cost[0] != 'j' || !IsHashText(cost) || salt.size() > 86 ||
      !IsHashText(salt) || rest.size() != 43 || !IsHashText(rest)) {
    return Fit::kMalformed;
  }
  return cost[1] > 'B' || cost[2] > 'T' ? Fit::kSlow : Fit::kGood;
}

constexpr std::array<HashKind, 6> kKinds = {{{"$2a$", "$2a$04$abcdefghijklmnopqrstuu", FitBcrypt},
                                             {"$2b$", "$2b$04$abcdefghijklmnopqrstuu", FitBcrypt},
                                             {"$2y$", "$2y$04$abcdefghijklmnopqrstuu", FitBcrypt},
                                             {"$5$", "$5$rounds=1000$salt$", FitSha256},
                                             {"$6$", "$6$rounds=1000$salt$", FitSha512},
                                             {"$y$", "$y$j/.$salt$", FitYescrypt}}};

auto KindOf(std::string_view hash) noexcept -> const HashKind* {
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(), [hash](const HashKind& each) {
    return hash.substr(0, each.prefix.size()) == each.prefix;
  });
  return kind == kKinds.end() ? nullptr : kind;
}

}  // namespace

auto HashFault(std::string_view text) -> std::string {
  const HashKind* const kind = KindOf(text);
  if (kind == nullptr) {
    return "the hash is not one of bcrypt ($2b$), SHA-512 ($6$), SHA-256 ($5$) and yescrypt ($y$)";
  }
  switch (kind->fit(text.substr(kind->prefix.size()))) {
    case Fit::kGood:
      return "";
    case Fit::kSlow:
      return "the cost of the hash is above the limit";
    case Fit::kMalformed:
      break;
  }
  return "the hash is malformed, after " + std::string(kind->prefix);
}

auto ProbeOf(std::string_view hash) noexcept -> std::string_view {
  const HashKind* const kind = KindOf(hash);
  return kind == nullptr ? std::string_view() : kind->probe;
}

}  // namespace TURTLE_SERVER
