#include "http/conditional.h"

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

using Action = ConditionResult::Action;

enum class Comparison : std::uint8_t { kStrong, kWeak };

struct EntityTag {
  bool weak;
  std::string_view opaque;  // with its quotes
};

// Takes [ "W/" ] DQUOTE *etagc DQUOTE off the front (RFC 9110, section 8.8.3). The tag may contain
// commas, so a list of tags can't be split at its commas.
auto TakeTag(std::string_view& text) -> std::optional<EntityTag> {
  const bool weak = text.substr(0, 2) == "W/";
  const std::size_t start = weak ? 2 : 0;
  if (text.size() <= start || text[start] != '"') {
    return std::nullopt;
  }
  for (std::size_t i = start + 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      const EntityTag tag{weak, text.substr(start, i + 1 - start)};
      text.remove_prefix(i + 1);
      return tag;
    }
    if (text[i] == ' ' || ascii::IsControl(text[i])) {
      break;
    }
  }
  return std::nullopt;
}

auto Matches(const EntityTag& tag, const Validators& current, Comparison comparison) -> bool {
  const bool comparable = comparison == Comparison::kWeak || (!tag.weak && current.strong);
  return comparable && !current.opaque_tag.empty() && tag.opaque == current.opaque_tag;
}

// Checks one field line of If-Match or If-None-Match: "*" or a list of tags. The text after a
// malformed element is ignored, and matches nothing.
auto ListMatches(std::string_view list, const Validators& current, Comparison comparison) -> bool {
  if (list == "*") {
    return current.exists;
  }
  while (true) {
    while (!list.empty() && (list.front() == ',' || ascii::IsOws(list.front()))) {
      list.remove_prefix(1);
    }
    const auto tag = TakeTag(list);
    if (!tag) {
      return false;
    }
    list = ascii::TrimOws(list);
    if (!list.empty() && list.front() != ',') {
      return false;
    }
    if (Matches(*tag, current, comparison)) {
      return true;
    }
  }
}

auto AnyLineMatches(const Headers& fields, KnownField field, const Validators& current,
                    Comparison comparison) -> bool {
  bool matches = false;
  fields.ForEach(field, [&](std::string_view line) {
    matches = matches || ListMatches(line, current, comparison);
  });
  return matches;
}

// Returns the date of a field that counts: one line, valid, and comparable with a known date.
auto DateToCompare(const Headers& fields, KnownField field, const Validators& current, HttpTime now)
    -> std::optional<HttpTime> {
  if (!current.last_modified || fields.Count(field) != 1) {
    return std::nullopt;
  }
  return ParseHttpDate(*fields.Find(field), now);
}

// A date whose second is not over proves nothing: the next write may have the same one.
auto IsModifiedSince(const Validators& current, HttpTime date) -> bool {
  return *current.last_modified > date || (!current.second_over && *current.last_modified == date);
}

// True if the state that If-Range names is certainly the current one. A date proves that only if no
// client was given that date while the file could still change within its second (RFC 9110, section
// 8.8.2.2).
auto IfRangeHolds(std::string_view value, const Validators& current, HttpTime now) -> bool {
  std::string_view rest = value;
  if (const auto tag = TakeTag(rest)) {
    return rest.empty() && Matches(*tag, current, Comparison::kStrong);
  }
  const auto date = ParseHttpDate(value, now);
  return date && current.strong && current.second_over && current.last_modified == date;
}

}  // namespace

auto HasConditions(const Headers& fields) -> bool {
  return fields.Has(KnownField::kIfMatch) || fields.Has(KnownField::kIfUnmodifiedSince) ||
         fields.Has(KnownField::kIfNoneMatch) || fields.Has(KnownField::kIfModifiedSince) ||
         fields.Has(KnownField::kIfRange);
}

auto EvaluateConditions(Method method, const Headers& fields, const Validators& validators,
                        HttpTime now) -> ConditionResult {
  const bool reads = method == Method::kGet || method == Method::kHead;
  // Steps 1 and 2: may the request be performed at all?
  if (fields.Has(KnownField::kIfMatch)) {
    if (!AnyLineMatches(fields, KnownField::kIfMatch, validators, Comparison::kStrong)) {
      return {Action::kPreconditionFailed, false};
    }
  } else if (const auto date =
                 DateToCompare(fields, KnownField::kIfUnmodifiedSince, validators, now);
             date && IsModifiedSince(validators, *date)) {
    return {Action::kPreconditionFailed, false};
  }
  // Steps 3 and 4: does the client already have it?
  if (fields.Has(KnownField::kIfNoneMatch)) {
    if (AnyLineMatches(fields, KnownField::kIfNoneMatch, validators, Comparison::kWeak)) {
      return {reads ? Action::kNotModified : Action::kPreconditionFailed, false};
    }
  } else if (reads) {
    if (const auto date = DateToCompare(fields, KnownField::kIfModifiedSince, validators, now);
        date && !IsModifiedSince(validators, *date)) {
      return {Action::kNotModified, false};
    }
  }
  // Step 5: does the client's part belong to this representation?
  if (method != Method::kGet) {
    return {Action::kServe, false};
  }
  const auto if_range = fields.Find(KnownField::kIfRange);
  const bool once = !fields.IsRepeated(KnownField::kIfRange);
  return {Action::kServe, !if_range || (once && IfRangeHolds(*if_range, validators, now))};
}

void AppendLastModified(const Validators& validators, std::string& out) {
  const HttpTime early(validators.second_over ? 0 : 1);
  AppendHttpDate(*validators.last_modified - early, out);
}

void AppendEtag(const Validators& validators, std::string& out) {
  out.append(validators.strong ? "" : "W/").append(validators.opaque_tag);
}

}  // namespace TURTLE_SERVER
