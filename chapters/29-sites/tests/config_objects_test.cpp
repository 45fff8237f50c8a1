// Tables of objects, and texts with keys, in a configuration.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/config.h"
#include "app/setting.h"

namespace TURTLE_SERVER {
namespace {

using Faults = std::vector<std::string>;
using Json = nlohmann::json;
using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Leg {
  int shoe = 40;
  std::optional<std::uint64_t> length;
};

struct Animal {
  std::string name;
  std::vector<std::string> food;
  std::optional<bool> tame;
  Pairs words;
  std::vector<Leg> legs;
};

struct Zoo {
  std::string title = "zoo";
  std::vector<Animal> animals;
};

auto LegSettings(Leg& leg) -> SettingList {
  SettingList list;
  list.Code({"shoe", ""}, leg.shoe, {38, 40, 42}, "its shoe");
  list.Size({"length", ""}, leg.length, 1, 1U << 20, "its length");
  return list;
}

auto IsLower(const std::string& text) -> bool {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
}

auto WordsOf(Pairs& words) -> KeyedTexts {
  return {[&words](const std::string& key, const std::string& text) -> std::string {
            if (!IsLower(text)) {
              return "is not in lower case: " + text;
            }
            words.emplace_back(key, text);
            return "";
          },
          [&words] { return words; }};
}

auto AnimalFaults(const Animal& animal, const GivenKeys& given) -> std::vector<SettingFault> {
  if (given.stored.count("tame") != 0 && !given.Has("food")) {
    return {{"tame", "there is no food"}, {"", animal.name + " has a mistake"}};
  }
  return {};
}

auto AnimalSettings(Animal& animal) -> SettingList {
  SettingList list;
  list.Text({"name", ""}, "", animal.name, "its name");
  list.Require("name");
  list.List({"food", ""}, "", animal.food, 1, IsLower, "a word in lower case", "its food");
  list.Switch({"tame", ""}, animal.tame, std::optional<bool>(true), std::optional<bool>(false),
              "on: it is tame");
  list.Pairs({"words", ""}, WordsOf(animal.words), "its words");
  list.Objects({"legs", ""}, animal.legs, 4, LegSettings, "its legs");
  list.Check([&animal](const GivenKeys& given) { return AnimalFaults(animal, given); });
  return list;
}

auto EqualNames(const std::vector<Animal>& animals) -> std::vector<SettingFault> {
  if (animals.size() > 1 && animals[0].name == animals[1].name && !animals[0].name.empty()) {
    return {{"[1].name", "animals[0].name is the same"}};
  }
  return {};
}

auto ZooSettings(Zoo& zoo) -> SettingList {
  SettingList list;
  list.Text({"title", "--title"}, "TEXT", zoo.title, "its title");
  list.Objects({"animals", ""}, zoo.animals, 100, AnimalSettings, "its animals",
               [&zoo] { return EqualNames(zoo.animals); });
  return list;
}

// The zoo that results from a configuration.
struct Reading {
  explicit Reading(const std::string& text)
      : faults(ReadConfig(text, "zoo.json", ZooSettings(zoo).All())) {}

  Zoo zoo;
  Faults faults;
};

auto Shown(const std::string& text) -> std::string {
  Reading read(text);
  EXPECT_EQ(read.faults, Faults()) << text;
  return ZooSettings(read.zoo).All().at(1).show();
}

TEST(ConfigObjectsTest, EveryValueArrives) {
  const Reading read(R"({"title": "t", "animals": [
    {"name": "a", "food": ["x", "y"], "tame": true, "words": {"k": "v", "B C": "w"},
     "legs": [{"shoe": 42}, {"length": "1K"}, {}]},
    {"name": "b", "food": "z"}]})");
  EXPECT_EQ(read.faults, Faults());
  ASSERT_EQ(read.zoo.animals.size(), 2U);
  const Animal& first = read.zoo.animals[0];
  EXPECT_EQ(first.name, "a");
  EXPECT_EQ(first.food, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(first.tame, true);
  EXPECT_EQ(first.words, (Pairs{{"k", "v"}, {"B C", "w"}}));
  ASSERT_EQ(first.legs.size(), 3U);
  EXPECT_EQ(first.legs[0].shoe, 42);
  EXPECT_EQ(first.legs[0].length, std::nullopt);
  EXPECT_EQ(first.legs[1].length, 1024U);
  EXPECT_EQ(first.legs[2].shoe, 40);
  EXPECT_EQ(read.zoo.animals[1].food, std::vector<std::string>{"z"});
  EXPECT_EQ(read.zoo.animals[1].tame, std::nullopt);
  EXPECT_TRUE(read.zoo.animals[1].legs.empty());
}

// The rows move in memory while the table grows.
TEST(ConfigObjectsTest, ALongTableIsWhole) {
  std::string rows;
  for (int i = 0; i < 100; ++i) {
    rows += std::string(i == 0 ? "" : ",") + R"({"name": "n)" + std::to_string(i) +
            R"(", "legs": [{}, {}]})";
  }
  const Reading read(R"({"animals": [)" + rows + "]}");
  EXPECT_EQ(read.faults, Faults());
  ASSERT_EQ(read.zoo.animals.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(read.zoo.animals[i].name, "n" + std::to_string(i));
    EXPECT_EQ(read.zoo.animals[i].legs.size(), 2U);
  }
}

TEST(ConfigObjectsTest, ATableReplacesTheEarlierRows) {
  Zoo zoo;
  zoo.animals.resize(3);
  const SettingList settings = ZooSettings(zoo);
  EXPECT_EQ(ReadConfig(R"({"title": "t"})", "z", settings.All()), Faults());
  EXPECT_EQ(zoo.animals.size(), 3U);
  EXPECT_EQ(ReadConfig(R"({"animals": [{"name": "a"}]})", "z", settings.All()), Faults());
  EXPECT_EQ(zoo.animals.size(), 1U);
  EXPECT_EQ(ReadConfig(R"({"animals": []})", "z", settings.All()), Faults());
  EXPECT_TRUE(zoo.animals.empty());
}

TEST(ConfigObjectsTest, AMistakeHasTheWholeKey) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"animals": 5})", "animals: 5 is not an array of at most 100 objects"},
      {R"({"animals": "a"})", "animals: \"a\" is not an array of at most 100 objects"},
      {R"({"animals": null})", "animals: null is not an array of at most 100 objects"},
      {R"({"animals": {"name": "a"}})",
       "animals: {\"name\":\"a\"} is not an array of at most 100 objects"},
      {R"({"animals": [{"name": "a"}, 7]})", "animals[1]: 7 is not an object with its own keys"},
      {R"({"animals": [[]]})", "animals[0]: [] is not an object with its own keys"},
      {R"({"animals": [{}]})", "animals[0].name: the key is missing"},
      {R"({"animals": [{"name": ""}]})", "animals[0].name: \"\" is not a name or an address"},
      {R"({"animals": [{"name": "a\u0000"}]})",
       "animals[0].name: \"a\\u0000\" has a NUL character in it, where it would end"},
      {R"({"animals": [{"name": "a", "food": ["x", "Y"]}]})",
       "animals[0].food[1]: \"Y\" is not a word in lower case"},
      {R"({"animals": [{"name": "a", "food": []}]})",
       "animals[0].food: [] is not a word in lower case"},
      {R"({"animals": [{"name": "a", "legs": [{}, {"shoe": 39}]}]})",
       "animals[0].legs[1].shoe: 39 is not one of 38, 40, 42"},
      {R"({"animals": [{"name": "a", "legs": [{"shoe": "40"}]}]})",
       "animals[0].legs[0].shoe: \"40\" is not one of 38, 40, 42"},
      {R"({"animals": [{"name": "a", "legs": [{"shoe": 40.0}]}]})",
       "animals[0].legs[0].shoe: 40.0 is not one of 38, 40, 42"},
      {R"({"animals": [{"name": "a", "legs": [{}, {}, {}, {}, {}]}]})",
       "animals[0].legs: it has 5 objects, and is not an array of at most 4 objects"},
      {R"({"animals": [{"nmae": "x", "name": "a"}]})",
       "\"animals[0].nmae\" is not a key; did you mean animals[0].name?"},
      {R"({"animals": [{"name": "a", "legs": [{"shoo": 1}]}]})",
       "\"animals[0].legs[0].shoo\" is not a key; did you mean animals[0].legs[0].shoe?"},
      {R"({"animals": [{"name": "a", "title": "x"}]})", "\"animals[0].title\" is not a key"},
      {R"({"animals": [{"name": "a", "$schema": "x"}]})", "\"animals[0].$schema\" is not a key"},
      {R"({"animals": [{"name": "a", "name": "b"}]})", "\"name\" occurs twice in one object"},
      {R"({"animals": [{"name": "a", "words": {"k": "v", "k": "w"}}]})",
       "\"k\" occurs twice in one object"},
      {R"({"animals": [{"name": "a", "words": ["k"]}]})",
       "animals[0].words: [\"k\"] is not an object whose values are texts"},
      {R"({"animals": [{"name": "a", "words": "k"}]})",
       "animals[0].words: \"k\" is not an object whose values are texts"},
      {R"({"animals": [{"name": "a", "words": {"k": 5}}]})", "animals[0].words.k: 5 is not a text"},
      {R"({"animals": [{"name": "a", "words": {"k": "V"}}]})",
       "animals[0].words.k: \"V\" is not in lower case: V"},
      {R"({"animals": [{"name": "a", "words": {"k": "v\u0000"}}]})",
       "animals[0].words.k: \"v\\u0000\" has a NUL character in it, where it would end"},
      {R"({"animals": [{"name": "a", "words": {"k\u0000": "v"}}]})",
       "animals[0].words.\"k\\u0000\": \"v\" has a NUL character in it, where it would end"},
      {R"({"animals": [{"name": "a"}, {"name": "a"}]})",
       "animals[1].name: animals[0].name is the same"},
  };
  for (const auto& [text, fault] : cases) {
    EXPECT_EQ(Reading(text).faults, Faults{"zoo.json: " + fault}) << text;
  }
}

TEST(ConfigObjectsTest, AllMistakesOfAllObjectsAreToldAtOnce) {
  const Reading read(R"({"animals": [
    {"legs": [{"shoe": 1}, 2, {"length": 0}], "colour": 1},
    {"name": "b", "food": ["B", "c", "D"]},
    {"name": "c", "tame": "on"}], "title": ""})");
  EXPECT_EQ(read.faults,
            (Faults{"zoo.json: animals[0].legs[0].shoe: 1 is not one of 38, 40, 42",
                    "zoo.json: animals[0].legs[1]: 2 is not an object with its own keys",
                    "zoo.json: animals[0].legs[2].length: 0 is not a size such as 512, 64K, 16M or "
                    "1G, from 1 to 1M",
                    "zoo.json: \"animals[0].colour\" is not a key",
                    "zoo.json: animals[0].name: the key is missing",
                    "zoo.json: animals[1].food[0]: \"B\" is not a word in lower case",
                    "zoo.json: animals[1].food[2]: \"D\" is not a word in lower case",
                    "zoo.json: animals[2].tame: there is no food",
                    "zoo.json: animals[2]: c has a mistake",
                    "zoo.json: title: \"\" is not a name or an address"}));
}

TEST(ConfigObjectsTest, ARefusedValueIsNotAMissingOne) {
  EXPECT_EQ(Reading(R"({"animals": [{"name": 5}]})").faults,
            Faults{"zoo.json: animals[0].name: 5 is not a name or an address"});
  EXPECT_EQ(Reading(R"({"animals": [{"name": "a", "tame": "maybe"}]})").faults,
            Faults{"zoo.json: animals[0].tame: \"maybe\" is not one of on, off"});
}

// A terminal obeys some of the characters that a key or a reason may quote.
TEST(ConfigObjectsTest, AMistakeIsOneLineOfAscii) {
  const Reading read(R"({"animals": [{"name": "a", "words":
    {"\u001b[2J\n\u00e9": "X\u001b\n\u009b\u007f\u00e9"}}]})");
  ASSERT_EQ(read.faults.size(), 1U);
  for (const char c : read.faults[0]) {
    EXPECT_TRUE(c >= ' ' && c < '\x7f') << static_cast<int>(c);
  }
  const Reading long_key(R"({"animals": [{"name": "a", "words": {")" + std::string(10'000, 'k') +
                         R"(": ")" + std::string(10'000, 'V') + R"("}}]})");
  ASSERT_EQ(long_key.faults.size(), 1U);
  EXPECT_LT(long_key.faults[0].size(), 400U);
}

TEST(ConfigObjectsTest, ADeepNestIsNoReasonToFall) {
  std::string begin;
  std::string end;
  for (int i = 0; i < 20'000; ++i) {
    begin += "[{\"legs\":";
    end += "}]";
  }
  EXPECT_EQ(Reading("{\"animals\":" + begin + "1" + end + "}").faults,
            Faults{"zoo.json: more than 16 nested values"});
}

TEST(ConfigObjectsTest, AShownTableIsTheSameForTheSameValues) {
  EXPECT_EQ(Shown("{}"), "");
  EXPECT_EQ(Shown(R"({"animals": []})"), "");
  const std::string full = Shown(
      R"({"animals": [{"name": "a\"\u00e9", "food": ["x", "y"], "tame": "on", "words": {"k": "v"},
          "legs": [{"shoe": 40, "length": 1024}]}]})");
  EXPECT_EQ(full,
            "[{\"name\":\"a\\\"\xc3\xa9\",\"food\":\"x,y\",\"tame\":\"on\",\"words\":{\"k\":\"v\"},"
            "\"legs\":[{\"shoe\":\"40\",\"length\":\"1K\"}]}]");
  EXPECT_EQ(Shown(R"({"animals": [{"legs": [{"length": "1K"}], "words": {"k": "v"}, "tame": true,
                      "food": "x,y", "name": "a\"\u00e9"}]})"),
            full);
  EXPECT_TRUE(Json::accept(full));
}

TEST(ConfigObjectsTest, AShownTableDiffersWhenAValueDiffers) {
  const std::vector<std::string> rows = {
      R"([{"name": "a"}])",
      R"([{"name": "b"}])",
      R"([{"name": "a"}, {"name": "b"}])",
      R"([{"name": "b"}, {"name": "a"}])",
      R"([{"name": "a", "food": "x"}])",
      R"([{"name": "a", "food": "x", "tame": "on"}])",
      R"([{"name": "a", "food": "x", "tame": "off"}])",
      R"([{"name": "a", "words": {"k": "v"}}])",
      R"([{"name": "a", "words": {"v": "k"}}])",
      R"([{"name": "a", "legs": [{}]}])",
      R"([{"name": "a", "legs": [{}, {}]}])",
      R"([{"name": "a", "legs": [{"shoe": 42}]}])",
      R"([{"name": "a", "legs": [{"length": 42}]}])",
  };
  std::set<std::string> shown;
  for (const std::string& row : rows) {
    EXPECT_TRUE(shown.insert(Shown("{\"animals\": " + row + "}")).second) << row;
  }
}

TEST(ConfigObjectsTest, ATableIsNoTextOfTheCommandLine) {
  Zoo zoo;
  const SettingList settings = ZooSettings(zoo);
  EXPECT_FALSE(settings.All().at(1).take("[]"));
  EXPECT_FALSE(AnimalSettings(zoo.animals.emplace_back()).All().at(3).take("{}"));
}

TEST(ConfigObjectsTest, TheSchemaDescribesTheObjects) {
  Zoo zoo;
  zoo.animals.resize(1);  // the values of one row are no defaults of the others
  zoo.animals[0].legs.resize(1);
  const Json schema = Json::parse(ConfigSchema(ZooSettings(zoo).All()));
  const Json& animals = schema["properties"]["animals"];
  EXPECT_EQ(animals["description"], "its animals");
  EXPECT_EQ(animals["type"], "array");
  EXPECT_EQ(animals["maxItems"], 100);
  EXPECT_FALSE(animals.contains("default"));
  const Json& animal = animals["items"];
  EXPECT_EQ(animal["type"], "object");
  EXPECT_EQ(animal["additionalProperties"], false);
  EXPECT_EQ(animal["required"], Json({"name"}));
  EXPECT_EQ(animal["properties"].size(), 5U);
  EXPECT_FALSE(animal["properties"]["tame"].contains("default"));
  const Json& words = animal["properties"]["words"];
  EXPECT_EQ(words["type"], "object");
  EXPECT_EQ(words["additionalProperties"], Json({{"type", "string"}}));
  const Json& leg = animal["properties"]["legs"]["items"];
  EXPECT_EQ(leg["additionalProperties"], false);
  EXPECT_FALSE(leg.contains("required"));
  EXPECT_EQ(leg["properties"]["shoe"]["enum"], Json({38, 40, 42}));
  EXPECT_EQ(leg["properties"]["shoe"]["default"], 40);
  EXPECT_FALSE(leg["properties"]["length"].contains("default"));
  EXPECT_FALSE(schema.contains("required"));
}

}  // namespace
}  // namespace TURTLE_SERVER
