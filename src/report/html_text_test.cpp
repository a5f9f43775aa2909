#include "report/html_text.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(HtmlText, lets_no_text_be_markup) {
  EXPECT_EQ(html_escaped("</script><img src=x onerror='a' title=\"b\">&amp;"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39; title=&quot;b&quot;&gt;&amp;amp;");
}

TEST(HtmlText, replaces_what_is_no_text) { EXPECT_EQ(html_escaped("a\xff\x01\nb\u202e"), "a\xEF\xBF\xBD· b·"); }

TEST(HtmlText, cuts_before_it_escapes) {
  EXPECT_EQ(html_cut("<<<<<<", 4), "&lt;&lt;&lt;…");
  EXPECT_EQ(html_cut("<<", 4), "&lt;&lt;");
}

TEST(HtmlText, numbers_are_short) {
  EXPECT_EQ(html_number(12), "12");
  EXPECT_EQ(html_number(12.5), "12.5");
  EXPECT_EQ(html_number(0.126), "0.13");
  EXPECT_EQ(html_number(-0.001), "0");
  EXPECT_EQ(html_number(100), "100");
  EXPECT_EQ(html_number(1.0 / 0.0), "0");
}

}  // namespace
}  // namespace telltale
