# From chapter 28 on: io_uring(7), by its system calls; all it takes are the headers of the kernel.
# AUTO: if they know enough. ON: it is an error if they don't. OFF: not even if they do. Which poller
# a program uses is decided when it runs.
set(TURTLE_IO_URING AUTO CACHE STRING "Build with io_uring: AUTO, ON, OFF")
set_property(CACHE TURTLE_IO_URING PROPERTY STRINGS AUTO ON OFF)

if(TURTLE_IO_URING STREQUAL "AUTO" OR TURTLE_IO_URING)
  include(CheckCXXSourceCompiles)
  # Receiving many times for one submission came with Linux 6.0, the deferred work with 6.1.
  check_cxx_source_compiles("#include <linux/io_uring.h>
int main() { return IORING_SETUP_DEFER_TASKRUN + IORING_RECV_MULTISHOT; }" TURTLE_HAS_IO_URING)
  if(TURTLE_HAS_IO_URING)
    message(STATUS "io_uring: built in, --poller io_uring chooses it")
    set_source_files_properties(
      "${PROJECT_SOURCE_DIR}/src/uring/ring.cpp" "${PROJECT_SOURCE_DIR}/src/uring/io_uring_engine.cpp"
      "${PROJECT_SOURCE_DIR}/src/uring/sys/io_uring_none.cpp"
      PROPERTIES COMPILE_DEFINITIONS TURTLE_WITH_IO_URING)
  elseif(TURTLE_IO_URING STREQUAL "AUTO")
    message(STATUS "io_uring: built without, the headers of this system's kernel are older than 6.1")
  else()
    message(FATAL_ERROR "TURTLE_IO_URING is ON, but the headers of this system's kernel are older than 6.1")
  endif()
else()
  message(STATUS "io_uring: built without, TURTLE_IO_URING is ${TURTLE_IO_URING}")
endif()
