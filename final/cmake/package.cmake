# cpack -G DEB: packages for Debian and Ubuntu, made of what install.cmake installs.
#
#   turtle          the server as a service, and turtle-bench
#   libturtle-dev   the headers, the static library, the CMake package, the pkg-config files
#
# It needs dpkg-dev and file, which find out the libraries that the programs need.
#
# The service has the same unit, socket and configuration as without a package. `cpack -D
# CPACK_DEBIAN_PACKAGE_RELEASE=2` is the number of the package, for a second one of the same version.
set(packaging "${PROJECT_SOURCE_DIR}/packaging")
if(NOT PROJECT_IS_TOP_LEVEL OR NOT EXISTS "${packaging}" OR APPLE)
  return()
endif()

# The component "debian" is installed by cpack alone: what lies outside the prefix, and compressed pages.
set(only_packaged COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES "${conf}/turtle.json" DESTINATION /etc/turtle ${only_packaged})
install(FILES "${conf}/turtle.logrotate" DESTINATION /etc/logrotate.d RENAME turtle ${only_packaged})
install(FILES "${packaging}/index.html" DESTINATION "${CMAKE_INSTALL_DATADIR}/turtle"
        ${only_packaged})
install(FILES "${packaging}/copyright" DESTINATION share/doc/turtle ${only_packaged})
install(FILES "${packaging}/copyright" DESTINATION share/doc/libturtle-dev COMPONENT development
        EXCLUDE_FROM_ALL)
install(CODE "
  foreach(page turtle turtle-bench)
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/man/man1\")
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND gzip -9nc \"${packaging}/\${page}.1\"
                    OUTPUT_FILE \"\${folder}/\${page}.1.gz\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()" ${only_packaged})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL server debian development)
set(CPACK_COMPONENT_SERVER_GROUP turtle)
set(CPACK_COMPONENT_DEBIAN_GROUP turtle)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP library)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# With makefiles, cpack would first build everything, the examples too.
set(CPACK_CMAKE_GENERATOR Ninja)

# Without dpkg-shlibdeps, cpack would only warn, and make a package that lacks its dependencies.
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/package_needs.cmake")
file(WRITE "${CPACK_PROJECT_CONFIG_FILE}" "
  foreach(program dpkg-shlibdeps file)
    find_program(found_\${program} \${program})
    if(NOT found_\${program})
      message(FATAL_ERROR \"\${program} is missing: apt-get install dpkg-dev file\")
    endif()
  endforeach()
")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "web server, and the C++17 network library that it is made of")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Turtle authors <turtle@localhost>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_TURTLE_PACKAGE_NAME turtle)
set(CPACK_DEBIAN_TURTLE_PACKAGE_SECTION httpd)
set(CPACK_DEBIAN_TURTLE_DESCRIPTION "It serves directories of files and CGI programs over HTTP/1.1, several sites by
their names, with rules for each. A service of systemd, which reloads and
restarts without losing a request, and turtle-bench, which puts any web server
under load.")
set(CPACK_DEBIAN_TURTLE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TURTLE_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_TURTLE_PACKAGE_RECOMMENDS logrotate)
set(CPACK_DEBIAN_TURTLE_PACKAGE_CONTROL_EXTRA "${packaging}/conffiles" "${packaging}/postinst"
    "${packaging}/prerm" "${packaging}/postrm")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libturtle-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "An event loop for each thread, connections with backpressure, HTTP/1.1, routes,
streams, databases and metrics, as a static library for C++17.")
# What turtle-config.cmake and turtle.pc name.
set(needed nlohmann-json3-dev libre2-dev)
if(TURTLE_HAS_CRYPT)
  list(APPEND needed libcrypt-dev)
endif()
if(TARGET OpenSSL::SSL)
  list(APPEND needed libssl-dev)
endif()
if(TARGET Brotli::encoder)
  list(APPEND needed zlib1g-dev libbrotli-dev libzstd-dev)
endif()
if(TARGET SQLite::SQLite3)
  list(APPEND needed libsqlite3-dev)
endif()
if(TARGET MariaDB::client)
  list(APPEND needed libmariadb-dev)
endif()
list(JOIN needed ", " CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS)
include(CPack)
