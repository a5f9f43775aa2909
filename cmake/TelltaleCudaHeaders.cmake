# Finds the headers of CUDA, CUPTI and NVTX, which are all that building needs of CUDA: the list TELLTALE_CUDA_HEADERS of
# include folders, empty where there are none. All come from one place, since those of two versions do not go together:
# TELLTALE_CUDA_ROOT, a toolkit, NVIDIA's Python packages in .venv-cuda (see tools/cuda-headers) or among what CMake looks
# through, such as site-packages where pip builds. TELLTALE_CUDA_ROOT=none builds without them.
#
#   cmake -P cmake/TelltaleCudaHeaders.cmake      succeeds when they are found
set(TELLTALE_CUDA_ROOT "" CACHE PATH "A CUDA toolkit, or a site-packages folder with NVIDIA's packages; none: build without")
set(TELLTALE_OLDEST_CUPTI 22)  # that of CUDA 12.4

# Of the place `root`, in all layouts in which NVIDIA hands them out.
function(telltale_cuda_headers_below root result)
  set(folders)
  foreach(header IN ITEMS cupti.h cuda.h cuda_runtime_api.h crt/host_defines.h nvtx3/nvToolsExt.h)
    find_path(
      folder "${header}" NO_CACHE NO_DEFAULT_PATH
      PATHS "${root}"
      PATH_SUFFIXES include extras/CUPTI/include targets/x86_64-linux/include targets/sbsa-linux/include nvidia/cu13/include
                    nvidia/cuda_cupti/include nvidia/cuda_runtime/include nvidia/cuda_nvcc/include nvidia/nvtx/include)
    if(NOT folder)
      return()
    endif()
    list(APPEND folders "${folder}")
    unset(folder)
  endforeach()
  list(GET folders 0 cupti)
  file(STRINGS "${cupti}/cupti_version.h" version REGEX "#define CUPTI_API_VERSION +[0-9]+")
  string(REGEX REPLACE "[^0-9]" "" version "${version}")
  if(version LESS TELLTALE_OLDEST_CUPTI)
    return()
  endif()
  list(REMOVE_DUPLICATES folders)
  set(${result} "${folders}" PARENT_SCOPE)
endfunction()

function(telltale_find_cuda_headers result)
  file(GLOB packages "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../.venv-cuda/lib/python3*/site-packages")
  file(GLOB versions /usr/local/cuda-*)
  list(SORT versions COMPARE NATURAL ORDER DESCENDING)
  set(roots "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" /usr/local/cuda ${versions} /opt/cuda /usr "$ENV{CONDA_PREFIX}" ${packages}
      ${CMAKE_PREFIX_PATH})
  if(TELLTALE_CUDA_ROOT)
    set(roots "${TELLTALE_CUDA_ROOT}")
  endif()
  set(found)
  foreach(root IN LISTS roots)
    if(IS_DIRECTORY "${root}" AND NOT found)
      telltale_cuda_headers_below("${root}" found)
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

if(NOT TELLTALE_CUDA_ROOT STREQUAL "none")
  telltale_find_cuda_headers(TELLTALE_CUDA_HEADERS)
endif()
if(CMAKE_SCRIPT_MODE_FILE)
  if(NOT TELLTALE_CUDA_HEADERS)
    message(FATAL_ERROR "no headers of CUDA")
  endif()
elseif(TELLTALE_CUDA_HEADERS)
  message(STATUS "CUDA's headers: ${TELLTALE_CUDA_HEADERS}")
else()
  message(STATUS "CUDA's headers were not found: this build cannot record CUDA (see TELLTALE_CUDA_ROOT)")
endif()
