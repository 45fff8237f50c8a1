# cmake --install: headers, library, programs, CMake package, pkg-config file.
#
#   find_package(turtle REQUIRED)                 pkg-config --cflags --libs turtle
#   target_link_libraries(app turtle::turtle)     #include <turtle/core/socket.h>
#
# turtle::compat, or turtle-compat for pkg-config, is for programs that say #include "core/socket.h".
#
# The components are "server", "development" (the library) and "files" (what package.cmake puts elsewhere). Without
# --component, all are installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

# The headers as they are now, even if nothing was built since they changed.
install(CODE "execute_process(COMMAND [[${CMAKE_COMMAND}]] [[-DFROM=${PROJECT_SOURCE_DIR}/src]]
                [[-DTO=${user_headers}/turtle]] -P [[${copy_headers}]] COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT development)
install(DIRECTORY "${user_headers}/turtle" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS turtle_library EXPORT turtle-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS turtle_compat EXPORT turtle-targets
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/turtle")
foreach(program turtle turtle_bench)
  if(TARGET ${program})
    # What was built: a build of some targets may lack one of them.
    install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT server
            OPTIONAL)
  endif()
endforeach()

# An example of a configuration with its schema, and how systemd runs the program: where that is, is
# known when it is installed.
set(conf "${PROJECT_SOURCE_DIR}/conf")
if(EXISTS "${conf}")
  install(FILES "${conf}/turtle.json.example" "${conf}/turtle.schema.json"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/turtle" COMPONENT server)
endif()
if(EXISTS "${conf}" AND NOT APPLE)
  install(FILES "${conf}/turtle.socket" DESTINATION lib/systemd/system COMPONENT server)
  install(CODE "
    file(READ \"${conf}/turtle.service\" unit)
    string(REPLACE /usr/local/bin \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\" unit \"\${unit}\")
    file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/turtle.service\" \"\${unit}\")"
    COMPONENT server)
  # A package has these elsewhere.
  install(FILES "${conf}/turtle.json" "${conf}/turtle.logrotate"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/turtle" COMPONENT files)
  set(pages "${PROJECT_SOURCE_DIR}/packaging")
  install(FILES "${pages}/turtle.1" "${pages}/turtle-bench.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT files)
endif()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/turtle")
install(EXPORT turtle-targets NAMESPACE turtle:: DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/turtle-config-version.cmake"
                                 VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
set(dependencies "find_dependency(Threads)")
set(libraries "")
if(TARGET re2::re2)
  string(APPEND dependencies "\nfind_dependency(nlohmann_json)"
                             "\nlist(PREPEND CMAKE_MODULE_PATH \"\${CMAKE_CURRENT_LIST_DIR}\")"
                             "\nfind_dependency(re2)"
                             "\nlist(POP_FRONT CMAKE_MODULE_PATH)")
  string(APPEND libraries " -lre2")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/Findre2.cmake" DESTINATION "${package}")
endif()
if(TURTLE_HAS_CRYPT)
  string(APPEND libraries " -lcrypt")
endif()
if(TARGET OpenSSL::SSL)
  string(APPEND dependencies "\nfind_dependency(OpenSSL 3.0)")
  string(APPEND libraries " -lssl -lcrypto")
endif()
if(TARGET Brotli::encoder)
  string(APPEND dependencies "\nfind_dependency(ZLIB)"
                             "\nlist(PREPEND CMAKE_MODULE_PATH \"\${CMAKE_CURRENT_LIST_DIR}\")"
                             "\nfind_dependency(Brotli)"
                             "\nfind_dependency(Zstd)"
                             "\nlist(POP_FRONT CMAKE_MODULE_PATH)")
  string(APPEND libraries " -lz -lbrotlienc -lbrotlidec -lzstd")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/FindBrotli.cmake" "${CMAKE_CURRENT_LIST_DIR}/FindZstd.cmake"
          DESTINATION "${package}")
endif()
if(TARGET SQLite::SQLite3)
  string(APPEND dependencies "\nfind_dependency(SQLite3)")
  string(APPEND libraries " -lsqlite3")
endif()
if(TARGET MariaDB::client)
  string(APPEND dependencies "\nlist(PREPEND CMAKE_MODULE_PATH \"\${CMAKE_CURRENT_LIST_DIR}\")"
                             "\nfind_dependency(MariaDB)"
                             "\nlist(POP_FRONT CMAKE_MODULE_PATH)")
  string(APPEND libraries " -lmariadb")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/FindMariaDB.cmake" DESTINATION "${package}")
endif()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/turtle-config.cmake" @ONLY CONTENT
"include(CMakeFindDependencyMacro)
@dependencies@
include(\"\${CMAKE_CURRENT_LIST_DIR}/turtle-targets.cmake\")
")
install(FILES "${PROJECT_BINARY_DIR}/turtle-config.cmake"
              "${PROJECT_BINARY_DIR}/turtle-config-version.cmake" DESTINATION "${package}")

# Relative to the .pc file: an installed tree may be moved.
file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/turtle.pc" @ONLY CONTENT
"prefix=\${pcfiledir}/${to_prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: turtle
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} -lturtle${libraries} ${CMAKE_THREAD_LIBS_INIT}
Cflags: -I\${includedir}
")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/turtle-compat.pc" @ONLY CONTENT
"prefix=\${pcfiledir}/${to_prefix}

Name: turtle-compat
Description: turtle, for programs that include \"core/socket.h\"
Version: ${PROJECT_VERSION}
Requires: turtle
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}/turtle
")
install(FILES "${PROJECT_BINARY_DIR}/turtle.pc" "${PROJECT_BINARY_DIR}/turtle-compat.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
