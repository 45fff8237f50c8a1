// Makes the JSON Schema of a configuration.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/config.h"

namespace TURTLE_SERVER {

namespace {

using Json = nlohmann::ordered_json;

void DeclareAll(const std::vector<Setting>& settings, Json& object);

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
    case SettingType::kCode:
      for (const std::string& code : setting.words) {
        schema["enum"].push_back(std::stoll(code));
      }
      schema["default"] = std::stoll(default_value);
      return schema;
    case SettingType::kPairs:
      schema["type"] = "object";
      schema["additionalProperties"]["type"] = "string";
      return schema;
    case SettingType::kObjects:
      schema["type"] = "array";
      schema["maxItems"] = setting.table.most;
      DeclareAll(setting.table.sample().All(), schema["items"]);
      return schema;
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

void DeclareAll(const std::vector<Setting>& settings, Json& object) {
  object["type"] = "object";
  object["additionalProperties"] = false;
  for (const Setting& setting : settings) {
    Declare(setting.name.key, SchemaOf(setting), object);
    if (!setting.name.also.empty()) {
      Declare(setting.name.also, SchemaOf(setting), object);
    }
    if (setting.required) {
      object["required"].push_back(setting.name.key);
    }
  }
}

}  // namespace

auto ConfigSchema(const std::vector<Setting>& settings) -> std::string {
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "The settings of turtle -f";
  schema["properties"]["$schema"]["type"] = "string";
  DeclareAll(settings, schema);
  return schema.dump(2) + "\n";
}

}  // namespace TURTLE_SERVER
