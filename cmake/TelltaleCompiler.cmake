# How every target of the project is compiled.

set(CMAKE_CXX_STANDARD 23)
if(TELLTALE_RECORD_ONLY)
  set(CMAKE_CXX_STANDARD 20)  # the recorder must build with compilers that the rest does not know
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

# Tests under a sanitizer: optimized enough to run fast, with lines in its reports, and with our assertions. With all
# checks of undefined behavior, GCC took 1.7 times as long for -O1 as for -Og on two of our larger sources.
set(CMAKE_CXX_FLAGS_SANITIZE "-Og -g1")

find_program(TELLTALE_CCACHE ccache)
if(TELLTALE_CCACHE)
  # ccache takes what uses a precompiled header only with these two kinds of sloppiness. Build folders side by side share
  # what they compile: all paths count from the project's root.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
      CCACHE_NOHASHDIR=1 "${TELLTALE_CCACHE}")
  add_compile_options(-fpch-preprocess)
endif()

find_program(TELLTALE_MOLD mold)
if(TELLTALE_MOLD AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor)
if(NOT TELLTALE_RECORD_ONLY)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-deprecated-declarations)  # GCC 12's own std::stable_sort needs them
endif()

if(TELLTALE_SANITIZE)
  add_compile_options(-fsanitize=${TELLTALE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TELLTALE_SANITIZE})
endif()
