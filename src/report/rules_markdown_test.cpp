#include "report/rules_markdown.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(RulesMarkdown, lists_all_and_tells_of_each_what_is_known) {
  const RuleInfo rules[] = {
      {"host_sync", "Waits within a step", "Calls such as *Synchronize.", "Stacks.", "Replayed.", "Within 3 points."},
      {"memory_leak", "Growing memory", "What stays.", "Memory.", "None.", ""},
  };
  EXPECT_EQ(rules_markdown(rules), R"(| rule | what it finds |
|---|---|
| [host_sync](#host_sync) | Waits within a step |
| [memory_leak](#memory_leak) | Growing memory |

### host_sync

Waits within a step.

- **Looks for:** Calls such as \*Synchronize.
- **Needs:** Stacks.
- **Saving:** Replayed.
- **How well it held:** Within 3 points.

### memory_leak

Growing memory.

- **Looks for:** What stays.
- **Needs:** Memory.
- **Saving:** None.
)");
}

}  // namespace
}  // namespace telltale
