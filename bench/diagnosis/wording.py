"""What `check` prints: a paragraph or a table's row for each case, and the summary, for all and for each half."""

from judgment import CLOSE_POINTS, CLOSE_STEP_PERCENT, OVERPROMISE_POINTS, TIMED_STEP_PERCENT
from judgment import Advice, Summary, Verdict


def words_on_planted(verdict: Verdict) -> str:
    planted = verdict.planted
    if planted is None:
        return "nothing planted"
    fault = f"planted {planted.cause}, {planted.fix} gains {planted.gain:.1f}"
    if not planted.is_clear:
        fault += " (not clear)"
    if planted.found_as is None:
        return f"{fault}: NOT FOUND"
    found = f"{fault}: found by {planted.found_by}, finding {planted.found_as}"
    if planted.error is None:
        return found + ", promises no time"
    allowed = max(CLOSE_POINTS, verdict.noise)
    return f"{found}, off by {planted.error:+.1f} " + ("(ok)" if planted.is_close else f"(MORE THAN {allowed:.1f})")


def words_on_following(verdict: Verdict) -> str:
    best = f"{verdict.best_fix} gains {verdict.best_gain:.1f}" if verdict.best_fix else "nothing gains"
    if verdict.followed_fix is None:
        first = "no finding promises time"
    elif verdict.followed_was_tried:
        first = f"the first finding's {verdict.followed_fix} {verdict.followed_gain:.1f}"
    else:
        first = f"the first finding's {verdict.followed_fix} was not measured and counts as 0"
    verdict_on_it = "" if verdict.regret <= CLOSE_POINTS else " (BAD ADVICE)"
    return f"{best}, {first}: {verdict.regret:.1f} points given away{verdict_on_it}"


def line_of(entry: Advice) -> str:
    measured = "      –" if entry.measured is None else f"{entry.measured:7.1f}"
    note = "  over-promises" if entry.overpromises else "  no time promised" if not entry.promises_time else ""
    return (f"  {entry.rule:<24} {entry.fix:<22} {entry.likely:6.1f}  ({entry.low:.1f} to {entry.high:.1f})".ljust(74)
            + measured + note)


def print_verdict(verdict: Verdict, is_verbose: bool) -> None:
    print(f"{verdict.case}: {words_on_planted(verdict)}")
    timed = f" (over {verdict.unrecorded_steps} unrecorded steps)" if verdict.unrecorded_steps else ""
    print(f"  step {verdict.recorded_ms:.3g} ms recorded, {verdict.unobserved_ms:.3g} unobserved{timed}, "
          f"{verdict.measured_ms:.3g} measured ({verdict.step_error_percent:+.1f} %); noise {verdict.noise:.1f} %; {verdict.half} half")
    print(f"  {words_on_following(verdict)}")
    if verdict.advice:
        print("  rule                     fix                    likely  (low to high)".ljust(73) + "measured")
    for entry in verdict.advice:
        print(line_of(entry))
        if is_verbose:
            place = entry.source and f"{entry.source['file']}:{entry.source['line']} in {entry.source['function']}"
            print(f"      {entry.title}; confidence {entry.confidence}; {place or 'no line'}")
    if is_verbose:
        print("  measured:", ", ".join(f"{fix} {gain:.1f}" for fix, gain in verdict.gains.items()) or "nothing")
    print()


def share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f", {100 * part / whole:.3g} %" if whole else "")


def lines_of(summary: Summary) -> dict[str, str]:
    """What was counted, in words, and the value."""
    error = "–" if summary.median_error is None else f"{summary.median_error:.1f} points"
    return {
        "cases": f"{summary.cases}",
        "planted cause found, clear cases": share(summary.clear_found, summary.clear),
        f"and its saving within {CLOSE_POINTS:g} points or the noise": share(summary.clear_close, summary.clear),
        "planted cause found, where its gain is not clear": share(summary.unclear_found, summary.unclear),
        "function at fault named, where found and known": share(summary.functions_named, summary.functions_known),
        f"first finding within {CLOSE_POINTS:g} points of the best fix": share(summary.good_first_findings, summary.cases),
        "most points given away by following it": f"{summary.worst_regret:.1f}",
        f"findings that promise over {OVERPROMISE_POINTS:g} points too much, of those measured":
            share(summary.overpromises, summary.advice_with_measured_gain),
        "median error of findings with a measured gain": error,
        f"unobserved step within {CLOSE_STEP_PERCENT:g} % of the measured one": share(summary.close_steps, summary.cases),
        "measured step in the range that is given": share(summary.steps_in_range, summary.cases),
        f"unobserved step within {TIMED_STEP_PERCENT:g} %, where the recorder has timed steps":
            share(summary.close_timed_steps, summary.timed_steps),
    }


def table_of(summaries: dict[str, Summary]) -> list[list[str]]:
    """The first row names the columns, the first column says what was counted."""
    if len(summaries) == 2:  # one half is all there is
        summaries = {name: summary for name, summary in summaries.items() if name != "all"}
    columns = [lines_of(summary) for summary in summaries.values()]
    return [["", *summaries]] + [[what, *(column[what] for column in columns)] for what in columns[0]]


def print_summary(title: str, summaries: dict[str, Summary]) -> None:
    table = table_of(summaries)
    widths = [max(len(cell) for cell in column) for column in zip(*table)]
    print(title)
    for what, *values in table:
        cells = [what.ljust(widths[0]), *(value.rjust(width) for value, width in zip(values, widths[1:]))]
        print("  " + "  ".join(cells))
    print()


def print_markdown_summary(title: str, summaries: dict[str, Summary]) -> None:
    head, *rows = table_of(summaries)
    print(f"{title}:\n")
    for cells in [head, ["---"] * len(head), *rows]:
        print("| " + " | ".join(cells) + " |")
    print()


def markdown_of(verdicts: list[Verdict]) -> str:
    """A row a case: the planted fault, every finding as predicted / measured, and what the best fix gained."""
    lines = ["| case | half | planted, gain | findings: predicted / measured | best fix "
             "| step: unobserved / measured, ms |",
             "|---|---|---|---|---|---|"]
    for verdict in verdicts:
        planted = verdict.planted
        fault = f"{planted.cause}, {planted.gain:.0f}" if planted else "–"
        findings = "; ".join(f"{entry.fix} {entry.likely:.0f} / "
                             + ("–" if entry.measured is None else f"{entry.measured:.0f}")
                             for entry in verdict.advice if entry.promises_time)
        best = f"{verdict.best_fix} {verdict.best_gain:.0f}" if verdict.best_fix else "none"
        lines.append(f"| {verdict.case} | {verdict.half} | {fault} | {findings or '–'} | {best} "
                     f"| {verdict.unobserved_ms:.3g} / {verdict.measured_ms:.3g} |")
    return "\n".join(lines)
