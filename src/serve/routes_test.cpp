// Which questions wait for each other.
#include "serve/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace telltale::serve {
namespace {

const Route& route(std::string_view path) {
  const auto found = std::ranges::find(routes(), path, &Route::path);
  EXPECT_NE(found, routes().end()) << path;
  return *found;
}

std::shared_ptr<const answers::View> opened() {
  return answers::open_view({.path = TELLTALE_SOURCE_DIR "/examples/traces/small_train.json.gz"}).value();
}

bool is_answered(std::string_view path, const answers::View& view, const std::string& query) {
  Parameters parameters(query);
  return route(path).answer(view, parameters).has_value();
}

TEST(SlowAnswers, are_those_that_need_an_analysis_each_time) {
  const auto view = opened();
  for (const char* path : {"/api/table", "/api/table.csv", "/api/flame", "/api/memory", "/api/roofline", "/api/source"})
    EXPECT_TRUE(is_slow(route(path), *view, "")) << path;
  for (const char* path :
       {"/api/info", "/api/trace", "/api/tiles", "/api/counters", "/api/event", "/api/search", "/api/range"})
    EXPECT_FALSE(is_slow(route(path), *view, "")) << path;
}

TEST(SlowAnswers, about_steps_are_quick_once_these_are_diagnosed) {
  const auto view = opened();
  for (const char* path : {"/api/overview", "/api/fixes"}) EXPECT_TRUE(is_slow(route(path), *view, "")) << path;
  ASSERT_TRUE(is_answered("/api/overview", *view, ""));
  for (const char* path : {"/api/overview", "/api/fixes"}) {
    EXPECT_FALSE(is_slow(route(path), *view, "")) << path;
    EXPECT_TRUE(is_slow(route(path), *view, "steps=3")) << path << ": other steps";
  }
  ASSERT_TRUE(is_answered("/api/overview", *view, "steps=3"));
  for (const char* path : {"/api/overview", "/api/fixes"}) {
    EXPECT_FALSE(is_slow(route(path), *view, "steps=3")) << path;
    EXPECT_FALSE(is_slow(route(path), *view, "")) << path << ": the first diagnosis is kept";
    EXPECT_TRUE(is_slow(route(path), *view, "steps=3..4")) << path;
  }
  EXPECT_TRUE(is_slow(route("/api/overview"), *opened(), "")) << "of another trace";
}

TEST(SlowAnswers, stay_slow_however_often_they_are_asked_for) {
  const auto view = opened();
  ASSERT_TRUE(is_answered("/api/overview", *view, ""));
  ASSERT_TRUE(is_answered("/api/table", *view, ""));
  EXPECT_TRUE(is_slow(route("/api/table"), *view, ""));
}

}  // namespace
}  // namespace telltale::serve
