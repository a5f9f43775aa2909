#include "bindings/core/arrow_table.h"

#include <cerrno>
#include <new>

namespace telltale::python {
namespace {

using SharedTable = std::shared_ptr<const ArrowTable>;

// Releases what it points to, unless a reader has taken it over and marked it so.
template <typename Node>
struct Releases {
  void operator()(Node* node) const {
    if (node->release != nullptr) node->release(node);
    delete node;
  }
};
template <typename Node>
using OwnedNode = std::unique_ptr<Node, Releases<Node>>;

// What an exported schema or array (both are `Node`) points to; deleted when that is released.
template <typename Node>
struct Held {
  SharedTable table;
  std::vector<const void*> buffers{};
  std::vector<OwnedNode<Node>> children{};
  std::vector<Node*> child_pointers{};
  OwnedNode<Node> dictionary{};

  Node& add_child() { return *children.emplace_back(new Node{}); }
  Node& add_dictionary() {
    dictionary.reset(new Node{});
    return *dictionary;
  }
};

template <typename Node>
void release(Node* node) {
  node->release = nullptr;
  delete static_cast<Held<Node>*>(node->private_data);
}

// Hands `held` to `out`. Children and dictionary are exported by then.
template <typename Node>
void give(std::unique_ptr<Held<Node>> held, Node& out) {
  for (const auto& child : held->children) held->child_pointers.push_back(child.get());
  out.n_children = static_cast<std::int64_t>(held->children.size());
  out.children = held->child_pointers.data();
  out.dictionary = held->dictionary.get();
  out.release = release<Node>;
  out.private_data = held.release();
}

void export_column(const SharedTable& table, const ArrowColumn& column, ArrowSchema& out) {
  auto held = std::make_unique<Held<ArrowSchema>>(Held<ArrowSchema>{table});
  for (const ArrowColumn& child : column.children) export_column(table, child, held->add_child());
  if (column.dictionary) export_column(table, *column.dictionary, held->add_dictionary());
  out = {.format = column.format.c_str(),
         .name = column.name.c_str(),
         .flags = column.may_be_null ? ARROW_FLAG_NULLABLE : 0};
  give(std::move(held), out);
}

void export_column(const SharedTable& table, const ArrowColumn& column, ArrowArray& out) {
  auto held = std::make_unique<Held<ArrowArray>>(Held<ArrowArray>{table});
  for (const auto& buffer : column.buffers) held->buffers.push_back(buffer.get());
  for (const ArrowColumn& child : column.children) export_column(table, child, held->add_child());
  if (column.dictionary) export_column(table, *column.dictionary, held->add_dictionary());
  out = {.length = column.length,
         .null_count = column.null_count,
         .n_buffers = static_cast<std::int64_t>(held->buffers.size()),
         .buffers = held->buffers.data()};
  give(std::move(held), out);
}

void export_rows(const SharedTable& table, ArrowArray& out) {
  auto held = std::make_unique<Held<ArrowArray>>(Held<ArrowArray>{table});
  held->buffers = {nullptr};
  for (const ArrowColumn& column : table->columns) export_column(table, column, held->add_child());
  out = {.length = table->rows, .n_buffers = 1, .buffers = held->buffers.data()};
  give(std::move(held), out);
}

// A stream of one batch: the whole table.
struct Stream {
  SharedTable table;
  bool is_at_end = false;
};

Stream& stream_of(ArrowArrayStream* stream) { return *static_cast<Stream*>(stream->private_data); }

// Nothing but memory can be wanting, and no exception may leave for C.
template <typename Work>
int without_exceptions(const Work& work) {
  try {
    work();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int next_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return without_exceptions([&] { export_schema(stream_of(stream).table, *out); });
}

int next_rows(ArrowArrayStream* stream, ArrowArray* out) {
  *out = {};
  Stream& state = stream_of(stream);
  if (state.is_at_end) return 0;
  state.is_at_end = true;
  return without_exceptions([&] { export_rows(state.table, *out); });
}

const char* no_error(ArrowArrayStream* /*stream*/) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
  delete &stream_of(stream);
  stream->release = nullptr;
}

}  // namespace

void export_schema(const SharedTable& table, ArrowSchema& out) {
  auto held = std::make_unique<Held<ArrowSchema>>(Held<ArrowSchema>{table});
  for (const ArrowColumn& column : table->columns) export_column(table, column, held->add_child());
  out = {.format = "+s", .name = ""};
  give(std::move(held), out);
}

void export_stream(const SharedTable& table, ArrowArrayStream& out) {
  out = {next_schema, next_rows, no_error, release_stream, new Stream{table}};
}

}  // namespace telltale::python
