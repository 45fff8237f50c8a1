#include "sites/site_logs.h"

#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "core/looper.h"
#include "http/request.h"
#include "log/log.h"
#include "web/peer_texts.h"

namespace TURTLE_SERVER {

namespace {

// Returns one text for all spellings of a path: a file with two writers would be rolled twice.
auto AbsolutePath(const std::string& path) -> std::string {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  const std::filesystem::path real = std::filesystem::weakly_canonical(absolute, error);
  return error ? path : real.string();
}

// Returns the path of the server's log; "" if it has none, or a descriptor.
auto ServerFile(const SiteLogOptions& options) -> std::string {
  const std::string& file = options.writer.file;
  return options.server == nullptr || DescriptorOf(file) ? "" : AbsolutePath(file);
}

// One loop's logs.
class SiteLogObserver final : public ExchangeObserver {
 public:
  SiteLogObserver(Looper& looper, const SiteLogs& logs)
      : looper_(looper), current_(logs), version_(logs.Version()) {
    Take(logs.Get());
  }

  // Asks for the address now: the client may be gone at the end.
  void OnBegin(const Connection& connection) noexcept override try {
    if (!logs_.empty()) {
      static_cast<void>(peers_.Of(connection));
    }
  } catch (const std::exception&) {
    // out of memory: the line will have no address
  }

  void OnEnd(const ExchangeRecord& record) noexcept override try {
    TakeNewTable();
    if (AccessLog* const log = logs_.empty() ? nullptr : LogOf(record)) {
      log->Write(record, peers_.Of(record));
    }
  } catch (const std::exception&) {
    // out of memory: the line is lost
  }

 private:
  using Logs = std::map<const LogWriter*, std::shared_ptr<AccessLog>>;

  [[nodiscard]] auto LogOf(const ExchangeRecord& record) const noexcept -> AccessLog* {
    const auto site =
        record.request == nullptr ? std::nullopt : table_->sites->Find(record.request->host);
    return site ? by_site_[*site] : server_;
  }

  void TakeNewTable() noexcept {
    const std::uint64_t version = current_.Version();
    if (version == version_) {
      return;
    }
    version_ = version;  // even if the table can't be used: the next one may
    try {
      Take(current_.Get());
    } catch (...) {
      LogException("access logs of the sites: the old ones stay, on one loop");
    }
  }

  // A log that stays keeps the lines that it has collected.
  void Take(std::shared_ptr<const SiteLogTable> table) {
    Logs logs;
    std::vector<AccessLog*> by_site;
    AccessLog* const server = LogFor(current_.Options().server, logs);
    for (const SiteLogTable::Writer& writer : table->writers) {
      by_site.push_back(LogFor(writer, logs));
    }
    table_ = std::move(table);
    by_site_ = std::move(by_site);
    server_ = server;
    logs_ = std::move(logs);
  }

  // Returns the log of a writer, which `logs` gets; nullptr for none.
  auto LogFor(const SiteLogTable::Writer& writer, Logs& logs) const -> AccessLog* {
    if (writer == nullptr) {
      return nullptr;
    }
    std::shared_ptr<AccessLog>& log = logs[writer.get()];
    if (log == nullptr) {
      const auto known = logs_.find(writer.get());
      log = known != logs_.end()
                ? known->second
                : std::make_shared<AccessLog>(looper_, writer, current_.Options().format);
    }
    return log.get();
  }

  Looper& looper_;
  const SiteLogs& current_;
  std::uint64_t version_;  // of table_, or of a later one that could not be used
  std::shared_ptr<const SiteLogTable> table_;
  Logs logs_;                        // by writer, which each of them keeps
  std::vector<AccessLog*> by_site_;  // in logs_; nullptr: the site has none
  AccessLog* server_ = nullptr;      // likewise
  PeerTexts peers_;
};

}  // namespace

SiteLogs::SiteLogs(SiteLogOptions options, std::shared_ptr<const SiteTable> sites)
    : options_(std::move(options)),
      server_file_(ServerFile(options_)),
      closer_(std::make_shared<LogCloser>()) {
  logs_ = Open(std::move(sites));
}

auto SiteLogs::Open(std::shared_ptr<const SiteTable> sites) const
    -> std::shared_ptr<const SiteLogTable> {
  const std::shared_ptr<const SiteLogTable> old = Get();  // nullptr: this is the first one
  const auto known = old == nullptr ? std::map<std::string, SiteLogTable::Writer>() : old->files;
  auto table = std::make_shared<SiteLogTable>();
  for (const std::unique_ptr<const Site>& site : sites->All()) {
    const std::string& file = site->Options().access_log;
    const std::string path = file.empty() ? server_file_ : AbsolutePath(file);
    if (file.empty() || path == server_file_) {
      table->writers.push_back(options_.server);
      continue;
    }
    SiteLogTable::Writer& writer = table->files[path];
    if (writer == nullptr) {
      const auto open = known.find(path);
      writer = open != known.end() ? open->second : OpenFile(file);
    }
    table->writers.push_back(writer);
  }
  table->sites = std::move(sites);
  return table;
}

auto SiteLogs::OpenFile(const std::string& path) const -> SiteLogTable::Writer {
  LogWriterOptions writer = options_.writer;
  writer.file = path;
  return closer_->Share(writer);
}

void SiteLogs::Replace(std::shared_ptr<const SiteLogTable> logs) {
  const MutexLock lock(mutex_);
  logs_.swap(logs);
  version_.fetch_add(1, std::memory_order_release);
}

auto SiteLogs::Get() const -> std::shared_ptr<const SiteLogTable> {
  const MutexLock lock(mutex_);
  return logs_;
}

void SiteLogs::Reopen() const {
  for (const auto& [path, writer] : Get()->files) {
    writer->Reopen();
  }
}

auto SiteLogs::Observers() const -> ObserverFactory {
  return [this](Looper& looper) { return std::make_unique<SiteLogObserver>(looper, *this); };
}

}  // namespace TURTLE_SERVER
