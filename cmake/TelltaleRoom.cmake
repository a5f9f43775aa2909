# telltale_room(NAME base SOURCES a.cpp … [SEES base trace …] [LIBRARIES fmt::fmt …] [TESTS a_test.cpp …] [THREADS]
#               [ALONE])
#
# Declares one room of the house: a static library telltale_<NAME> and, with TELLTALE_TESTS, a test program
# telltale_<NAME>_test (THREADS: see TelltaleTest.cmake). A room includes headers as "room/header.h", and only those of
# the rooms in SEES, and of the rooms these see, resolve: each room exports a folder that holds nothing but a link to it.
# ALONE: the room is compiled with flags of its own, and also where the others are not; it shares no precompiled header.

# What most sources include of the standard library, compiled once for all rooms: a fourth of what compiling them costs.
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/room_headers.cpp" CONTENT "")
add_library(telltale_room_headers OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/room_headers.cpp")
target_precompile_headers(
  telltale_room_headers
  PRIVATE
  <algorithm>
  <array>
  <cstdint>
  <expected>
  <functional>
  <map>
  <memory>
  <optional>
  <span>
  <string>
  <string_view>
  <unordered_map>
  <utility>
  <vector>)

# The same objects serve the command and Python's extension modules.
set_target_properties(telltale_room_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)

function(telltale_room)
  cmake_parse_arguments(ROOM "THREADS;ALONE" "NAME" "SOURCES;SEES;LIBRARIES;TESTS" ${ARGN})
  set(target "telltale_${ROOM_NAME}")

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

  if(TELLTALE_TESTS AND ROOM_TESTS)
    set(threads)
    if(ROOM_THREADS)
      set(threads THREADS)
    endif()
    telltale_test(NAME ${ROOM_NAME} SOURCES ${ROOM_TESTS} SEES ${ROOM_NAME} ${threads})
  endif()
endfunction()
