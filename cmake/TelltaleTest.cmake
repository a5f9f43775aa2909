# telltale_test(NAME reader SOURCES a_test.cpp … [SEES base trace …] [LIBRARIES fmt::fmt …] [THREADS] [ON_REQUEST])
#
# Declares one GoogleTest program telltale_<NAME>_test; each of its tests is a test of ctest's. With THREADS the
# tests also run under the thread sanitizer: they carry the label "threads", and the target threaded_tests builds them.
# With ON_REQUEST the program is built only when it is named, and ctest does not know it.
# With TELLTALE_SHARD_TESTS, those without threads run several to a process, as they do when somebody starts the program:
# under the address sanitizer, most of them take less time than the start of a process, which takes 0.08 s of a processor.
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
  add_library(telltale_${TESTING_NAME}_testing STATIC EXCLUDE_FROM_ALL ${TESTING_SOURCES})
  telltale_compile_as_test(telltale_${TESTING_NAME}_testing "${TESTING_SEES}" "")
endfunction()

# Puts the tests among the sources together, eight in one (see UniteTests.cmake), and gives back what is to be compiled.
function(telltale_unite_tests target sources result)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(TRANSFORM tests PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(LENGTH tests left)
  set(batch 0)
  while(left GREATER 0)
    list(SUBLIST tests 0 8 together)
    list(REMOVE_ITEM tests ${together})
    list(LENGTH tests left)
    set(united "${CMAKE_CURRENT_BINARY_DIR}/${target}_${batch}.cpp")
    math(EXPR batch "${batch} + 1")
    add_custom_command(
      OUTPUT "${united}"
      COMMAND "${CMAKE_COMMAND}" "-DINTO=${united}" "-DSOURCES=${together}" -P "${PROJECT_SOURCE_DIR}/cmake/UniteTests.cmake"
      DEPENDS ${together} "${PROJECT_SOURCE_DIR}/cmake/UniteTests.cmake"
      VERBATIM)
    list(APPEND sources "${united}")
  endwhile()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# The tests of a program in parts, one for each four sources, each a test of ctest's.
function(telltale_add_shards name target sources)
  list(LENGTH sources count)
  math(EXPR shards "(${count} + 3) / 4")
  foreach(number RANGE 1 ${shards})
    math(EXPR index "${number} - 1")
    add_test(NAME ${name}.part_${number}_of_${shards} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${name}.part_${number}_of_${shards}
                         PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

function(telltale_test)
  cmake_parse_arguments(TEST "THREADS;ON_REQUEST" "NAME" "SOURCES;SEES;LIBRARIES" ${ARGN})
  set(target "telltale_${TEST_NAME}_test")
  set(all_sources ${TEST_SOURCES})

  if(TELLTALE_UNITE_TESTS)
    telltale_unite_tests(${target} "${TEST_SOURCES}" TEST_SOURCES)
  endif()
  add_executable(${target} ${TEST_SOURCES})
  target_include_directories(${target} PRIVATE $<$<BOOL:${TELLTALE_UNITE_TESTS}>:${CMAKE_CURRENT_SOURCE_DIR}>)
  telltale_compile_as_test(${target} "${TEST_SEES}" "${TEST_LIBRARIES}")

  if(TEST_ON_REQUEST)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  set(labels)
  if(TEST_THREADS)
    set(labels PROPERTIES LABELS threads)
    add_dependencies(threaded_tests ${target})
  endif()
  if(TELLTALE_SHARD_TESTS AND NOT TEST_THREADS)
    telltale_add_shards(${TEST_NAME} ${target} "${all_sources}")
  else()
    gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 ${labels})
  endif()
endfunction()
