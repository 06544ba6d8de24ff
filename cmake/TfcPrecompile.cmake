# What makes sources that include MLIR's headers quick to build: sets of headers
# that are parsed once. A source starts from the largest set of which it includes
# everything itself (choose_headers.py), so it builds without them just as well.

# Those that many files include together, smallest first.
set(TFC_HEADERS_core mlir/IR/BuiltinOps.h)
set(TFC_HEADERS_dialect dialect/TransformerDialect.h mlir/IR/PatternMatch.h)
set(TFC_HEADERS_arith
    dialect/TransformerDialect.h mlir/Dialect/Arith/IR/Arith.h)
set(TFC_HEADERS_memref mlir/Dialect/MemRef/IR/MemRef.h)
set(TFC_HEADERS_linalg
    dialect/TransformerDialect.h mlir/Dialect/Linalg/IR/Linalg.h)
set(TFC_HEADERS_llvm mlir/Dialect/LLVMIR/LLVMDialect.h)
set(TFC_HEADERS_host
    dialect/TransformerDialect.h mlir/Dialect/Arith/IR/Arith.h
    mlir/Dialect/Func/IR/FuncOps.h mlir/Dialect/LLVMIR/LLVMDialect.h)
set(TFC_HEADERS_kernel
    ${TFC_HEADERS_host} mlir/Dialect/MemRef/IR/MemRef.h
    mlir/Dialect/Vector/IR/VectorOps.h mlir/IR/ImplicitLocOpBuilder.h)
set(TFC_HEADERS_nvvm mlir/Dialect/LLVMIR/NVVMDialect.h)
set(TFC_HEADER_SETS
    core dialect arith memref linalg llvm host kernel nvvm)

# tfc_precompile(NAME [HEADER])
# Lets a target start from a header, parsed once, that all of its sources
# include; without one, each source of a target with MLIR from one of the sets.
function(tfc_precompile name)
  if(TFC_PRECOMPILE_HEADERS)
    # Clang takes them only where code is made alike, and would note the time,
    # which makes it another file each time for the compiler cache.
    target_compile_options(${name} PRIVATE
                           -fPIC "SHELL:-Xclang -fno-pch-timestamp")
    if(ARGN)
      target_precompile_headers(${name} PRIVATE ${ARGN})
    else()
      set_property(GLOBAL APPEND PROPERTY TFC_TARGETS_WITH_MLIR ${name})
    endif()
  endif()
endfunction()

# tfc_list_sources(TARGETS PATHS OF)
# The C++ sources of the targets, and the target of each.
function(tfc_list_sources targets paths of)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    foreach(source IN LISTS sources)
      if(source MATCHES "\\.cpp$")
        get_filename_component(path ${source} ABSOLUTE BASE_DIR ${folder})
        list(APPEND found ${path})
        list(APPEND found_of ${target})
      endif()
    endforeach()
  endforeach()
  set(${paths} ${found} PARENT_SCOPE)
  set(${of} ${found_of} PARENT_SCOPE)
endfunction()

# tfc_choose_headers()
# When all targets are known: makes the sets, and gives each source its own.
function(tfc_choose_headers)
  get_property(targets GLOBAL PROPERTY TFC_TARGETS_WITH_MLIR)
  if(NOT targets)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  tfc_list_sources("${targets}" paths of)
  set(folder ${PROJECT_BINARY_DIR}/precompiled)
  list(JOIN paths "\n" lines)
  file(WRITE ${folder}/sources.txt "${lines}\n")
  foreach(set IN LISTS TFC_HEADER_SETS)
    list(JOIN TFC_HEADERS_${set} "," headers)
    list(APPEND sets --set ${set}=${headers})
    file(CONFIGURE OUTPUT ${folder}/${set}.cpp CONTENT "")
    tfc_add_library(TfcHeaders-${set} ${folder}/${set}.cpp MLIR
                    DEPENDS TfcDialectIncGen)
    list(TRANSFORM TFC_HEADERS_${set} REPLACE "(.+)" "<\\1>"
         OUTPUT_VARIABLE angled)
    target_precompile_headers(TfcHeaders-${set} PRIVATE ${angled})
  endforeach()
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -B
            ${PROJECT_SOURCE_DIR}/cmake/choose_headers.py ${sets}
            --include ${PROJECT_SOURCE_DIR}
            --include ${PROJECT_SOURCE_DIR}/runtime/include
            --include ${LLVM_INCLUDE_DIR} ${folder}/sources.txt
    OUTPUT_VARIABLE chosen COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" chosen "${chosen}")
  foreach(path target set IN ZIP_LISTS paths of chosen)
    if(NOT set STREQUAL "-")
      set(made ${PROJECT_BINARY_DIR}/CMakeFiles/TfcHeaders-${set}.dir)
      set_property(SOURCE ${path} TARGET_DIRECTORY ${target} APPEND PROPERTY
        COMPILE_OPTIONS -Xclang -include-pch -Xclang
                        ${made}/cmake_pch.hxx.pch)
      set_property(SOURCE ${path} TARGET_DIRECTORY ${target} APPEND PROPERTY
                   OBJECT_DEPENDS ${made}/cmake_pch.hxx.pch)
    endif()
  endforeach()
endfunction()
