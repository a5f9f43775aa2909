// What the side tables hold about one event after another, for those who write all of it.
#pragma once

#include "trace/side_table.h"
#include "trace/trace.h"

namespace telltale {

// Used by one thread. Quick when events come in ascending order.
struct DetailWalks {
  explicit DetailWalks(const Trace& trace)
      : operators(trace.operators),
        stacks(trace.operator_stacks),
        sources(trace.sources),
        kernels(trace.kernels),
        graph_nodes(trace.graph_nodes),
        copies(trace.copies),
        syncs(trace.syncs),
        collectives(trace.collectives),
        others(trace.other_arguments) {}

  SideTableWalk<OperatorInfo> operators;
  SideTableWalk<OperatorStack> stacks;
  SideTableWalk<std::uint32_t> sources;
  SideTableWalk<KernelInfo> kernels;
  SideTableWalk<GraphNode> graph_nodes;
  SideTableWalk<CopyInfo> copies;
  SideTableWalk<SyncInfo> syncs;
  SideTableWalk<CollectiveInfo> collectives;
  SideTableWalk<StringId> others;
};

}  // namespace telltale
