# What `make install` puts where, and the files that tell other programs how to use the library. All paths are relative
# to the prefix, and the files below find it by their own place, so an installed tree can be moved.
#
#   bin/seaboard                                          the command
#   lib/libseaboard.so*, lib/libseaboard.a, include/      the library
#   lib/pkgconfig/seaboard.pc, lib/cmake/seaboard/        pkg-config, find_package(seaboard)
#   share/man/man1/, share/{bash-completion,zsh,fish}/    made by the command from its own tables
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Libraries, below the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Man pages and completions: `seaboard manual` and `seaboard completion` print them.
function(sb_generate_pages)
    set(share "${PROJECT_BINARY_DIR}/share")
    set(completions bash-completion/completions/seaboard zsh/site-functions/_seaboard
        fish/vendor_completions.d/seaboard.fish)
    set(commands "")
    set(outputs "${share}/man/man1/seaboard.1")
    foreach(file ${completions})
        string(REGEX MATCH "^[a-z]+" shell "${file}")
        list(APPEND outputs "${share}/${file}")
        get_filename_component(folder "${share}/${file}" DIRECTORY)
        file(MAKE_DIRECTORY "${folder}")
        list(APPEND commands COMMAND sh -c "\"$0\" completion ${shell} >\"$1\"" "$<TARGET_FILE:seaboard_command>"
            "${share}/${file}")
    endforeach()
    add_custom_command(OUTPUT ${outputs}
        COMMAND ${CMAKE_COMMAND} -E rm -rf "${share}/man"
        COMMAND seaboard_command manual --folder "${share}/man/man1"
        ${commands}
        DEPENDS seaboard_command COMMENT "Manual pages and completions" VERBATIM)
    add_custom_target(seaboard_pages ALL DEPENDS ${outputs})
    install(DIRECTORY "${share}/" DESTINATION "${CMAKE_INSTALL_DATADIR}")
endfunction()

# seaboard.pc and the package of CMake, filled in with the version and what a static link needs.
function(sb_describe_library)
    set(folder "${PROJECT_BINARY_DIR}/package")
    set(cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/seaboard")
    file(RELATIVE_PATH SB_PREFIX_FROM_PC "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" SB_PREFIX_FROM_PC "${SB_PREFIX_FROM_PC}")
    list(TRANSFORM seaboard_LINK_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE flags)
    list(JOIN flags " " SB_STATIC_FLAGS)
    configure_file(cmake/package/seaboard.pc.in "${folder}/seaboard.pc" @ONLY)
    configure_package_config_file(cmake/package/seaboardConfig.cmake.in "${folder}/seaboardConfig.cmake"
        INSTALL_DESTINATION "${cmake_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
        NO_CHECK_REQUIRED_COMPONENTS_MACRO)
    write_basic_package_version_file("${folder}/seaboardConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
    install(FILES "${folder}/seaboard.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
    install(FILES "${folder}/seaboardConfig.cmake" "${folder}/seaboardConfigVersion.cmake" DESTINATION "${cmake_dir}")
endfunction()

function(sb_install)
    # The tar file of tools/package carries the shared libraries that the command needs in lib/seaboard. An RPATH (not a
    # RUNPATH) is searched for the libraries of those libraries as well.
    set_target_properties(seaboard_command PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/seaboard")
    target_link_options(seaboard_command PRIVATE -Wl,--disable-new-dtags)
    install(TARGETS seaboard_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    install(TARGETS seaboard_shared seaboard_static
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(DIRECTORY include/seaboard DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
    install(FILES LICENSE CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
    sb_describe_library()
    if(CMAKE_BUILD_TYPE STREQUAL "Release") # other builds are not installed
        sb_generate_pages()
    endif()
endfunction()
