#include "http/known_field.h"

#include <array>
#include <cstring>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

// In the order of KnownField.
constexpr std::array<std::string_view, kKnownFieldCount> kNames = {
    "",
    "accept",
    "accept-encoding",
    "accept-language",
    "authorization",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "proxy",
    "range",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-forwarded-for",
};

constexpr std::size_t kSlots = 64;

// Length, first and last letter distinguish all the names: a perfect hash, so that a name is
// compared with one candidate at most. 0x20 makes letters lower case.
constexpr auto SlotOf(std::string_view name) -> std::size_t {
  const std::size_t first = static_cast<unsigned char>(name.front()) | 0x20U;
  const std::size_t last = static_cast<unsigned char>(name.back()) | 0x20U;
  return (6 * name.size() + 11 * first + 5 * last) % kSlots;
}

constexpr auto MakeSlots() -> std::array<KnownField, kSlots> {
  std::array<KnownField, kSlots> slots{};
  for (std::size_t i = 1; i < kNames.size(); ++i) {
    slots[SlotOf(kNames[i])] = static_cast<KnownField>(i);
  }
  return slots;
}

constexpr std::array<KnownField, kSlots> kSlotTable = MakeSlots();

constexpr auto EveryNameHasItsSlot() -> bool {
  for (std::size_t i = 1; i < kNames.size(); ++i) {
    if (kSlotTable[SlotOf(kNames[i])] != static_cast<KnownField>(i)) {
      return false;
    }
  }
  return true;
}

static_assert(EveryNameHasItsSlot(), "two names share a slot: choose other factors in SlotOf");

constexpr auto NamesAreLettersAndHyphens() -> bool {
  for (std::string_view name : kNames) {
    for (char c : name) {
      if (c != '-' && !(c >= 'a' && c <= 'z')) {
        return false;
      }
    }
  }
  return true;
}

static_assert(NamesAreLettersAndHyphens(), "IsSame() takes that for granted");

template <class Word>
auto Load(const char* at) -> Word {
  Word word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// Compares a word of `text`, in any case, with one of a name. Names consist of lower-case letters
// and hyphens: of these, only letters have the bit 0x40, and the cases of a letter differ in 0x20.
template <class Word>
auto IsSame(const char* text, const char* name) -> bool {
  constexpr Word kLetterBits = static_cast<Word>(~Word{0}) / 0xff * 0x40;
  const Word wanted = Load<Word>(name);
  return (Load<Word>(text) | ((wanted & kLetterBits) >> 1)) == wanted;
}

// Compares whole words from the front; the last one ends with the name and may overlap others.
template <class Word>
auto IsSameInWords(std::string_view text, std::string_view name) -> bool {
  const std::size_t last = name.size() - sizeof(Word);
  for (std::size_t at = 0; at < last; at += sizeof(Word)) {
    if (!IsSame<Word>(text.data() + at, name.data() + at)) {
      return false;
    }
  }
  return IsSame<Word>(text.data() + last, name.data() + last);
}

auto IsName(std::string_view text, std::string_view name) -> bool {
  if (text.size() != name.size()) {
    return false;
  }
  if (name.size() >= sizeof(std::uint64_t)) {
    return IsSameInWords<std::uint64_t>(text, name);
  }
  return name.size() >= sizeof(std::uint32_t) ? IsSameInWords<std::uint32_t>(text, name)
                                              : ascii::EqualIgnoreCase(text, name);
}

}  // namespace

auto KnownFieldOf(std::string_view name) -> KnownField {
  if (name.empty()) {
    return KnownField::kNone;
  }
  const KnownField candidate = kSlotTable[SlotOf(name)];
  return IsName(name, NameOf(candidate)) ? candidate : KnownField::kNone;
}

auto NameOf(KnownField field) -> std::string_view {
  return kNames[static_cast<std::size_t>(field)];
}

}  // namespace TURTLE_SERVER
