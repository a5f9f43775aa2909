#include "capture/nvml/visible_devices.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace telltale::capture {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> entries;
  while (true) {
    const std::size_t comma = list.find(',');
    entries.push_back(trimmed(list.substr(0, comma)));
    if (comma == std::string_view::npos) return entries;
    list.remove_prefix(comma + 1);
  }
}

std::optional<std::size_t> index_in(std::string_view entry) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (error != std::errc() || end != entry.data() + entry.size()) return std::nullopt;
  return index;
}

// The one device whose UUID begins like this.
std::optional<std::size_t> with_uuid(const std::vector<PhysicalDevice>& all, std::string_view beginning) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].uuid.starts_with(beginning)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace

std::vector<VisibleDevice> visible_devices(const std::vector<PhysicalDevice>& all, const char* cuda_visible_devices,
                                           const char* cuda_device_order) {
  const auto is_like_first = [&](const PhysicalDevice& device) { return device.name == all.front().name; };
  const bool is_order_known = std::ranges::all_of(all, is_like_first) ||
                              (cuda_device_order != nullptr && std::string_view(cuda_device_order) == "PCI_BUS_ID");

  std::vector<VisibleDevice> visible;
  if (cuda_visible_devices == nullptr || (!is_order_known && index_in(split(cuda_visible_devices).front()))) {
    // Where indices do not tell which devices they mean, those that the process lacks are here, too.
    for (std::size_t i = 0; i < all.size(); ++i)
      visible.push_back({i, is_order_known ? std::optional(static_cast<unsigned>(i)) : std::nullopt});
    return visible;
  }
  unsigned number = 0;
  for (const std::string_view entry : split(cuda_visible_devices)) {
    if (!entry.starts_with("MIG-")) {
      const std::optional<std::size_t> index = entry.starts_with("GPU-") ? with_uuid(all, entry) : index_in(entry);
      // CUDA takes what stands before the first entry that is none.
      if (!index || *index >= all.size()) break;
      // It has no devices at all when one is named twice.
      if (std::ranges::find(visible, *index, &VisibleDevice::index) != visible.end()) return {};
      visible.push_back({*index, number});
    }
    ++number;
  }
  return visible;
}

}  // namespace telltale::capture
