// Configurations. The mistakes in one are lines that may be shown to anybody; and accepted settings
// can be written again, with the same outcome.
#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/serve_settings.h"
#include "targets/check.h"

namespace {

using namespace TURTLE_SERVER;

auto Shown(const std::vector<Setting>& settings) -> std::string {
  std::string values;
  for (const Setting& setting : settings) {
    values += setting.name.key + "=" + setting.show() + "\n";
  }
  return values;
}

// Returns the configuration that sets all of these values.
auto Said(const std::vector<Setting>& settings) -> std::string {
  nlohmann::json config;
  for (const Setting& setting : settings) {
    const std::string value = setting.show();
    std::string path = "/" + setting.name.key;
    std::replace(path.begin(), path.end(), '.', '/');
    if (setting.type == SettingType::kNumber) {
      config[nlohmann::json::json_pointer(path)] = std::stoll(value);
    } else if (!value.empty()) {
      config[nlohmann::json::json_pointer(path)] = value;
    }
  }
  return config.dump();
}

}  // namespace

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  ServeOptions options = ConfigDefaults();
  const SettingList settings = ServeSettings(options);
  const std::vector<std::string> faults = ReadConfig(fuzz::TextOf(data, size), "f", settings.All());
  for (const std::string& fault : faults) {
    const bool printable = std::all_of(fault.begin(), fault.end(),
                                       [](char byte) { return byte >= ' ' && byte <= '~'; });
    if (!printable || fault.size() > 400 || fault.compare(0, 2, "f:") != 0) {
      fuzz::Fail("a mistake is no line: " + fault);
    }
  }
  if (faults.empty()) {
    ServeOptions again = ConfigDefaults();
    const SettingList others = ServeSettings(again);
    fuzz::Same("mistakes", ReadConfig(Said(settings.All()), "f", others.All()).size(),
               std::size_t{0});
    fuzz::Same("settings", Shown(settings.All()), Shown(others.All()));
  }
  return 0;
}
