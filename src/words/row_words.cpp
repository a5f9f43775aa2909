#include "words/row_words.h"

namespace telltale {

const std::map<std::string, KindSet>& kinds_by_word() {
  static const std::map<std::string, KindSet> kWords = {
      {"operator", {Kind::kOperator}},
      {"kernel", {Kind::kKernel, Kind::kMemcpy, Kind::kMemset, Kind::kCollective, Kind::kDeviceOther}},
      {"module", {Kind::kModule}},
      {"annotation", {Kind::kAnnotation}},
      {"python", {Kind::kPython}},
      {"all", KindSet::all()},
  };
  return kWords;
}

const std::map<std::string, Grouping>& groupings_by_word() {
  static const std::map<std::string, Grouping> kWords = {
      {"name", Grouping::kName}, {"shape", Grouping::kShape}, {"stack", Grouping::kStack}};
  return kWords;
}

}  // namespace telltale
