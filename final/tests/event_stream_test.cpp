#include "http/event_stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

auto Written(const ServerEvent& event) -> std::string {
  std::string text;
  AppendEvent(event, text);
  return text;
}

auto WithData(std::string_view data) -> ServerEvent {
  ServerEvent event;
  event.data = data;
  return event;
}

// A browser, according to the standard (section 9.2.6).
class Reader {
 public:
  struct Event {
    std::string type;
    std::string data;
    std::string id;
  };

  explicit Reader(std::string_view text) {
    std::string line;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\r' && text[i] != '\n') {
        line += text[i];
        continue;
      }
      i += text.substr(i, 2) == "\r\n" ? 1 : 0;
      TakeLine(line);
      line.clear();
    }
  }

  std::vector<Event> events;
  std::string retry;

 private:
  void TakeLine(const std::string& line) {
    if (line.empty()) {
      if (!data_.empty()) {
        data_.pop_back();
        events.push_back({type_.empty() ? "message" : type_, data_, id_});
      }
      data_.clear();
      type_.clear();
      return;
    }
    const std::size_t colon = line.find(':');
    const std::string name = line.substr(0, colon);
    std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
    if (value.substr(0, 1) == " ") {
      value.erase(0, 1);
    }
    if (name == "event") {
      type_ = value;
    } else if (name == "data") {
      data_ += value + "\n";
    } else if (name == "id" && value.find('\0') == std::string::npos) {
      id_ = value;
    } else if (name == "retry" && value.find_first_not_of("0123456789") == std::string::npos) {
      retry = value;
    }
  }

  std::string data_;
  std::string type_;
  std::string id_;
};

TEST(EventStreamTest, EveryField) {
  ServerEvent event = WithData("one\ntwo");
  event.type = "price";
  event.id = "17";
  event.retry = milliseconds(2500);
  EXPECT_EQ(Written(event), "event: price\nid: 17\nretry: 2500\ndata: one\ndata: two\n\n");
}

TEST(EventStreamTest, WhatIsLeftAwayIsNotWritten) {
  EXPECT_EQ(Written(WithData("x")), "data: x\n\n");
  ServerEvent quiet;
  quiet.id = "";
  quiet.retry = milliseconds(0);
  EXPECT_EQ(Written(quiet), "id: \nretry: 0\n\n");
  EXPECT_TRUE(Reader(Written(quiet)).events.empty());
}

TEST(EventStreamTest, EmptyDataIsAnEvent) {
  EXPECT_EQ(Written(WithData("")), "data: \n\n");
  ASSERT_EQ(Reader(Written(WithData(""))).events.size(), 1U);
}

TEST(EventStreamTest, EveryLineEndBeginsALine) {
  EXPECT_EQ(Written(WithData("a\nb\rc\r\nd\n\re")),
            "data: a\ndata: b\ndata: c\ndata: d\ndata: \ndata: e\n\n");
  EXPECT_EQ(Written(WithData("a\n")), "data: a\ndata: \n\n");
  EXPECT_EQ(Written(WithData("\r")), "data: \ndata: \n\n");
}

TEST(EventStreamTest, WhatWouldBeginAnotherFieldIsRefused) {
  std::string out = "before";
  for (const char* text : {"a\nb", "a\rdata: b", "\r\n", "\n"}) {
    ServerEvent event = WithData("x");
    event.type = text;
    EXPECT_THROW(AppendEvent(event, out), std::invalid_argument) << text;
    event.type = {};
    event.id = text;
    EXPECT_THROW(AppendEvent(event, out), std::invalid_argument) << text;
  }
  ServerEvent event = WithData("x");
  event.id = std::string_view("a\0b", 3);
  EXPECT_THROW(AppendEvent(event, out), std::invalid_argument) << "readers ignore such an id";
  event.id.reset();
  event.retry = milliseconds(-1);
  EXPECT_THROW(AppendEvent(event, out), std::invalid_argument);
  EXPECT_EQ(out, "before");
}

TEST(EventStreamTest, AReaderGetsWhatWasSaid) {
  std::mt19937 random(9);
  const auto random_text = [&](std::string_view letters) {
    std::string text(random() % 12, '\0');
    for (char& c : text) {
      c = letters[random() % letters.size()];
    }
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    const std::string data = random_text("a: \n\xc3\xa4");
    const std::string type = random_text("b: \t");
    const std::string id = random_text("c: 1");
    ServerEvent event = WithData(data);
    event.type = type;
    event.id = id;
    std::string text;
    AppendComment(data, text);
    AppendEvent(event, text);
    AppendComment("", text);
    const Reader reader(text);
    ASSERT_EQ(reader.events.size(), 1U) << text;
    ASSERT_EQ(reader.events[0].data, data) << text;
    ASSERT_EQ(reader.events[0].type, type.empty() ? "message" : type) << text;
    ASSERT_EQ(reader.events[0].id, id) << text;
  }
}

TEST(EventStreamTest, CommentsAreLinesOfTheirOwn) {
  std::string out;
  AppendComment("", out);
  AppendComment("two\r\nlines", out);
  EXPECT_EQ(out, ": \n: two\n: lines\n");
  EXPECT_TRUE(Reader(out + "\n").events.empty());
}

TEST(EventStreamTest, TheLastEventIsNamedByTheReader) {
  Headers fields;
  fields.Add("Host", "a");
  EXPECT_EQ(LastEventId(fields), std::nullopt);
  fields.Add("last-event-id", "17");
  EXPECT_EQ(LastEventId(fields), "17");
}

}  // namespace
}  // namespace TURTLE_SERVER
