// Changes to fields, made to a response or to a text: the client can't tell which.
#include "sites/field_edits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "http/reply_fields.h"

namespace TURTLE_SERVER {
namespace {

using Kind = FieldEdit::Kind;
using Edits = std::vector<FieldEdit>;

auto FieldsOf(const Response& response) -> std::string {
  constexpr std::string_view kStart = "HTTP/1.1 204 No Content\r\n";
  std::string head;
  response.AppendHead({}, head);
  return head.substr(kStart.size(), head.size() - kStart.size() - 2);
}

// Returns the fields of a response with the fields A: 1, B: 2 and A: 3, after the edits.
auto Edited(const Edits& edits) -> std::string {
  Response response(204);
  response.Add("A", "1").Add("B", "2").Add("A", "3");
  ApplyEdits(edits, response);
  return FieldsOf(response);
}

// Returns the lines that the edits add; "refused" if lines are not enough.
auto LinesOf(const Edits& edits, std::string_view start, std::string_view text,
             std::string lines = {}) -> std::string {
  return AppendFieldLines(edits, start, text, lines) ? lines : "refused";
}

auto ReasonAgainst(const FieldEdit& edit) -> std::string {
  try {
    CheckField(edit);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(CheckFieldTest, AFieldOfAResponseIsValid) {
  for (const Kind kind : {Kind::kSet, Kind::kAdd, Kind::kRemove}) {
    EXPECT_EQ(ReasonAgainst({kind, "X-Frame-Options", "DENY"}), "none");
    EXPECT_EQ(ReasonAgainst({kind, "x", ""}), "none");
    EXPECT_EQ(ReasonAgainst({kind, "!#$%&'*+-.^_`|~09azAZ", "caf\xc3\xa9\tx"}), "none");
    EXPECT_EQ(ReasonAgainst({kind, "Date", "now"}), "none");
  }
}

TEST(CheckFieldTest, ANameIsAToken) {
  for (const Kind kind : {Kind::kSet, Kind::kAdd, Kind::kRemove}) {
    EXPECT_NE(ReasonAgainst({kind, "", "v"}), "none");
    for (const char* name : {"X Y", "X:", "X\r\nY", " X", "X\t", "(X)", "\xc3\xa4", "X,Y"}) {
      const std::string reason = ReasonAgainst({kind, name, "v"});
      EXPECT_NE(reason.find(name), std::string::npos) << reason;
    }
    EXPECT_NE(ReasonAgainst({kind, std::string("X\0", 2), "v"}), "none");
  }
}

TEST(CheckFieldTest, AValueHasNoControlCharacter) {
  for (const char* value : {"a\r\nB: b", "a\n", "\r", "\x01", "a\x7f"}) {
    const std::string reason = ReasonAgainst({Kind::kSet, "X-Name", value});
    EXPECT_NE(reason.find("X-Name"), std::string::npos) << reason;
    EXPECT_NE(ReasonAgainst({Kind::kAdd, "X-Name", value}), "none");
  }
  EXPECT_NE(ReasonAgainst({Kind::kSet, "X-Name", std::string("a\0b", 3)}), "none");
}

TEST(CheckFieldTest, TheFramingIsTheServers) {
  for (const Kind kind : {Kind::kSet, Kind::kAdd, Kind::kRemove}) {
    for (const char* name : {"Content-Length", "transfer-encoding", "CONNECTION"}) {
      const std::string reason = ReasonAgainst({kind, name, "1"});
      EXPECT_NE(reason.find(name), std::string::npos) << reason;
    }
  }
}

// With another type, a client could not take several parts of a file apart.
TEST(CheckFieldTest, TheTypeAndTheRangeOfABodyAreTheHandlers) {
  for (const Kind kind : {Kind::kSet, Kind::kAdd, Kind::kRemove}) {
    const std::string type = ReasonAgainst({kind, "content-type", "text/plain"});
    EXPECT_NE(type.find("content-type"), std::string::npos) << type;
    EXPECT_NE(type.find("`types`"), std::string::npos) << type;
    EXPECT_NE(ReasonAgainst({kind, "Content-Range", "bytes 0-1/2"}), "none");
  }
}

TEST(ApplyEditsTest, EachKindDoesWhatItsNameSays) {
  EXPECT_EQ(Edited({}), "A: 1\r\nB: 2\r\nA: 3\r\n");
  EXPECT_EQ(Edited({{Kind::kSet, "A", "x"}}), "B: 2\r\nA: x\r\n");
  EXPECT_EQ(Edited({{Kind::kAdd, "A", "x"}}), "A: 1\r\nB: 2\r\nA: 3\r\nA: x\r\n");
  EXPECT_EQ(Edited({{Kind::kRemove, "A", "ignored"}}), "B: 2\r\n");
  EXPECT_EQ(Edited({{Kind::kRemove, "C", ""}}), "A: 1\r\nB: 2\r\nA: 3\r\n");
  EXPECT_EQ(Edited({{Kind::kSet, "C", ""}}), "A: 1\r\nB: 2\r\nA: 3\r\nC: \r\n");
}

TEST(ApplyEditsTest, TheChangesAreMadeInTheirOrder) {
  const FieldEdit set{Kind::kSet, "a", "s"};
  const FieldEdit add{Kind::kAdd, "A", "d"};
  const FieldEdit remove{Kind::kRemove, "A", ""};
  EXPECT_EQ(Edited({set, add, remove}), "B: 2\r\n");
  EXPECT_EQ(Edited({add, set, remove}), "B: 2\r\n");
  EXPECT_EQ(Edited({set, remove, add}), "B: 2\r\nA: d\r\n");
  EXPECT_EQ(Edited({remove, set, add}), "B: 2\r\na: s\r\nA: d\r\n");
  EXPECT_EQ(Edited({add, remove, set}), "B: 2\r\na: s\r\n");
  EXPECT_EQ(Edited({remove, add, set}), "B: 2\r\na: s\r\n");
}

TEST(ApplyEditsTest, TheBodyAndTheStatusStay) {
  Response response = TextResponse(404, "A: a");
  ApplyEdits({{Kind::kSet, "A", "b"}, {Kind::kRemove, "Content-Type", ""}}, response);
  EXPECT_EQ(response.Status(), 404);
  EXPECT_EQ(response.BodySize(), 4U);
  EXPECT_EQ(response.Find("A"), "b");
  EXPECT_EQ(response.Find("Content-Type"), std::nullopt);
}

TEST(AppendFieldLinesTest, ANewFieldIsALine) {
  EXPECT_EQ(LinesOf({{Kind::kSet, "B", "b"}, {Kind::kAdd, "C", ""}}, "", "A: a\r\n\r\n"),
            "B: b\r\nC: \r\n");
  EXPECT_EQ(LinesOf({}, "", "A: a\r\n\r\n"), "");
  EXPECT_EQ(LinesOf({{Kind::kRemove, "B", ""}}, "", "A: a\r\n\r\n"), "");
}

TEST(AppendFieldLinesTest, AFieldOfATextCanOnlyBeAddedTo) {
  constexpr std::string_view kField = "A: a\r\n";
  constexpr std::string_view kText = "A: a\r\n\r\nbody";
  for (const Kind kind : {Kind::kSet, Kind::kRemove}) {
    for (const char* name : {"A", "a"}) {
      EXPECT_EQ(LinesOf({{kind, name, "x"}}, kField, "\r\n"), "refused") << name;
      EXPECT_EQ(LinesOf({{kind, name, "x"}}, "", kText), "refused") << name;
      EXPECT_EQ(LinesOf({{Kind::kAdd, "B", "b"}, {kind, name, "x"}}, "", kText), "refused") << name;
    }
  }
  EXPECT_EQ(LinesOf({{Kind::kAdd, "a", "x"}}, kField, kText), "a: x\r\n");
}

TEST(AppendFieldLinesTest, EachLineOfATextIsSeen) {
  constexpr std::string_view kText = "A: 1\r\nB: 2\r\nC: 3\r\n\r\nbody";
  for (const char* name : {"A", "b", "C"}) {
    EXPECT_EQ(LinesOf({{Kind::kRemove, name, ""}}, kText, "\r\n"), "refused") << name;
    EXPECT_EQ(LinesOf({{Kind::kRemove, name, ""}}, "", kText), "refused") << name;
  }
}

TEST(AppendFieldLinesTest, TheStatusLineIsNoField) {
  constexpr std::string_view kStart = "HTTP/1.1 200 OK\r\nA: a\r\n";
  EXPECT_EQ(LinesOf({{Kind::kSet, "HTTP", "x"}}, kStart, "\r\n"), "HTTP: x\r\n");
  EXPECT_EQ(LinesOf({{Kind::kSet, "A", "x"}}, kStart, "\r\n"), "refused");
}

TEST(AppendFieldLinesTest, APartOfANameIsAnotherName) {
  constexpr std::string_view kText = "X-Name-Longer: 1\r\nY-X-Name: 2\r\n\r\n";
  for (const char* name : {"X-Name", "X", "Name-Longer", "X-Name-Longe", "X-Name-Longer1"}) {
    EXPECT_EQ(LinesOf({{Kind::kSet, name, "x"}}, kText, kText), std::string(name) + ": x\r\n");
  }
  EXPECT_EQ(LinesOf({{Kind::kAdd, "AB", "1"}, {Kind::kAdd, "A", "2"}, {Kind::kRemove, "A", ""}}, "",
                    kText),
            "AB: 1\r\n");
}

TEST(AppendFieldLinesTest, AValueIsNoName) {
  constexpr std::string_view kText = "A: B: b\r\nC: \r\n\r\n";
  EXPECT_EQ(LinesOf({{Kind::kSet, "B", "x"}}, "", kText), "B: x\r\n");
  EXPECT_EQ(LinesOf({{Kind::kAdd, "D", "E: e"}, {Kind::kRemove, "E", ""}}, "", kText),
            "D: E: e\r\n");
}

TEST(AppendFieldLinesTest, ABodyHasNoFields) {
  for (const char* text : {"\r\nA: a\r\n", "B: b\r\n\r\nA: a\r\n", "B: b\r\n\r\n\r\nA: a\r\n\r\n",
                           "\r\n\r\nA: a", "B: b\r\n\r\nA: a"}) {
    EXPECT_EQ(LinesOf({{Kind::kSet, "A", "x"}}, "", text), "A: x\r\n") << text;
    EXPECT_EQ(LinesOf({{Kind::kRemove, "A", ""}}, "", text), "") << text;
  }
}

TEST(AppendFieldLinesTest, ATextMayEndAnywhere) {
  const FieldEdit set{Kind::kSet, "A", "x"};
  for (const char* text : {"A: a", "A:", "B: b\r\nA: a", "A: a\r", "B: b\r\nA: a\r\n", "a:a"}) {
    EXPECT_EQ(LinesOf({set}, "", text), "refused") << text;
    EXPECT_EQ(LinesOf({set}, text, ""), "refused") << text;
  }
  for (const char* text : {"", "\r", "\r\n", "A", "B: b", "B: b\r", "B: b\r\n", "B: b\r\nA"}) {
    EXPECT_EQ(LinesOf({set}, "", text), "A: x\r\n") << text;
    EXPECT_EQ(LinesOf({set}, text, ""), "A: x\r\n") << text;
  }
}

TEST(AppendFieldLinesTest, TheChangesAreMadeInTheirOrder) {
  const FieldEdit set{Kind::kSet, "a", "s"};
  const FieldEdit add{Kind::kAdd, "A", "d"};
  const FieldEdit remove{Kind::kRemove, "A", ""};
  constexpr std::string_view kText = "B: b\r\n\r\n";
  EXPECT_EQ(LinesOf({set, add, remove}, "", kText), "");
  EXPECT_EQ(LinesOf({add, set, remove}, "", kText), "");
  EXPECT_EQ(LinesOf({set, remove, add}, "", kText), "A: d\r\n");
  EXPECT_EQ(LinesOf({remove, set, add}, "", kText), "a: s\r\nA: d\r\n");
  EXPECT_EQ(LinesOf({add, remove, set}, "", kText), "a: s\r\n");
  EXPECT_EQ(LinesOf({remove, add, set}, "", kText), "a: s\r\n");
}

TEST(AppendFieldLinesTest, LinesOfEarlierCallsAreChangedAsWell) {
  const std::string earlier = "A: 1\r\nB: 2\r\na: 3\r\n";
  constexpr std::string_view kText = "C: c\r\n\r\n";
  EXPECT_EQ(LinesOf({{Kind::kAdd, "A", "4"}}, "", kText, earlier), earlier + "A: 4\r\n");
  EXPECT_EQ(LinesOf({{Kind::kSet, "A", "4"}}, "", kText, earlier), "B: 2\r\nA: 4\r\n");
  EXPECT_EQ(LinesOf({{Kind::kRemove, "A", ""}}, "", kText, earlier), "B: 2\r\n");
  EXPECT_EQ(LinesOf({{Kind::kRemove, "B", ""}}, "", kText, earlier), "A: 1\r\na: 3\r\n");
  EXPECT_EQ(LinesOf({{Kind::kRemove, "A", ""}, {Kind::kRemove, "b", ""}}, "", kText, earlier), "");
}

// The server writes a Date itself, and a response's own replaces that one.
TEST(AppendFieldLinesTest, ADateIsNotAddedToTheServers) {
  for (const Kind kind : {Kind::kSet, Kind::kAdd}) {
    EXPECT_EQ(LinesOf({{kind, "date", "x"}}, "", "A: a\r\n\r\n"), "refused");
    EXPECT_EQ(LinesOf({{kind, "Date", "x"}}, "Date: d\r\n", "A: a\r\n\r\n"), "refused");
  }
  EXPECT_EQ(LinesOf({{Kind::kAdd, "Dat", "x"}, {Kind::kAdd, "Dates", "y"}}, "", "\r\n"),
            "Dat: x\r\nDates: y\r\n");
}

// A prepared response: its start, without a status line, and its text.
struct Prepared {
  std::string_view start;
  std::string_view text;
};

constexpr std::string_view kServersDate = "now";

// The values of each field, by its name in lower case, in the order in which a client sees them.
using Seen = std::map<std::string, std::vector<std::string>>;

auto SeenIn(std::string_view fields) -> Seen {
  Seen seen;
  for (const ReplyField& field : ReplyFields(fields)) {
    std::string name(field.name);
    std::transform(name.begin(), name.end(), name.begin(), ascii::ToLower);
    seen[name].emplace_back(field.value);
  }
  seen.erase("content-length");  // the server's, once the text has become a response
  return seen;
}

// Sends the response as an exchange does when an editor has changed it.
auto SentWithEdits(const Prepared& prepared, const Edits& edits) -> Seen {
  Response response(200);
  for (const std::string_view text : {prepared.start, prepared.text}) {
    for (const ReplyField& field : ReplyFields(text)) {
      if (!ascii::EqualIgnoreCase(field.name, "Content-Length")) {
        response.Add(field.name, field.value);
      }
    }
  }
  ApplyEdits(edits, response);
  std::string head;
  response.AppendHead({kServersDate}, head);
  return SeenIn(std::string_view(head).substr(head.find("\r\n") + 2));
}

// Sends it as an exchange does when an editor has only added lines. Two rules have made the edits:
// the first one those before `cut`.
auto SentWithLines(const Prepared& prepared, const Edits& edits, std::size_t cut)
    -> std::optional<Seen> {
  const auto middle = edits.begin() + static_cast<std::ptrdiff_t>(cut);
  std::string lines;
  if (!AppendFieldLines({edits.begin(), middle}, prepared.start, prepared.text, lines) ||
      !AppendFieldLines({middle, edits.end()}, prepared.start, prepared.text, lines)) {
    return std::nullopt;
  }
  std::string sent(prepared.start);
  if (sent.empty()) {
    sent.append("Date: ").append(kServersDate).append("\r\n");
  }
  return SeenIn(sent.append(lines).append(prepared.text));
}

// Returns true if a text has a field that the edits change, or if they change the Date.
auto ChangesAText(const Prepared& prepared, const Edits& edits) -> bool {
  return std::any_of(edits.begin(), edits.end(), [&](const FieldEdit& edit) {
    return ascii::EqualIgnoreCase(edit.name, "Date") ||
           (edit.kind != Kind::kAdd && (ReplyFields(prepared.start).Find(edit.name) ||
                                        ReplyFields(prepared.text).Find(edit.name)));
  });
}

// An added line comes before those of the text: of such a field only the values are compared.
void ForgetOrder(const Prepared& prepared, Seen& seen) {
  for (auto& [name, values] : seen) {
    if (ReplyFields(prepared.text).Find(name)) {
      std::sort(values.begin(), values.end());
    }
  }
}

auto Show(const Prepared& prepared, const Edits& edits) -> std::string {
  std::string shown = "start: " + std::string(prepared.start) + "\ntext: ";
  shown += prepared.text;
  for (const FieldEdit& edit : edits) {
    constexpr std::string_view kNames[] = {"set ", "add ", "remove "};
    shown.append("\n").append(kNames[static_cast<std::size_t>(edit.kind)]);
    shown.append(edit.name).append(" ").append(edit.value);
  }
  return shown;
}

void ExpectBothAgree(const Prepared& prepared, const Edits& edits) {
  Seen expected = SentWithEdits(prepared, edits);
  ForgetOrder(prepared, expected);
  for (std::size_t cut = 0; cut <= edits.size(); ++cut) {
    std::optional<Seen> seen = SentWithLines(prepared, edits, cut);
    ASSERT_EQ(!seen, ChangesAText(prepared, edits)) << Show(prepared, edits);
    if (seen) {
      ForgetOrder(prepared, *seen);
      ASSERT_EQ(*seen, expected) << "cut at " << cut << '\n' << Show(prepared, edits);
    }
  }
}

// Returns each edit of a small set; `value` tells it from the others of a list.
auto AllEdits(const std::string& value) -> Edits {
  Edits all;
  for (const char* name : {"A", "a", "Ab", "B", "Date"}) {
    for (const Kind kind : {Kind::kSet, Kind::kAdd, Kind::kRemove}) {
      all.push_back({kind, name, value});
    }
  }
  return all;
}

constexpr Prepared kPrepared[] = {
    {"", ""},
    {"", "\r\nA: body\r\nB: body\r\n"},
    {"", "A: 7\r\nContent-Length: 1\r\n\r\nx"},
    {"", "AB: 7\r\n\r\nA: body\r\n"},
    {"", "a: 8\r\nB: 9\r\nA: 7\r\n\r\n\r\nAb: body"},
    {"", "b: A: 7\r\n"},
    {"Date: then\r\nC: 0\r\n", "\r\n"},
    {"Date: then\r\nA: 0\r\n", "Content-Length: 8\r\n\r\nAb: body"},
    {"Date: then\r\nAB: 0\r\n", "a: 7\r\n\r\n"},
};

TEST(FieldEditsTest, AClientCannotTellAddedLinesFromAnEditedResponse) {
  for (const Prepared& prepared : kPrepared) {
    ExpectBothAgree(prepared, {});
    for (const FieldEdit& first : AllEdits("1")) {
      ExpectBothAgree(prepared, {first});
      for (const FieldEdit& second : AllEdits("2")) {
        ExpectBothAgree(prepared, {first, second});
        for (const FieldEdit& third : AllEdits("3")) {
          ExpectBothAgree(prepared, {first, second, third});
          if (HasFatalFailure()) {
            return;  // the first difference says enough
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
