#include "trace/anomalies.h"

#include <gtest/gtest.h>

#include <set>

namespace telltale {
namespace {

TEST(Anomalies, of_each_kind_have_a_word_and_a_sentence_of_their_own) {
  std::set<std::string_view> names, descriptions;
  for (int i = 0; i < kAnomalyCount; ++i) {
    const auto anomaly = static_cast<Anomaly>(i);
    names.insert(name_of(anomaly));
    descriptions.insert(description_of(anomaly));
    EXPECT_EQ(anomaly_named(name_of(anomaly)), anomaly);
    EXPECT_TRUE(description_of(anomaly).ends_with('.')) << name_of(anomaly);
  }
  EXPECT_EQ(names.size(), kAnomalyCount);
  EXPECT_EQ(descriptions.size(), kAnomalyCount);
}

TEST(Anomalies, are_counted_by_severity) {
  Anomalies anomalies;
  anomalies.add(Anomaly::kTruncated, 90);
  anomalies.add(Anomaly::kMalformedEvent, 40);
  anomalies.add_many(Anomaly::kNegativeDuration, 3, 20, "gemm");
  anomalies.add_many(Anomaly::kFlowWithoutStart, 1172, 10, "ac2g");
  EXPECT_EQ(anomalies.count(Severity::kLost), 2u);
  EXPECT_EQ(anomalies.count(Severity::kRepaired), 3u);
  EXPECT_EQ(anomalies.count(Severity::kNote), 1172u);
  EXPECT_EQ(anomalies.total(), 1177u);
}

TEST(Anomalies, that_are_notes_are_no_troubles) {
  Anomalies anomalies;
  anomalies.add(Anomaly::kFlowWithoutStart, 10);
  EXPECT_TRUE(anomalies.troubles().empty());
  anomalies.add(Anomaly::kUnmatchedBegin, 20);
  ASSERT_EQ(anomalies.troubles().size(), 1u);
  EXPECT_EQ(anomalies.troubles()[0].anomaly, Anomaly::kUnmatchedBegin);
  EXPECT_EQ(anomalies.list().size(), 2u);
}

TEST(Anomalies, have_severities_with_words) {
  EXPECT_EQ(name_of(Severity::kLost), "lost");
  EXPECT_EQ(name_of(Severity::kRepaired), "repaired");
  EXPECT_EQ(name_of(Severity::kNote), "note");
}

}  // namespace
}  // namespace telltale
