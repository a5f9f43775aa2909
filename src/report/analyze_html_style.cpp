#include <fmt/format.h>

#include "report/analyze_html_parts.h"
#include "report/palette.h"

namespace telltale::html {
namespace {

constexpr std::string_view kGrounds = R"css(
:root {
  --ground: #fdfdfc; --raised: #f4f4f1; --line: #deded8; --ink: #1b1d20; --soft: #5b6169;
  --added: #11694f; --removed: #a8261d; --mark: #1f5fae;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171a; --raised: #1f2226; --line: #353a40; --ink: #e9e9e5; --soft: #a5abb3;
    --added: #7fd3b3; --removed: #f2938b; --mark: #7fb2f0;
  }
}
)css";

constexpr std::string_view kText = R"css(
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.3; font-weight: 600; margin: .25rem 0 .3rem; text-wrap: balance; }
.lead { font-size: 1.15rem; max-width: 52rem; text-wrap: pretty; }
h2 { font-size: 1.05rem; font-weight: 600; margin: 0; }
h3 { font-size: 1rem; font-weight: 600; margin: 0; }
p { margin: .35rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.subject, .caption, .where, footer { color: var(--soft); }
.caption { margin: .1rem 0 .9rem; }
section { margin-top: 2.75rem; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); font-size: .87rem; }
code, pre { font: 13px/1.5 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
)css";

constexpr std::string_view kBars = R"css(
.key { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px; margin-right: .5rem; flex: none; }
.idle { background-image: repeating-linear-gradient(135deg, transparent 0 4px, rgb(255 255 255 / .28) 4px 6px); }
.bar { display: flex; height: 3.2rem; border-radius: 4px; overflow: hidden; gap: 1px; }
.bar > span {
  flex: 1 1 0; min-width: 1px; overflow: hidden; white-space: nowrap; padding: .35rem 0 0 .5rem; line-height: 1.25;
  font-size: .8rem;
}
.bar > .narrow { padding-left: 0; font-size: 0; }
.bar b { display: block; font-weight: 600; overflow: hidden; text-overflow: ellipsis; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 1.75rem 3rem; margin-top: 1.6rem; }
.columns h3 { margin-bottom: .3rem; }
.meter { display: block; height: .7rem; border-radius: 2px; min-width: 1px; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .16rem .6rem .16rem 0; text-align: left; font-weight: 400; vertical-align: baseline; }
thead th { color: var(--soft); font-size: .82rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
.meters td.room { width: 45%; vertical-align: middle; }
.meters th { white-space: nowrap; }
td.n, th.n { text-align: right; white-space: nowrap; }
td:last-child, th:last-child { padding-right: 0; }
.scroll { overflow-x: auto; }
.kernels td { white-space: nowrap; }
.kernels tbody tr:hover { background: var(--raised); }
.kernels td.room { min-width: 6rem; width: 16%; vertical-align: middle; }
.kernels th[scope=row] { max-width: 26rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
)css";

constexpr std::string_view kFindings = R"css(
.findings { list-style: none; margin: 0; padding: 0; }
.findings > li {
  display: grid; grid-template: auto 1fr / 2rem minmax(0, 1fr) 12rem; column-gap: .5rem; padding: 1.1rem 0;
  border-top: 1px solid var(--line);
}
.findings .number { font-size: 1rem; color: var(--soft); }
.findings .about { grid-column: 2; }
.saving { grid-area: 1 / 3 / span 2; text-align: right; }
.saving strong { font-size: 1.5rem; line-height: 1.2; font-weight: 600; display: block; }
.saving span { color: var(--soft); font-size: .87rem; display: block; }
.saving svg { width: 100%; height: 12px; margin-top: .35rem; overflow: visible; }
.range-axis { stroke: var(--line); stroke-width: 2; }
.range { stroke: var(--mark); stroke-width: 5; opacity: .45; }
.likely { fill: var(--mark); }
.where code { color: var(--ink); }
pre { background: var(--raised); border-radius: 4px; padding: .6rem .8rem; margin: .6rem 0; overflow-x: auto; }
pre .added { color: var(--added); } pre .removed { color: var(--removed); }
details { margin-top: .4rem; }
summary { cursor: pointer; color: var(--soft); }
.evidence { font-size: .87rem; margin-top: .3rem; }
.evidence th[scope=row] { word-break: break-word; }
@media (max-width: 42rem) {
  main { padding: 1.25rem 1rem 3rem; }
  h1 { font-size: 1.25rem; }
  .findings > li { grid-template: auto / 1.4rem minmax(0, 1fr); }
  .saving { grid-area: auto / 2; text-align: left; margin: .2rem 0 .4rem; }
  .saving svg { max-width: 14rem; }
  .saving strong { font-size: 1.2rem; }
  .kernels th[scope=row] { max-width: 13rem; }
  .bar { height: 2.4rem; }
}
)css";

constexpr std::string_view kPictures = R"css(
.lane { display: grid; grid-template-columns: 11rem minmax(0, 1fr); align-items: center; margin-bottom: 4px; }
.lane > .name { font-size: .82rem; color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding-right: .6rem; }
.lane .room { position: relative; }
.lane svg, .curve svg { display: block; width: 100%; background: var(--raised); border-radius: 3px; }
.stream svg { height: 42px; } .gaps svg { height: 16px; } .thread svg { height: 24px; } .queue svg { height: 30px; }
.tag { position: absolute; top: 0; bottom: 0; display: flex; align-items: center; padding-left: .35rem; overflow: hidden; white-space: nowrap; font-size: .75rem; pointer-events: none; }
.axis .room { height: 1.35rem; font-size: .75rem; color: var(--soft); }
.axis .room span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.axis .room span:first-child { transform: none; }
.keys { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .6rem 0 0; padding: 0; list-style: none; font-size: .82rem; color: var(--soft); }
.depth { fill: var(--soft); opacity: .55; }
.curve { position: relative; margin-top: 1.4rem; }
.curve svg { height: 220px; }
.allocated { fill: var(--mark); opacity: .3; }
.allocated-line { fill: none; stroke: var(--mark); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.reserved { fill: none; stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 4 3; vector-effect: non-scaling-stroke; }
.step-line { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.peak-line { stroke: var(--ink); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.at { position: absolute; font-size: .8rem; white-space: nowrap; }
.peak { white-space: normal; max-width: 50%; border-left: 1.5px solid var(--ink); padding-left: .35rem; line-height: 1.1; }
.peak.left { border-left: 0; border-right: 1.5px solid var(--ink); padding: 0 .35rem 0 0; transform: translateX(-100%); }
.tree, .tree ul { list-style: none; margin: 0; padding: 0; }
.tree details { margin: 0; }
.tree summary { color: inherit; list-style: none; }
.tree summary::-webkit-details-marker { display: none; }
.tree summary:hover, .tree .leaf:hover { background: var(--raised); }
.tree summary .label::before { content: "▸"; position: absolute; margin-left: -1rem; color: var(--soft); }
.tree details[open] > summary .label::before { content: "▾"; }
.module { display: grid; grid-template-columns: minmax(0, 1fr) 32% 4.8rem 4rem; align-items: center; column-gap: .6rem; }
.module .n { text-align: right; white-space: nowrap; }
.module .label { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding-left: calc(var(--depth) * 1.1rem + 1rem); }
.module .both { display: flex; gap: 1px; }
@media (max-width: 42rem) {
  .lane { grid-template-columns: 1fr; }
  .axis .room span:nth-child(even) { display: none; }
  .module { grid-template-columns: minmax(0, 1fr) 18% 4.2rem 3.2rem; }
  .module .label { padding-left: calc(var(--depth) * .55rem + 1rem); }
  .curve { margin-top: 2.2rem; }
  .curve svg { height: 150px; }
}
@media print { main { max-width: none; } .lane svg { print-color-adjust: exact; } .bar, .meter, .key { print-color-adjust: exact; } }
)css";

// Dark text on light colors and white on dark ones, by their luminance (WCAG).
std::string_view ink_on(Color color) { return luminance_of(color) > 125 ? "#15171a" : "#fff"; }

constexpr std::string_view kTimeline = R"css(
.replaced { display: none; }
button { font: inherit; color: inherit; cursor: pointer; }
.show, .buttons button { font-size: .87rem; background: var(--raised); border: 1px solid var(--line); border-radius: 4px; padding: .15rem .7rem; }
.show { margin-top: .5rem; }
.show:hover, .buttons button:hover { border-color: var(--soft); }
.buttons { display: flex; justify-content: flex-end; gap: .3rem; margin-bottom: .3rem; }
.picture { display: grid; grid-template-columns: 11rem minmax(0, 1fr); }
.names { position: relative; font-size: .8rem; color: var(--soft); }
.names > * { position: absolute; left: 0; right: .6rem; display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.names > span { align-content: center; }
.names > button { font-size: .75rem; line-height: 1; text-align: left; background: none; border: 0; padding: 0; color: var(--mark); }
.names > button:hover { text-decoration: underline; }
.picture .room { position: relative; }
.picture canvas { display: block; width: 100%; cursor: grab; touch-action: pan-y; border-radius: 3px; }
.picture canvas:active { cursor: grabbing; }
.tip {
  position: absolute; z-index: 1; max-width: 26rem; padding: .35rem .6rem; pointer-events: none; font-size: .8rem; line-height: 1.4;
  color: var(--ink); background: var(--ground); border: 1px solid var(--line); border-radius: 4px; overflow-wrap: anywhere;
}
.tip b { display: block; font-weight: 600; }
.readout { max-width: none; min-height: 1.5em; margin: .5rem 0 0; font-size: .82rem; color: var(--soft); }
@media (max-width: 42rem) { .picture { grid-template-columns: 5rem minmax(0, 1fr); } }
@media print { .replaced { display: block; } .timeline, .show { display: none; } }
)css";

std::string color_rule(char prefix, int index, Color color) {
  return fmt::format(
      ".{0}{1} {{ background-color: #{2:02x}{3:02x}{4:02x}; fill: #{2:02x}{3:02x}{4:02x}; color: {5}; }}\n", prefix,
      index, color.red, color.green, color.blue, ink_on(color));
}

template <typename Adapt>
std::string color_rules(Adapt adapt) {
  std::string rules;
  for (int i = 0; i < kWorkClassCount; ++i) rules += color_rule('w', i, adapt(color_of(static_cast<WorkClass>(i))));
  for (int i = 0; i < kHostWorkCount; ++i) {
    const auto work = static_cast<HostWork>(i);
    rules += color_rule('h', i, adapt(color_of(work))) + color_rule('d', i, adapt(color_of(HostDoing{work})));
  }
  for (const Kind kind : kKinds) rules += color_rule('k', static_cast<int>(kind), adapt(color_of(kind)));
  return rules;
}

}  // namespace

std::string style_sheet() {
  std::string sheet;
  for (const std::string_view part : {kGrounds, kText, kBars, kFindings, kPictures, kTimeline}) sheet += part;
  sheet += color_rules([](Color color) { return color; });
  sheet += "@media (prefers-color-scheme: dark) {\n" + color_rules(on_dark_ground) + "}\n";
  return sheet + ".tag { background: none; }\n";
}

}  // namespace telltale::html
