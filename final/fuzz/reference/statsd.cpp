#include "reference/statsd.h"

#include <cmath>
#include <cstdlib>
#include <regex>

namespace TURTLE_SERVER::reference {

namespace {

auto IsNumber(const std::string& text) -> bool {
  static const std::regex shape(R"([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)");
  return text.size() <= 40 && std::regex_match(text, shape) &&
         std::fabs(std::strtod(text.c_str(), nullptr)) <= 1e15;
}

}  // namespace

auto ReadStatistic(const std::string& line) -> std::optional<Statistic> {
  static const std::regex shape(
      R"(([A-Za-z0-9._/-]{1,200}):([^|]*)\|(c|g|ms|h|s)((\|@[^|]*|\|#[^|]*)*)\|?)");
  std::smatch parts;
  if (!std::regex_match(line, parts, shape)) {
    return std::nullopt;
  }
  Statistic statistic{parts[1], parts[2], parts[3], ""};
  const bool set = statistic.type == "s";
  const bool timer = statistic.type == "ms" || statistic.type == "h";
  if (set ? statistic.value.empty() || statistic.value.size() > 200 : !IsNumber(statistic.value)) {
    return std::nullopt;
  }
  if (timer && std::strtod(statistic.value.c_str(), nullptr) < 0) {
    return std::nullopt;
  }
  const std::string extras = parts[4];
  static const std::regex rate(R"(\|@([^|]*))");
  for (std::sregex_iterator each(extras.begin(), extras.end(), rate), end; each != end; ++each) {
    statistic.rate = (*each)[1];
    const double number = std::strtod(statistic.rate.c_str(), nullptr);
    if (set || statistic.type == "g" || !IsNumber(statistic.rate) || number < 1e-6 || number > 1) {
      return std::nullopt;
    }
  }
  return statistic;
}

}  // namespace TURTLE_SERVER::reference
