# The web app inside the binary: Vite builds it, ui/tools/embed.mjs turns the files into an assembler file and a table.
# Without Node or its packages (tools/setup ui) the table is empty and "/" is the plain page.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set(sb_ui_default ON)
else()
    set(sb_ui_default OFF) # tests of C do not look at it
endif()
option(SB_UI "Build the web app and embed it" ${sb_ui_default})

# sb_embed_ui(TARGET): adds the table of assets to a target's sources.
function(sb_embed_ui target)
    set(folder "${PROJECT_BINARY_DIR}/ui-embed")
    set(ui "${PROJECT_SOURCE_DIR}/ui")
    file(MAKE_DIRECTORY "${folder}")
    execute_process(COMMAND "${PROJECT_SOURCE_DIR}/tools/setup" node-path
        OUTPUT_VARIABLE node_path OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_program(SB_NODE node HINTS "${node_path}" NO_CACHE)
    if(NOT SB_UI OR NOT SB_NODE OR NOT EXISTS "${ui}/node_modules/.package-lock.json")
        if(SB_UI)
            message(STATUS "No web app in this build: run tools/setup ui first")
        endif()
        file(CONFIGURE OUTPUT "${folder}/no_assets.c" @ONLY CONTENT
            "#include \"server/assets_int.h\"\nconst sb_asset sb_asset_table[1];\nconst size_t sb_asset_count = 0;\n")
        target_sources(${target} PRIVATE "${folder}/no_assets.c")
        return()
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${ui}/src/*.ts" "${ui}/src/*.svelte" "${ui}/src/*.css" "${ui}/src/*.svg")
    list(FILTER sources EXCLUDE REGEX "\\.test\\.ts$")
    get_filename_component(node_home "${SB_NODE}" DIRECTORY)
    add_custom_command(
        OUTPUT "${folder}/assets_table.c" "${folder}/assets_bytes.S"
        COMMAND ${CMAKE_COMMAND} -E env --modify "PATH=path_list_prepend:${node_home}" "SB_UI_OUT=${folder}/dist"
            npm run --silent build -- --logLevel warn
        COMMAND "${SB_NODE}" tools/embed.mjs "${folder}/dist" "${folder}/assets_table.c" "${folder}/assets_bytes.S"
        WORKING_DIRECTORY "${ui}"
        DEPENDS ${sources} "${ui}/index.html" "${ui}/vite.config.ts" "${ui}/svelte.config.js" "${ui}/tsconfig.json"
            "${ui}/package.json" "${ui}/package-lock.json" "${ui}/tools/compress.mjs" "${ui}/tools/embed.mjs" "${ui}/tools/first.ts" "${ui}/tools/sizes.ts"
        COMMENT "Web app" VERBATIM)
    target_sources(${target} PRIVATE "${folder}/assets_table.c" "${folder}/assets_bytes.S")
endfunction()
