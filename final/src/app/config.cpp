#include "app/config.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "app/suggestion.h"
#include "base/json_fault.h"

namespace TURTLE_SERVER {

namespace {

using Json = nlohmann::ordered_json;

// --- messages about mistakes --------------------------------------------------------------------

// Returns a value as a part of a sentence: one line, and not a long one. It is ASCII only, so it
// can be cut anywhere, and can't control a terminal.
auto Shown(const Json& value) -> std::string {
  constexpr std::size_t kMaxShown = 60;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > kMaxShown) {
    text.replace(kMaxShown - 3, std::string::npos, "...");
  }
  return text;
}

// Returns "; did you mean port?", or nothing.
auto Suggestion(std::string_view key, const std::vector<Setting>& settings) -> std::string {
  std::vector<std::string> names;
  for (const Setting& setting : settings) {
    names.push_back(setting.name.key);
    const std::size_t dot = setting.name.key.find('.');
    if (dot != std::string::npos) {
      names.push_back(setting.name.key.substr(0, dot));  // "htpp" is not a key either
    }
  }
  const std::optional<std::string> name = NearestName(key, names);
  return name ? "; did you mean " + *name + "?" : "";
}

// --- reading ------------------------------------------------------------------------------------

// Returns the value as it would be on the command line; nullopt if that is impossible.
auto TextOf(const Json& value, const Setting& setting) -> std::optional<std::string> {
  const SettingType type = setting.type;
  if (value.is_null() && setting.or_none) {
    return "";
  }
  const bool number = type == SettingType::kNumber || type == SettingType::kSize;
  if (value.is_number_integer() && number) {
    return value.dump();
  }
  if (value.is_boolean() && type == SettingType::kSwitch) {
    return value.get<bool>() ? "on" : "off";
  }
  if (value.is_string() && type != SettingType::kNumber) {
    return value.get<std::string>();
  }
  return std::nullopt;
}

// The system ends a string at its first NUL, so "/srv\0/site" would mean /srv.
auto HasNul(const Json& value) -> bool {
  return value.is_string() && value.get_ref<const std::string&>().find('\0') != std::string::npos;
}

constexpr const char* kHasNul = " has a NUL character in it, where it would end";

// Returns the end of a sentence that starts with the value.
auto WrongWith(const Json& value, const Setting& setting) -> std::string {
  return HasNul(value) ? kHasNul : " is not " + WantedBy(setting);
}

// Observes the parser, to find mistakes that it silently accepts. It accepts a key twice and keeps
// one: of two ports, which did you mean? And it accepts any depth, which could overflow the stack
// when the values are processed later.
class Watcher {
 public:
  auto operator()(int depth, Json::parse_event_t event, const Json& parsed) -> bool {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
        open_.emplace_back();
        return IsShallow(depth);
      case Event::array_start:
        return IsShallow(depth);
      case Event::object_end:
        open_.pop_back();
        break;
      case Event::key:
        if (!open_.back().insert(parsed.get<std::string>()).second) {
          faults_.push_back(Shown(parsed) + " occurs twice in one object");
        }
        break;
      case Event::array_end:
      case Event::value:
        break;
    }
    return true;
  }

  [[nodiscard]] auto TakeFaults() noexcept -> std::vector<std::string> {
    if (too_deep_) {
      return {"more than " + std::to_string(kMaxDepth) + " nested values"};
    }
    return std::move(faults_);
  }

 private:
  static constexpr int kMaxDepth = 16;

  auto IsShallow(int depth) noexcept -> bool {
    too_deep_ = too_deep_ || depth >= kMaxDepth;
    return depth < kMaxDepth;
  }

  std::vector<std::set<std::string>> open_;  // the keys so far of each object being read
  std::vector<std::string> faults_;
  bool too_deep_ = false;
};

class Reader {
 public:
  explicit Reader(const std::vector<Setting>& settings) : settings_(settings) {}

  // Returns the mistakes in the configuration.
  auto Read(const Json& config) -> std::vector<std::string> {
    if (!config.is_object()) {
      return {Shown(config) + " is not an object with keys"};
    }
    ReadKeys(config, "");
    return std::move(faults_);
  }

 private:
  void ReadKeys(const Json& object, const std::string& prefix) {
    for (const auto& [name, value] : object.items()) {
      const std::string key = prefix + name;
      if (key == "$schema") {
        continue;  // where an editor finds the result of ConfigSchema()
      }
      if (const Setting* setting = Find(key)) {
        Take(*setting, key, value);
      } else if (!IsGroup(key)) {
        faults_.push_back(Shown(key) + " is not a key" + Suggestion(key, settings_));
      } else if (value.is_object()) {
        ReadKeys(value, key + ".");
      } else {
        faults_.push_back(key + ": " + Shown(value) + " is not an object with its own keys");
      }
    }
  }

  [[nodiscard]] auto Find(std::string_view key) const -> const Setting* {
    const auto found = std::find_if(settings_.begin(), settings_.end(), [key](const Setting& each) {
      return each.name.key == key || (each.name.also == key && !key.empty());
    });
    return found == settings_.end() ? nullptr : &*found;
  }

  [[nodiscard]] auto IsGroup(const std::string& key) const -> bool {
    return std::any_of(settings_.begin(), settings_.end(), [&key](const Setting& each) {
      return each.name.key.compare(0, key.size() + 1, key + ".") == 0;
    });
  }

  void Take(const Setting& setting, const std::string& key, const Json& value) {
    const std::optional<std::string> text = TextOf(value, setting);
    if (!taken_.insert(&setting).second) {
      faults_.push_back(key + " and its other spelling are both in the configuration");
    } else if (value.is_array() && setting.type == SettingType::kList) {
      TakeList(setting, key, value);
    } else if (HasNul(value) || !text || !setting.take(*text)) {
      const bool secret = setting.type == SettingType::kSecret;  // even a number, without quotes
      faults_.push_back(key + ": " + (secret ? "its value" : Shown(value)) +
                        WrongWith(value, setting));
    }
  }

  void TakeList(const Setting& setting, const std::string& key, const Json& list) {
    std::string text;
    const std::size_t faults = faults_.size();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string part = list[i].is_string() ? list[i].get<std::string>() : "";
      const bool fits = part.find(',') == std::string::npos && setting.fits(part);
      if (!fits || HasNul(list[i])) {
        faults_.push_back(key + "[" + std::to_string(i) + "]: " + Shown(list[i]) +
                          (fits ? kHasNul : " is not " + WantedBy(setting)));
      }
      text += (i == 0 ? "" : ",") + part;
    }
    if (faults_.size() == faults && !setting.take(text)) {
      faults_.push_back(key + ": " + Shown(list) + " is not " + WantedBy(setting));
    }
  }

  const std::vector<Setting>& settings_;
  std::set<const Setting*> taken_;
  std::vector<std::string> faults_;
};

// --- the schema ---------------------------------------------------------------------------------

auto SchemaOf(const Setting& setting) -> Json {
  Json schema;
  schema["description"] = setting.help;
  const std::string default_value = setting.show();
  switch (setting.type) {
    case SettingType::kNumber:
      schema["type"] = "integer";
      schema["minimum"] = setting.lowest;
      if (!setting.words.empty()) {  // -1 is a word for any number
        schema["minimum"] = -1;
        schema["not"] = {{"minimum", 0}, {"maximum", setting.lowest - 1}};
      }
      schema["maximum"] = setting.highest;
      schema["default"] = std::stoll(default_value);
      return schema;
    case SettingType::kSize:
      schema["type"] = {"integer", "string"};
      schema["minimum"] = setting.lowest;
      schema["pattern"] = "^[0-9]+[KMGTkmgt]?$";
      break;
    case SettingType::kSwitch:
      schema["enum"] = {"on", "off", true, false};
      break;
    case SettingType::kWord:
      schema["enum"] = setting.words;
      break;
    case SettingType::kList:
      schema["type"] = {"string", "array"};
      schema["items"]["type"] = "string";
      schema["minItems"] = setting.lowest;
      break;
    case SettingType::kSecret:
      schema["type"] = {"string", "null"};
      return schema;
    case SettingType::kText:
      if (setting.or_none) {
        schema["type"] = {"string", "null"};
        break;
      }
      [[fallthrough]];
    case SettingType::kFolder:
    case SettingType::kFile:
      schema["type"] = "string";
      schema["minLength"] = 1;
      break;
  }
  if (!default_value.empty()) {
    schema["default"] = default_value;
  }
  return schema;
}

void Declare(const std::string& key, const Json& schema, Json& object) {
  const std::size_t dot = key.find('.');
  Json& properties = object["properties"];
  if (dot == std::string::npos) {
    properties[key] = schema;
    return;
  }
  Json& group = properties[key.substr(0, dot)];
  group["type"] = "object";
  group["additionalProperties"] = false;
  Declare(key.substr(dot + 1), schema, group);
}

auto WrongAt(const std::string& name, const JsonFault& fault) -> std::vector<std::string> {
  return {name + ":" + std::to_string(fault.line) + ":" + std::to_string(fault.column) + ": " +
          fault.reason};
}

}  // namespace

auto ReadConfig(std::string_view text, const std::string& name,
                const std::vector<Setting>& settings) -> std::vector<std::string> {
  Watcher watcher;
  Json config;
  try {
    config = Json::parse(text.begin(), text.end(), std::ref(watcher), true, true);
  } catch (const Json::parse_error& error) {
    return WrongAt(name, FindJsonFault(text, error.byte));
  } catch (const Json::out_of_range&) {  // 1e999
    return {name + ": a number is too large"};
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return WrongAt(name, FindJsonFault(text, nul + 1));  // the parser takes it for the end
  }
  Reader reader(settings);
  std::vector<std::string> faults = watcher.TakeFaults();
  if (faults.empty()) {
    faults = reader.Read(config);
  }
  for (std::string& fault : faults) {
    fault.insert(0, name + ": ");
  }
  return faults;
}

auto ReadConfigFile(const std::string& path, const std::vector<Setting>& settings)
    -> std::vector<std::string> {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return {path + ": " + std::generic_category().message(errno)};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxConfigBytes) {
    return {path + ": longer than " + std::to_string(kMaxConfigBytes) + " bytes"};
  }
  return ReadConfig(text, path, settings);
}

auto ConfigSchema(const std::vector<Setting>& settings) -> std::string {
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "The settings of turtle -f";
  schema["type"] = "object";
  schema["additionalProperties"] = false;
  schema["properties"]["$schema"]["type"] = "string";
  for (const Setting& setting : settings) {
    Declare(setting.name.key, SchemaOf(setting), schema);
    if (!setting.name.also.empty()) {
      Declare(setting.name.also, SchemaOf(setting), schema);
    }
  }
  return schema.dump(2) + "\n";
}

}  // namespace TURTLE_SERVER
