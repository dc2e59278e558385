# The Python package: the extension module seaboard._native over the static library, and the whole package as a program
# can import it, in build/python/seaboard (tests run with PYTHONPATH=build/python).
#
# The extension is written in the limited API of Python 3.11, so any newer Python's headers and interpreter will do.
# Without Python's headers there is no package; SB_PYTHON=ON makes that an error.
set(SB_PYTHON "AUTO" CACHE STRING "The Python package: ON, OFF, or AUTO (when Python's headers are there)")

function(sb_python)
    if(SB_PYTHON STREQUAL "OFF" OR SB_SANITIZE MATCHES "fuzzer|thread")
        return()
    endif()
    set(required "")
    if(SB_PYTHON STREQUAL "ON")
        set(required REQUIRED)
    endif()
    find_package(Python 3.11 QUIET ${required} COMPONENTS Interpreter Development.Module)
    if(NOT Python_FOUND)
        message(STATUS "No Python package in this build: Python 3.11 or newer with its headers (python3-dev) is needed")
        return()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/native/*.c")
    add_library(seaboard_python MODULE ${sources})
    set_target_properties(seaboard_python PROPERTIES PREFIX "" OUTPUT_NAME _native SUFFIX ".abi3.so"
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python-native")
    target_include_directories(seaboard_python SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
    target_compile_definitions(seaboard_python PRIVATE Py_LIMITED_API=0x030b0000)
    target_link_libraries(seaboard_python PRIVATE seaboard_static)
    if(APPLE)
        target_link_options(seaboard_python PRIVATE -undefined dynamic_lookup)
    else()
        target_link_options(seaboard_python PRIVATE -Wl,--exclude-libs,ALL) # the library's symbols stay inside
    endif()
    sb_python_package()
    # For wheels: pip's build and tools/wheel install this component, make install does not.
    install(TARGETS seaboard_python LIBRARY DESTINATION seaboard COMPONENT python EXCLUDE_FROM_ALL)
    install(PROGRAMS "$<TARGET_FILE:seaboard_command>" DESTINATION seaboard/_bin COMPONENT python EXCLUDE_FROM_ALL)
endfunction()

# build/python/seaboard: the Python files, the extension, and the command.
function(sb_python_package)
    set(source "${PROJECT_SOURCE_DIR}/python/seaboard")
    set(folder "${PROJECT_BINARY_DIR}/python")
    file(GLOB_RECURSE files CONFIGURE_DEPENDS "${source}/*.py" "${source}/*.pyi" "${source}/py.typed")
    add_custom_command(OUTPUT "${folder}/complete"
        COMMAND ${CMAKE_COMMAND} -E rm -rf "${folder}/seaboard"
        COMMAND ${CMAKE_COMMAND} -E copy_directory "${source}" "${folder}/seaboard"
        COMMAND ${CMAKE_COMMAND} -E copy "$<TARGET_FILE:seaboard_python>" "${folder}/seaboard/"
        COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}/seaboard/_bin"
        COMMAND ${CMAKE_COMMAND} -E create_symlink "${PROJECT_BINARY_DIR}/seaboard" "${folder}/seaboard/_bin/seaboard"
        COMMAND ${CMAKE_COMMAND} -E touch "${folder}/complete"
        DEPENDS ${files} seaboard_python COMMENT "Python package" VERBATIM)
    add_custom_target(seaboard_python_package ALL DEPENDS "${folder}/complete")
endfunction()
