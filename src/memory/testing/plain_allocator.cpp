#include "memory/testing/plain_allocator.h"

#include <algorithm>

namespace telltale {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

// All divisions are the same here: the smallest of the sizes between two powers of two that is large enough.
std::int64_t block_size(std::int64_t requested, const AllocatorSettings& settings) {
  const std::int64_t divisions = settings.roundup_power2_divisions[0];
  if (requested < 512) return 512;
  if (divisions <= 1 || requested <= 512 * divisions) return rounded_up(requested, 512);
  std::int64_t power = 1;
  while (2 * power <= requested) power *= 2;
  for (std::int64_t step = 0; step <= divisions; ++step)
    if (power + step * power / divisions >= requested) return power + step * power / divisions;
  return 2 * power;
}

}  // namespace

std::int64_t& PlainAllocator::searches(StringId pool, bool is_small) {
  for (auto& [owner, small, count] : searches_)
    if (owner == pool && small == is_small) return count;
  searches_.emplace_back(pool, is_small, 0);
  return std::get<2>(searches_.back());
}

std::uint64_t PlainAllocator::take_addresses(std::int64_t bytes) {
  const std::uint64_t address = next_address_;
  next_address_ += static_cast<std::uint64_t>(rounded_up(bytes, 20 * kMiB));
  return address;
}

bool PlainAllocator::is_live(std::uint64_t from, std::uint64_t to) const {
  return std::ranges::any_of(live_, [&](const Live& block) {
    return block.address < to && from < block.address + static_cast<std::uint64_t>(block.bytes);
  });
}

std::vector<PlainAllocator::Free> PlainAllocator::free_blocks(bool is_small, std::uint64_t stream,
                                                              StringId pool) const {
  std::vector<Free> found;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.is_small != is_small || segment.stream != stream || segment.pool != pool) continue;
    // Every border that there is: of live blocks and of pages.
    std::vector<std::int64_t> borders{0, segment.bytes};
    for (const Live& block : live_) {
      const auto at = static_cast<std::int64_t>(block.address - segment.address);
      if (block.address < segment.address || at >= segment.bytes) continue;
      borders.push_back(at);
      borders.push_back(at + block.bytes);
    }
    for (std::size_t page = 0; page < segment.pages.size(); ++page)
      if (page == 0 || segment.pages[page] != segment.pages[page - 1])
        borders.push_back(static_cast<std::int64_t>(page) * segment.page());
    std::ranges::sort(borders);
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    bool joins = false, grows = false;
    for (std::size_t b = 0; b + 1 < borders.size(); ++b) {
      const std::uint64_t from = segment.address + static_cast<std::uint64_t>(borders[b]);
      const std::int64_t bytes = borders[b + 1] - borders[b];
      const bool is_mapped =
          segment.pages.empty() || segment.pages[static_cast<std::size_t>(borders[b] / segment.page())];
      const bool is_free = !is_live(from, from + static_cast<std::uint64_t>(bytes));
      if (is_free && is_mapped && joins) {
        found.back().bytes += bytes;
        found.back().reach += bytes;
      } else if (is_free && is_mapped) {
        found.push_back({bytes, from, bytes, false, segment.is_expandable, i});
      } else if (is_free && (joins || grows)) {
        found.back().reach += bytes;
      }
      grows = is_free && !is_mapped && (joins || grows);
      joins = is_free && is_mapped;
    }
    if (!found.empty() && found.back().segment == i)
      found.back().is_whole = found.back().bytes == segment.bytes && !segment.is_expandable;
  }
  std::ranges::sort(found, {}, [](const Free& each) { return std::pair(each.bytes, each.address); });
  return found;
}

std::optional<std::uint64_t> PlainAllocator::fitting(std::int64_t size, bool is_small, std::uint64_t stream,
                                                     StringId pool) const {
  const std::vector<Free> free = free_blocks(is_small, stream, pool);
  std::size_t i = 0;
  while (i < free.size() && free[i].bytes < size) ++i;
  if (i == free.size()) return std::nullopt;
  while (free[i].is_expandable && i + 1 < free.size() && free[i + 1].reach < free[i].reach) ++i;
  const std::int64_t limit = settings_.max_split_size;
  if (size < limit && free[i].bytes >= limit) return std::nullopt;
  if (size >= limit && free[i].bytes >= size + 20 * kMiB) return std::nullopt;
  return free[i].address;
}

std::optional<std::uint64_t> PlainAllocator::expanded(std::int64_t size, bool is_small, std::uint64_t stream,
                                                      StringId pool) {
  struct Place {
    std::uint64_t address;
    Segment* segment;
  };
  std::optional<Place> best;
  for (Segment& segment : segments_) {
    if (!segment.is_expandable || segment.is_small != is_small || segment.stream != stream || segment.pool != pool)
      continue;
    const std::vector<Free> free = free_blocks(is_small, stream, pool);
    for (std::size_t page = 0; page < segment.pages.size(); ++page) {
      if (segment.pages[page] || (page > 0 && !segment.pages[page - 1])) continue;
      std::uint64_t from = segment.address + page * static_cast<std::uint64_t>(segment.page());
      const std::uint64_t unmapped = from;
      for (const Free& each : free)
        if (each.address + static_cast<std::uint64_t>(each.bytes) == from) from = each.address;
      const std::uint64_t to = from + static_cast<std::uint64_t>(size);
      if (to > segment.address + static_cast<std::uint64_t>(segment.bytes) || is_live(from, to)) continue;
      if (!best || unmapped < best->address) best = Place{from, &segment};
      break;
    }
  }
  if (!best) {
    if (size > limits_.address_space) return std::nullopt;
    const std::int64_t space = rounded_up(limits_.address_space, 20 * kMiB);
    Segment made{take_addresses(space), space, stream, pool, is_small, true, {}};
    made.pages.resize(static_cast<std::size_t>(space / made.page()));
    segments_.push_back(made);
    best = Place{made.address, &segments_.back()};
  }
  Segment& segment = *best->segment;
  const auto at = static_cast<std::int64_t>(best->address - segment.address);
  const auto last = static_cast<std::size_t>((at + size - 1) / segment.page());
  for (auto page = static_cast<std::size_t>(at / segment.page()); page <= last;) {
    std::size_t end = page;
    while (end <= last && !segment.pages[end]) ++end;
    if (totals().reserved + static_cast<std::int64_t>(end - page) * segment.page() > limits_.device)
      return std::nullopt;  // what was mapped so far stays
    for (; page < end; ++page) segment.pages[page] = true;
    if (page <= last) ++page;
  }
  return best->address;
}

std::optional<std::uint64_t> PlainAllocator::new_room(std::int64_t size, bool is_small, std::uint64_t stream,
                                                      StringId pool) {
  const std::int64_t segment = size <= kMiB ? 2 * kMiB : size < 10 * kMiB ? 20 * kMiB : rounded_up(size, 2 * kMiB);
  const std::int64_t reserved = totals().reserved;
  if (limits_.allowed && reserved + segment > *limits_.allowed) return std::nullopt;
  if (settings_.expandable_segments) return expanded(size, is_small, stream, pool);
  if (reserved + segment > limits_.device) return std::nullopt;
  const std::uint64_t address = limits_.segments_descend
                                    ? lowest_address_ -= static_cast<std::uint64_t>(rounded_up(segment, 20 * kMiB))
                                    : take_addresses(segment);
  segments_.push_back({address, segment, stream, pool, is_small, false, {}});
  return segments_.back().address;
}

std::optional<std::uint64_t> PlainAllocator::allocate(std::int64_t requested, std::uint64_t stream, StringId pool) {
  const std::int64_t size = block_size(requested, settings_);
  const bool is_small = size <= kMiB;
  const bool collects = limits_.allowed && settings_.garbage_collection_threshold > 0;
  if (collects) ++searches(pool, is_small);
  auto address = fitting(size, is_small, stream, pool);
  if (!address) {
    if (collects) collect_garbage();
    address = new_room(size, is_small, stream, pool);
    if (!address && release_oversize(size, is_small, stream, pool)) address = new_room(size, is_small, stream, pool);
    if (!address && pool == kEmptyString) {
      empty_cache();
      address = new_room(size, is_small, stream, pool);
    }
  }
  if (!address) return std::nullopt;
  for (const Free& each : free_blocks(is_small, stream, pool)) {
    if (each.address != *address) continue;
    const std::int64_t rest = each.bytes - size;
    const bool splits =
        is_small || settings_.expandable_segments ? rest >= 512 : size < settings_.max_split_size && rest > kMiB;
    live_.push_back({*address, splits ? size : each.bytes, requested});
    return address;
  }
  return std::nullopt;
}

void PlainAllocator::request_free(std::uint64_t address) {
  for (Live& block : live_)
    if (block.address == address) block.awaits_free = true;
}

void PlainAllocator::complete_free(std::uint64_t address) {
  std::erase_if(live_, [&](const Live& block) { return block.address == address; });
  for (Segment& segment : segments_)
    if (segment.address <= address && address < segment.address + static_cast<std::uint64_t>(segment.bytes))
      segment.free_since = searches(segment.pool, segment.is_small);
}

void PlainAllocator::drop(std::uint64_t address) {
  std::erase_if(segments_, [&](const Segment& segment) { return segment.address == address; });
}

void PlainAllocator::empty_cache() {
  std::vector<std::uint64_t> done;
  for (const Live& block : live_)
    if (block.awaits_free) done.push_back(block.address);
  for (const std::uint64_t address : done) complete_free(address);
  for (Segment& segment : segments_) {
    if (segment.pool != kEmptyString) continue;
    for (std::size_t page = 0; page < segment.pages.size(); ++page) {
      const std::uint64_t from = segment.address + page * static_cast<std::uint64_t>(segment.page());
      if (!is_live(from, from + static_cast<std::uint64_t>(segment.page()))) segment.pages[page] = false;
    }
  }
  std::erase_if(segments_, [&](const Segment& segment) {
    return segment.pool == kEmptyString &&
           !is_live(segment.address, segment.address + static_cast<std::uint64_t>(segment.bytes));
  });
}

void PlainAllocator::collect_garbage() {
  const auto threshold =
      static_cast<std::int64_t>(settings_.garbage_collection_threshold * static_cast<double>(*limits_.allowed));
  std::int64_t target = totals().reserved - threshold;
  while (target > 0) {
    std::vector<std::pair<std::int64_t, std::uint64_t>> ages;
    double sum = 0;
    for (const Segment& segment : segments_) {
      if (segment.is_small || segment.is_expandable || segment.pool != kEmptyString ||
          is_live(segment.address, segment.address + static_cast<std::uint64_t>(segment.bytes)))
        continue;
      ages.emplace_back(searches(kEmptyString, false) - segment.free_since, segment.address);
      sum += static_cast<double>(ages.back().first);
    }
    if (ages.empty()) return;
    const double average = sum / static_cast<double>(ages.size());
    for (const auto& [age, address] : ages) {
      if (static_cast<double>(age) < average) continue;
      for (const Segment& segment : segments_)
        if (segment.address == address) target -= segment.bytes;
      drop(address);
    }
  }
}

bool PlainAllocator::release_oversize(std::int64_t size, bool is_small, std::uint64_t stream, StringId pool) {
  if (settings_.max_split_size == AllocatorSettings::kUnlimited) return false;
  const std::int64_t least = std::max(size, settings_.max_split_size);
  for (const Free& each : free_blocks(is_small, stream, pool)) {
    if (each.bytes < least) continue;
    if (!each.is_whole) return false;
    drop(each.address);
    return true;
  }
  for (std::int64_t released = 0; released < least;) {
    const std::vector<Free> free = free_blocks(is_small, stream, pool);
    if (free.empty() || free.back().bytes < settings_.max_split_size || !free.back().is_whole) return false;
    released += free.back().bytes;
    drop(free.back().address);
  }
  return true;
}

std::map<std::uint64_t, std::int64_t> PlainAllocator::mapped() const {
  std::map<std::uint64_t, std::int64_t> ranges;
  for (const Segment& segment : segments_) {
    if (!segment.is_expandable) ranges[segment.address] = segment.bytes;
    for (std::size_t page = 0; page < segment.pages.size(); ++page)
      if (segment.pages[page])
        ranges[segment.address + page * static_cast<std::uint64_t>(segment.page())] = segment.page();
  }
  return ranges;
}

AllocatorTotals PlainAllocator::totals() const {
  AllocatorTotals sum;
  for (const Segment& segment : segments_)
    sum.reserved += segment.is_expandable ? std::ranges::count(segment.pages, true) * segment.page() : segment.bytes;
  for (const Live& block : live_) {
    sum.active += block.bytes;
    sum.requested += block.requested;
    if (!block.awaits_free) sum.allocated += block.bytes;
  }
  return sum;
}

}  // namespace telltale
