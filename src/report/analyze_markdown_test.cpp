#include "report/analyze_markdown.h"

#include <gtest/gtest.h>

#include "report/analyze_words.h"
#include "report/testing/sample_diagnosis.h"

namespace telltale {
namespace {

std::string text_of(const SampleDiagnosis& sample) { return analyze_markdown(sample.diagnosis, sample.trace); }

TEST(AnalyzeMarkdown, starts_with_the_headline_and_the_breakdown) {
  const std::string expected = R"(### train.json.gz · NVIDIA H200 · 3 steps

A step takes about 48.5 ms unprofiled (44.1 to 52.0 ms; 58.0 ms as recorded: recording made it 20 % slower). The GPU is busy 71 % of the recorded step, mostly with matmul; otherwise it waits, mostly for the host to launch work.

| a step of 58.0 ms, as recorded | time | % |
|---|--:|--:|
| matmul | 18.0 ms | 31 |
| attention | 12.8 ms | 22 |
| elementwise | 6.38 ms | 11 |
| other | 4.06 ms | 7.0 |
| idle: launching | 10.4 ms | 18 |
| idle: sync | 4.64 ms | 8.0 |
| idle: data loading | 1.74 ms | 3.0 |

| | finding | saves per step | % | low to high | where |
|--:|---|--:|--:|--:|---|
| 1 | Attention runs as five kernels a layer | 12.1 ms | 25 | 20 to 28 | models/gpt2.py:312 in attend |
| 2 | The host stops for the GPU once a step | 2.42 ms | 5.0 | 0 to 10 | train.py:31 in step |
| 3 | The GPU waits for the data loader | 485 µs | 1.0 | 1.0 |  |
| 4 | Memory grows by 64 MiB a step | – | – | – |  |
)";
  EXPECT_EQ(text_of(sample_diagnosis()).substr(0, expected.size()), expected);
}

TEST(AnalyzeMarkdown, keeps_code_and_evidence_in_details) {
  const std::string text = text_of(sample_diagnosis());
  EXPECT_NE(text.find(R"(
<details>
<summary>4. Memory grows by 64 MiB a step</summary>

Each step leaves its graph alive.

Detach what you keep.

```diff
- losses.append(loss)
+ losses.append(loss.detach())
```

Rule `memory_leak`, medium confidence.
</details>
)"),
            std::string::npos);
  EXPECT_NE(text.find("\n- ampere\\_sgemm\\_128x64\\_tn: 20.0 ms, at 117 ms\n"), std::string::npos);
}

TEST(AnalyzeMarkdown, ends_with_what_to_know_before_trusting_it) {
  EXPECT_TRUE(
      text_of(sample_diagnosis())
          .ends_with("\nShapes were not recorded, so that rules about shapes are silent. 1 thing in the file was "
                     "repaired: telltale info shows it.\n"));
}

TEST(AnalyzeMarkdown, says_plainly_that_nothing_was_found) {
  const std::string text = text_of(healthy_host_diagnosis());
  EXPECT_NE(text.find("\nNo rule found anything whose fix would save time or memory.\n"), std::string::npos);
  EXPECT_EQ(text.find("| finding |"), std::string::npos);
}

TEST(AnalyzeMarkdown, lets_no_name_be_markup) {
  const std::string text = text_of(sample_diagnosis("</details>|<img src=x>\n# *a* [b](c) `d` \xff"));
  EXPECT_EQ(text.find("<img"), std::string::npos);
  EXPECT_EQ(text.find("\n# "), std::string::npos);
  EXPECT_NE(text.find("- &lt;/details&gt;\\|&lt;img src=x&gt; \\# \\*a\\* \\[b\\](c) \\`d\\` \xEF\xBF\xBD: 20.0 ms"),
            std::string::npos)
      << text;
}

TEST(AnalyzeMarkdown, fences_code_that_has_fences) {
  SampleDiagnosis sample = sample_diagnosis();
  sample.diagnosis.findings[0].fix.code = "+ a\n```\n<img src=x>";
  EXPECT_NE(text_of(sample).find("\n````diff\n+ a\n```\n<img src=x>\n````\n"), std::string::npos);
}

TEST(AnalyzeMarkdown, has_tables_of_requests_threads_and_counters) {
  SampleDiagnosis sample = server_diagnosis();
  sample.diagnosis.host.threads[1].name = "a|b";
  const std::string expected = R"(
| repeats | times | p50 | p90 | p99 | max | waits |
|---|--:|--:|--:|--:|--:|--:|
| request | 851 | 6.68 ms | 9.58 ms | 13.3 ms | 17.4 ms | 72 % |
| batch | 251 | 2.39 ms | 4.59 ms | 9.68 ms | 12.3 ms | – |

| thread | busy of 2.00 s | in, % |
|---|--:|---|
| worker 0 | 38 % | layer 36 · batch 2 |
| a\|b | 30 % | layer 30 |
| clients | 0.2 % |  |

| counter | mean | least | most |
|---|--:|--:|--:|
| queue depth | 1.45 | 0 | 8 |
)";
  const std::string text = text_of(sample);
  EXPECT_NE(text.find(expected), std::string::npos) << text;
  EXPECT_EQ(text.find(kNothingFound), std::string::npos);
}

TEST(RulesMarkdown, lists_all_and_tells_of_each_what_is_known) {
  const RuleInfo rules[] = {
      {"host_sync",
       "Waits within a step",
       "Calls such as *Synchronize.",
       "Stacks.",
       {},
       "Replayed.",
       "Within 3 points."},
      {"memory_leak", "Growing memory", "What stays.", "Memory.", {}, "None.", ""},
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
