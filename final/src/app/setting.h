// Everything that can be set, written down once: a key of the configuration and an option of the
// command line are two names of one Setting. From it come the option, its help, the JSON Schema,
// and what is said to a value that is wrong.
//
// Interface:
//  * SettingList collects settings; each of its functions adds one, which stores into a variable.
//  * Setting is one of them, with what its readers need.
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
  kSize,    ///< Bytes, as ParseByteSize() reads them; in JSON a number, too.
  kText,    ///< Anything but nothing, unless `or_none`.
  kSecret,  ///< A text, or nothing. It is never shown: not in a message, nor as a default.
  kList,    ///< Several that `fits` each, with commas between them; in JSON an array, too.
  kFolder,  ///< An existing one.
  kFile,    ///< The name of one, which may not exist yet.
  kWord,    ///< One of `words`.
  kSwitch   ///< "on" or "off"; in JSON a boolean, too.
};

/// The names of a setting.
struct SettingName {
  std::string key;     ///< In the configuration: "http.max_body_size", a key of an object there.
  std::string flag;    ///< On the command line: "--max-body"; or "DIR", a word without a flag.
  std::string also{};  ///< Another spelling of the key; empty: there is none.
};

/// When a new value counts that is read while the server runs.
enum class Reload : std::uint8_t {
  kAtOnce,    ///< When it is read.
  kNextStart  ///< When the program starts again.
};

/// One thing that can be set.
struct Setting {
  SettingName name;                    ///< Its key and its flag.
  SettingType type{};                  ///< What its values look like.
  std::string unit;                    ///< What the help calls a value: "SECONDS".
  std::uint64_t lowest = 0;            ///< kNumber, kSize; kList: how many there have to be.
  std::uint64_t highest = 0;           ///< kNumber, kSize.
  std::vector<std::string> words;      ///< kWord, kSwitch, kNumber.
  std::string wanted;                  ///< kList: what each has to be.
  bool or_none = false;                ///< kText: nothing is a value; in JSON null, too.
  std::string help;                    ///< A part of a sentence.
  Reload reload = Reload::kNextStart;  ///< When a new value counts.

  /// Stores a value. @return false, and nothing is stored: it is not what WantedBy() says.
  std::function<bool(const std::string&)> take;

  /// The value that is stored, as take() would read it; of a secret "".
  std::function<std::string()> show;

  /// kList: may this be a part of it?
  std::function<bool(const std::string&)> fits;
};

/// Returns the required value, as the end of a sentence: "a number from 0 to 65535".
[[nodiscard]] auto WantedBy(const Setting& setting) -> std::string;

/// Returns the parts of a kList: "a,b" has two, "" has none.
[[nodiscard]] auto SplitList(const std::string& text) -> std::vector<std::string>;

/// Settings, each with the variable that it stores into. The variables outlive the list.
class SettingList {
 public:
  /// Those that were added, in that order.
  [[nodiscard]] auto All() const noexcept -> const std::vector<Setting>& { return all_; }

  /// The settings that are added from now on count as `reload` says. At first: kNextStart.
  void From(Reload reload) noexcept { reload_ = reload; }

  /// A whole number.
  template <class Number>
  void Count(SettingName name, Number& value, std::uint64_t lowest, std::uint64_t highest,
             std::string help) {
    AddNumber(
        Bounded(std::move(name), "N", lowest, highest, std::move(help)),
        [&value](std::uint64_t number) { value = static_cast<Number>(number); },
        [&value] { return static_cast<std::uint64_t>(value); });
  }

  /// A whole number, or -1 for any, which is stored as 0.
  void CountOrAny(SettingName name, std::size_t& value, std::uint64_t highest, std::string help);

  /// A span of time in whole seconds, a day at most.
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

  /// A number of bytes.
  template <class Number>
  void Size(SettingName name, Number& value, std::uint64_t lowest, std::uint64_t highest,
            std::string help) {
    AddSize(
        Bounded(std::move(name), "SIZE", lowest, highest, std::move(help)),
        [&value](std::uint64_t number) { value = static_cast<Number>(number); },
        [&value] { return static_cast<std::uint64_t>(value); });
  }

  /// A name, an address: anything but nothing.
  void Text(SettingName name, std::string unit, std::string& value, std::string help);

  /// A text, or none: "", in JSON null, too.
  void TextOrNone(SettingName name, std::string unit, std::string& value, std::string help);

  /// A text that is never shown, or none.
  void Secret(SettingName name, std::string unit, std::string& value, std::string help);

  /// Several texts, stored as SplitList() takes them apart.
  /// @param name key and flag
  /// @param unit what the help calls a value
  /// @param value where the text is stored
  /// @param least how many there have to be
  /// @param fits true for what may be one of them
  /// @param wanted says that, after "is not": "an address"
  /// @param help a part of a sentence
  void List(SettingName name, std::string unit, std::string& value, std::size_t least,
            std::function<bool(const std::string&)> fits, std::string wanted, std::string help);

  /// A directory that is there.
  void Folder(SettingName name, std::string unit, std::string& value, std::string help);

  /// The name of a file.
  void File(SettingName name, std::string& value, std::string help);

  /// One of some words, which stand for values.
  template <class Value>
  void Word(SettingName name, Value& value, std::vector<std::pair<std::string, Value>> all,
            std::string help) {
    AddWord(std::move(name), SettingType::kWord, value, std::move(all), std::move(help));
  }

  /// "on" or "off", which stand for values.
  template <class Value>
  void Switch(SettingName name, Value& value, Value on, Value off, std::string help) {
    AddWord(std::move(name), SettingType::kSwitch, value,
            std::vector<std::pair<std::string, Value>>{{"on", on}, {"off", off}}, std::move(help));
  }

  /// A level of the log; nullopt is what MIN_LOG_LEVEL says, or INFO.
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
