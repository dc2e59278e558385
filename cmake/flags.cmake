# How everything is compiled: C17, hidden symbols, the warnings of the house, hardening for release.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(SB_WERROR "Warnings are errors" OFF)
option(SB_TESTS "Build the tests" OFF)
option(SB_BENCH "Build the benchmarks" OFF)
option(SB_FUZZ "Build the fuzz targets with libFuzzer" OFF)
option(SB_HARDEN "Hardening flags of release builds" OFF)
option(SB_OPENBLAS "The trainer multiplies matrices with OpenBLAS instead of its own kernels" OFF)
set(SB_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wformat=2 -Wundef -Wpointer-arith -Wcast-qual -Wwrite-strings -fno-common
    -ffp-contract=off) # histogram edges must round as the reference's do
if(SB_WERROR)
    add_compile_options(-Werror)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
    add_compile_options(-march=x86-64-v2)
endif()
if(SB_SANITIZE)
    add_compile_options(-fsanitize=${SB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${SB_SANITIZE})
endif()
# What tests run with: a find says where it is, and ends the program.
set(SB_SANITIZER_OPTIONS "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
    "UBSAN_OPTIONS=print_stacktrace=1" "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(CMAKE_C_COMPILE_OPTIONS_IPO -flto=auto -fno-fat-lto-objects)
endif()
if(SB_HARDEN)
    add_compile_options(-fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE
        -D_FORTIFY_SOURCE=3)
    add_link_options(-Wl,-z,relro,-z,now)
    include(CheckPIESupported)
    check_pie_supported()
endif()
