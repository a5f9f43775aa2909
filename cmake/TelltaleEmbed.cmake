# telltale_embed(TARGET SYMBOL FILE)
#
# Makes a file part of a target, as `const std::string_view telltale::SYMBOL`, to be declared where it is used:
# `extern const std::string_view SYMBOL;`.
set(TELLTALE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/EmbedFile.cmake")
function(telltale_embed target symbol file)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DINTO=${source}" "-DSYMBOL=${symbol}" "-DFILE=${file}" -P "${TELLTALE_EMBED_SCRIPT}"
    DEPENDS "${file}" "${TELLTALE_EMBED_SCRIPT}"
    VERBATIM)
  target_sources(${target} PRIVATE "${source}")
endfunction()
