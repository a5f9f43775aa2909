#include "serve/page_files.h"

#include <array>

// The assembler takes the file as it is, in no time; as C++ source it would take seconds.
#define TELLTALE_EMBED(name, file)                                       \
  __asm__(                                                               \
      ".pushsection .rodata,\"a\",@progbits\n"                           \
      ".hidden telltale_" #name "\n.hidden telltale_" #name              \
      "_end\n"                                                           \
      ".global telltale_" #name "\n.global telltale_" #name              \
      "_end\n"                                                           \
      "telltale_" #name ":\n.incbin \"" TELLTALE_PAGE "/" file           \
      "\"\n"                                                             \
      "telltale_" #name                                                  \
      "_end:\n"                                                          \
      ".popsection\n");                                                  \
  extern "C" [[gnu::visibility("hidden")]] const char telltale_##name[]; \
  extern "C" [[gnu::visibility("hidden")]] const char telltale_##name##_end[]

TELLTALE_EMBED(page_html, "index.html");
TELLTALE_EMBED(page_script, "page.js");
TELLTALE_EMBED(page_style, "page.css");

namespace telltale::serve {

std::span<const PageFile> page_files() {
  static const std::array kFiles = {
      PageFile{"/", "text/html; charset=utf-8", {telltale_page_html, telltale_page_html_end}},
      PageFile{"/page.js", "text/javascript; charset=utf-8", {telltale_page_script, telltale_page_script_end}},
      PageFile{"/page.css", "text/css; charset=utf-8", {telltale_page_style, telltale_page_style_end}},
  };
  return kFiles;
}

}  // namespace telltale::serve
