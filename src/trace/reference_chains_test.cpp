#include "trace/reference_chains.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

Trace with(std::string value) {
  Trace trace;
  trace.metadata.push_back({"referrers", std::move(value)});
  return trace;
}

TEST(ReferenceChains, are_read_from_the_header) {
  const auto chains = reference_chains(
      with(R"([{"address":4096,"bytes":64,"alike":2,"chain":["Tensor [16]","list of 2","variable 'kept' of main"]}])"));
  ASSERT_TRUE(chains);
  ASSERT_EQ(chains->size(), 1);
  EXPECT_EQ((*chains)[0].address, 4096u);
  EXPECT_EQ((*chains)[0].links, (std::vector<std::string>{"Tensor [16]", "list of 2", "variable 'kept' of main"}));
  EXPECT_EQ(reference_chains(with(R"("[{\"address\":1,\"chain\":[]}]")"))->size(), 1);
}

TEST(ReferenceChains, know_the_operators_of_graphs) {
  const auto chains = reference_chains(with(
      R"([{"address":0,"chain":["Tensor []"],"graph":[[30,34],[7,7],[1],"x",[2,"3"]]},{"address":1,"chain":[],"graph":3}])"));
  ASSERT_EQ(chains->size(), 2);
  for (const std::int64_t number : {30, 32, 34, 7}) EXPECT_TRUE((*chains)[0].keeps_graph_of(number)) << number;
  for (const std::int64_t number : {29, 35, 6, 8, 2, 1}) EXPECT_FALSE((*chains)[0].keeps_graph_of(number)) << number;
  EXPECT_FALSE((*chains)[1].keeps_graph_of(3));
}

TEST(ReferenceChains, are_told_from_those_that_nobody_looked_for) {
  EXPECT_FALSE(reference_chains(Trace()));
  EXPECT_TRUE(reference_chains(with("[]"))->empty());
}

TEST(ReferenceChains, that_are_written_otherwise_are_passed_over) {
  for (const char* text : {"", "nonsense", "{}", "[1]", R"([{"chain":["a"]}])", R"([{"address":-1,"chain":["a"]}])",
                           R"([{"address":1,"chain":"a"}])", R"([{"address":1,"chain":[1]}])"})
    EXPECT_TRUE(reference_chains(with(text))->empty()) << text;
}

}  // namespace
}  // namespace telltale
