# The CMake functions of the project: a library, a tool, a unit test.

include(TfcPrecompile)

# tfc_add_library(NAME sources... [MLIR] [LINK_LIBS libs...] [DEPENDS targets...])
# A static library. MLIR: it uses MLIR and LLVM, so it is built with their
# flags (no exceptions) and sees their headers. Without MLIR it is plain C++
# with exceptions.
function(tfc_add_library name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # For the component `sdk` (TfcInstall).
  set_property(GLOBAL APPEND PROPERTY TFC_LIBRARIES ${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  if(TFC_FUZZ)
    # Counts what runs; the fuzzers look for inputs that run more.
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS}
                                                     ${LLVM_INCLUDE_DIRS})
    # The package is built without assertions; ours stay on.
    target_compile_options(${name} PUBLIC -fno-exceptions -UNDEBUG)
    tfc_precompile(${name})
  endif()
endfunction()

# tfc_link_mlir(NAME [STATIC])
# What a program with libraries of MLIR's links besides: one shared library
# each, which is fast and one registry of type ids; or, for a program that is to
# run where there is no LLVM, what it needs of the archives.
function(tfc_link_mlir name)
  cmake_parse_arguments(ARG "STATIC" "" "" ${ARGN})
  if(NOT ARG_STATIC)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
    return()
  endif()
  # Only what is asked for is taken out of them.
  file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a
                     ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER archives EXCLUDE REGEX "libMLIR(CAPI|.*Test)")
  target_link_libraries(${name} PRIVATE
    ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldMachO.a
    ${LLVM_LIBRARY_DIR}/liblldCommon.a
    ${archives} -l:libzstd.a -l:libz.a Threads::Threads ${CMAKE_DL_LIBS})
  # Equal functions are one, as where LLVM is built for Windows: a sixth less.
  target_link_options(${name} PRIVATE -Wl,--gc-sections -Wl,--icf=all)
  tfc_make_portable(${name})
endfunction()

# tfc_make_portable(NAME)
# A program or library that runs where no C++ library, and no glibc newer than
# 2.34, is installed. libgcc stays shared: the static one asks for 2.35, and
# every system has it.
function(tfc_make_portable name)
  target_link_libraries(${name} PRIVATE TfcPortable)
  target_link_options(${name} PRIVATE -static-libstdc++)
endfunction()

# tfc_add_tool(NAME sources... LINK_LIBS libs...)
function(tfc_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
endfunction()

# tfc_add_unittest(NAME sources... [MLIR] LABEL label LINK_LIBS libs...)
# A GoogleTest program, run by ctest under the label. MLIR: as above.
function(tfc_add_unittest name)
  cmake_parse_arguments(ARG "MLIR" "LABEL" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest_main)
  if(ARG_MLIR)
    tfc_precompile(${name})
    tfc_link_mlir(${name})
  else()
    # What checks is built twice as fast without optimisation, and what is
    # checked lies in libraries.
    target_compile_options(${name} PRIVATE -O0)
    tfc_precompile(${name} <gtest/gtest.h>)
  endif()
  if(CMAKE_CROSSCOMPILING)
    # Each test is a process of its own, which an emulator and its memory want.
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
      TEST_FILTER "-${TFC_NOT_EMULATED}"
      PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name})
  # What takes so long hangs: a quiet machine needs seconds, a busy one minutes.
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 600)
endfunction()
