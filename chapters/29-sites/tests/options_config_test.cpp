// The command line and the configuration that it names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "app/options.h"
#include "app/serve_settings.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

class OptionsConfigTest : public testing::Test {
 protected:
  ~OptionsConfigTest() override { ::unsetenv("MIN_LOG_LEVEL"); }

  static auto Parse(const std::vector<std::string>& arguments) -> CommandLine {
    std::vector<const char*> argv{"turtle"};
    for (const std::string& argument : arguments) {
      argv.push_back(argument.c_str());
    }
    argv.push_back(nullptr);
    return ParseCommandLine(static_cast<int>(argv.size()) - 1, argv.data());
  }

  auto Config(const std::string& text) -> std::string {
    folder_.Write("site.json", text);
    return folder_.Path("site.json");
  }

  test::SiteFolder folder_;
};

TEST_F(OptionsConfigTest, AFileAloneServes) {
  const std::string file = Config(R"({"port": 83, "http": {"root_path": "/"}})");
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"-f", file}, {"serve", "-f", file}, {"-f" + file}}) {
    const CommandLine command = Parse(line);
    ASSERT_EQ(command.action, CommandAction::kServe) << command.text;
    EXPECT_EQ(command.file, file);
    EXPECT_EQ(command.serve.port, 83);
    EXPECT_EQ(command.serve.directory, "/");
    EXPECT_EQ(command.serve.threads, 4U);
  }
}

TEST_F(OptionsConfigTest, AFlagCountsMoreThanTheFile) {
  const std::string file = Config(R"({"port": 83, "worker_processes": 2})");
  const CommandLine command = Parse({"-f", file, "--port", "84", "/tmp"});
  ASSERT_EQ(command.action, CommandAction::kServe) << command.text;
  EXPECT_EQ(command.serve.port, 84);
  EXPECT_EQ(command.serve.directory, "/tmp");
  EXPECT_EQ(command.serve.threads, 2U);
}

TEST_F(OptionsConfigTest, TheEnvironmentStandsBetweenFlagAndFile) {
  const std::string file = Config(R"({"http": {"root_path": "/"}, "log": {"level": "ERROR"}})");
  EXPECT_EQ(Parse({"-f", file}).serve.log.level, LogLevel::kError);
  ::setenv("MIN_LOG_LEVEL", "loud", 1);
  EXPECT_EQ(Parse({"-f", file}).serve.log.level, LogLevel::kError) << "that is no level";
  ::setenv("MIN_LOG_LEVEL", "0", 1);
  EXPECT_EQ(Parse({"-f", file}).serve.log.level, std::nullopt) << "so that decides";
  EXPECT_EQ(Parse({"-f", file, "--log-level", "WARN"}).serve.log.level, LogLevel::kWarning);
}

TEST_F(OptionsConfigTest, ABadFileIsALineForEachMistakeAndCode2) {
  const std::string file = Config(R"({"port": 70000, "threads": 2})");
  for (const char* how : {"-f", "-tf"}) {
    const CommandLine command = Parse({how, file});
    EXPECT_EQ(command.action, CommandAction::kFail);
    EXPECT_EQ(command.code, 2);
    EXPECT_EQ(command.text, "turtle: " + file +
                                ": port: 70000 is not a number from 0 to 65535\n"
                                "turtle: " +
                                file + ": \"threads\" is not a key\n");
  }
  const CommandLine none = Parse({"-f", "/no/such/file"});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.text, "turtle: /no/such/file: No such file or directory\n");
}

TEST_F(OptionsConfigTest, AMistakeOnTheLineIsCode2AsWell) {
  const std::string file = Config("{}");
  for (const std::vector<std::string>& line : {std::vector<std::string>{"-f", file, "--port", "x"},
                                               {"-f", file, "--prot", "1"},
                                               {"-f"},
                                               {"-t"},
                                               {"serve", "-t"}}) {
    const CommandLine command = Parse(line);
    EXPECT_EQ(command.action, CommandAction::kFail);
    EXPECT_EQ(command.code, 2) << command.text;
    EXPECT_EQ(std::count(command.text.begin(), command.text.end(), '\n'), 1) << command.text;
  }
}

TEST_F(OptionsConfigTest, WhatWasMeantIsSuggested) {
  struct Case {
    std::vector<std::string> line;
    std::string text;
  };
  for (const Case& each : std::vector<Case>{
           {{"serve", "--prot", "80"}, "'--prot' is not an option; did you mean --port?"},
           {{"serve", "--prot=80"}, "'--prot' is not an option; did you mean --port?"},
           {{"serve", "-port", "80"}, "'-port' is not an option; did you mean --port?"},
           {{"serve", "--max_body", "1M"},
            "'--max_body' is not an option; did you mean --max-body?"},
           {{"serve", "--root", "/"}, "'--root' is not an option"},
           {{"serve", "--schema"}, "'--schema' is not an option; did you mean turtle --schema?"},
           {{"serve", "/", "/tmp"}, "'/tmp' is one word too many"},
           {{"srve"}, "'srve' is not a command; did you mean serve?"},
           {{"sevre", "--port", "80"}, "'sevre' is not a command; did you mean serve?"},
           {{"start"}, "'start' is not a command"},
           {{"--port", "80"},
            "'--port' is not an option without a command; did you mean serve --port?"},
           {{"--shcema"},
            "'--shcema' is not an option without a command; did you mean --schema?"}}) {
    const CommandLine command = Parse(each.line);
    EXPECT_EQ(command.action, CommandAction::kFail);
    EXPECT_EQ(command.code, 2);
    EXPECT_EQ(command.text, "turtle: " + each.text + " (see turtle --help)\n");
  }
}

TEST_F(OptionsConfigTest, AFileCanBeCheckedOnly) {
  const std::string file = Config(R"({"http": {"root_path": "/"}})");
  const CommandLine command = Parse({"-t", "-f", file});
  EXPECT_EQ(command.action, CommandAction::kPrint);
  EXPECT_EQ(command.text, file + " can be served\n");
}

TEST_F(OptionsConfigTest, ACheckTriesWhatCanBeTried) {
  const std::string file =
      Config(R"({"http": {"root_path": "/"}, "address": ["1.2.3", "unix:/no/such/s"],
                 "log": {"file": "/no/such/a.log"}})");
  const CommandLine command = Parse({"-t", "-f", file});
  EXPECT_EQ(command.action, CommandAction::kFail);
  EXPECT_EQ(command.code, 2);
  for (const char* part : {": address: '1.2.3': ", ": address: 'unix:/no/such/s': ",
                           ": log.file: '/no/such/a.log': "}) {
    EXPECT_NE(command.text.find("turtle: " + file + part), std::string::npos) << command.text;
  }
  EXPECT_EQ(Parse({"-f", file}).action, CommandAction::kServe)
      << "who serves finds out by doing it";
}

TEST_F(OptionsConfigTest, AFileNamesADirectoryOrHasSites) {
  const std::string without = Config("{}");
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"-f", without}, {"-t", "-f", without}}) {
    const CommandLine command = Parse(line);
    EXPECT_EQ(command.action, CommandAction::kFail);
    EXPECT_EQ(command.code, 2);
    EXPECT_EQ(command.text,
              "turtle: no directory to serve: name one, such as turtle serve . (see turtle "
              "--help)\n");
  }
  EXPECT_EQ(Parse({"-f", without, "/"}).action, CommandAction::kServe);
  EXPECT_EQ(Parse({"-f", Config(R"({"sites": []})")}).action, CommandAction::kFail);
  const CommandLine sites = Parse({"-f", Config(R"({"sites": [{"default": "on",
                                                  "root_path": "/"}]})")});
  EXPECT_EQ(sites.action, CommandAction::kServe) << sites.text;
  EXPECT_EQ(sites.serve.directory, "");
}

TEST_F(OptionsConfigTest, ADirectoryThatIsGoneAtAReloadChangesNothing) {
  const CommandLine line = Parse({"-f", Config(R"({"http": {"root_path": "/"}})")});
  ASSERT_EQ(line.action, CommandAction::kServe) << line.text;
  Config("{}");
  EXPECT_EQ(ReadAgain(line).action, CommandAction::kFail);
}

TEST_F(OptionsConfigTest, ACheckKnowsTheUsers) {
  const std::string file = Config(R"({"http": {"root_path": "/"}, "user": "no such user"})");
  const CommandLine command = Parse({"-t", "-f", file});
  EXPECT_EQ(command.code, 2);
  EXPECT_EQ(command.text, "turtle: " + file + ": user: 'no such user': there is no such user\n");
}

TEST_F(OptionsConfigTest, TheSchemaHasNoDirectoryByDefault) {
  const std::string schema = Parse({"--schema"}).text;
  const std::size_t key = schema.find("\"root_path\"");
  ASSERT_NE(key, std::string::npos);
  EXPECT_EQ(schema.substr(key, schema.find('}', key) - key).find("default"), std::string::npos);
}

TEST_F(OptionsConfigTest, ACheckWarnsOfASizeOfAFewBytes) {
  const std::string file = Config(R"({"http": {"root_path": "/", "max_body_size": 64}})");
  const CommandLine command = Parse({"-t", "-f", file});
  EXPECT_EQ(command.action, CommandAction::kPrint);
  EXPECT_EQ(command.text, file + " can be served\n");
  EXPECT_EQ(
      command.warnings,
      "turtle: " + file +
          ": warning: http.max_body_size: 64 means 64 bytes; is 64K or 64M what was meant?\n");
}

TEST_F(OptionsConfigTest, TheLogIsNamedInOneWayOnly) {
  const std::string folder = folder_.Path();
  const CommandLine named =
      Parse({"-f", Config(R"({"http": {"root_path": "/"}, "log": {"path": ")" + folder +
                          R"(", "base_name": "site"}})")});
  ASSERT_EQ(named.action, CommandAction::kServe) << named.text;
  EXPECT_EQ(named.serve.log.writer.file, folder + "/site.log");
  const CommandLine both = Parse({"-f", Config(R"({"http": {"root_path": "/"},
                                                "log": {"file": "a", "base_name": "b"}})")});
  EXPECT_EQ(both.action, CommandAction::kFail);
  EXPECT_NE(both.text.find("'a' and log.base_name 'b'"), std::string::npos) << both.text;
}

TEST_F(OptionsConfigTest, EveryKeyButATablesIsAFlagToo) {
  ServeOptions options;
  const std::string help = Parse({"serve", "--help"}).text;
  std::set<std::string> names;
  const SettingList settings = ServeSettings(options);
  for (const Setting& setting : settings.All()) {
    EXPECT_TRUE(names.insert(setting.name.key).second) << setting.name.key;
    if (setting.type == SettingType::kObjects) {
      EXPECT_EQ(setting.name.flag, "") << "of the table " << setting.name.key;
      continue;
    }
    EXPECT_NE(help.find(setting.name.flag + " "), std::string::npos) << setting.name.key;
    EXPECT_TRUE(names.insert(setting.name.flag).second) << setting.name.flag;
  }
}

TEST_F(OptionsConfigTest, TheHelpNamesTheSignals) {
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"--help"}, {"serve", "--help"}}) {
    const std::string help = Parse(line).text;
    for (const char* signal : {"SIGHUP", "SIGUSR1", "SIGTERM", "SIGINT"}) {
      EXPECT_NE(help.find(signal), std::string::npos) << signal << "\n" << help;
    }
  }
}

TEST_F(OptionsConfigTest, TheSchemaIsPrinted) {
  const CommandLine command = Parse({"--schema"});
  EXPECT_EQ(command.action, CommandAction::kPrint);
  EXPECT_NE(command.text.find("\"default\": 4507"), std::string::npos) << command.text;
}

}  // namespace
}  // namespace TURTLE_SERVER
