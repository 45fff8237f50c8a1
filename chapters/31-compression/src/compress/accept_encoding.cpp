#include "compress/accept_encoding.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "http/parameters.h"

namespace TURTLE_SERVER {

namespace {

constexpr int kMostWeight = 1000;

// Returns a weight in thousandths: 500 for "0.5". It begins with 0 or 1, has at most three digits
// after the point, and is at most 1 (RFC 9110, section 12.4.2); "0." is one, too. nullopt: it is
// malformed.
auto ParseWeight(std::string_view text) noexcept -> std::optional<int> {
  constexpr std::size_t kLongest = 5;
  const bool has_form = !text.empty() && text.size() <= kLongest &&
                        (text[0] == '0' || text[0] == '1') && (text.size() == 1 || text[1] == '.');
  if (!has_form) {
    return std::nullopt;
  }
  int weight = 0;
  int unit = kMostWeight;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 1) {
      continue;  // the point
    }
    if (!ascii::IsDigit(text[i])) {
      return std::nullopt;
    }
    weight += unit * (text[i] - '0');
    unit /= 10;
  }
  return weight <= kMostWeight ? std::optional(weight) : std::nullopt;
}

// Returns the weight of an element of the list, whose name is taken off: kMostWeight if it has
// none, nullopt if it has another parameter or is malformed.
auto WeightOfElement(std::string_view parameters) noexcept -> std::optional<int> {
  Parameter parameter;
  ParameterState state = TakeParameter(parameters, parameter);
  if (state == ParameterState::kEnd) {
    return kMostWeight;
  }
  if (state != ParameterState::kTaken || !ascii::EqualIgnoreCase(parameter.name, "q")) {
    return std::nullopt;
  }
  return ParseWeight(parameter.value);
}

}  // namespace

AcceptEncoding::AcceptEncoding(const Headers& fields) noexcept {
  weights_.fill(kUnset);
  fields.ForEach(KnownField::kAcceptEncoding, [this](std::string_view list) { Read(list); });
  // Identity is acceptable unless it is excluded, by name or by a star (RFC 9110, section 12.5.3).
  int& identity = weights_[static_cast<std::size_t>(Coding::kIdentity)];
  if (identity == kUnset && others_ != 0) {
    identity = 1;  // all that is listed is liked better
  }
  for (int& weight : weights_) {
    weight = weight != kUnset ? weight : std::max(others_, 0);
  }
}

void AcceptEncoding::Read(std::string_view list) noexcept {
  while (!list.empty()) {
    const std::string_view element = TakeListElement(list);
    const std::string_view name = WithoutParameters(element);
    const auto weight =
        WeightOfElement(element.substr(std::min(element.find(';'), element.size())));
    if (!weight) {
      continue;
    }
    if (name == "*") {
      others_ = *weight;
    } else if (const auto coding = CodingOf(name)) {
      weights_[static_cast<std::size_t>(*coding)] = *weight;
    }
  }
}

auto AcceptEncoding::Choose(const CodingOrder& offered) const noexcept -> Coding {
  Coding best = Coding::kIdentity;
  int most = 0;
  for (const Coding each : offered) {
    if (WeightOf(each) > most) {
      best = each;
      most = WeightOf(each);
    }
  }
  return WeightOf(Coding::kIdentity) > most ? Coding::kIdentity : best;
}

}  // namespace TURTLE_SERVER
