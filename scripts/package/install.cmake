# Everything that `cmake --install` copies, and the Debian packages that `cpack -G DEB` makes: `syncline`, and
# `libsyncline-dev` with the library and its headers.

# The program, the module that it loads for simulations, and the files that it finds by name.
install(TARGETS syncline RUNTIME COMPONENT program)
install(TARGETS syncline-simgrid LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/syncline COMPONENT program)
install(DIRECTORY platforms workloads topologies scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/syncline COMPONENT program
  FILES_MATCHING REGEX "\\.(yaml|json|md|svg|dot|graphml|xml|csv)$" REGEX "\\.results$" EXCLUDE)
install(FILES README.md CHANGELOG.md TYPE DOC COMPONENT program)
# Man pages and completions are made by the build.
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT program OPTIONAL)
install(DIRECTORY scripts/python/syncline DESTINATION lib/python3/dist-packages COMPONENT program
  FILES_MATCHING PATTERN "*.py")

# The library for programs in C++: find_package(Syncline), and link Syncline::Syncline.
get_property(rooms GLOBAL PROPERTY SYNCLINE_ROOMS)
add_library(syncline_all INTERFACE)
set_target_properties(syncline_all PROPERTIES EXPORT_NAME Syncline)
target_link_libraries(syncline_all INTERFACE ${rooms})
install(TARGETS ${rooms} syncline_all EXPORT SynclineTargets ARCHIVE COMPONENT library)
install(DIRECTORY sim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/syncline COMPONENT library
  FILES_MATCHING PATTERN "*.hpp" PATTERN cli EXCLUDE PATTERN serve EXCLUDE PATTERN page EXCLUDE PATTERN simgrid EXCLUDE)
install(EXPORT SynclineTargets NAMESPACE Syncline:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Syncline COMPONENT library)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(SynclineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/SynclineConfigVersion.cmake ${CMAKE_CURRENT_LIST_DIR}/SynclineConfig.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Syncline COMPONENT library)

set(CPACK_PACKAGE_NAME syncline)
set(CPACK_PACKAGE_VENDOR Syncline)
set(CPACK_PACKAGE_CONTACT "Syncline's maintainers <maintainers@users.noreply.github.com>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME syncline)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS gnuplot-nox)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS python3)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "pandoc, chromium")  # handouts as HTML and PDF
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/prerm)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "simulator of distributed deep-learning training
Syncline predicts the time of a training iteration for a model, a cluster and
a plan of parallelism. It replays the iteration message by message on SimGrid
and explains the result.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libsyncline-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS OFF)
string(JOIN ", " CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "syncline (= ${PROJECT_VERSION})" g++ pkg-config libboost-dev
  libeigen3-dev libexpat1-dev libprotobuf-dev zlib1g-dev libyaml-cpp-dev libfmt-dev nlohmann-json3-dev libsqlite3-dev libxxhash-dev libnlopt-dev)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "library of the simulator Syncline
Static libraries and headers for programs in C++ that simulate distributed
deep-learning training.")

# Debian wants a licence and a list of changes, with the date of the release.
file(STRINGS CHANGELOG.md release REGEX "^## ${PROJECT_VERSION} - ")
string(REGEX REPLACE ".* - " "" release "${release}")
execute_process(COMMAND date --utc --rfc-email --date=${release}
  OUTPUT_VARIABLE SYNCLINE_RELEASED OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in changelog @ONLY)
find_program(GZIP_PROGRAM gzip)
if(GZIP_PROGRAM)
  execute_process(COMMAND ${GZIP_PROGRAM} -9nf ${CMAKE_CURRENT_BINARY_DIR}/changelog)
endif()
foreach(component IN ITEMS program library)
  string(TOUPPER ${component} upper)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES scripts/package/copyright DESTINATION ${folder} COMPONENT ${component})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz DESTINATION ${folder} COMPONENT ${component} OPTIONAL)
endforeach()
include(CPack)
