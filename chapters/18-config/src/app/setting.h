// Defines each setting once: a key of the configuration and an option of the command line are two
// names of one Setting. The option, its help, the JSON Schema and the error messages are made from
// it.
//
// Interface:
//  * SettingList collects settings; each of its functions adds one, which stores into a variable.
//  * Setting is one of them, with the data that its readers need.
//
// Thread: that of the variables.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "log/log_level.h"

namespace TURTLE_SERVER {

/// The kind of a value.
enum class SettingType : std::uint8_t {
  kNumber,  ///< From `lowest` to `highest`, or one of `words`.
  kSize,    ///< Bytes, in the form of ParseByteSize(); in JSON a number, too.
  kText,    ///< A text that is not empty.
  kList,    ///< Several that satisfy `fits`, with commas between them; in JSON an array, too.
  kFolder,  ///< An existing directory.
  kFile,    ///< The name of a file, which may not exist yet.
  kWord,    ///< One of `words`.
  kSwitch   ///< "on" or "off"; in JSON a boolean, too.
};

/// The names of a setting.
struct SettingName {
  std::string key;     ///< In the configuration: "http.max_body_size", a key of a nested object.
  std::string flag;    ///< On the command line: "--max-body"; or "DIR", a word without a flag.
  std::string also{};  ///< Another spelling of the key; empty: none.
};

/// When a value that is read while the server runs takes effect.
enum class Reload : std::uint8_t {
  kAtOnce,    ///< Immediately.
  kNextStart  ///< When the program is restarted.
};

/// A single setting.
struct Setting {
  SettingName name;                    ///< Its key and its flag.
  SettingType type{};                  ///< The kind of its values.
  std::string unit;                    ///< The placeholder in the help: "SECONDS".
  std::uint64_t lowest = 0;            ///< kNumber, kSize; kList: the least number of parts.
  std::uint64_t highest = 0;           ///< kNumber, kSize.
  std::vector<std::string> words;      ///< kWord, kSwitch, kNumber.
  std::string wanted;                  ///< kList: the required form of each part.
  std::string help;                    ///< A part of a sentence.
  Reload reload = Reload::kNextStart;  ///< When a new value takes effect.

  /// Stores a value. @return false, and nothing is stored, if it is not as in WantedBy().
  std::function<bool(const std::string&)> take;

  /// Returns the stored value in the form of take().
  std::function<std::string()> show;

  /// kList: returns true if this may be a part of it.
  std::function<bool(const std::string&)> fits;
};

/// Returns the required form, as the end of a sentence: "a number from 0 to 65535".
[[nodiscard]] auto WantedBy(const Setting& setting) -> std::string;

/// Returns the parts of a kList: "a,b" has two, "" has none.
[[nodiscard]] auto SplitList(const std::string& text) -> std::vector<std::string>;

/// Settings, each with the variable that it stores into. The variables outlive the list.
class SettingList {
 public:
  /// Returns the settings in the order in which they were added.
  [[nodiscard]] auto All() const noexcept -> const std::vector<Setting>& { return all_; }

  /// Sets when the settings added from now on take effect. Initially: kNextStart.
  void From(Reload reload) noexcept { reload_ = reload; }

  /// Adds a whole number.
  template <class Number>
  void Count(SettingName name, Number& value, std::uint64_t lowest, std::uint64_t highest,
             std::string help) {
    AddNumber(
        Bounded(std::move(name), "N", lowest, highest, std::move(help)),
        [&value](std::uint64_t number) { value = static_cast<Number>(number); },
        [&value] { return static_cast<std::uint64_t>(value); });
  }

  /// Adds a whole number, or -1 for any, which is stored as 0.
  void CountOrAny(SettingName name, std::size_t& value, std::uint64_t highest, std::string help);

  /// Adds a duration in whole seconds, at most a day.
  template <class Duration>
  void Seconds(SettingName name, Duration& value, std::uint64_t lowest, std::string help) {
    constexpr std::uint64_t kDay = 86'400;
    AddNumber(
        Bounded(std::move(name), "SECONDS", lowest, kDay, std::move(help)),
        [&value](std::uint64_t number) { value = std::chrono::seconds(number); },
        [&value] {
          const auto whole = std::chrono::duration_cast<std::chrono::seconds>(value);
          return static_cast<std::uint64_t>(whole.count());
        });
  }

  /// Adds a number of bytes.
  template <class Number>
  void Size(SettingName name, Number& value, std::uint64_t lowest, std::uint64_t highest,
            std::string help) {
    AddSize(
        Bounded(std::move(name), "SIZE", lowest, highest, std::move(help)),
        [&value](std::uint64_t number) { value = static_cast<Number>(number); },
        [&value] { return static_cast<std::uint64_t>(value); });
  }

  /// Adds a text that must not be empty, such as a name or an address.
  void Text(SettingName name, std::string unit, std::string& value, std::string help);

  /// Adds a list of texts, stored in the form of SplitList().
  /// @param name key and flag
  /// @param unit the placeholder in the help
  /// @param value where the text is stored
  /// @param least the least number of parts
  /// @param fits returns true for a valid part
  /// @param wanted its description, after "is not": "an address"
  /// @param help a part of a sentence
  void List(SettingName name, std::string unit, std::string& value, std::size_t least,
            std::function<bool(const std::string&)> fits, std::string wanted, std::string help);

  /// Adds an existing directory.
  void Folder(SettingName name, std::string unit, std::string& value, std::string help);

  /// Adds the name of a file.
  void File(SettingName name, std::string& value, std::string help);

  /// Adds one of several words, which stand for values.
  template <class Value>
  void Word(SettingName name, Value& value, std::vector<std::pair<std::string, Value>> all,
            std::string help) {
    AddWord(std::move(name), SettingType::kWord, value, std::move(all), std::move(help));
  }

  /// Adds "on" or "off", which stand for values.
  template <class Value>
  void Switch(SettingName name, Value& value, Value on, Value off, std::string help) {
    AddWord(std::move(name), SettingType::kSwitch, value,
            std::vector<std::pair<std::string, Value>>{{"on", on}, {"off", off}}, std::move(help));
  }

  /// Adds a level of the log; nullopt: the level of MIN_LOG_LEVEL, or INFO.
  void Level(SettingName name, std::optional<LogLevel>& value, std::string help);

 private:
  using Store = std::function<void(std::uint64_t)>;
  using Load = std::function<std::uint64_t()>;

  static auto Bounded(SettingName name, std::string unit, std::uint64_t lowest,
                      std::uint64_t highest, std::string help) -> Setting;
  void AddNumber(Setting setting, Store store, Load load);
  void AddSize(Setting setting, Store store, Load load);
  void Add(Setting setting);

  template <class Value>
  void AddWord(SettingName name, SettingType type, Value& value,
               std::vector<std::pair<std::string, Value>> all, std::string help) {
    Setting setting;
    setting.name = std::move(name);
    setting.type = type;
    setting.unit = "WORD";
    setting.help = std::move(help);
    for (const auto& [word, meaning] : all) {
      setting.words.push_back(word);
    }
    setting.take = [&value, all](const std::string& text) {
      for (const auto& [word, meaning] : all) {
        if (word == text) {
          value = meaning;
          return true;
        }
      }
      return false;
    };
    setting.show = [&value, all] {
      for (const auto& [word, meaning] : all) {
        if (meaning == value) {
          return word;
        }
      }
      return std::string();
    };
    Add(std::move(setting));
  }

  std::vector<Setting> all_;
  Reload reload_ = Reload::kNextStart;
};

}  // namespace TURTLE_SERVER
