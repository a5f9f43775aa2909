# What `cmake --install` puts where, so that programs elsewhere find the recorder: with find_package(telltale) as
# telltale::telltale (shared), telltale::static and telltale::devices, or with pkg-config as telltale and telltale-devices.
# All of it may be moved afterwards.
include(CMakePackageConfigHelpers)

# The same names within this build, so that an example needs no installed Telltale.
add_library(telltale::telltale ALIAS telltale_recorder_shared)
add_library(telltale::static ALIAS telltale_recorder_static)
set_target_properties(telltale_recorder_shared PROPERTIES EXPORT_NAME telltale)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/telltale")
install(TARGETS telltale_recorder_shared telltale_recorder_static EXPORT telltale)
install(FILES include/telltale/telltale.h include/telltale/telltale.hpp DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/telltale")
if(TARGET telltale_devices_shared)
  add_library(telltale::devices ALIAS telltale_devices_shared)
  install(TARGETS telltale_devices_shared EXPORT telltale)
  install(FILES include/telltale/devices.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/telltale")
endif()
install(EXPORT telltale NAMESPACE telltale:: FILE telltale-targets.cmake DESTINATION "${package}")

configure_package_config_file(cmake/telltale-config.cmake.in telltale-config.cmake INSTALL_DESTINATION "${package}")
write_basic_package_version_file(telltale-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/telltale-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/telltale-config-version.cmake"
        DESTINATION "${package}")

# Seen from the file's own place, wherever that is by then.
set(pkgconfig "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH to_headers "${pkgconfig}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
set(private_libraries "-pthread")
if(TELLTALE_ZSTD_FOUND)
  string(PREPEND private_libraries "-lzstd ")
endif()
configure_file(cmake/telltale.pc.in telltale.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/telltale.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(TARGET telltale_devices_shared)
  configure_file(cmake/telltale-devices.pc.in telltale-devices.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/telltale-devices.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

# What an installation needs built.
add_custom_target(installed DEPENDS telltale_recorder_shared telltale_recorder_static)
if(TARGET telltale_devices_shared)
  add_dependencies(installed telltale_devices_shared)
endif()
if(TARGET telltale)
  install(TARGETS telltale RUNTIME)
  add_dependencies(installed telltale)
endif()
install(FILES LICENSE README.md TYPE DOC)
