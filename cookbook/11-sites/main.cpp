// A site for each directory: sites [PORT [FOLDER]]
//
//   GET /…         the files of FOLDER/example.org, for the host example.org
//   GET /about     about.html, if there is no such file
//   GET /files/…   their names, too; ten requests a second
//
// SIGHUP makes it look into FOLDER again.
#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <turtle/base/argument.h>
#include <turtle/core/signal_watch.h>
#include <turtle/log/log.h>
#include <turtle/sites/sites.h>
#include <turtle/web/http_server.h>

using namespace turtle;

namespace {

// The rules of every site, the general one first.
auto SiteOf(const std::string& name, const std::string& root) -> SiteOptions {
  SiteRule all;
  all.fields = {{FieldEdit::Kind::kSet, "X-Content-Type-Options", "nosniff"}};
  all.fallback = {"$path.html"};

  SiteRule old;
  old.pattern = R"(/([0-9]{4})/(.+))";
  old.redirect = "/archive/$1/$2$query";

  SiteRule files;
  files.path = "/files";
  files.listing = true;
  files.rate = RateLimit{10, std::chrono::seconds(1), 20};

  SiteOptions site;
  site.names = {name};
  site.root = root;
  site.error_pages = {{404, "", name + " has no such page.\n"}};
  site.rules = {all, old, files};
  return site;
}

// A directory whose name is no host is left out: "lost+found" has no visitors.
auto SitesIn(const std::string& folder) -> SitesOptions {
  SitesOptions sites;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && HostTable::IsName(name)) {
      sites.push_back(SiteOf(name, entry.path().string()));
    }
  }
  return sites;
}

// If the new table can't be made, the old one stays.
void Reload(const std::string& folder, Sites& sites) {
  try {
    auto table = std::make_shared<const SiteTable>(SitesIn(folder));
    const std::size_t count = table->All().size();
    sites.Replace(std::move(table));
    Log(LogLevel::kInfo, "sites: " + std::to_string(count));
  } catch (const std::exception& error) {
    Log(LogLevel::kError, error.what());
  }
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const int port = argc > 1 ? ReadPort(argv[1]) : 8080;
  const std::string folder = argc > 2 ? argv[2] : ".";
  Sites sites(SitesIn(folder));
  HttpServer server(NetAddress("127.0.0.1", port));
  server.Mount("/", sites.Files());

  const SignalWatch reload(*server.Loopers().front(), {SIGHUP},
                           [&](int) { Reload(folder, sites); });
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "sites: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "sites: " << error.what() << '\n';
  return 1;
}
