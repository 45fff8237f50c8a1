"""A small book of two chapters, made anew for each test that wants one."""

import pathlib
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

CHAPTER = """\
cmake_minimum_required(VERSION 3.22)
project(chapter LANGUAGES CXX)
include(../../cmake/chapter.cmake)
turtle_chapter()
"""

BOX_H_1 = """\
#pragma once
#include <string>
class Key {
 public:
  explicit Key(int number) : number_(number) {}
  auto Number() const -> int { return number_; }
 private:
  int number_;
};
class Box {
 public:
  /// Opens the box. It stays open.
  void Open();
  /// Whether it is open.
  auto IsOpen() const -> bool;
 private:
  bool open_ = false;
};
"""
BOX_CPP_1 = """\
#include "base/box.h"
void Box::Open() { open_ = true; }
auto Box::IsOpen() const -> bool {
  return open_;
}
"""
BOX_H_2 = BOX_H_1.replace(" private:\n  bool open_ = false;", """\
  /// How often it was opened. Never negative.
  auto Count() const -> int;
  /// The key that fits.
  auto GetKey() const -> Key;
  /// Itself, for chaining.
  auto Self() -> Box&;
  /// The name in the register.
  auto Name() const -> const std::string&;
 private:
  std::string name_ = "box";
  int count_ = 0;
  bool open_ = false;""")
BOX_CPP_2 = """\
#include "base/box.h"
namespace {
// One more.
auto Next(int count) -> int { return count + 1; }
}  // namespace
void Box::Open() {
  open_ = true;
  count_ = Next(count_);
}
auto Box::IsOpen() const -> bool {
  return open_;  // unchanged but for this comment
}
auto Box::Count() const -> int { return count_; }
auto Box::GetKey() const -> Key { return Key(7); }
auto Box::Self() -> Box& { return *this; }
auto Box::Name() const -> const std::string& { return name_; }
"""
TEST = '#include <gtest/gtest.h>\n#include "base/box.h"\n'

# The stages of chapter 02.
WORK = """\
stage Open it
write src/base/box.cpp Next Box::Open
test tests/box_count_test.cpp BoxCount.Counts

stage Its key
write src/base/box.cpp Box::GetKey
test tests/box_count_test.cpp

stage Its name
write src/base/box.cpp Box::Name Box::Self
test tests/box_name_test.cpp Name.*
"""
PAGE = """\
# 02 A box that counts

## The code

### Stage 1: Open it

```cpp title="base/box.cpp › Box › Open"
void Box::Open() {
  open_ = true;
  count_ = Next(count_);
}
```

### Stage 2: Its key

```cpp title="base/box.cpp"
auto Box::GetKey() const -> Key { return Key(7); }
auto Box::Self() -> Box& { return *this; }
auto Box::Name() const -> const std::string& { return name_; }
```

### Stage 3: Its name

Easy now.

## Run it
"""

FILES = {
    "01-one/CMakeLists.txt": CHAPTER,
    "01-one/README.md": "# 01 A box\n",
    "01-one/work.txt": "stage A box\nwrite src/base/box.cpp Box::Open Box::IsOpen\ntest tests/box_test.cpp\n",
    "01-one/src/base/box.h": BOX_H_1,
    "01-one/src/base/box.cpp": BOX_CPP_1,
    "01-one/tests/box_test.cpp": TEST
    + "TEST(Box, Opens) { Box box; EXPECT_FALSE(box.IsOpen()); box.Open(); EXPECT_TRUE(box.IsOpen()); }\n",
    "01-one/tests/next/01_count_test.cpp": TEST
    + "template <class T> auto CountOf(const T& box, int) -> decltype(box.Count()) { return box.Count(); }\n"
    "template <class T> auto CountOf(const T&, long) -> int { return -1; }\n"
    "TEST(Next, Counts) { Box box; box.Open(); EXPECT_EQ(CountOf(box, 0), 1); }\n",
    "02-two/CMakeLists.txt": CHAPTER,
    "02-two/README.md": PAGE,
    "02-two/work.txt": WORK,
    "02-two/src/base/box.h": BOX_H_2,
    "02-two/src/base/box.cpp": BOX_CPP_2,
    "02-two/tests/box_count_test.cpp": TEST
    + "TEST(BoxCount, Counts) { Box box; box.Open(); box.Open(); EXPECT_EQ(box.Count(), 2); }\n"
    "TEST(BoxCount, HasKey) { EXPECT_EQ(Box().GetKey().Number(), 7); }\n",
    "02-two/tests/box_name_test.cpp": TEST
    + 'TEST(Name, IsInTheRegister) { EXPECT_EQ(Box().Name(), "box"); }\n'
    "TEST(Given, IsThere) { EXPECT_FALSE(Box().IsOpen()); }\n",
}


class Book:
    """A repository in a temporary folder: the real tools, made-up chapters."""

    def __init__(self, root):
        self.root = root
        names = ("chapters", "cpp_functions", "excerpts", "exercises", "linecount", "stubs", "work")
        tools = [f"tools/{name}.py" for name in names]
        for name in (*tools, "learn"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        for name in ("tools/learn", "tools/measure"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "cmake", root / "cmake")
        self.write(FILES)

    def write(self, files):
        for name, text in files.items():
            path = self.root / "chapters" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def remove(self, name):
        (self.root / "chapters" / name).unlink()


@pytest.fixture(autouse=True)
def nobody_s_progress(tmp_path, monkeypatch):
    """Who runs these tests may be a reader, and what they have done so far is theirs."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-of-nobody"))


@pytest.fixture
def book(tmp_path):
    return Book(tmp_path / "book")
