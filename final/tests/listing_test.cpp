// The files of a directory, as a page and as JSON. Names are whatever someone has uploaded.
#include "sites/listing.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "files/open_beneath.h"
#include "support/no_descriptors.h"
#include "support/nobody_here.h"
#include "support/site_folder.h"

#ifdef __linux__
namespace TURTLE_SERVER {
namespace {

int good_reads = -1;  // of directories, before one fails; negative: all are good

}  // namespace
}  // namespace TURTLE_SERVER

extern "C" auto readdir(DIR* stream) -> dirent* {
  using TURTLE_SERVER::good_reads;
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  if (good_reads == 0) {
    errno = EIO;
    return nullptr;
  }
  good_reads -= good_reads > 0 ? 1 : 0;
  return real(stream);
}
#endif

namespace TURTLE_SERVER {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

constexpr std::time_t kLastMinute = 1769903999;  // 2026-01-31 23:59:59

// Names that mean something to HTML, to URIs or to JSON.
const Names kBadNames{"\"x\"",       "%41",
                      "<script>",    "a  b",
                      "a&amp;b",     "a&b",
                      "a:b",         "a?b#c",
                      "back\\slash", "gr\xc3\xbc\xc3\x9f",
                      "it's",        "line\nfeed",
                      "x\xff\xc3y",  "\xe6\x97\xa5\xe6\x9c\xac"};

auto Contains(std::string_view text, std::string_view part) -> bool {
  return text.find(part) != std::string_view::npos;
}

auto CountOf(std::string_view part, std::string_view text) -> int {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

// Returns the text between each `before` and the next `after`.
auto Between(std::string_view before, std::string_view after, std::string_view text) -> Names {
  Names found;
  std::size_t at = text.find(before);
  while (at != std::string_view::npos) {
    const std::size_t start = at + before.size();
    const std::size_t end = text.find(after, start);
    found.emplace_back(text.substr(start, end - start));
    at = text.find(before, end);
  }
  return found;
}

auto Unescape(std::string text) -> std::string {
  const std::vector<std::pair<std::string_view, const char*>> references{
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [reference, character] : references) {
    for (std::size_t at = text.find(reference); at != std::string::npos;
         at = text.find(reference, at + 1)) {
      text.replace(at, reference.size(), character);
    }
  }
  return text;
}

auto PercentDecode(std::string_view text) -> std::string {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      decoded += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

auto File(std::string name, std::uint64_t bytes = 0, std::time_t modified = 0) -> ListingEntry {
  return {std::move(name), false, bytes, modified};
}

auto Folder(std::string name) -> ListingEntry { return {std::move(name), true, 0, 0}; }

auto Page(std::vector<ListingEntry> entries) -> std::string {
  return ListingHtml("/", {std::move(entries), false});
}

auto PageOf(const Names& names) -> std::string {
  std::vector<ListingEntry> entries;
  for (const std::string& name : names) {
    entries.push_back(File(name));
  }
  return Page(std::move(entries));
}

// Returns the shown name of each entry, still escaped.
auto ShownNames(std::string_view page) -> Names {
  Names shown;
  for (const std::string& link : Between("<th scope=\"row\">", "</th>", page)) {
    shown.push_back(Between("\">", "</a>", link).at(0));
  }
  return shown;
}

auto Hrefs(std::string_view page) -> Names {
  return Between("<th scope=\"row\"><a href=\"", "\"", page);
}

auto ShownName(const std::string& name) -> std::string { return ShownNames(PageOf({name})).at(0); }

auto Href(const std::string& name) -> std::string { return Hrefs(PageOf({name})).at(0); }

// Returns the title and the text of the cell with the size.
auto ShownSize(std::uint64_t bytes) -> std::pair<std::string, std::string> {
  const std::string page = Page({File("a", bytes)});
  const std::string title = Between("<td class=\"number\" title=\"", "\"", page).at(0);
  return {title, Between("title=\"" + title + "\">", "</td>", page).at(0)};
}

// Returns the machine's and the reader's form of the time.
auto ShownTime(std::time_t time) -> std::pair<std::string, std::string> {
  const std::string page = Page({File("a", 0, time)});
  const std::string machine = Between("<time datetime=\"", "\"", page).at(0);
  return {machine, Between(machine + "\">", "</time>", page).at(0)};
}

auto Json(std::string_view path, const Listing& listing) -> nlohmann::json {
  return nlohmann::json::parse(ListingJson(path, listing));
}

class ReadListingTest : public testing::Test {
 protected:
  [[nodiscard]] auto Open() const -> UniqueFd {
    return UniqueFd(open(site_.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  [[nodiscard]] auto Read(bool dot_files = false, std::size_t most = kMaxListed) const -> Listing {
    return ReadListing(Open().Get(), ".", dot_files, most).value();
  }

  [[nodiscard]] auto ReadNames(bool dot_files = false) const -> Names {
    Names names;
    for (const ListingEntry& entry : Read(dot_files).entries) {
      names.push_back(entry.name + (entry.is_directory ? "/" : ""));
    }
    return names;
  }

  void WriteAll(const Names& names) const {
    for (const std::string& name : names) {
      site_.Write(name, "");
    }
  }

  test::SiteFolder site_;
};

TEST_F(ReadListingTest, AnEmptyDirectoryHasNoEntries) {
  const Listing listing = Read();
  EXPECT_TRUE(listing.entries.empty());
  EXPECT_FALSE(listing.is_cut);
}

TEST_F(ReadListingTest, DirectoriesComeFirstAndEachPartIsSorted) {
  WriteAll({"b", "a", "Z", "z/file", "c/file", "\xc3\xa4", "a.txt"});
  EXPECT_EQ(ReadNames(), (Names{"c/", "z/", "Z", "a", "a.txt", "b", "\xc3\xa4"}));
}

TEST_F(ReadListingTest, SizesAndTimesAreThoseOfTheFile) {
  site_.Write("file", "12345");
  site_.Write("folder/inside", "1");
  const timespec times[2]{{kLastMinute, 999}, {kLastMinute, 999}};
  ASSERT_EQ(utimensat(AT_FDCWD, site_.Path("file").c_str(), times, 0), 0);
  const Listing listing = Read();
  ASSERT_EQ(listing.entries.size(), 2U);
  EXPECT_EQ(listing.entries[0].bytes, 0U) << "a directory has no size";
  EXPECT_EQ(listing.entries[1].bytes, 5U);
  EXPECT_EQ(listing.entries[1].modified, kLastMinute);
}

TEST_F(ReadListingTest, AFileLargerThan32BitsKeepsItsSize) {
  site_.Write("large", "");
  fs::resize_file(site_.Path("large"), 5'000'000'000);
  EXPECT_EQ(Read().entries.at(0).bytes, 5'000'000'000U);
}

TEST_F(ReadListingTest, HiddenNamesAreListedOnlyIfWanted) {
  WriteAll({"seen", ".hidden", "...", "..data/file", "a.b"});
  EXPECT_EQ(ReadNames(), (Names{"a.b", "seen"}));
  EXPECT_EQ(ReadNames(true), (Names{"..data/", "...", ".hidden", "a.b", "seen"}));
}

TEST_F(ReadListingTest, ALinkCountsAsItsTarget) {
  WriteAll({"folder/inside"});
  site_.Write("file", "123");
  site_.Link("to_file", "file");
  site_.Link("to_folder", "folder");
  EXPECT_EQ(ReadNames(), (Names{"folder/", "to_folder/", "file", "to_file"}));
  EXPECT_EQ(Read().entries.at(3).bytes, 3U);
}

TEST_F(ReadListingTest, DanglingLinksAreLeftOut) {
  WriteAll({"file"});
  site_.Link("dangling", "none");
  site_.Link("loop", "loop");
  EXPECT_EQ(ReadNames(), Names{"file"});
}

TEST_F(ReadListingTest, LinksThatLeadOutOfTheRootAreLeftOut) {
  WriteAll({"root/a/file", "secret"});
  site_.Link("root/a/out", "../../secret");
  site_.Link("root/a/up", "..");
  const UniqueFd root = OpenFolder(site_.Path("root"));
  const auto listing = ReadListing(root.Get(), "a", false);
  ASSERT_TRUE(listing);
  ASSERT_EQ(listing->entries.size(), 2U);
  EXPECT_EQ(listing->entries[0].name, "up");
  EXPECT_EQ(listing->entries[1].name, "file");
}

TEST_F(ReadListingTest, DevicesAndPipesAreLeftOut) {
  WriteAll({"file"});
  site_.Link("device", "/dev/null");
  ASSERT_EQ(mkfifo(site_.Path("pipe").c_str(), 0644), 0);
  EXPECT_EQ(ReadNames(), Names{"file"});
}

TEST_F(ReadListingTest, ALongListingIsCut) {
  WriteAll({"a", "b", "c", "d"});
  EXPECT_FALSE(Read(false, 4).is_cut);
  EXPECT_EQ(Read(false, 4).entries.size(), 4U);
  EXPECT_TRUE(Read(false, 3).is_cut);
  EXPECT_EQ(Read(false, 3).entries.size(), 3U);
  EXPECT_TRUE(Read(false, 0).is_cut);
  EXPECT_TRUE(Read(false, 0).entries.empty());
}

TEST_F(ReadListingTest, HiddenNamesDoNotCountButDanglingLinksDo) {
  WriteAll({".a", ".b", ".c", "file"});
  EXPECT_FALSE(Read(false, 1).is_cut);
  EXPECT_EQ(Read(false, 1).entries.size(), 1U);
  for (const char* name : {"dangling1", "dangling2", "dangling3"}) {
    site_.Link(name, "none");
  }
  EXPECT_FALSE(Read(false, 4).is_cut);
  EXPECT_TRUE(Read(false, 3).is_cut) << "the loop would wait for each of them";
}

TEST_F(ReadListingTest, TheDefaultLimitIsAThousand) {
  for (int i = 0; i < 1001; ++i) {
    site_.Write("file" + std::to_string(i), "");
  }
  const Listing listing = Read();
  EXPECT_TRUE(listing.is_cut);
  EXPECT_EQ(listing.entries.size(), 1000U);
}

TEST_F(ReadListingTest, TheSameDescriptorCanBeReadAgain) {
  WriteAll({"a", "b"});
  const UniqueFd folder = Open();
  for (int i = 0; i < 3; ++i) {
    const auto listing = ReadListing(folder.Get(), ".", false);
    ASSERT_TRUE(listing);
    EXPECT_EQ(listing->entries.size(), 2U);
  }
  EXPECT_EQ(lseek(folder.Get(), 0, SEEK_CUR), 0) << "its offset stays";
}

TEST_F(ReadListingTest, ADescriptorThatOnlySearchesIsEnough) {
  WriteAll({"a"});
  const UniqueFd folder = OpenFolder(site_.Path());
  const auto listing = ReadListing(folder.Get(), ".", false);
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->entries.size(), 1U);
}

TEST_F(ReadListingTest, DescriptorsAreNotLeaked) {
  WriteAll({"a", "b"});
  const UniqueFd folder = Open();
  const UniqueFd before(dup(folder.Get()));
  const int lowest = before.Get() + 1;
  for (const std::size_t most : {std::size_t{1}, kMaxListed}) {
    static_cast<void>(ReadListing(folder.Get(), ".", false, most));
    EXPECT_EQ(UniqueFd(dup(folder.Get())).Get(), lowest);
  }
}

TEST_F(ReadListingTest, AFailureIsToldByErrno) {
  site_.Write("file", "");
  const UniqueFd file(open(site_.Path("file").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(ReadListing(file.Get(), ".", false));
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_FALSE(ReadListing(-1, ".", false));
  EXPECT_EQ(errno, EBADF);
}

#ifdef __linux__
TEST_F(ReadListingTest, AReadThatFailsInTheMiddleIsAFailure) {
  WriteAll({"a", "b", "c"});
  const UniqueFd folder = Open();
  good_reads = 3;
  const auto listing = ReadListing(folder.Get(), ".", false);
  const int error = errno;
  good_reads = -1;
  EXPECT_FALSE(listing);
  EXPECT_EQ(error, EIO);
}
#endif

TEST_F(ReadListingTest, NoDescriptorIsAFailure) {
  WriteAll({"a"});
  const UniqueFd folder = Open();
  const test::NoDescriptors none;
  EXPECT_FALSE(ReadListing(folder.Get(), ".", false));
  EXPECT_EQ(errno, EMFILE);
}

TEST_F(ReadListingTest, ADirectoryThatMayOnlyBePassedIsAFailure) {
  WriteAll({"folder/a"});
  const test::Passable passable(site_, {"folder"});
  const test::NobodyHere nobody;
  if (!test::NobodyHere::IsNobody()) {
    GTEST_SKIP() << "the administrator may list every directory";
  }
  const UniqueFd folder = OpenFolder(site_.Path("folder"));
  EXPECT_FALSE(ReadListing(folder.Get(), ".", false));
  EXPECT_EQ(errno, EACCES);
}

TEST_F(ReadListingTest, ARemovedDirectoryHasNoEntries) {
  WriteAll({"folder/a"});
  const UniqueFd folder = OpenFolder(site_.Path("folder"));
  fs::remove_all(site_.Path("folder"));
  const auto listing = ReadListing(folder.Get(), ".", false);
  EXPECT_TRUE(!listing || listing->entries.empty());
}

TEST_F(ReadListingTest, NamesOfAllKindsComeBackByteForByte) {
  WriteAll(kBadNames);
  if (!fs::exists(site_.Path("x\xff\xc3y"))) {
    GTEST_SKIP() << "this file system wants UTF-8";
  }
  EXPECT_EQ(ReadNames(), kBadNames);
  Names linked;
  for (const std::string& href : Hrefs(ListingHtml("/", Read()))) {
    linked.push_back(PercentDecode(Unescape(href)));
  }
  Names wanted = kBadNames;
  wanted[6] = "./a:b";
  EXPECT_EQ(linked, wanted);
}

TEST(ListingHtmlTest, IsACompleteDocument) {
  const std::string page = Page({Folder("docs"), File("a.txt", 1'400'000, kLastMinute)});
  EXPECT_EQ(page.rfind("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">", 0),
            0U);
  for (const char* part :
       {"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
        "<meta name=\"color-scheme\" content=\"light dark\">", "<title>Index of /</title>",
        "<h1>Index of /</h1>", "<th scope=\"col\">Name</th>"}) {
    EXPECT_TRUE(Contains(page, part)) << part;
  }
  for (const char* element :
       {"html", "head", "title", "style", "body", "main", "h1", "table", "thead", "tbody"}) {
    EXPECT_EQ(CountOf(std::string("</") + element + ">", page), 1) << element;
  }
  EXPECT_FALSE(Contains(page, "<script"));
  EXPECT_EQ(page.substr(page.size() - 8), "</html>\n");
}

TEST(ListingHtmlTest, EachEntryIsARow) {
  const std::string page = Page({Folder("docs"), File("a.txt", 1'400'000, kLastMinute)});
  EXPECT_TRUE(Contains(
      page,
      "<tr><th scope=\"row\"><a href=\"docs/\">docs/</a></th><td></td><td class=\"number\">"
      "<time datetime=\"1970-01-01T00:00:00Z\">1970-01-01 00:00</time></td></tr>\n"
      "<tr><th scope=\"row\"><a href=\"a.txt\">a.txt</a></th>"
      "<td class=\"number\" title=\"1400000 bytes\">1.4 MB</td><td class=\"number\">"
      "<time datetime=\"2026-01-31T23:59:59Z\">2026-01-31 23:59</time></td></tr>\n"))
      << page;
}

TEST(ListingHtmlTest, OnlyTheRootHasNoParent) {
  constexpr std::string_view kParent = "<a href=\"../\">";
  EXPECT_FALSE(Contains(ListingHtml("/", {}), kParent));
  EXPECT_TRUE(Contains(ListingHtml("/a/", {}), kParent));
  EXPECT_TRUE(Contains(ListingHtml("/a/b/", {}), kParent));
}

TEST(ListingHtmlTest, ThePathIsEscaped) {
  const std::string page = ListingHtml("/<b>&\"\xff/", {});
  const std::string title = "Index of /&lt;b&gt;&amp;&quot;\xef\xbf\xbd/";
  EXPECT_TRUE(Contains(page, "<title>" + title + "</title>"));
  EXPECT_TRUE(Contains(page, "<h1>" + title + "</h1>"));
}

TEST(ListingHtmlTest, NothingBehindThePathIsRead) {
  const std::string_view path = std::string_view("/\xe6\x97\xa5").substr(0, 3);
  EXPECT_TRUE(Contains(ListingHtml(path, {}), "<title>Index of /\xef\xbf\xbd</title>"));
}

TEST(ListingHtmlTest, NamesAreEscaped) {
  EXPECT_EQ(ShownName("<script>"), "&lt;script&gt;");
  EXPECT_EQ(Href("<script>"), "%3Cscript%3E");
  EXPECT_EQ(ShownName("a&b"), "a&amp;b");
  EXPECT_EQ(Href("a&b"), "a&amp;b");
  EXPECT_EQ(ShownName("&lt;"), "&amp;lt;");
  EXPECT_EQ(Href("&lt;"), "&amp;lt;");
  EXPECT_EQ(ShownName("\"x\""), "&quot;x&quot;");
  EXPECT_EQ(Href("\"x\""), "%22x%22");
  EXPECT_EQ(Href("it's"), "it&#39;s");
}

TEST(ListingHtmlTest, LinksArePercentEncoded) {
  EXPECT_EQ(Href("%41"), "%2541");
  EXPECT_EQ(ShownName("%41"), "%41");
  EXPECT_EQ(Href("a  b"), "a%20%20b");
  EXPECT_EQ(ShownName("a  b"), "a  b");
  EXPECT_EQ(Href("a?b#c"), "a%3Fb%23c");
  EXPECT_EQ(Href("gr\xc3\xbc\xc3\x9f"), "gr%C3%BC%C3%9F");
  EXPECT_EQ(ShownName("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(Hrefs(Page({Folder("a b")})), Names{"a%20b/"});
}

TEST(ListingHtmlTest, AColonDoesNotMakeAScheme) {
  EXPECT_EQ(Href("a:b"), "./a:b");
  EXPECT_EQ(ShownName("a:b"), "a:b");
  EXPECT_EQ(Href("javascript:alert(1)"), "./javascript:alert(1)");
  EXPECT_EQ(Hrefs(Page({Folder("c:")})), Names{"./c:/"});
}

TEST(ListingHtmlTest, BytesThatAreNotUtf8AreReplacedButLinked) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(ShownName("x\xff\xc3y"), "x" + r + r + "y");
  EXPECT_EQ(Href("x\xff\xc3y"), "x%FF%C3y");
  EXPECT_EQ(ShownName("\x80"), r) << "a continuation alone";
  EXPECT_EQ(ShownName("\xc0\xaf"), r + r) << "an overlong slash";
  EXPECT_EQ(ShownName("\xe0\x80\xbc"), r + r + r) << "an overlong <";
  EXPECT_EQ(ShownName("\xf0\x80\x80\xbc"), r + r + r + r) << "an overlong <";
  EXPECT_EQ(ShownName("\xed\xa0\x80"), r + r + r) << "a surrogate";
  EXPECT_EQ(ShownName("\xf4\x90\x80\x80"), r + r + r + r) << "above U+10FFFF";
  EXPECT_EQ(ShownName("\xf5\x80\x80\x80"), r + r + r + r) << "no lead byte";
  EXPECT_EQ(ShownName("\xe6\x97"), r) << "cut";
  EXPECT_EQ(ShownName("\xf0\x9f\x90<"), r + "&lt;") << "cut before markup";
}

TEST(ListingHtmlTest, TheFirstAndLastCharactersOfEachLengthAreShown) {
  for (const char* text :
       {" ", "~", "\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbc", "\xf0\x90\x80\x80", "\xf0\x9f\x90\xa2", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(ShownName(text), text);
  }
}

TEST(ListingHtmlTest, ControlCharactersAreReplacedButLinked) {
  for (const char* control : {"\x01", "\t", "\n", "\x1f", "\x7f", "\xc2\x80", "\xc2\x9f"}) {
    EXPECT_EQ(ShownName(control), "\xef\xbf\xbd");
    EXPECT_EQ(PercentDecode(Href(control)), control);
  }
}

TEST(ListingHtmlTest, SizesAreDecimal) {
  using Size = std::pair<std::string, std::string>;
  EXPECT_EQ(ShownSize(0), Size("0 bytes", "0 B"));
  EXPECT_EQ(ShownSize(1), Size("1 byte", "1 B"));
  EXPECT_EQ(ShownSize(999), Size("999 bytes", "999 B"));
  EXPECT_EQ(ShownSize(1000), Size("1000 bytes", "1.0 kB"));
  EXPECT_EQ(ShownSize(1'400'000), Size("1400000 bytes", "1.4 MB"));
  EXPECT_EQ(ShownSize(123'456'789'012), Size("123456789012 bytes", "123.5 GB"));
  EXPECT_EQ(ShownSize(std::numeric_limits<std::uint64_t>::max()),
            Size("18446744073709551615 bytes", "18.4 EB"));
}

TEST(ListingHtmlTest, SizesAreRoundedToTheNearest) {
  EXPECT_EQ(ShownSize(1049).second, "1.0 kB");
  EXPECT_EQ(ShownSize(1050).second, "1.1 kB");
  EXPECT_EQ(ShownSize(999'949).second, "999.9 kB");
  EXPECT_EQ(ShownSize(999'950).second, "1.0 MB") << "not 1000.0 kB";
  EXPECT_EQ(ShownSize(999'949'999'999'999).second, "999.9 TB");
  EXPECT_EQ(ShownSize(999'950'000'000'000).second, "1.0 PB");
}

TEST(ListingHtmlTest, TimesAreInUtc) {
  using Time = std::pair<std::string, std::string>;
  EXPECT_EQ(ShownTime(kLastMinute), Time("2026-01-31T23:59:59Z", "2026-01-31 23:59"));
  EXPECT_EQ(ShownTime(kLastMinute + 1), Time("2026-02-01T00:00:00Z", "2026-02-01 00:00"));
  EXPECT_EQ(ShownTime(951782400), Time("2000-02-29T00:00:00Z", "2000-02-29 00:00"));
  EXPECT_EQ(ShownTime(-1), Time("1969-12-31T23:59:59Z", "1969-12-31 23:59"));
}

TEST(ListingHtmlTest, TheTimeZoneOfTheServerDoesNotCount) {
  const char* const before = std::getenv("TZ");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TZ", "XXX-5:30", 1);
  tzset();
  EXPECT_EQ(ShownTime(kLastMinute).second, "2026-01-31 23:59");
  before == nullptr ? unsetenv("TZ") : setenv("TZ", kept.c_str(), 1);
  tzset();
}

TEST(ListingHtmlTest, TimesBeyondFourDigitsBecomeTheNearest) {
  EXPECT_EQ(ShownTime(std::numeric_limits<std::time_t>::max()).first, "9999-12-31T23:59:59Z");
  EXPECT_EQ(ShownTime(std::numeric_limits<std::time_t>::min()).first, "0000-01-01T00:00:00Z");
}

TEST(ListingHtmlTest, ACutIsTold) {
  EXPECT_FALSE(Contains(Page({File("a"), File("b")}), "Only the first"));
  EXPECT_TRUE(Contains(ListingHtml("/", {{File("a"), File("b")}, true}),
                       "<p>Only the first 2 entries are shown.</p>"));
  EXPECT_TRUE(
      Contains(ListingHtml("/", {{File("a")}, true}), "<p>Only the first entry is shown.</p>"));
  EXPECT_TRUE(Contains(ListingHtml("/", {std::vector<ListingEntry>(1000, File("a")), true}),
                       "<p>Only the first 1000 entries are shown.</p>"));
}

TEST(ListingHtmlTest, AnEmptyDirectorySaysSoAndHasNoTable) {
  const std::string page = ListingHtml("/a/", {});
  EXPECT_TRUE(Contains(page, "<p>There are no entries to show.</p>"));
  EXPECT_FALSE(Contains(page, "<table"));
  EXPECT_FALSE(Contains(Page({File("a")}), "There are no entries"));
  EXPECT_FALSE(Contains(ListingHtml("/a/", {{}, true}), "There are no entries"));
}

TEST(ListingJsonTest, HasEveryMember) {
  const Listing listing{{Folder("docs"), File("a.txt", 1'400'000, kLastMinute)}, false};
  EXPECT_EQ(Json("/a/", listing), nlohmann::json::parse(R"({"path": "/a/", "complete": true,
      "entries": [{"name": "docs", "type": "directory", "modified": "1970-01-01T00:00:00Z"},
                  {"name": "a.txt", "type": "file", "size": 1400000,
                   "modified": "2026-01-31T23:59:59Z"}]})"));
}

TEST(ListingJsonTest, NoEntriesAreAnEmptyArray) {
  EXPECT_EQ(Json("/", {}),
            nlohmann::json::parse(R"({"path": "/", "complete": true, "entries": []})"));
}

TEST(ListingJsonTest, OneEntryIsStillAnArray) {
  EXPECT_TRUE(Json("/", {{File("a")}, false}).at("entries").at(0).is_object());
}

TEST(ListingJsonTest, ACutIsTold) {
  EXPECT_EQ(Json("/", {{File("a")}, true}).at("complete"), false);
}

TEST(ListingJsonTest, TheLargestSizeIsExact) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Json("/", {{File("a", kLargest)}, false}).at("entries").at(0).at("size"), kLargest);
}

TEST(ListingJsonTest, NamesOfAllKindsAreValidJson) {
  for (const std::string& name : kBadNames) {
    const std::string shown = Json("/", {{File(name)}, false}).at("entries").at(0).at("name");
    EXPECT_EQ(shown, name == "x\xff\xc3y" ? "x\xef\xbf\xbd\xef\xbf\xbdy" : name);
  }
  EXPECT_EQ(Json("/\"\xff/", {}).at("path"), "/\"\xef\xbf\xbd/");
}

// Someone who compares the two finds the same names.
TEST(ListingJsonTest, WrongBytesAreReplacedAsInHtml) {
  for (const char* name : {"\x80", "\xc0\xaf", "\xc3(", "\xe0\x80\xbc", "\xed\xa0\x80", "\xe6\x97",
                           "\xe6\x97x", "\xf0\x9f\x90y", "\xf0\x9f\xff", "\xf4\x90\x80\x80",
                           "\xf8\x88\x80\x80\x80", "\xe6\xe6\x97\xa5"}) {
    const std::string shown = Json("/", {{File(name)}, false}).at("entries").at(0).at("name");
    EXPECT_EQ(ShownName(name), shown);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
