// Texts, sites and tracks by number: given once in the life of the process, written to every file that needs them.
//
// Everything is copied on the first use, so that a library that brought its sites along may be unloaded. Signal-safe:
// what is new takes a lock in which no handler runs; what has a number is found, and read, without one.
#pragma once

#include <atomic>
#include <cstdint>

#include "record/block_list.h"
#include "record/losses.h"
#include "record/memory_budget.h"
#include "record/uninterrupted.h"
#include "telltale/telltale.h"

namespace telltale::record {

struct Text {
  const char* data;  // with a zero behind it
  std::uint32_t size;
  std::uint32_t hash;
};

struct Field {
  std::uint32_t name;
  std::uint32_t type;  // telltale_field_type
};

struct Site {
  std::uint32_t name, category, file, function;
  std::uint32_t line;
  std::uint32_t kind;
  std::uint32_t first_field, field_count;
  telltale_site* handle;  // what telltale_make_site() returned for it, or null; see handle_of()
};

// Instead of a site's number, to who interrupted the numbering of another one.
inline constexpr std::uint32_t kNoNumber = UINT32_MAX;

inline constexpr std::uint32_t kKinds = TELLTALE_KIND_DEVICE_ANNOTATION + 1;

struct NamedTrack {
  std::uint32_t number;
  std::uint32_t type, clock;
  std::int32_t device, order;
  std::int64_t native_id;
  std::uint32_t name;
};

class Names {
 public:
  // What has no room in the budget is counted as a name that was not kept.
  constexpr Names(Losses& losses, MemoryBudget& budget) : losses_(losses), budget_(budget) {}

  // Each of these gives what it gives without memory to who interrupted another one, as a handler of faults may.

  // 0 for the empty text, and when there is no room.
  std::uint32_t intern(const char* text);
  // 0 only without any memory: a site without a name. kNoNumber to who interrupted another one.
  std::uint32_t number_of(const telltale_site& site);
  telltale_site* handle_of(const telltale_site& description);
  // 0 when there is no room.
  std::uint32_t add_track(const telltale_track& description);
  std::uint32_t next_track_number() { return next_track_.fetch_add(1, std::memory_order_relaxed); }

  // Numbers start at 1: element i has number i + 1.
  const auto& texts() const { return texts_; }
  const auto& sites() const { return sites_; }
  const auto& fields() const { return fields_; }
  const auto& tracks() const { return tracks_; }
  // Null for 0.
  const Site* site(std::uint32_t number) const { return number == 0 ? nullptr : &sites_[number - 1]; }

  Mutex& mutex_for_fork() { return mutex_; }

 private:
  std::uint32_t find(const char* text, std::uint32_t size, std::uint32_t hash) const;
  std::uint32_t find(const telltale_site& site) const;
  std::uint32_t intern_locked(const char* text);
  std::uint32_t keep_text(const char* text, std::uint32_t size, std::uint32_t hash);
  std::uint32_t number_locked(const telltale_site& site);
  telltale_site* handle_locked(Site& site, std::uint32_t number);
  // What all sites of a kind share for which there is no room.
  std::uint32_t overflow_site(std::uint32_t kind);
  // Where the fields of a site stand, as many as it may have; kNoNumber when there is no room for them.
  std::uint32_t first_field_of(const telltale_site& site, std::uint32_t count);
  bool are_fields(std::uint32_t first, const telltale_site& site, std::uint32_t count) const;
  std::uint32_t hash_of_known(std::uint32_t site) const;
  bool is_same(const Site& known, const telltale_site& site) const;
  bool is_text(std::uint32_t number, const char* text) const;
  // Whether there is room for so many bytes more; counts what there is none for.
  bool has_room(std::size_t bytes, bool is_list_full = false);
  void* keep(std::size_t size);
  const telltale_field* fields_of_handle(const Site& site);

  // Open addressing; a slot is a number, 0 when free. One thread at a time changes it, any thread searches it. A table
  // that became too small is not given back, since somebody may be searching it; all of them take less than the last.
  class Index {
   public:
    // The number among those with that hash for which `is_it(number)` holds, or 0.
    template <typename IsIt>
    std::uint32_t find(std::uint32_t hash, IsIt is_it) const;
    void insert(std::uint32_t hash, std::uint32_t number);
    // Makes room for one more than the numbers 1 to `used`. False without memory.
    template <typename HashOf>
    bool grow(std::uint32_t used, HashOf hash_of);

   private:
    struct Table {
      std::uint32_t mask;
      std::atomic<std::uint32_t> slots[];
    };
    static void insert(Table& table, std::uint32_t hash, std::uint32_t number);
    std::atomic<Table*> table_ = nullptr;
  };

  // Fields that many sites have in common, as all kernels have theirs.
  struct FieldList {
    std::uint32_t first, count;
    const telltale_field* of_handles;  // null until a handle needs them
  };
  static constexpr std::uint32_t kFieldLists = 16;

  Losses& losses_;
  MemoryBudget& budget_;
  Mutex mutex_;
  BlockList<Text, 1024, 512> texts_;
  BlockList<Site, 1024, 256> sites_;
  BlockList<Field, 1024, 256> fields_;
  BlockList<NamedTrack, 256, 64> tracks_;
  BlockList<telltale_site, 256, 1024> handles_;
  Index text_index_, site_index_;
  std::uint32_t overflow_sites_[kKinds] = {};
  FieldList field_lists_[kFieldLists] = {};  // the newest
  std::uint32_t next_field_list_ = 0;
  std::atomic<std::uint32_t> next_track_ = 1;
  char* arena_ = nullptr;
  std::size_t arena_left_ = 0;
};

}  // namespace telltale::record
