# The one place that knows the version, and which chapter this tree is.
set(TURTLE_VERSION 0.1.0)

# chapter.cmake is written where a tree is laid out. 99 is the finished system.
set(TURTLE_CHAPTER 99)
set(TURTLE_NEWEST_CHAPTER 99)
include("${CMAKE_CURRENT_LIST_DIR}/../chapter.cmake" OPTIONAL)
