#include "http/known_field.h"

#include <array>

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

// Length, first and last letter tell all the names apart: a perfect hash, so that a name is
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

}  // namespace

auto KnownFieldOf(std::string_view name) -> KnownField {
  if (name.empty()) {
    return KnownField::kNone;
  }
  const KnownField candidate = kSlotTable[SlotOf(name)];
  return ascii::EqualIgnoreCase(name, NameOf(candidate)) ? candidate : KnownField::kNone;
}

auto NameOf(KnownField field) -> std::string_view {
  return kNames[static_cast<std::size_t>(field)];
}

}  // namespace TURTLE_SERVER
