// What records are about, and the texts that sites, tracks and pools are named by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/interned_strings.h"
#include "tell/layout.h"
#include "tell/varint.h"
#include "trace/compiled_kernels.h"
#include "trace/remembered.h"

namespace telltale::tell {

// Values by the numbers that the file gives them, which rise but may have gaps where chunks were lost.
template <typename Value>
class NumberedRuns {
 public:
  // The numbers first, first + 1, …. What has its number already keeps it: a writer may describe all it knows again.
  // False, and nothing is kept, when the numbers are too large.
  bool append(std::uint64_t first, std::vector<Value> values) {
    if (first + values.size() < first) return false;
    auto value = values.begin();
    for (std::uint64_t number = first; value != values.end();) {
      const auto next = runs_.upper_bound(number);
      if (next != runs_.begin()) {
        const auto& [start, known] = *std::prev(next);
        if (number < start + known.size()) {
          const std::uint64_t skipped = std::min<std::uint64_t>(start + known.size() - number, values.end() - value);
          number += skipped;
          value += static_cast<std::ptrdiff_t>(skipped);
          continue;
        }
      }
      const std::uint64_t left = static_cast<std::uint64_t>(values.end() - value);
      const std::uint64_t fresh = next == runs_.end() ? left : std::min(left, next->first - number);
      insert(number, std::span(value, fresh));
      number += fresh;
      value += static_cast<std::ptrdiff_t>(fresh);
    }
    return true;
  }

  void for_each(auto visit) {
    for (auto& [first, values] : runs_)
      for (Value& value : values) visit(value);
  }

  // Null when the number was never given. Valid until the next append().
  const Value* find(std::uint64_t number) const {
    const auto behind = runs_.upper_bound(number);
    if (behind == runs_.begin()) return nullptr;
    const auto& [first, values] = *std::prev(behind);
    return number - first < values.size() ? &values[number - first] : nullptr;
  }

 private:
  // Numbers that nobody has, joined to the run before them where there is no gap.
  void insert(std::uint64_t first, std::span<Value> values) {
    const auto next = runs_.upper_bound(first);
    const auto before = next == runs_.begin() ? runs_.end() : std::prev(next);
    const bool continues = before != runs_.end() && before->first + before->second.size() == first;
    std::vector<Value>& run = continues ? before->second : runs_[first];
    run.insert(run.end(), std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
  }

  std::map<std::uint64_t, std::vector<Value>> runs_;
};

struct SiteField {
  StringId name = kEmptyString;
  FieldType type = FieldType::kInteger;
};

struct Site {
  std::uint32_t index = 0;  // 0, 1, 2, … over all sites of the file
  StringId name = kEmptyString, category = kEmptyString, file = kEmptyString, function = kEmptyString;
  std::int32_t line = 0;
  SiteKind kind = SiteKind::kOther;
  std::vector<SiteField> fields;
};

// Texts and sites of a file. Filled by one thread, then read by any number.
class Sites {
 public:
  // The payload of a strings or of a sites chunk. False when it is not what it should be; nothing of it is kept then.
  bool take_strings(ByteReader payload);
  bool take_sites(ByteReader payload);

  // Kernels of these names stand there, where their sites do not say so themselves.
  void place_kernels(std::span<const CompiledKernel> kernels);

  const Site* site(std::uint64_t number) const { return sites_.find(number); }
  std::size_t site_count() const { return site_count_; }

  // By the file's number; what was lost has a text that says so.
  StringId text(std::uint64_t number) const;
  std::string_view operator[](StringId id) const { return strings_[id]; }

  std::uint64_t repaired_texts() const { return repaired_texts_; }  // that were no UTF-8

 private:
  InternedStrings strings_;
  StringId lost_ = strings_.intern("(lost text)");
  NumberedRuns<StringId> texts_;
  NumberedRuns<Site> sites_;
  std::uint32_t site_count_ = 0;
  std::uint64_t repaired_texts_ = 0;
};

std::string_view read_text(ByteReader& payload);

// The texts of sites in the names of one reading thread.
class LocalTexts {
 public:
  LocalTexts(const Sites& sites, InternedStrings& strings) : sites_(sites), strings_(strings) {}

  StringId of(StringId text) {
    std::optional<StringId>& known = remembered(known_, text);
    if (!known) known = strings_.intern(sites_[text]);
    return *known;
  }

 private:
  const Sites& sites_;
  InternedStrings& strings_;
  std::vector<std::optional<StringId>> known_;  // by the id that Sites has
};

}  // namespace telltale::tell
