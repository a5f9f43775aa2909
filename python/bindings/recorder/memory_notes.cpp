#include "memory_notes.h"

#include <telltale/telltale.h>

#include <array>
#include <cstdint>

namespace nb = nanobind;

namespace telltale::python {
namespace {

template <std::size_t kCount>
telltale_site* made_site(const char* name, const telltale_field (&fields)[kCount]) {
  telltale_site description = {};
  description.name = name;
  description.fields = fields;
  description.field_count = kCount;
  description.kind = TELLTALE_KIND_OTHER;
  return telltale_make_site(&description);
}

template <typename... Integers>
void write(telltale_site* site, Integers... integers) {
  telltale_value values[sizeof...(integers)];
  std::size_t count = 0;
  ((values[count++].integer = static_cast<std::int64_t>(integers)), ...);
  telltale_instant(site, values);
}

void note_segment(std::uint64_t address, std::int64_t size, std::int32_t device, std::uint64_t stream, const char* pool,
                  bool is_large, bool is_expandable) {
  static constexpr telltale_field kFields[] = {
      {"Addr", TELLTALE_FIELD_TYPE_INTEGER, 0},      {"Bytes", TELLTALE_FIELD_TYPE_INTEGER, 0},
      {"Device", TELLTALE_FIELD_TYPE_INTEGER, 0},    {"Stream", TELLTALE_FIELD_TYPE_INTEGER, 0},
      {"Pool", TELLTALE_FIELD_TYPE_NAME, 0},         {"Large", TELLTALE_FIELD_TYPE_INTEGER, 0},
      {"Expandable", TELLTALE_FIELD_TYPE_INTEGER, 0}};
  static telltale_site* const site = made_site("memory segment", kFields);
  write(site, address, size, device, stream, telltale_intern(pool), is_large, is_expandable);
}

void note_block(std::uint64_t address, std::int64_t size, std::int32_t device, std::int64_t requested, int state,
                std::uint64_t segment) {
  static constexpr telltale_field kFields[] = {
      {"Addr", TELLTALE_FIELD_TYPE_INTEGER, 0},   {"Bytes", TELLTALE_FIELD_TYPE_INTEGER, 0},
      {"Device", TELLTALE_FIELD_TYPE_INTEGER, 0}, {"Requested", TELLTALE_FIELD_TYPE_INTEGER, 0},
      {"State", TELLTALE_FIELD_TYPE_INTEGER, 0},  {"Segment", TELLTALE_FIELD_TYPE_INTEGER, 0}};
  static telltale_site* const site = made_site("memory block", kFields);
  write(site, address, size, device, requested, state, segment);
}

void note_tensor(std::uint64_t address, std::int64_t size, std::int32_t device, const char* role, const char* name) {
  static constexpr telltale_field kFields[] = {{"Addr", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                               {"Bytes", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                               {"Device", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                               {"Role", TELLTALE_FIELD_TYPE_NAME, 0},
                                               {"Name", TELLTALE_FIELD_TYPE_NAME, 0}};
  static telltale_site* const site = made_site("noted tensor", kFields);
  if (telltale_is_recording()) write(site, address, size, device, telltale_intern(role), telltale_intern(name));
}

}  // namespace

void bind_memory_notes(nb::module_& module) {
  module.def("note_segment", &note_segment, nb::arg("address"), nb::arg("size"), nb::arg("device"), nb::arg("stream"),
             nb::arg("pool"), nb::arg("is_large"), nb::arg("is_expandable"),
             "A segment that CUDA's allocator holds where the recording begins.");
  module.def("note_block", &note_block, nb::arg("address"), nb::arg("size"), nb::arg("device"), nb::arg("requested"),
             nb::arg("state"), nb::arg("segment"),
             "A part of the segment at that address; the state is 0 when nobody has it, 1 when it is allocated, 2 when "
             "it waits for a stream before it is free.");
  module.def("note_tensor", &note_tensor, nb::arg("address"), nb::arg("size"), nb::arg("device"), nb::arg("role"),
             nb::arg("name"), "A tensor whose storage is there now, and what the program uses it for.");
}

}  // namespace telltale::python
