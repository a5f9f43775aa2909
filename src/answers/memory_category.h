// How the page's answers name what memory is for: the id of telltale.memory/1, its words and its color.
#pragma once

#include "answers/view_colors.h"
#include "memory/memory_uses.h"

namespace telltale::answers {

template <typename Fields>
void describe_category(Fields& fields, MemoryUse use) {
  fields.member("category", name_of(use), "as in telltale.memory/1");
  fields.member("words", words_for(use), "for people");
  fields.member("color", color_index(use), "its place among the colors");
}

}  // namespace telltale::answers
