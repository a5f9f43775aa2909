#include "bindings/core/arrow_capsules.h"

namespace telltale::python {
namespace {

namespace nb = nanobind;

constexpr const char* kSchemaName = "arrow_schema";
constexpr const char* kStreamName = "arrow_array_stream";

// Whoever takes what a capsule holds marks it as released; else nobody wanted it.
template <typename Exported>
void destroy(PyObject* capsule, const char* name) {
  auto* const exported = static_cast<Exported*>(PyCapsule_GetPointer(capsule, name));
  if (exported->release != nullptr) exported->release(exported);
  delete exported;
}

template <typename Exported>
nb::object capsule_of(std::unique_ptr<Exported> exported, const char* name, PyCapsule_Destructor destructor) {
  nb::object capsule = nb::steal(PyCapsule_New(exported.get(), name, destructor));
  if (!capsule.is_valid()) {
    exported->release(exported.get());
    throw nb::python_error();
  }
  static_cast<void>(exported.release());
  return capsule;
}

}  // namespace

nb::object schema_capsule(const std::shared_ptr<const ArrowTable>& table) {
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(table, *schema);
  return capsule_of(std::move(schema), kSchemaName,
                    [](PyObject* capsule) { destroy<ArrowSchema>(capsule, kSchemaName); });
}

nb::object stream_capsule(const std::shared_ptr<const ArrowTable>& table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_stream(table, *stream);
  return capsule_of(std::move(stream), kStreamName,
                    [](PyObject* capsule) { destroy<ArrowArrayStream>(capsule, kStreamName); });
}

}  // namespace telltale::python
