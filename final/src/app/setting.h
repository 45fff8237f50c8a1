// Defines each setting once: a key of the configuration and an option of the command line are two
// names of one Setting. The option, its help, the JSON Schema and the error messages are made from
// it.
//
// Interface:
//  * SettingList collects settings; each of its functions adds one, which stores into a variable.
//  * Setting is one of them, with the data that its readers need.
//
// A setting without a flag has a key only. So do tables, which are arrays of objects: each object
// has its own SettingList, and so on.
//
// Thread: that of the variables.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "log/log_level.h"

namespace TURTLE_SERVER {

/// The kind of a value.
enum class SettingType : std::uint8_t {
  kNumber,  ///< From `lowest` to `highest`, or one of `words`.
  kSize,    ///< Bytes, in the form of ParseByteSize(); in JSON a number, too.
  kCode,    ///< A number, one of `words`.
  kText,    ///< Any text, or one as in `wanted`; the empty one only with `or_none`.
  kSecret,  ///< A text, possibly empty. It is never shown: not in a message, nor as a default.
  kList,    ///< Several that satisfy `fits`, with commas between them; in JSON an array, too.
  kFolder,  ///< An existing directory.
  kFile,    ///< The name of a file, which may not exist yet.
  kWord,    ///< One of `words`.
  kSwitch,  ///< "on" or "off"; in JSON a boolean, too.
  kPairs,   ///< In JSON an object with any keys, whose values are texts.
  kObjects  ///< In JSON an array of objects.
};

/// The names of a setting.
struct SettingName {
  std::string key;     ///< In the configuration: "http.max_body_size", a key of a nested object.
  std::string flag;    ///< On the command line: "--max-body"; or "DIR", a word; empty: none.
  std::string also{};  ///< Another spelling of the key; empty: none.
};

/// When a value that is read while the server runs takes effect.
enum class Reload : std::uint8_t {
  kAtOnce,    ///< Immediately.
  kNextStart  ///< When the program is restarted.
};

class SettingList;

/// A mistake that no single value shows.
struct SettingFault {
  std::string key;     ///< Below what was checked: "status", "[1].names"; empty: that itself.
  std::string reason;  ///< A part of a sentence, after the key and a colon.
};

/// The keys that an object of a configuration has.
struct GivenKeys {
  std::set<std::string> stored;   ///< Those with a valid value.
  std::set<std::string> refused;  ///< The others.

  /// Returns true if the object has the key.
  [[nodiscard]] auto Has(const std::string& key) const -> bool {
    return stored.count(key) != 0 || refused.count(key) != 0;
  }
};

/// The form of a text.
struct TextForm {
  std::function<bool(const std::string&)> take;  ///< As Setting::take.
  std::function<std::string()> show;             ///< As Setting::show.
  std::string wanted;                            ///< After "is not": "a rate such as 10/s".
  bool or_none = false;                          ///< As Setting::or_none.

  /// Returns the reason for which take() refuses a text. May be empty.
  std::function<std::string(const std::string&)> explain{};
};

/// A list that is not stored as one text.
struct ListParts {
  std::function<void(const std::vector<std::string>&)> store;  ///< Gets valid parts.
  std::function<std::vector<std::string>()> load;              ///< Returns them.
};

/// Texts with keys.
struct KeyedTexts {
  /// Stores a text. @return what is wrong with it, after the text: "is not a media type", and then
  /// it is not stored; or "".
  std::function<std::string(const std::string& key, const std::string& text)> store;

  /// Returns the stored ones, in their order.
  std::function<std::vector<std::pair<std::string, std::string>>()> load;
};

/// A table, whose rows are objects with settings.
struct ObjectTable {
  std::size_t most = 0;         ///< The most rows.
  std::function<void()> clear;  ///< Removes all rows.

  /// Appends a row with its defaults. @return its settings, valid until the table changes again
  std::function<SettingList()> append;

  /// Returns the settings of a row that is in no table, valid as long as this function.
  std::function<SettingList()> sample;

  /// Returns the mistakes in the table as a whole. May be empty.
  std::function<std::vector<SettingFault>()> check;
};

/// A single setting.
struct Setting {
  SettingName name;                    ///< Its key and its flag.
  SettingType type{};                  ///< The kind of its values.
  std::string unit;                    ///< The placeholder in the help: "SECONDS".
  std::uint64_t lowest = 0;            ///< kNumber, kSize; kList: the least number of parts.
  std::uint64_t highest = 0;           ///< kNumber, kSize.
  std::vector<std::string> words;      ///< kWord, kSwitch, kNumber, kCode.
  std::string wanted;                  ///< kText; kList: the required form of each part.
  bool required = false;               ///< The key must not be missing.
  bool or_none = false;                ///< kText: may be empty; in JSON null, too.
  std::string help;                    ///< A part of a sentence.
  Reload reload = Reload::kNextStart;  ///< When a new value takes effect.

  /// Stores a value. @return false, and nothing is stored, if it is not as in WantedBy().
  std::function<bool(const std::string&)> take;

  /// Returns the stored value in the form of take(); for a secret, and for no value, "". Of kPairs
  /// and kObjects it is JSON, the same for the same values and defaults.
  std::function<std::string()> show;

  /// kList: returns true if this may be a part of it.
  std::function<bool(const std::string&)> fits;

  /// kText: TextForm::explain, or empty.
  std::function<std::string(const std::string&)> explain;

  KeyedTexts pairs;   ///< kPairs, which take() refuses.
  ObjectTable table;  ///< kObjects, which take() refuses.
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

  /// Makes a missing key a mistake.
  /// @param key of a setting in this list
  void Require(const std::string& key);

  /// Adds a check of the settings together. It is made for an object of a table.
  /// @param check gets the keys that the object has, and returns the mistakes
  void Check(std::function<std::vector<SettingFault>(const GivenKeys&)> check) {
    check_ = std::move(check);
  }

  /// Returns the mistakes that the check finds; without a check none.
  [[nodiscard]] auto Faults(const GivenKeys& given) const -> std::vector<SettingFault> {
    return check_ ? check_(given) : std::vector<SettingFault>();
  }

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

  /// Adds a whole number that is stored and loaded by functions.
  void Number(SettingName name, std::uint64_t lowest, std::uint64_t highest,
              std::function<void(std::uint64_t)> store, std::function<std::uint64_t()> load,
              std::string help);

  /// Adds a number, one of several.
  void Code(SettingName name, int& value, const std::vector<int>& all, std::string help);

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

  /// Adds a number of bytes that may be missing.
  void Size(SettingName name, std::optional<std::uint64_t>& value, std::uint64_t lowest,
            std::uint64_t highest, std::string help);

  /// Adds a text with its own form.
  void Form(SettingName name, std::string unit, TextForm form, std::string help);

  /// Adds a text that must not be empty, such as a name or an address.
  void Text(SettingName name, std::string unit, std::string& value, std::string help);

  /// Adds a text that may be empty: "", in JSON null, too.
  void TextOrNone(SettingName name, std::string unit, std::string& value, std::string help);

  /// Adds a text that is never shown, and may be empty.
  void Secret(SettingName name, std::string unit, std::string& value, std::string help);

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

  /// Adds a list of texts without commas, stored by a function. Parameters as above.
  void List(SettingName name, std::string unit, ListParts parts, std::size_t least,
            std::function<bool(const std::string&)> fits, std::string wanted, std::string help);

  /// Adds a list of texts without commas. Parameters as above.
  void List(SettingName name, std::string unit, std::vector<std::string>& value, std::size_t least,
            std::function<bool(const std::string&)> fits, std::string wanted, std::string help);

  /// Adds texts with keys. A configuration adds to those that are there.
  void Pairs(SettingName name, KeyedTexts texts, std::string help);

  /// Adds a table. A configuration replaces all of its rows.
  /// @param name its key, without a flag
  /// @param rows where the objects are stored
  /// @param most the most objects
  /// @param settings_of returns the settings of one object, given as `Row&`: a SettingList
  /// @param help a part of a sentence
  /// @param check returns the mistakes in all rows together; empty: there is no such check
  template <class Row, class SettingsOf>
  void Objects(const SettingName& name, std::vector<Row>& rows, std::size_t most,
               SettingsOf settings_of, const std::string& help,
               std::function<std::vector<SettingFault>()> check = {}) {
    ObjectTable table;
    table.most = most;
    table.clear = [&rows] { rows.clear(); };
    table.append = [&rows, settings_of] { return settings_of(rows.emplace_back()); };
    table.sample = [row = std::make_shared<Row>(), settings_of] { return settings_of(*row); };
    table.check = std::move(check);
    AddTable(name, std::move(table), help, [&rows, settings_of] {
      std::vector<std::string> texts;
      texts.reserve(rows.size());
      for (Row& row : rows) {
        texts.push_back(settings_of(row).ToJson());
      }
      return texts;
    });
  }

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
  void AddTable(SettingName name, ObjectTable table, std::string help,
                std::function<std::vector<std::string>()> rows);
  void Add(Setting setting);

  // Returns the settings that have a value, as a JSON object.
  [[nodiscard]] auto ToJson() const -> std::string;

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
  std::function<std::vector<SettingFault>(const GivenKeys&)> check_;
  Reload reload_ = Reload::kNextStart;
};

}  // namespace TURTLE_SERVER
