# telltale_room(NAME base [SEES base trace …] [LIBRARIES fmt::fmt …] [TESTS_SEE analysis …] [EXCEPT main.cpp …] [THREADS]
#               [ALONE])
#
# Declares one room of the house, out of the sources in its folder: a new file is in the build without a line anywhere.
#   x.cpp           the static library telltale_<NAME>
#   x_test.cpp      with TELLTALE_TESTS, the test program telltale_<NAME>_test (THREADS: see TelltaleTest.cmake)
#   testing/x.cpp   what tests are written with, for this room's and for those of rooms that name it in TESTS_SEE
# Folders below belong to the room unless they have a CMakeLists.txt of their own. EXCEPT: sources that are none of these.
#
# A room includes headers as "room/header.h", and only those of the rooms in SEES, and of the rooms these see, resolve:
# each room exports a folder that holds nothing but a link to it.
# ALONE: the room is compiled with flags of its own, and also where the others are not; it shares no precompiled header.

# What most sources include of others' headers, compiled once for all rooms: a third of what compiling them costs.
set(TELLTALE_COMMON_HEADERS
    <algorithm>
    <array>
    <cstdint>
    <expected>
    <functional>
    <map>
    <memory>
    <optional>
    <set>
    <span>
    <string>
    <string_view>
    <unordered_map>
    <utility>
    <vector>)
if(NOT TELLTALE_RECORD_ONLY)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/room_headers.cpp" CONTENT "")
  add_library(telltale_room_headers OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/room_headers.cpp")
  target_link_libraries(telltale_room_headers PRIVATE fmt::fmt)
  target_precompile_headers(telltale_room_headers PRIVATE ${TELLTALE_COMMON_HEADERS} <fmt/format.h>)
  # The same objects serve the command and Python's extension modules.
  set_target_properties(telltale_room_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)
endif()

# The C++ sources of the room in this folder, in three lists: <prefix>_SOURCES, <prefix>_TESTS and <prefix>_TESTING.
function(telltale_collect_sources prefix)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "*.cpp")
  file(GLOB_RECURSE rooms CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "*/CMakeLists.txt")
  foreach(room IN LISTS rooms)
    get_filename_component(folder "${room}" DIRECTORY)
    list(FILTER found EXCLUDE REGEX "^${folder}/")
  endforeach()
  list(REMOVE_ITEM found ${ARGN})

  set(testing ${found})
  list(FILTER testing INCLUDE REGEX "(^|/)testing/")
  list(FILTER found EXCLUDE REGEX "(^|/)testing/")
  set(tests ${found})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER found EXCLUDE REGEX "_test\\.cpp$")
  set(${prefix}_SOURCES ${found} PARENT_SCOPE)
  set(${prefix}_TESTS ${tests} PARENT_SCOPE)
  set(${prefix}_TESTING ${testing} PARENT_SCOPE)
endfunction()

function(telltale_room)
  cmake_parse_arguments(ROOM "THREADS;ALONE" "NAME" "SEES;LIBRARIES;TESTS_SEE;EXCEPT" ${ARGN})
  set(target "telltale_${ROOM_NAME}")
  telltale_collect_sources(ROOM ${ROOM_EXCEPT})

  file(RELATIVE_PATH include_as "${PROJECT_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}")
  set(door "${CMAKE_BINARY_DIR}/doors/${ROOM_NAME}")
  get_filename_component(parent "${door}/${include_as}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${door}/${include_as}" SYMBOLIC)

  add_library(${target} STATIC ${ROOM_SOURCES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(NOT ROOM_ALONE)
    target_precompile_headers(${target} REUSE_FROM telltale_room_headers)
  endif()
  target_include_directories(${target} PUBLIC "${door}")
  foreach(seen IN LISTS ROOM_SEES)
    target_link_libraries(${target} PUBLIC telltale_${seen})
  endforeach()
  target_link_libraries(${target} PUBLIC ${ROOM_LIBRARIES})

  if(NOT TELLTALE_TESTS)
    return()
  endif()
  set(tests_see ${ROOM_NAME})
  foreach(room IN LISTS ROOM_TESTS_SEE)
    list(APPEND tests_see ${room}_testing)
  endforeach()
  if(ROOM_TESTING)
    telltale_testing(NAME ${ROOM_NAME} SOURCES ${ROOM_TESTING} SEES ${tests_see})
    list(APPEND tests_see ${ROOM_NAME}_testing)
  endif()
  if(ROOM_TESTS)
    set(how)
    if(ROOM_THREADS)
      list(APPEND how THREADS)
    endif()
    if(NOT TELLTALE_ROOM_TESTS)
      list(APPEND how ON_REQUEST)
    endif()
    telltale_test(NAME ${ROOM_NAME} SOURCES ${ROOM_TESTS} SEES ${tests_see} ${how})
  endif()
endfunction()
