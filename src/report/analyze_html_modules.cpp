#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/html_text.h"

namespace telltale::html {
namespace {

constexpr std::size_t kMostModules = 500;
constexpr std::size_t kSiblingsAtOnce = 16;
constexpr int kDeepest = 24;       // deeper ones are left out: nobody unfolds so far
constexpr int kUnfoldedDepth = 2;  // what is above stands open
constexpr std::size_t kLongestName = 80;

struct ModuleTree {
  const std::vector<ModuleTime>& modules;
  std::vector<std::vector<std::size_t>> children;
  std::vector<std::size_t> roots;
  bool has_device = false;
  Nanoseconds whole = 0;  // of the longest root, which fills the bar
  Nanoseconds step = 0;
  std::size_t left = kMostModules;
};

Nanoseconds forward_of(const ModuleTree& tree, const ModuleTime& module) {
  return tree.has_device ? module.forward_device_ns : module.forward_cpu_ns;
}
Nanoseconds backward_of(const ModuleTree& tree, const ModuleTime& module) {
  return tree.has_device ? module.backward_device_ns : module.backward_cpu_ns;
}

ModuleTree tree_of(const Diagnosis& diagnosis) {
  ModuleTree tree{diagnosis.modules, std::vector<std::vector<std::size_t>>(diagnosis.modules.size()), {}};
  tree.has_device = std::ranges::any_of(diagnosis.modules, [](const ModuleTime& each) { return each.device_ns() > 0; });
  tree.step = diagnosis.recorded_ns;
  for (std::size_t i = 0; i < diagnosis.modules.size(); ++i) {
    const ModuleTime& module = diagnosis.modules[i];
    if (module.parent == ModuleTime::kNoParent) {
      tree.roots.push_back(i);
      tree.whole = std::max(tree.whole, forward_of(tree, module) + backward_of(tree, module));
    } else {
      tree.children[static_cast<std::size_t>(module.parent)].push_back(i);
    }
  }
  return tree;
}

std::string row_of(const ModuleTree& tree, const ModuleTime& module, int depth) {
  const Nanoseconds forward = forward_of(tree, module), backward = backward_of(tree, module);
  return fmt::format(
      "<span class=\"module\" style=\"--depth:{}\"><span class=\"label\" title=\"{}, {} calls\">{}</span><span "
      "class=\"both\">{}{}</span>"
      "<span class=\"n\">{}</span><span class=\"n\">{}</span></span>",
      depth, html_cut(module.path, 200), format_count(module.calls), html_cut(module.name, kLongestName),
      meter(percent_of(forward, tree.whole), tree.has_device ? "w0" : "h4"),
      meter(percent_of(backward, tree.whole), tree.has_device ? "w4" : "h3"), format_time(forward + backward),
      format_percent(percent_of(forward + backward, tree.step)));
}

std::string list_of(ModuleTree& tree, std::span<const std::size_t> modules, int depth);

std::string item_of(ModuleTree& tree, std::size_t index, int depth) {
  const std::string row = row_of(tree, tree.modules[index], depth);
  if (tree.children[index].empty() || depth == kDeepest) return "<li class=\"leaf\">" + row + "</li>\n";
  return fmt::format("<li><details{}><summary>{}</summary>\n<ul>\n{}</ul></details></li>\n",
                     depth < kUnfoldedDepth ? " open" : "", row, list_of(tree, tree.children[index], depth + 1));
}

std::string label_row(std::string_view label, int depth) {
  return fmt::format("<span class=\"module\" style=\"--depth:{}\"><span class=\"label\">{}</span></span>", depth,
                     label);
}

// The longest of them; the others unfold, as far as the page has room for them.
std::string list_of(ModuleTree& tree, std::span<const std::size_t> modules, int depth) {
  std::string items, more;
  std::size_t shown = 0;
  for (; shown < modules.size() && tree.left > 0; ++shown) {
    --tree.left;
    (shown < kSiblingsAtOnce ? items : more) += item_of(tree, modules[shown], depth);
  }
  const std::string rest = shown == modules.size()
                               ? std::string()
                               : "<li class=\"leaf\">" +
                                     label_row(fmt::format("{} more are not shown", modules.size() - shown), depth) +
                                     "</li>\n";
  if (more.empty()) return items + rest;
  return items + fmt::format("<li><details><summary>{}</summary>\n<ul>\n{}{}</ul></details></li>\n",
                             label_row(fmt::format("{} more", modules.size() - kSiblingsAtOnce), depth), more, rest);
}

}  // namespace

std::string modules_section(const Diagnosis& diagnosis) {
  if (diagnosis.modules.empty()) return {};
  ModuleTree tree = tree_of(diagnosis);
  const std::string caption = fmt::format(
      "{} time a step, with what is called inside: {}forward, {}backward. The share is of the recorded step.",
      tree.has_device ? "GPU" : "Host", key_mark(tree.has_device ? "w0" : "h4"),
      key_mark(tree.has_device ? "w4" : "h3"));
  const std::string list = list_of(tree, tree.roots, 0);
  return section("modules", "Modules", caption, "<ul class=\"tree\">\n" + list + "</ul>\n");
}

}  // namespace telltale::html
