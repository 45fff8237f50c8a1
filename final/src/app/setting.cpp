#include "app/setting.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "app/byte_size.h"

namespace TURTLE_SERVER {

namespace {

// Parses strictly: std::stoul would accept " 7", "+7" and "7up".
auto ParseNumber(const std::string& text) -> std::optional<std::uint64_t> {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return number;
}

auto IsFolder(const std::string& path) -> bool {
  std::error_code ignored;  // a path that can't be checked is not a directory for us
  return std::filesystem::is_directory(path, ignored);
}

auto Plain(SettingName name, SettingType type, std::string unit, std::string help) -> Setting {
  Setting setting;
  setting.name = std::move(name);
  setting.type = type;
  setting.unit = std::move(unit);
  setting.help = std::move(help);
  return setting;
}

auto Joined(const std::vector<std::string>& parts, const std::string& between) -> std::string {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : between) + parts[i];
  }
  return text;
}

// Returns the text as JSON. A configuration has no malformed UTF-8, so nothing is replaced.
auto Quoted(const std::string& text) -> std::string {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

auto IsJson(SettingType type) -> bool {
  return type == SettingType::kPairs || type == SettingType::kObjects;
}

auto NeverTaken(const std::string& /*text*/) -> bool { return false; }

}  // namespace

auto SplitList(const std::string& text) -> std::vector<std::string> {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

auto WantedBy(const Setting& setting) -> std::string {
  const auto range = [&setting] {
    return std::to_string(setting.lowest) + " to " + std::to_string(setting.highest);
  };
  switch (setting.type) {
    case SettingType::kNumber:
      if (!setting.words.empty()) {
        return "a number from " + range() + ", or " + Joined(setting.words, ", ");
      }
      return (setting.unit == "SECONDS" ? "a number of seconds from " : "a number from ") + range();
    case SettingType::kSize:
      return "a size such as 512, 64K, 16M or 1G, from " + FormatByteSize(setting.lowest) + " to " +
             FormatByteSize(setting.highest);
    case SettingType::kText:
      if (!setting.wanted.empty()) {
        return setting.wanted;
      }
      return setting.or_none ? "a text, or null" : "a name or an address";
    case SettingType::kSecret:
      return "a text, or null";
    case SettingType::kList:
      return setting.wanted;
    case SettingType::kFolder:
      return "an existing directory";
    case SettingType::kFile:
      return "the name of a file";
    case SettingType::kPairs:
      return "an object whose values are texts";
    case SettingType::kObjects:
      return "an array of at most " + std::to_string(setting.table.most) + " objects";
    case SettingType::kCode:
    case SettingType::kWord:
    case SettingType::kSwitch:
      break;
  }
  return "one of " + Joined(setting.words, ", ");
}

void SettingList::Require(const std::string& key) {
  for (Setting& setting : all_) {
    setting.required = setting.required || setting.name.key == key;
  }
}

auto SettingList::Bounded(SettingName name, std::string unit, std::uint64_t lowest,
                          std::uint64_t highest, std::string help) -> Setting {
  Setting setting = Plain(std::move(name), SettingType::kNumber, std::move(unit), std::move(help));
  setting.lowest = lowest;
  setting.highest = highest;
  return setting;
}

void SettingList::AddNumber(Setting setting, Store store, Load load) {
  setting.take = [lowest = setting.lowest, highest = setting.highest,
                  store = std::move(store)](const std::string& text) {
    const auto number = ParseNumber(text);
    if (!number || *number < lowest || *number > highest) {
      return false;
    }
    store(*number);
    return true;
  };
  setting.show = [load = std::move(load)] { return std::to_string(load()); };
  Add(std::move(setting));
}

void SettingList::CountOrAny(SettingName name, std::size_t& value, std::uint64_t highest,
                             std::string help) {
  Count(std::move(name), value, 1, highest, std::move(help));
  Setting& setting = all_.back();
  setting.words = {"-1"};
  setting.take = [&value, take = std::move(setting.take)](const std::string& text) {
    value = text == "-1" ? 0 : value;
    return text == "-1" || take(text);
  };
  setting.show = [&value] { return value == 0 ? "-1" : std::to_string(value); };
}

void SettingList::Number(SettingName name, std::uint64_t lowest, std::uint64_t highest, Store store,
                         Load load, std::string help) {
  AddNumber(Bounded(std::move(name), "N", lowest, highest, std::move(help)), std::move(store),
            std::move(load));
}

void SettingList::Code(SettingName name, int& value, const std::vector<int>& all,
                       std::string help) {
  Setting setting = Plain(std::move(name), SettingType::kCode, "N", std::move(help));
  for (const int code : all) {
    setting.words.push_back(std::to_string(code));
  }
  setting.take = [&value, all](const std::string& text) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&text](int code) { return std::to_string(code) == text; });
    value = found == all.end() ? value : *found;
    return found != all.end();
  };
  setting.show = [&value] { return std::to_string(value); };
  Add(std::move(setting));
}

void SettingList::AddSize(Setting setting, Store store, Load load) {
  setting.type = SettingType::kSize;
  setting.take = [lowest = setting.lowest, highest = setting.highest,
                  store = std::move(store)](const std::string& text) {
    const auto size = ParseByteSize(text);
    if (!size || *size < lowest || *size > highest) {
      return false;
    }
    store(*size);
    return true;
  };
  setting.show = [load = std::move(load)] { return FormatByteSize(load()); };
  Add(std::move(setting));
}

void SettingList::Size(SettingName name, std::optional<std::uint64_t>& value, std::uint64_t lowest,
                       std::uint64_t highest, std::string help) {
  AddSize(
      Bounded(std::move(name), "SIZE", lowest, highest, std::move(help)),
      [&value](std::uint64_t number) { value = number; }, [&value] { return value.value_or(0); });
  all_.back().show = [&value] { return value ? FormatByteSize(*value) : std::string(); };
}

void SettingList::Form(SettingName name, std::string unit, TextForm form, std::string help) {
  Setting setting = Plain(std::move(name), SettingType::kText, std::move(unit), std::move(help));
  setting.wanted = std::move(form.wanted);
  setting.or_none = form.or_none;
  setting.take = std::move(form.take);
  setting.show = std::move(form.show);
  setting.explain = std::move(form.explain);
  Add(std::move(setting));
}

void SettingList::Text(SettingName name, std::string unit, std::string& value, std::string help) {
  Setting setting = Plain(std::move(name), SettingType::kText, std::move(unit), std::move(help));
  setting.take = [&value](const std::string& text) {
    if (text.empty()) {
      return false;
    }
    value = text;
    return true;
  };
  setting.show = [&value] { return value; };
  Add(std::move(setting));
}

void SettingList::TextOrNone(SettingName name, std::string unit, std::string& value,
                             std::string help) {
  Text(std::move(name), std::move(unit), value, std::move(help));
  Setting& setting = all_.back();
  setting.or_none = true;
  setting.take = [&value](const std::string& text) {
    value = text;
    return true;
  };
}

void SettingList::Secret(SettingName name, std::string unit, std::string& value, std::string help) {
  TextOrNone(std::move(name), std::move(unit), value, std::move(help));
  Setting& setting = all_.back();
  setting.type = SettingType::kSecret;
  setting.show = [] { return std::string(); };
}

void SettingList::List(SettingName name, std::string unit, std::string& value, std::size_t least,
                       std::function<bool(const std::string&)> fits, std::string wanted,
                       std::string help) {
  const ListParts parts{
      [&value](const std::vector<std::string>& split) { value = Joined(split, ","); },
      [&value] { return SplitList(value); }};
  List(std::move(name), std::move(unit), parts, least, std::move(fits), std::move(wanted),
       std::move(help));
}

void SettingList::List(SettingName name, std::string unit, ListParts parts, std::size_t least,
                       std::function<bool(const std::string&)> fits, std::string wanted,
                       std::string help) {
  Setting setting = Plain(std::move(name), SettingType::kList, std::move(unit), std::move(help));
  setting.lowest = least;
  setting.wanted = std::move(wanted);
  setting.fits = std::move(fits);
  setting.take = [store = std::move(parts.store), least,
                  fits = setting.fits](const std::string& text) {
    const std::vector<std::string> split = SplitList(text);
    if (split.size() < least || !std::all_of(split.begin(), split.end(), fits)) {
      return false;
    }
    store(split);
    return true;
  };
  setting.show = [load = std::move(parts.load)] { return Joined(load(), ","); };
  Add(std::move(setting));
}

void SettingList::List(SettingName name, std::string unit, std::vector<std::string>& value,
                       std::size_t least, std::function<bool(const std::string&)> fits,
                       std::string wanted, std::string help) {
  const ListParts parts{[&value](const std::vector<std::string>& split) { value = split; },
                        [&value] { return value; }};
  List(std::move(name), std::move(unit), parts, least, std::move(fits), std::move(wanted),
       std::move(help));
}

void SettingList::Pairs(SettingName name, KeyedTexts texts, std::string help) {
  Setting setting = Plain(std::move(name), SettingType::kPairs, "", std::move(help));
  setting.take = NeverTaken;
  setting.show = [load = texts.load] {
    std::string json;
    for (const auto& [key, text] : load()) {
      json += (json.empty() ? "{" : ",") + Quoted(key) + ":" + Quoted(text);
    }
    return json.empty() ? json : json + "}";
  };
  setting.pairs = std::move(texts);
  Add(std::move(setting));
}

void SettingList::AddTable(SettingName name, ObjectTable table, std::string help,
                           std::function<std::vector<std::string>()> rows) {
  Setting setting = Plain(std::move(name), SettingType::kObjects, "", std::move(help));
  setting.take = NeverTaken;
  setting.show = [rows = std::move(rows)] {
    const std::string json = Joined(rows(), ",");
    return json.empty() ? json : "[" + json + "]";
  };
  setting.table = std::move(table);
  Add(std::move(setting));
}

auto SettingList::ToJson() const -> std::string {
  std::string json;
  for (const Setting& setting : all_) {
    const std::string value = setting.show();
    if (!value.empty()) {
      json += (json.empty() ? "" : ",") + Quoted(setting.name.key) + ":" +
              (IsJson(setting.type) ? value : Quoted(value));
    }
  }
  return "{" + json + "}";
}

void SettingList::Folder(SettingName name, std::string unit, std::string& value, std::string help) {
  Setting setting = Plain(std::move(name), SettingType::kFolder, std::move(unit), std::move(help));
  setting.take = [&value](const std::string& text) {
    if (!IsFolder(text)) {
      return false;
    }
    value = text;
    return true;
  };
  setting.show = [&value] { return value; };
  Add(std::move(setting));
}

void SettingList::File(SettingName name, std::string& value, std::string help) {
  Setting setting = Plain(std::move(name), SettingType::kFile, "FILE", std::move(help));
  setting.take = [&value](const std::string& text) {
    if (text.empty() || text.back() == '/' || IsFolder(text)) {
      return false;
    }
    value = text;
    return true;
  };
  setting.show = [&value] { return value; };
  Add(std::move(setting));
}

void SettingList::Level(SettingName name, std::optional<LogLevel>& value, std::string help) {
  Setting setting = Plain(std::move(name), SettingType::kWord, "LEVEL", std::move(help));
  setting.words = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL"};
  setting.take = [&value](const std::string& text) {
    const auto level = ParseLogLevel(text);
    value = level ? level : value;
    return level.has_value();
  };
  setting.show = [&value] { return std::string(NameOf(value.value_or(LogLevel::kInfo))); };
  Add(std::move(setting));
}

void SettingList::Add(Setting setting) {
  setting.reload = reload_;
  all_.push_back(std::move(setting));
}

}  // namespace TURTLE_SERVER
