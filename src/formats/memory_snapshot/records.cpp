#include "formats/memory_snapshot/records.h"

#include <string_view>

namespace telltale::memory_snapshot {
namespace {

struct Name {
  std::string_view text;
  Field field;
};

// As torch/csrc/cuda/Module.cpp and memory_snapshot.cpp write them, those of older versions included.
constexpr Name kNames[] = {
    {"segments", Field::kSegments},
    {"device_traces", Field::kDeviceTraces},
    {"allocator_settings", Field::kSettings},
    {"external_annotations", Field::kAnnotations},
    {"device", Field::kDevice},
    {"address", Field::kAddress},
    {"addr", Field::kAddress},
    {"total_size", Field::kTotalSize},
    {"stream", Field::kStream},
    {"segment_type", Field::kSegmentType},
    {"segment_pool_id", Field::kPool},
    {"pool_id", Field::kPool},
    {"is_expandable", Field::kIsExpandable},
    {"frames", Field::kFrames},
    {"blocks", Field::kBlocks},
    {"size", Field::kSize},
    {"requested_size", Field::kRequestedSize},
    {"state", Field::kState},
    {"history", Field::kHistory},
    {"real_size", Field::kRealSize},
    {"action", Field::kAction},
    {"device_free", Field::kDeviceFree},
    {"time_us", Field::kTime},
    {"compile_context", Field::kCompileContext},
    {"user_metadata", Field::kUserMetadata},
    {"filename", Field::kFilename},
    {"line", Field::kLine},
    {"name", Field::kName},
    {"stage", Field::kStage},
    {"max_split_size", Field::kMaxSplitSize},
    {"roundup_power2_divisions", Field::kDivisions},
};

// A dict may be named by every entry of a file: it must not take long each time.
constexpr int kMostKeys = 64;

}  // namespace

Field Records::field_of(ValueId key) {
  std::uint8_t& known = fields_[key];
  if (known != kNotSeen) return static_cast<Field>(known);
  known = static_cast<std::uint8_t>(Field::kUnknown);
  if (const auto text = values_.as_text(key))
    for (const Name& name : kNames)
      if (name.text == *text) known = static_cast<std::uint8_t>(name.field);
  return static_cast<Field>(known);
}

bool Records::read(ValueId dict, Record& record) {
  record.values.fill(kNoValue);
  if (!values_.is_dict(dict)) return false;
  int items = 0;
  Field field = Field::kUnknown;
  values_.each_item(dict, [&](ValueId item) {
    if (items % 2 == 0)
      field = field_of(item);
    else if (field != Field::kUnknown)
      record.values[static_cast<std::size_t>(field)] = item;
    return ++items <= 2 * kMostKeys;
  });
  return items <= 2 * kMostKeys;
}

}  // namespace telltale::memory_snapshot
