# What is installed, in components: `runtime` (the library), `dev` (headers, for
# find_package(tfc) and pkg-config), `compiler` (the programs), and, in no
# package, `sdk` (find_package(tfc-compiler): docs/extending.md).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tfc_runtime EXPORT tfcTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS tfc_runtime_static EXPORT tfcTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY runtime/include/tfc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT dev)
install(EXPORT tfcTargets NAMESPACE tfc:: COMPONENT dev
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tfc)
configure_package_config_file(
  cmake/tfcConfig.cmake.in ${CMAKE_BINARY_DIR}/tfcConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tfc)
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/tfcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tfcConfig.cmake
              ${CMAKE_BINARY_DIR}/tfcConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tfc COMPONENT dev)
configure_file(cmake/tfc.pc.in ${CMAKE_BINARY_DIR}/tfc.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tfc.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
install(TARGETS tfc-run tfc-bench
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
if(TFC_BUILD_COMPILER)
  install(TARGETS tfc
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
endif()

# The compiler as a library: its headers, those that are generated among them,
# and its archives.
if(TFC_BUILD_COMPILER)
  set(sdk ${CMAKE_INSTALL_LIBDIR}/tfc-compiler)
  set(sdk_headers ${CMAKE_INSTALL_INCLUDEDIR}/tfc-compiler)
  get_property(libraries GLOBAL PROPERTY TFC_LIBRARIES)
  install(TARGETS ${libraries} ARCHIVE DESTINATION ${sdk} COMPONENT sdk
          EXCLUDE_FROM_ALL)
  foreach(root IN ITEMS ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    install(DIRECTORY ${root}/dialect ${root}/compiler ${root}/runtime
            DESTINATION ${sdk_headers} COMPONENT sdk EXCLUDE_FROM_ALL
            FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
            PATTERN CMakeFiles EXCLUDE)
  endforeach()
  install(DIRECTORY runtime/include/tfc DESTINATION ${sdk_headers}
          COMPONENT sdk EXCLUDE_FROM_ALL)
  configure_package_config_file(
    cmake/tfc-compilerConfig.cmake.in
    ${CMAKE_BINARY_DIR}/tfc-compilerConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tfc-compiler
    PATH_VARS sdk sdk_headers)
  # Its headers promise nothing from version to version.
  write_basic_package_version_file(
    ${CMAKE_BINARY_DIR}/tfc-compilerConfigVersion.cmake
    COMPATIBILITY ExactVersion)
  install(FILES ${CMAKE_BINARY_DIR}/tfc-compilerConfig.cmake
                ${CMAKE_BINARY_DIR}/tfc-compilerConfigVersion.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tfc-compiler COMPONENT sdk
          EXCLUDE_FROM_ALL)
endif()

# Debian's packages: `cpack -G DEB` in the build folder.
set(CPACK_PACKAGE_NAME tfc)
set(CPACK_PACKAGE_VENDOR "the tfc project")
set(CPACK_PACKAGE_CONTACT "the tfc project")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "Compiles a transformer model to one native shared library")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev compiler)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libtfc${TFC_SONAME})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libc6 (>= 2.34), libgcc-s1")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtfc-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libtfc${TFC_SONAME} (= ${PROJECT_VERSION})")
if(TFC_BUILD_COMPILER)
  set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME tfc)
else()
  # The programs beside it alone.
  set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME tfc-run)
  set(CPACK_DEBIAN_COMPILER_PACKAGE_CONFLICTS tfc)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "libc6 (>= 2.34), libgcc-s1")
include(CPack)
