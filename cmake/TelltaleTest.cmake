# telltale_test(NAME reader SOURCES a_test.cpp … [SEES base trace …] [LIBRARIES fmt::fmt …] [THREADS])
#
# Declares one GoogleTest program telltale_<NAME>_test; each of its tests is a test of ctest's. With THREADS the
# tests also run under the thread sanitizer: they carry the label "threads", and the target threaded_tests builds them.
add_custom_target(threaded_tests)

# What is only a test is compiled with little optimization even in the release build: the oracle, full of templates, was
# the longest part of that build with -O3.
set(TELLTALE_TEST_OPTIONS $<$<CONFIG:Release>:-Og>)

# GoogleTest's header and what it leaves out, compiled once for all test programs: half of what compiling a test costs.
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/test_headers.cpp" CONTENT "")
add_library(telltale_test_headers OBJECT "${CMAKE_BINARY_DIR}/test_headers.cpp")
target_link_libraries(telltale_test_headers PRIVATE GTest::gmock_main)
target_compile_options(telltale_test_headers PRIVATE ${TELLTALE_TEST_OPTIONS})
target_precompile_headers(telltale_test_headers PRIVATE <gtest/gtest.h> ${TELLTALE_COMMON_HEADERS})

# Sources of or for tests, compiled and linked as such.
function(telltale_compile_as_test target sees libraries)
  foreach(seen IN LISTS sees)
    target_link_libraries(${target} PUBLIC telltale_${seen})
  endforeach()
  target_link_libraries(${target} PUBLIC ${libraries} GTest::gmock_main)
  target_compile_options(${target} PRIVATE ${TELLTALE_TEST_OPTIONS})
  target_precompile_headers(${target} REUSE_FROM telltale_test_headers)
  target_compile_definitions(${target} PRIVATE TELLTALE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

# telltale_testing(NAME analysis SOURCES a.cpp … [SEES base trace …])
#
# Declares what several test programs share: the static library telltale_<NAME>_testing.
function(telltale_testing)
  cmake_parse_arguments(TESTING "" "NAME" "SOURCES;SEES" ${ARGN})
  add_library(telltale_${TESTING_NAME}_testing STATIC ${TESTING_SOURCES})
  telltale_compile_as_test(telltale_${TESTING_NAME}_testing "${TESTING_SEES}" "")
endfunction()

function(telltale_test)
  cmake_parse_arguments(TEST "THREADS" "NAME" "SOURCES;SEES;LIBRARIES" ${ARGN})
  set(target "telltale_${TEST_NAME}_test")

  add_executable(${target} ${TEST_SOURCES})
  telltale_compile_as_test(${target} "${TEST_SEES}" "${TEST_LIBRARIES}")

  set(labels)
  if(TEST_THREADS)
    set(labels PROPERTIES LABELS threads)
    add_dependencies(threaded_tests ${target})
  endif()
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 ${labels})
endfunction()
