#include "app/config_reader.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "app/suggestion.h"

namespace TURTLE_SERVER {

namespace {

using Json = nlohmann::ordered_json;

// --- messages about mistakes --------------------------------------------------------------------

// Returns "sites[0].names" for "sites[0]" and "names", and "sites[0]" for "sites" and "[0]".
auto Joined(const std::string& place, const std::string& key) -> std::string {
  const bool dot = !place.empty() && !key.empty() && key.front() != '[';
  return place + (dot ? "." : "") + key;
}

auto Element(const std::string& key, std::size_t index) -> std::string {
  return key + "[" + std::to_string(index) + "]";
}

// Returns "; did you mean sites[0].names?", or nothing.
auto Suggestion(std::string_view key, const std::vector<Setting>& settings,
                const std::string& place) -> std::string {
  std::vector<std::string> names;
  for (const Setting& setting : settings) {
    names.push_back(setting.name.key);
    const std::size_t dot = setting.name.key.find('.');
    if (dot != std::string::npos) {
      names.push_back(setting.name.key.substr(0, dot));  // "htpp" is not a key either
    }
  }
  const std::optional<std::string> name = NearestName(key, names);
  return name ? "; did you mean " + Joined(place, *name) + "?" : "";
}

// Returns a key that may be any text: quoted if it has other characters than those of a name.
auto ShownKey(const std::string& key) -> std::string {
  constexpr std::size_t kMaxPlain = 60;
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  return plain && !key.empty() && key.size() <= kMaxPlain ? key : ShownValue(key);
}

// Returns a reason that may quote any text: one line of ASCII, and not a long one.
auto ShownReason(std::string reason) -> std::string {
  constexpr std::size_t kMaxShown = 200;
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  if (reason.size() > kMaxShown) {
    reason.replace(kMaxShown - 3, std::string::npos, "...");
  }
  return reason;
}

// --- reading ------------------------------------------------------------------------------------

// Returns the value as it would be on the command line; nullopt if that is impossible.
auto TextOf(const Json& value, const Setting& setting) -> std::optional<std::string> {
  const SettingType type = setting.type;
  if (value.is_null() && setting.or_none) {
    return "";
  }
  const bool digits = type == SettingType::kNumber || type == SettingType::kCode;
  if (value.is_number_integer() && (digits || type == SettingType::kSize)) {
    return value.dump();
  }
  if (value.is_boolean() && type == SettingType::kSwitch) {
    return value.get<bool>() ? "on" : "off";
  }
  if (value.is_string() && !digits) {
    return value.get<std::string>();
  }
  return std::nullopt;
}

auto HasNul(const std::string& text) -> bool { return text.find('\0') != std::string::npos; }

// The system ends a string at its first NUL, so "/srv\0/site" would mean /srv.
auto HasNul(const Json& value) -> bool {
  return value.is_string() && HasNul(value.get_ref<const std::string&>());
}

constexpr const char* kHasNul = " has a NUL character in it, where it would end";

// Returns the end of a sentence that starts with the value.
auto WrongWith(const Json& value, const Setting& setting) -> std::string {
  if (HasNul(value)) {
    return kHasNul;
  }
  std::string reason;
  if (value.is_string() && setting.explain) {
    reason = ShownReason(setting.explain(value.get_ref<const std::string&>()));
  }
  return " is not " + WantedBy(setting) + (reason.empty() ? "" : ": " + reason);
}

// Reads one object with the keys of some settings: the whole configuration, or a row of a table.
class Reader {
 public:
  // Both outlive this object. `place` is the key of the object, empty for the whole.
  Reader(const std::vector<Setting>& settings, std::string place, std::vector<std::string>& faults)
      : settings_(settings), place_(std::move(place)), faults_(faults) {}

  // Returns the keys in the object.
  auto Read(const Json& object) -> const GivenKeys& {
    ReadKeys(object, "");
    for (const Setting& setting : settings_) {
      if (setting.required && !given_.Has(setting.name.key)) {
        faults_.push_back(Joined(place_, setting.name.key) + ": the key is missing");
      }
    }
    return given_;
  }

 private:
  void ReadKeys(const Json& object, const std::string& prefix) {
    for (const auto& [name, value] : object.items()) {
      const std::string key = prefix + name;
      if (key == "$schema" && place_.empty()) {
        continue;  // where an editor finds the result of ConfigSchema()
      }
      if (const Setting* setting = Find(key)) {
        Take(*setting, key, value);
      } else if (!IsGroup(key)) {
        faults_.push_back(ShownValue(Joined(place_, key)) + " is not a key" +
                          Suggestion(key, settings_, place_));
      } else if (value.is_object()) {
        ReadKeys(value, key + ".");
      } else {
        faults_.push_back(Joined(place_, key) + ": " + ShownValue(value) +
                          " is not an object with its own keys");
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

  void Take(const Setting& setting, const std::string& name, const Json& value) {
    const std::string key = Joined(place_, name);
    const std::size_t faults = faults_.size();
    if (given_.Has(setting.name.key)) {
      faults_.push_back(key + " and its other spelling are both in the configuration");
    } else {
      TakeValue(setting, key, value);
    }
    auto& keys = faults_.size() == faults ? given_.stored : given_.refused;
    keys.insert(setting.name.key);
  }

  void TakeValue(const Setting& setting, const std::string& key, const Json& value) {
    if (value.is_array() && setting.type == SettingType::kList) {
      TakeList(setting, key, value);
    } else if (value.is_array() && setting.type == SettingType::kObjects) {
      TakeTable(setting, key, value);
    } else if (value.is_object() && setting.type == SettingType::kPairs) {
      TakePairs(setting, key, value);
    } else {
      const std::optional<std::string> text = TextOf(value, setting);
      if (HasNul(value) || !text || !setting.take(*text)) {
        const bool secret = setting.type == SettingType::kSecret;  // even a number, without quotes
        faults_.push_back(key + ": " + (secret ? "its value" : ShownValue(value)) +
                          WrongWith(value, setting));
      }
    }
  }

  void TakeList(const Setting& setting, const std::string& key, const Json& list) {
    std::string text;
    const std::size_t faults = faults_.size();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string part = list[i].is_string() ? list[i].get<std::string>() : "";
      const bool fits = part.find(',') == std::string::npos && setting.fits(part);
      if (!fits || HasNul(list[i])) {
        faults_.push_back(Element(key, i) + ": " + ShownValue(list[i]) +
                          (fits ? kHasNul : " is not " + WantedBy(setting)));
      }
      text += (i == 0 ? "" : ",") + part;
    }
    if (faults_.size() == faults && !setting.take(text)) {
      faults_.push_back(key + ": " + ShownValue(list) + " is not " + WantedBy(setting));
    }
  }

  void TakePairs(const Setting& setting, const std::string& key, const Json& pairs) {
    for (const auto& [name, value] : pairs.items()) {
      std::string wrong;
      if (!value.is_string()) {
        wrong = " is not a text";
      } else if (HasNul(value) || HasNul(name)) {
        wrong = kHasNul;
      } else if (std::string reason = setting.pairs.store(name, value.get<std::string>());
                 !reason.empty()) {
        wrong = " " + ShownReason(std::move(reason));
      }
      if (!wrong.empty()) {
        std::string fault = key;
        fault.append(".").append(ShownKey(name)).append(": ").append(ShownValue(value));
        faults_.push_back(fault.append(wrong));
      }
    }
  }

  void TakeTable(const Setting& setting, const std::string& key, const Json& rows) {
    if (rows.size() > setting.table.most) {
      faults_.push_back(key + ": it has " + std::to_string(rows.size()) + " objects, and is not " +
                        WantedBy(setting));
      return;
    }
    setting.table.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      // Even for a row that is none: the check counts rows.
      TakeRow(setting.table.append(), Element(key, i), rows[i]);
    }
    if (setting.table.check) {
      Report(key, setting.table.check());
    }
  }

  void TakeRow(const SettingList& settings, const std::string& key, const Json& row) {
    if (!row.is_object()) {
      faults_.push_back(key + ": " + ShownValue(row) + " is not an object with its own keys");
      return;
    }
    Reader reader(settings.All(), key, faults_);
    Report(key, settings.Faults(reader.Read(row)));
  }

  void Report(const std::string& place, const std::vector<SettingFault>& faults) {
    for (const SettingFault& fault : faults) {
      faults_.push_back(Joined(place, fault.key) + ": " + ShownReason(fault.reason));
    }
  }

  const std::vector<Setting>& settings_;
  const std::string place_;
  GivenKeys given_;
  std::vector<std::string>& faults_;
};

}  // namespace

auto ReadValues(const Json& config, const std::vector<Setting>& settings)
    -> std::vector<std::string> {
  if (!config.is_object()) {
    return {ShownValue(config) + " is not an object with keys"};
  }
  std::vector<std::string> faults;
  Reader(settings, "", faults).Read(config);
  return faults;
}

// ASCII can be cut anywhere, and this ASCII can't control a terminal.
auto ShownValue(const Json& value) -> std::string {
  constexpr std::size_t kMaxShown = 60;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > kMaxShown) {
    text.replace(kMaxShown - 3, std::string::npos, "...");
  }
  return text;
}

}  // namespace TURTLE_SERVER
