#include "app/config.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/serve_settings.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using Faults = std::vector<std::string>;

// The settings that result from a configuration.
struct Reading {
  explicit Reading(const std::string& text)
      : options(ConfigDefaults()),
        faults(ReadConfig(text, "site.json", ServeSettings(options).All())) {}

  ServeOptions options;
  Faults faults;
};

TEST(ConfigTest, EveryKindOfValueArrives) {
  const test::SiteFolder folder;
  const Reading read(R"({
    "port": 80, "address": "::1", "worker_processes": 2,
    "http": {"root_path": ")" +
                     folder.Path() + R"(", "max_body_size": "1M", "max_fields": 7,
             "max_head_size": 4096, "cache_check": "always", "dot_files": true},
    "timeouts": {"idle": 5},
    "log": {"level": "WARN", "ansync_started": true, "when_full": "block", "file": "a.log"}
  })");
  EXPECT_EQ(read.faults, Faults());
  EXPECT_EQ(read.options.port, 80);
  EXPECT_EQ(read.options.address, "::1");
  EXPECT_EQ(read.options.threads, 2U);
  EXPECT_EQ(read.options.directory, folder.Path());
  EXPECT_EQ(read.options.max_body, 1U << 20);
  EXPECT_EQ(read.options.max_fields, 7U);
  EXPECT_EQ(read.options.max_head, 4096U);
  EXPECT_EQ(read.options.cache_check, CacheCheck::kAlways);
  EXPECT_TRUE(read.options.dot_files);
  EXPECT_EQ(read.options.idle_timeout, std::chrono::seconds(5));
  EXPECT_EQ(read.options.log.level, LogLevel::kWarning);
  EXPECT_EQ(read.options.log.writer.by, WriteBy::kThread);
  EXPECT_EQ(read.options.log.writer.when_full, WhenFull::kBlock);
  EXPECT_EQ(read.options.log.writer.file, "a.log");
}

// For the system, a text ends at its first NUL: the path would be a different one.
TEST(ConfigTest, ANulInATextIsRefusedWithItsKey) {
  const test::SiteFolder folder;
  const std::string root = folder.Path();
  struct Case {
    std::string text;
    std::string key;
  };
  for (const Case& each : std::vector<Case>{
           {R"({"http": {"root_path": ")" + root + R"(\u0000/x"}})", "http.root_path"},
           {R"({"http": {"cgi_path": ")" + root + R"(\u0000"}})", "http.cgi_path"},
           {R"({"address": "unix:/run/a\u0000b"})", "address"},
           {R"({"address": "127.0.0.1\u0000"})", "address"},
           {R"({"address": ["::1", "unix:\u0000a"]})", "address[1]"},
           {R"({"blocks_ip": "\u0000"})", "blocks_ip"},
           {R"({"log": {"file": "a.log\u0000b"}})", "log.file"},
           {R"({"log": {"path": "/\u0000tmp"}})", "log.path"},
           {R"({"log": {"base_name": "\u0000"}})", "log.base_name"},
           {R"({"log": {"level": "WARN\u0000"}})", "log.level"},
           {R"({"access_log": {"file": "\u0000"}})", "access_log.file"}}) {
    const Reading read(each.text);
    ASSERT_EQ(read.faults.size(), 1U) << each.text;
    EXPECT_EQ(read.faults[0].rfind("site.json: " + each.key + ": \"", 0), 0U) << read.faults[0];
    EXPECT_NE(read.faults[0].find("\\u0000"), std::string::npos) << read.faults[0];
    EXPECT_NE(read.faults[0].find(" has a NUL character in it"), std::string::npos)
        << read.faults[0];
  }
}

TEST(ConfigTest, AListIsOneTextOrAnArray) {
  EXPECT_EQ(Reading(R"({"address": ["::1", "127.0.0.1", "unix:/run/t"]})").options.address,
            "::1,127.0.0.1,unix:/run/t");
  EXPECT_EQ(Reading(R"({"address": "::1,127.0.0.1"})").options.address, "::1,127.0.0.1");
  const Reading none(R"({"blocks_ip": []})");
  EXPECT_EQ(none.faults, Faults());
  EXPECT_EQ(none.options.blocked, "");
  EXPECT_EQ(Reading(R"({"blocks_ip": ["10.0.0.0/8", "::1"]})").options.blocked, "10.0.0.0/8,::1");
}

TEST(ConfigTest, AListHasTheParts) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(SplitList(""), Parts());
  EXPECT_EQ(SplitList("a"), Parts({"a"}));
  EXPECT_EQ(SplitList("a,b"), Parts({"a", "b"}));
  EXPECT_EQ(SplitList("a,"), Parts({"a", ""}));
  EXPECT_EQ(SplitList(","), Parts({"", ""}));
}

TEST(ConfigTest, ALimitOfConnectionsIsANumberOrNone) {
  EXPECT_EQ(Reading(R"({"worker_connections": 100})").options.max_connections, 100U);
  EXPECT_EQ(Reading(R"({"worker_connections": -1})").options.max_connections, 0U);
  EXPECT_EQ(Reading("{}").options.max_connections, 0U);
}

TEST(ConfigTest, WhatIsNotSaidIsTheStandard) {
  const Reading read("{}");
  EXPECT_EQ(read.faults, Faults());
  EXPECT_EQ(read.options.port, 4507);
  EXPECT_EQ(read.options.address, "127.0.0.1");
  EXPECT_EQ(read.options.threads, 4U);
  EXPECT_EQ(read.options.max_connections, 0U);
  EXPECT_EQ(read.options.blocked, "");
  EXPECT_FALSE(read.options.cpu_affinity);
  EXPECT_EQ(read.options.max_body, 67'108'864U);
  EXPECT_EQ(read.options.log.level, std::nullopt);
  EXPECT_EQ(read.options.log.writer.by, WriteBy::kCaller);
  EXPECT_EQ(read.options.log.writer.flush_interval, std::chrono::seconds(3));
  EXPECT_EQ(read.options.log.writer.roll_size, 67'108'864U);
}

TEST(ConfigTest, CommentsMayStandBetweenTokens) {
  const Reading read("// a line\n{ /* here */ \"port\": /* there */ 81 // and at the end\n}\n");
  EXPECT_EQ(read.faults, Faults());
  EXPECT_EQ(read.options.port, 81);
}

TEST(ConfigTest, ANulIsNotTheEnd) {
  for (const std::string text : {"{\"worker_processes\": 2}$junk", "{\"worker_processes\": 2}$",
                                 "$", "{$}", "{} // a comment$", "// a comment$\n{}"}) {
    std::string with_nul = text;
    with_nul[text.find('$')] = '\0';
    const Reading read(with_nul);
    const std::string column = std::to_string(text.find('$') + 1);
    EXPECT_EQ(read.faults, Faults{"site.json:1:" + column + ": unexpected byte 0x00"}) << text;
  }
}

TEST(ConfigTest, BothSpellingsOfAKeyAreTheSameButNotTwice) {
  EXPECT_EQ(Reading(R"({"log": {"async_started": "on"}})").options.log.writer.by, WriteBy::kThread);
  EXPECT_EQ(
      Reading(R"({"log": {"async_started": "on", "ansync_started": "off"}})").faults,
      Faults{"site.json: log.ansync_started and its other spelling are both in the configuration"});
}

TEST(ConfigTest, AnEditorMayBeToldOfTheSchema) {
  EXPECT_EQ(Reading(R"({"$schema": "turtle.schema.json", "port": 1})").faults, Faults());
}

TEST(ConfigTest, AMistakeIsTheKeyTheValueAndWhatIsWanted) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"port": 65536})", "port: 65536 is not a number from 0 to 65535"},
      {R"({"port": -1})", "port: -1 is not a number from 0 to 65535"},
      {R"({"port": 80.5})", "port: 80.5 is not a number from 0 to 65535"},
      {R"({"port": "80"})", "port: \"80\" is not a number from 0 to 65535"},
      {R"({"port": 1e30})", "port: 1e+30 is not a number from 0 to 65535"},
      {R"({"port": 1e999})", "a number is too large"},
      {R"({"port": null})", "port: null is not a number from 0 to 65535"},
      {R"({"port": [80]})", "port: [80] is not a number from 0 to 65535"},
      {R"({"worker_processes": 0})", "worker_processes: 0 is not a number from 1 to 1024"},
      {R"({"address": ""})", "address: \"\" is not an address, a host name, or unix: and a path"},
      {R"({"address": []})", "address: [] is not an address, a host name, or unix: and a path"},
      {R"({"address": "unix:"})",
       "address: \"unix:\" is not an address, a host name, or unix: and a path"},
      {R"({"address": ["::1", 5]})",
       "address[1]: 5 is not an address, a host name, or unix: and a path"},
      {R"({"address": {"ip": "::1"}})",
       "address: {\"ip\":\"::1\"} is not an address, a host name, or unix: and a path"},
      {R"({"worker_connections": 0})",
       "worker_connections: 0 is not a number from 1 to 10000000, or -1"},
      {R"({"worker_connections": -2})",
       "worker_connections: -2 is not a number from 1 to 10000000, or -1"},
      {R"({"blocks_ip": "10.0.0.1/8"})",
       "blocks_ip: \"10.0.0.1/8\" is not an address or a network such as 10.0.0.0/8"},
      {R"({"blocks_ip": ["::1", "10.0.0.0/33"]})",
       "blocks_ip[1]: \"10.0.0.0/33\" is not an address or a network such as 10.0.0.0/8"},
      {R"({"blocks_ip": ["::1,::2"]})",
       "blocks_ip[0]: \"::1,::2\" is not an address or a network such as 10.0.0.0/8"},
      {R"({"blocks_ip": ["::1\u0000"]})",
       "blocks_ip[0]: \"::1\\u0000\" is not an address or a network such as 10.0.0.0/8"},
      {R"({"timeouts": {"idle": 0}})",
       "timeouts.idle: 0 is not a number of seconds from 1 to 86400"},
      {R"({"http": {"max_body_size": "1 MB"}})",
       "http.max_body_size: \"1 MB\" is not a size such as 512, 64K, 16M or 1G, from 0 to "
       "18446744073709551615"},
      {R"({"http": {"max_body_size": true}})",
       "http.max_body_size: true is not a size such as 512, 64K, 16M or 1G, from 0 to "
       "18446744073709551615"},
      {R"({"http": {"max_head_size": "2M"}})",
       "http.max_head_size: \"2M\" is not a size such as 512, 64K, 16M or 1G, from 64 to 1M"},
      {R"({"http": {"max_uri_size": "2M"}})",
       "http.max_uri_size: \"2M\" is not a size such as 512, 64K, 16M or 1G, from 1 to 1M"},
      {R"({"http": {"root_path": "/no/such/place"}})",
       "http.root_path: \"/no/such/place\" is not an existing directory"},
      {R"({"http": 5})", "http: 5 is not an object with its own keys"},
      {R"({"log": {"level": "LOUD"}})",
       "log.level: \"LOUD\" is not one of DEBUG, INFO, WARN, ERROR, FATAL"},
      {R"({"log": {"ansync_started": "yes"}})",
       "log.ansync_started: \"yes\" is not one of on, off"},
      {R"({"log": {"file": "/"}})", "log.file: \"/\" is not the name of a file"},
      {R"({"prot": 80})", "\"prot\" is not a key; did you mean port?"},
      {R"({"http": {"max_bdoy_size": 80}})",
       "\"http.max_bdoy_size\" is not a key; did you mean http.max_body_size?"},
      {R"({"root_path": "/"})", "\"root_path\" is not a key; did you mean http.root_path?"},
      {R"({"root": "/"})", "\"root\" is not a key"},
      {R"({"file": "a.log"})", "\"file\" is not a key; did you mean log.file?"},
      {R"({"http": {"port": 80}})", "\"http.port\" is not a key; did you mean port?"},
      {R"({"htpp": {"root_path": "/"}})", "\"htpp\" is not a key; did you mean http?"},
      {R"({"port.number": 1})", "\"port.number\" is not a key"},
      {R"({"": 1})", "\"\" is not a key"},
      {R"({"n\u0007\u00e9": 1})", "\"n\\u0007\\u00e9\" is not a key"},
      {R"({"port": 1, "port": 2})", "\"port\" occurs twice in one object"},
      {R"({"http": {"cache_size": 1, "cache_size": 1}})",
       "\"cache_size\" occurs twice in one object"},
      {"[]", "[] is not an object with keys"},
      {"80", "80 is not an object with keys"},
  };
  for (const auto& [text, fault] : cases) {
    EXPECT_EQ(Reading(text).faults, Faults{"site.json: " + fault}) << text;
  }
}

TEST(ConfigTest, AllMistakesAreToldAtOnce) {
  const Reading read(R"({"port": "x", "http": {"max_fields": 0, "rot_path": "/"}, "colour": 1})");
  EXPECT_EQ(read.faults,
            (Faults{"site.json: port: \"x\" is not a number from 0 to 65535",
                    "site.json: http.max_fields: 0 is not a number from 1 to 65534",
                    "site.json: \"http.rot_path\" is not a key; did you mean http.root_path?",
                    "site.json: \"colour\" is not a key"}));
}

TEST(ConfigTest, AMistakeOfALongValueIsShort) {
  const Reading read("{\"port\": \"" + std::string(100'000, 'x') + "\"}");
  ASSERT_EQ(read.faults.size(), 1U);
  EXPECT_LT(read.faults.front().size(), 150U);
  const Reading key("{\"" + std::string(100'000, 'x') + "\": 1}");
  ASSERT_EQ(key.faults.size(), 1U);
  EXPECT_LT(key.faults.front().size(), 150U);
}

TEST(ConfigTest, WhatIsNoJsonIsToldWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "1:1: unexpected end"},
      {"{", "1:2: unexpected end"},
      {"{\n  \"port\": 80,\n}\n", "3:1: unexpected '}'"},
      {"{\n  \"port\" 80\n}\n", "2:11: unexpected '0'"},
      {"{\"port\": 80} x", "1:14: unexpected 'x'"},
      {"{\"port\": 080}", "1:12: unexpected '0'"},
      {"{\"port\": \"\xff\"}", "1:11: unexpected byte 0xff"},
      {"{'port': 80}", "1:2: unexpected '''"},
      {"{\"a\": /* never ended", "1:21: unexpected end"},
      {"{\"timeouts\": {\"idle\": [1, }}", "1:27: unexpected '}'"},
  };
  for (const auto& [text, fault] : cases) {
    EXPECT_EQ(Reading(text).faults, Faults{"site.json:" + fault}) << text;
  }
}

TEST(ConfigTest, ADeepNestIsNoReasonToFall) {
  const Faults too_deep{"site.json: more than 16 nested values"};
  const std::size_t half = kMaxConfigBytes / 2;
  EXPECT_EQ(Reading(std::string(half, '[') + std::string(half, ']')).faults, too_deep);
  std::string text;
  for (int i = 0; i < 50'000; ++i) {
    text += "{\"http\":";
  }
  text += "1" + std::string(50'000, '}');
  EXPECT_EQ(Reading(text).faults, too_deep);
  EXPECT_EQ(Reading(R"({"port": )" + std::string(15, '[') + std::string(15, ']') + "}").faults,
            Faults{"site.json: port: " + std::string(15, '[') + std::string(15, ']') +
                   " is not a number from 0 to 65535"});
}

TEST(ConfigTest, AFileIsReadAndNamed) {
  const test::SiteFolder folder;
  folder.Write("good.json", "{\"port\": 82}");
  folder.Write("bad.json", "{\"port\": 82");
  folder.Write("long.json", std::string(kMaxConfigBytes + 1, ' '));
  ServeOptions options;
  const SettingList settings = ServeSettings(options);
  EXPECT_EQ(ReadConfigFile(folder.Path("good.json"), settings.All()), Faults());
  EXPECT_EQ(options.port, 82);
  const Faults bad = ReadConfigFile(folder.Path("bad.json"), settings.All());
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad.front().rfind(folder.Path("bad.json") + ":1:12: ", 0), 0U) << bad.front();
  EXPECT_EQ(ReadConfigFile(folder.Path("none.json"), settings.All()),
            Faults{folder.Path("none.json") + ": No such file or directory"});
  EXPECT_EQ(ReadConfigFile(folder.Path(), settings.All()),
            Faults{folder.Path() + ": Is a directory"});
  EXPECT_EQ(ReadConfigFile(folder.Path("long.json"), settings.All()),
            Faults{folder.Path("long.json") + ": longer than 1048576 bytes"});
}

TEST(ConfigTest, TheSchemaHasEachKeyWithItsStandard) {
  using Json = nlohmann::json;
  ServeOptions options = ConfigDefaults();
  const SettingList settings = ServeSettings(options);
  const Json schema = Json::parse(ConfigSchema(settings.All()));
  EXPECT_EQ(schema["additionalProperties"], false);
  for (const Setting& setting : settings.All()) {
    std::string path = "/properties/" + setting.name.key;
    const std::size_t dot = path.find('.');
    if (dot != std::string::npos) {
      path.replace(dot, 1, "/properties/");
    }
    const Json& found = schema.at(Json::json_pointer(path));
    EXPECT_EQ(found["description"], setting.help);
    const std::string standard = setting.show();
    if (setting.type == SettingType::kNumber) {
      EXPECT_EQ(found["default"].dump(), standard) << path;
    } else if (!standard.empty()) {
      EXPECT_EQ(found["default"], standard) << path;
      // A default may be written in a configuration.
      EXPECT_TRUE(setting.take(standard)) << path << " " << standard;
    }
  }
  EXPECT_EQ(schema["properties"]["port"]["maximum"], 65535);
  EXPECT_EQ(schema["properties"]["log"]["properties"]["async_started"]["default"], "off");
}

TEST(ConfigTest, TheSchemaSaysWhatAValueMayBe) {
  using Json = nlohmann::json;
  ServeOptions options = ConfigDefaults();
  const Json properties = Json::parse(ConfigSchema(ServeSettings(options).All()))["properties"];
  const std::vector<std::pair<std::string, Json>> rows = {
      {"/address/type", {"string", "array"}},
      {"/address/items/type", "string"},
      {"/address/minItems", 1},
      {"/address/default", "127.0.0.1"},
      {"/blocks_ip/type", {"string", "array"}},
      {"/blocks_ip/items/type", "string"},
      {"/blocks_ip/minItems", 0},
      {"/worker_connections/type", "integer"},
      {"/worker_connections/minimum", -1},
      {"/worker_connections/not/minimum", 0},
      {"/worker_connections/not/maximum", 0},
      {"/worker_connections/maximum", 10'000'000},
      {"/worker_connections/default", -1},
      {"/worker_processes/minimum", 1},
      {"/port/minimum", 0},
  };
  for (const auto& [place, value] : rows) {
    const Json::json_pointer pointer(place);
    ASSERT_TRUE(properties.contains(pointer)) << place;
    EXPECT_EQ(properties[pointer], value) << place;
  }
  EXPECT_FALSE(properties["blocks_ip"].contains("default"));
}

}  // namespace
}  // namespace TURTLE_SERVER
