#include "record/names.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace telltale::record {
namespace {

constexpr std::size_t kArenaBytes = 256 << 10, kAlignment = 8;
constexpr std::uint32_t kMaxTextBytes = 16 << 10;  // a longer name is cut
constexpr std::uint32_t kFirstSlots = 1024;
constexpr std::uint32_t kMaxFields = 64;
// What an element has in its index, which is at least twice as large as what is in it, and its forerunners.
constexpr std::size_t kIndexBytes = 16;
constexpr char kTooManyNames[] = "(too many names)";

// FNV-1a.
constexpr std::uint32_t kHashStart = 2166136261u, kHashFactor = 16777619u;

std::uint32_t hash_of_text(const char* text, std::uint32_t size) {
  std::uint32_t hash = kHashStart;
  for (std::uint32_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * kHashFactor;
  return hash;
}

std::uint32_t hash_of_site(std::uint32_t name, std::uint32_t file, std::uint32_t line, std::uint32_t kind) {
  std::uint32_t hash = kHashStart;
  for (const std::uint32_t part : {name, file, line, kind}) hash = (hash ^ part) * kHashFactor;
  return hash ^ (hash >> 15);
}

std::uint32_t size_of(const char* text) {
  return text == nullptr ? 0 : static_cast<std::uint32_t>(strnlen(text, kMaxTextBytes));
}

}  // namespace

template <typename IsIt>
std::uint32_t Names::Index::find(std::uint32_t hash, IsIt is_it) const {
  const Table* table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return 0;
  for (std::uint32_t at = hash & table->mask;; at = (at + 1) & table->mask) {
    const std::uint32_t number = table->slots[at].load(std::memory_order_acquire);
    if (number == 0 || is_it(number)) return number;
  }
}

template <typename HashOf>
bool Names::Index::grow(std::uint32_t used, HashOf hash_of) {
  const Table* table = table_.load(std::memory_order_relaxed);
  if (table != nullptr && used * 2 < table->mask) return true;
  const std::uint32_t slots = table == nullptr ? kFirstSlots : (table->mask + 1) * 2;
  auto* larger = static_cast<Table*>(map_pages(sizeof(Table) + slots * sizeof(std::uint32_t)));
  if (larger == nullptr) return false;
  larger->mask = slots - 1;
  for (std::uint32_t number = 1; number <= used; ++number) insert(*larger, hash_of(number), number);
  table_.store(larger, std::memory_order_release);
  return true;
}

void Names::Index::insert(Table& table, std::uint32_t hash, std::uint32_t number) {
  std::uint32_t at = hash & table.mask;
  while (table.slots[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & table.mask;
  table.slots[at].store(number, std::memory_order_release);
}

void Names::Index::insert(std::uint32_t hash, std::uint32_t number) {
  insert(*table_.load(std::memory_order_relaxed), hash, number);
}

bool Names::has_room(std::size_t bytes, bool is_list_full) {
  if (!is_list_full && budget_.take_for_names(bytes)) return true;
  losses_.add(tell::LossReason::kNameNotKept, 1);
  return false;
}

// Memory that is never given back.
void* Names::keep(std::size_t size) {
  size = (size + kAlignment - 1) / kAlignment * kAlignment;
  if (size > arena_left_) {
    arena_ = static_cast<char*>(map_pages(kArenaBytes));
    arena_left_ = arena_ == nullptr ? 0 : kArenaBytes;
    if (arena_ == nullptr) return nullptr;
  }
  char* kept = arena_;
  arena_ += size;
  arena_left_ -= size;
  return kept;
}

// Null without memory.
const telltale_field* Names::fields_of_handle(const Site& site) {
  FieldList* const list = std::ranges::find_if(field_lists_, [&](const FieldList& each) {
    return each.first == site.first_field && each.count == site.field_count;
  });
  const bool is_listed = list != std::end(field_lists_);
  if (is_listed && list->of_handles != nullptr) return list->of_handles;
  if (!has_room(site.field_count * sizeof(telltale_field))) return nullptr;
  auto* fields = static_cast<telltale_field*>(keep(site.field_count * sizeof(telltale_field)));
  for (std::uint32_t i = 0; fields != nullptr && i < site.field_count; ++i)
    fields[i] = {nullptr, fields_[site.first_field + i].type, 0};
  if (is_listed) list->of_handles = fields;
  return fields;
}

std::uint32_t Names::find(const char* text, std::uint32_t size, std::uint32_t hash) const {
  return text_index_.find(hash, [&](std::uint32_t number) {
    const Text& known = texts_[number - 1];
    return known.hash == hash && known.size == size && std::memcmp(known.data, text, size) == 0;
  });
}

std::uint32_t Names::intern(const char* text) {
  const std::uint32_t size = size_of(text);
  if (size == 0) return 0;
  if (const std::uint32_t known = find(text, size, hash_of_text(text, size)); known != 0) return known;
  const UninterruptedLock lock(mutex_);
  return lock.is_held() ? intern_locked(text) : 0;
}

std::uint32_t Names::intern_locked(const char* text) {
  const std::uint32_t size = size_of(text);
  if (size == 0) return 0;
  const std::uint32_t hash = hash_of_text(text, size);
  if (const std::uint32_t known = find(text, size, hash); known != 0) return known;
  if (!has_room(sizeof(Text) + kIndexBytes + size + 1, texts_.size() + 1 >= texts_.kCapacity)) return 0;
  return keep_text(text, size, hash);
}

std::uint32_t Names::keep_text(const char* text, std::uint32_t size, std::uint32_t hash) {
  if (!text_index_.grow(texts_.size(), [this](std::uint32_t number) { return texts_[number - 1].hash; })) return 0;
  auto* copy = static_cast<char*>(keep(size + 1));  // pages are zeroed, so it ends with a zero
  if (copy == nullptr) return 0;
  std::memcpy(copy, text, size);
  if (!texts_.append({copy, size, hash})) return 0;
  text_index_.insert(hash, texts_.size());
  return texts_.size();
}

bool Names::is_text(std::uint32_t number, const char* text) const {
  const std::uint32_t size = size_of(text);
  if (number == 0) return size == 0;
  const Text& known = texts_[number - 1];
  return known.size == size && std::memcmp(known.data, text, size) == 0;
}

bool Names::is_same(const Site& known, const telltale_site& site) const {
  if (known.line != site.line || known.kind != site.kind || known.field_count != std::min(site.field_count, kMaxFields))
    return false;
  if (!is_text(known.name, site.name) || !is_text(known.category, site.category) || !is_text(known.file, site.file) ||
      !is_text(known.function, site.function))
    return false;
  return are_fields(known.first_field, site, known.field_count);
}

bool Names::are_fields(std::uint32_t first, const telltale_site& site, std::uint32_t count) const {
  for (std::uint32_t i = 0; i < count; ++i) {
    const Field& field = fields_[first + i];
    if (field.type != site.fields[i].type || !is_text(field.name, site.fields[i].name)) return false;
  }
  return true;
}

std::uint32_t Names::first_field_of(const telltale_site& site, std::uint32_t count) {
  if (count == 0) return 0;
  for (const FieldList& list : field_lists_)
    if (list.count == count && are_fields(list.first, site, count)) return list.first;
  const std::uint32_t first = fields_.size();
  if (!has_room(count * sizeof(Field), first + count > fields_.kCapacity)) return kNoNumber;
  for (std::uint32_t i = 0; i < count; ++i)
    if (!fields_.append({intern_locked(site.fields[i].name), site.fields[i].type})) return kNoNumber;
  field_lists_[next_field_list_++ % kFieldLists] = {first, count, nullptr};
  return first;
}

std::uint32_t Names::hash_of_known(std::uint32_t site) const {
  const Site& known = sites_[site - 1];
  return hash_of_site(known.name, known.file, known.line, known.kind);
}

// 0 when it has no number yet.
std::uint32_t Names::find(const telltale_site& site) const {
  const auto number_of_text = [this](const char* text) {
    const std::uint32_t size = size_of(text);
    return size == 0 ? 0 : find(text, size, hash_of_text(text, size));
  };
  const std::uint32_t hash = hash_of_site(number_of_text(site.name), number_of_text(site.file), site.line, site.kind);
  return site_index_.find(hash, [&](std::uint32_t number) { return is_same(sites_[number - 1], site); });
}

std::uint32_t Names::number_of(const telltale_site& site) {
  if (const std::uint32_t known = find(site); known != 0) return known;
  const UninterruptedLock lock(mutex_);
  return lock.is_held() ? number_locked(site) : kNoNumber;
}

// There is always room for it.
std::uint32_t Names::overflow_site(std::uint32_t kind) {
  if (kind >= kKinds) kind = TELLTALE_KIND_SCOPE;
  std::uint32_t& shared = overflow_sites_[kind];
  if (shared == 0) {
    constexpr std::uint32_t kSize = sizeof kTooManyNames - 1;
    const std::uint32_t hash = hash_of_text(kTooManyNames, kSize);
    Site site{};
    site.kind = kind;
    site.name = find(kTooManyNames, kSize, hash);
    if (site.name == 0) site.name = keep_text(kTooManyNames, kSize, hash);
    if (sites_.append(site)) shared = sites_.size();
  }
  return shared;
}

std::uint32_t Names::number_locked(const telltale_site& site) {
  if (const std::uint32_t known = find(site); known != 0) return known;
  Site fresh{};
  fresh.name = intern_locked(site.name);
  if (fresh.name == 0 && size_of(site.name) > 0) return overflow_site(site.kind);
  fresh.category = intern_locked(site.category);
  fresh.file = intern_locked(site.file);
  fresh.function = intern_locked(site.function);
  fresh.line = site.line;
  fresh.kind = site.kind;
  fresh.field_count = std::min(site.field_count, kMaxFields);
  if (!has_room(sizeof(Site) + kIndexBytes, sites_.size() + kKinds >= sites_.kCapacity))
    return overflow_site(site.kind);
  fresh.first_field = first_field_of(site, fresh.field_count);
  if (fresh.first_field == kNoNumber) return overflow_site(site.kind);
  if (!site_index_.grow(sites_.size(), [this](std::uint32_t number) { return hash_of_known(number); }))
    return overflow_site(site.kind);
  if (!sites_.append(fresh)) return overflow_site(site.kind);
  site_index_.insert(hash_of_known(sites_.size()), sites_.size());
  return sites_.size();
}

telltale_site* Names::handle_of(const telltale_site& description) {
  static constinit telltale_site nameless{};
  if (const std::uint32_t known = find(description); known != 0) {
    telltale_site* handle = __atomic_load_n(&sites_[known - 1].handle, __ATOMIC_ACQUIRE);
    if (handle != nullptr) return handle;
  }
  const UninterruptedLock lock(mutex_);
  const std::uint32_t number = lock.is_held() ? number_locked(description) : 0;
  if (number == 0) return &nameless;
  telltale_site* handle = handle_locked(sites_[number - 1], number);
  if (handle != nullptr) return handle;
  const std::uint32_t shared = overflow_site(description.kind);
  handle = shared == 0 ? nullptr : handle_locked(sites_[shared - 1], shared);
  return handle == nullptr ? &nameless : handle;
}

// Null without memory. What emits looks at the number and the types of the fields; all else stands here.
telltale_site* Names::handle_locked(Site& site, std::uint32_t number) {
  if (site.handle != nullptr) return site.handle;
  const bool is_shared = std::ranges::find(overflow_sites_, number) != std::end(overflow_sites_);  // always has room
  if (!is_shared && !has_room(sizeof(telltale_site), handles_.size() + kKinds >= handles_.kCapacity)) return nullptr;
  telltale_site handle{};
  handle.id = number;
  handle.field_count = site.field_count;
  if (site.field_count > 0) handle.fields = fields_of_handle(site);
  if (site.field_count > 0 && handle.fields == nullptr) return nullptr;
  if (!handles_.append(handle)) return nullptr;
  __atomic_store_n(&site.handle, &handles_[handles_.size() - 1], __ATOMIC_RELEASE);
  return site.handle;
}

std::uint32_t Names::add_track(const telltale_track& description) {
  const UninterruptedLock lock(mutex_);
  if (!lock.is_held() || !has_room(sizeof(NamedTrack), tracks_.size() >= tracks_.kCapacity)) return 0;
  const NamedTrack track{next_track_number(),
                         description.type,
                         description.clock,
                         description.device,
                         description.order,
                         description.native_id,
                         intern_locked(description.name)};
  return tracks_.append(track) ? track.number : 0;
}

}  // namespace telltale::record
