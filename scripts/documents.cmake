# Manual pages and completions, which the program makes itself. They are part of `all`, in share/ of the build directory, with
# the paths that they are installed under.
set(share ${CMAKE_BINARY_DIR}/share)
set(zsh_folder site-functions)
if(EXISTS /etc/debian_version)
  set(zsh_folder vendor-completions)
endif()
set(bash_file ${share}/bash-completion/completions/syncline)
set(zsh_file ${share}/zsh/${zsh_folder}/_syncline)
set(fish_file ${share}/fish/vendor_completions.d/syncline.fish)
set(documents)
foreach(shell IN ITEMS bash zsh fish)
  cmake_path(GET ${shell}_file PARENT_PATH folder)
  add_custom_command(OUTPUT ${${shell}_file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND syncline completion ${shell} > ${${shell}_file}
    DEPENDS syncline VERBATIM)
  list(APPEND documents ${${shell}_file})
endforeach()

find_program(HELP2MAN help2man)
find_program(PYTHON3 python3)
find_program(GZIP_PROGRAM gzip)
if(HELP2MAN AND PYTHON3 AND GZIP_PROGRAM)
  # The other pages are beside this one, one for each verb. Debian wants them compressed.
  set(pages ${share}/man/man1)
  add_custom_command(OUTPUT ${pages}/syncline.1.gz
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
    COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/scripts/manual $<TARGET_FILE:syncline> ${pages}
    COMMAND sh -c "${GZIP_PROGRAM} -9n ${pages}/*.1"
    DEPENDS syncline scripts/manual CHANGELOG.md VERBATIM)
  add_custom_target(man DEPENDS ${pages}/syncline.1.gz)
  list(APPEND documents ${pages}/syncline.1.gz)
else()
  message(STATUS "No manual pages: help2man, python3 or gzip is missing")
endif()
add_custom_target(documents ALL DEPENDS ${documents})
