# cmake -DINTO=page.cpp -DSYMBOL=kPage -DFILE=page.js -P EmbedFile.cmake
#
# Writes a C++ source that holds the bytes of a file: see TelltaleEmbed.cmake.
file(READ "${FILE}" bytes HEX)
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
string(REPLACE "'\\x0a'," "'\\x0a',\n" bytes "${bytes}")
file(WRITE "${INTO}" "#include <string_view>

namespace telltale {
extern const std::string_view ${SYMBOL};
namespace {
constexpr char kBytes[] = {
${bytes}0};
}  // namespace
const std::string_view ${SYMBOL}(kBytes, sizeof kBytes - 1);
}  // namespace telltale
")
