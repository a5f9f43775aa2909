#include "answers/view.h"

#include <expected>
#include <utility>

#include "answers/view_kept.h"

namespace telltale::answers {

Result<std::shared_ptr<const View>> open_view(Source source, std::vector<std::string> source_folders) {
  auto loaded = load(std::move(source));
  if (!loaded) return std::unexpected(loaded.error());
  loaded->tell("Indexing");
  auto timeline = std::make_shared<const Timeline>(loaded->trace);
  auto names = std::make_shared<const ViewNames>(*loaded->trace, timeline->name_uses());
  return std::make_shared<const View>(View{.path = loaded->path,
                                           .trace = loaded->trace,
                                           .timeline = std::move(timeline),
                                           .names = std::move(names),
                                           .source_folders = std::move(source_folders),
                                           .kept = std::make_shared<ViewKept>()});
}

bool forget_unused_since(const View& view, std::chrono::steady_clock::time_point then) {
  ViewKept& kept = *view.kept;
  return kept.memory.forget_unused_since(then) + kept.phases.forget_unused_since(then) +
             kept.used_blocks.forget_unused_since(then) >
         0;
}

}  // namespace telltale::answers
