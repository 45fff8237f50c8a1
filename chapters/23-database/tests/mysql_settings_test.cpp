// The settings of a database: a group of keys, one of which is never shown.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/serve_settings.h"
#include "support/log_folder.h"
#include "support/mariadb_server.h"
#include "support/turtle.h"

namespace TURTLE_SERVER {
namespace {

struct Reading {
  explicit Reading(const std::string& text)
      : options(ConfigDefaults()),
        faults(ReadConfig(text, "site.json", ServeSettings(options).All())) {}

  [[nodiscard]] auto Fault() const -> std::string { return faults.empty() ? "" : faults.front(); }

  ServeOptions options;
  std::vector<std::string> faults;
};

TEST(MySqlSettingsTest, TheyBecomeOptions) {
  const Reading read(R"({"mysql": {
    "mysql_started": "on", "address": "db.example", "user": "ada", "password": "open sesame",
    "database_name": "site", "port": 3307, "unix_socket": null, "client_flag": 32}})");
  EXPECT_EQ(read.faults, std::vector<std::string>());
  EXPECT_TRUE(read.options.mysql_started);
  const MariaDbOptions& mysql = read.options.mysql;
  EXPECT_EQ(mysql.address, "db.example");
  EXPECT_EQ(mysql.user, "ada");
  EXPECT_EQ(mysql.password, "open sesame");
  EXPECT_EQ(mysql.database_name, "site");
  EXPECT_EQ(mysql.port, 3307);
  EXPECT_EQ(mysql.unix_socket, "");
  EXPECT_EQ(mysql.client_flag, 32U);
}

TEST(MySqlSettingsTest, AtFirstThereIsNone) {
  const Reading read("{}");
  EXPECT_FALSE(read.options.mysql_started);
  EXPECT_EQ(read.options.mysql.port, 0);
  EXPECT_EQ(read.options.mysql.client_flag, 0U);
  EXPECT_TRUE(Reading(R"({"mysql": {"mysql_started": true}})").options.mysql_started);
  EXPECT_EQ(Reading(R"({"mysql": {"unix_socket": "/run/m"}})").options.mysql.unix_socket, "/run/m");
  EXPECT_EQ(Reading(R"({"mysql": {"password": ""}})").faults, std::vector<std::string>());
}

TEST(MySqlSettingsTest, APasswordIsNotShown) {
  EXPECT_EQ(Reading(R"({"mysql": {"password": 70717}})").Fault(),
            "site.json: mysql.password: its value is not a text, or null");
  EXPECT_EQ(Reading(R"({"mysql": {"password": "sesame\u0000street"}})").Fault(),
            "site.json: mysql.password: its value has a NUL character in it, where it would end");
  for (const std::string text :
       {"{\"mysql\": {\"password\": \"sesame\n\"}}", "{\"mysql\": {\"password\": \"sesame",
        "{\"mysql\": {\"password\": sesame}}",
        "{\"mysql\": {\"password\": \"sesame\" \"sesame\"}}"}) {
    const std::string fault = Reading(text).Fault();
    EXPECT_NE(fault, "");
    EXPECT_EQ(fault.find("sesa"), std::string::npos) << fault;
  }
  ServeOptions options;
  options.mysql.password = "sesame";
  EXPECT_EQ(ConfigSchema(ServeSettings(options).All()).find("sesame"), std::string::npos);
  EXPECT_EQ(Reading(R"({"mysql": {"client_flag": -1}})").Fault(),
            "site.json: mysql.client_flag: -1 is not a number from 0 to 4294967295");
}

TEST(MySqlSettingsTest, ThereIsNoStartWithoutIt) {
  if (!test::IsBuiltWithMariaDb()) {
    GTEST_SKIP() << "built without this database (TURTLE_SQLITE, TURTLE_MARIADB)";
  }
  const test::LogFolder folder;
  folder.Write("site.json", R"({"port": 0, "worker_processes": 1, "http": {"root_path": ")" +
                                folder.Path() +
                                R"("}, "mysql": {"mysql_started": "on", "password": "sesame",
                                   "unix_socket": "/nonexistent"}})");
  test::Turtle refused({"-f", folder.Path("site.json")});
  EXPECT_EQ(refused.Wait(), 1);
  const std::string errors = refused.ReadErrors();
  EXPECT_NE(errors.find("MariaDB at /nonexistent"), std::string::npos) << errors;
  EXPECT_EQ(errors.find("sesame"), std::string::npos) << errors;
  const test::MariaDbServer server;
  test::Turtle turtle({folder.Path(), "--port", "0", "--mysql", "on", "--mysql-socket",
                       server.Socket(), "--mysql-user", "root"});
  EXPECT_GT(turtle.Port(), 0) << turtle.ReadErrors(std::chrono::milliseconds(100));
}

}  // namespace
}  // namespace TURTLE_SERVER
