"""Tables of the results: the cells of a row as text, for the terminal and in Markdown."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from benchmarks.goals import checks, duration, peer_of, times

HEAD = (
    "case",
    "eigenscape",
    "fastest correct peer",
    "speedup",
    "goal",
    "memory (eigenscape / peer)",
    "goal",
    "error (eigenscape / peer)",
    "transform (eigenscape / peer)",
    "solver",
)


def seconds(entry: dict[str, Any]) -> str:
    """Return the median time of a contender and its processor time as text, or why there is none."""
    if entry["status"] == "over":
        return f"over {entry['over']:.3g} s"
    if entry["status"] in ("failed", "absent"):
        return entry["status"]
    processor = f", processor {duration(entry['cpu_s']['median'])}" if "cpu_s" in entry else ""
    return (
        duration(entry["time_s"]["median"])
        + ("*" if entry["disturbed"] else "")
        + (" (inaccurate)" if entry["status"] == "wrong" else "")
        + processor
    )


def speedup(ratio: dict[str, Any] | None) -> str:
    """Return a ratio of times with its range as text."""
    if ratio is None:
        return ""
    if "at_least" in ratio:
        return f"> {ratio['at_least']:.3g}x"
    speed = ratio["speed"]
    if speed["median"] < 1:
        return f"1/{1 / speed['median']:.3g} (1/{1 / speed['min']:.3g}..1/{1 / speed['max']:.3g})"
    return f"{speed['median']:.3g}x ({speed['min']:.3g}..{speed['max']:.3g})"


def megabytes(entry: dict[str, Any]) -> str:
    """Return the median peak memory as text."""
    return f"{entry['peak_bytes']['median'] / 1e6:.0f} MB" if "peak_bytes" in entry else "?"


def error(entry: dict[str, Any]) -> str:
    """Return the available error measures as text."""
    errors = entry.get("error", {})
    parts = [f"{errors['residual']:.0e}"] if "residual" in errors else []
    if errors.get("floor", 0.0) > 1e-3:
        parts.append(f"(rounding {errors['floor']:.0e})")
    if errors.get("r2"):
        parts.append("r² " + ", ".join(f"{value:.2f}" for value in errors["r2"]))
    if "aligned" in errors:
        parts.append(f"aligned {errors['aligned']:.0e}")
    if "of_means" in errors:
        parts.append(f"{errors['of_means']:.3f} relative to column means")
    if "left_out" in errors:
        parts.append(f"unexplained {errors['left_out']:.3g}")
    if "distortion" in errors:
        parts.append(f"distortion {errors['distortion']:.3g}")
    for name in ("agreement", "accuracy"):
        if name in errors:
            parts.append(f"{name} {errors[name]:.2f}")
    if errors.get("recall") is not None:
        parts.append(f"recall {errors['recall']:.3f}")
    return " ".join(parts) or "–"


def goals(row: dict[str, Any], *kinds: str) -> str:
    """Return the goals of some kinds and whether they are met."""
    words = {True: "met", False: "not met", None: "no correct peer"}
    return ", ".join(f"{check.goal}: {words[check.met]}" for check in checks(row) if check.what in kinds)


def placed(ours: dict[str, Any], peer: dict[str, Any] | None) -> str:
    """Return the times of the transform of new rows, and their ratio."""
    if "transform" not in ours:
        return ""
    mine = ours["transform"]
    text = f"{mine['n_new']:,} rows: {duration(mine['time_s']['median'])}"
    if peer is None or "transform" not in peer:
        return text
    other = peer["transform"]["time_s"]["median"]
    return f"{text} / {duration(other)}: {times(other / mine['time_s']['median'])}"


def cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row of the main table."""
    if "skipped" in row:
        return [row["title"], f"skipped: {row['skipped']}", *[""] * (len(HEAD) - 2)]
    if row["kind"] == "growth":
        return growth_cells(row)
    ours = row["ours"]
    peer = peer_of(row)
    ratio = peer["ratio"] if peer else None
    memory = (
        f"{ratio['memory']['median']:.2f} ({megabytes(ours)} / {megabytes(peer)})"
        if ratio and "memory" in ratio
        else megabytes(ours)
    )
    against = f"{peer['name']}: {seconds(peer)}" if peer else "none"
    errors = f"{error(ours)} / {error(peer) if peer else '–'}"
    return [
        row["title"],
        seconds(ours),
        against,
        speedup(ratio),
        goals(row, "result", "speed", "seconds"),
        memory,
        goals(row, "memory", "peak"),
        errors,
        placed(ours, peer),
        solver(ours),
    ]


def solver(entry: dict[str, Any]) -> str:
    """Return the solver of a contender."""
    return entry.get("solver", "")


def growth_cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row of kind "growth", with exponents instead of ratios."""
    ours = row["series"][0]
    texts = dict.fromkeys(range(len(HEAD)), "")
    texts[0] = f"growth of {row['title']}"
    texts[len(HEAD) - 1] = ", ".join(dict.fromkeys(solver(s["ours"]) for s in row["steps"]))
    for column, name in ((3, "time_exponent"), (5, "memory_exponent")):
        if name in ours:
            texts[column] = f"n^{ours[name]:.2f}"
            texts[column + 1] = goals(row, name)
    return list(texts.values())


def line(row: dict[str, Any]) -> str:
    """Return a row as one line of text."""
    return " | ".join(cell for cell in cells(row) if cell)


def terminal_table(rows: list[dict[str, Any]]) -> Table:
    """Return the main table for the terminal."""
    table = Table(*HEAD, show_lines=True)
    for row in rows:
        table.add_row(*cells(row))
    return table


def markdown_table(head: tuple[str, ...], body: list[list[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *body)] + [""]


def compared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with contenders, and the steps of growth."""
    steps = [step for row in rows for step in (row["steps"] if row["kind"] == "growth" else [row])]
    return [step for step in steps if "ours" in step]


def contenders(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return the cells of the table of all contenders."""
    body = []
    for row in compared(rows):
        for entry in (row["ours"], *row["peers"], *row.get("references", ())):
            reason = f" ({entry[entry['status']]})" if entry["status"] in ("failed", "absent") else ""
            body.append(
                [
                    row["title"],
                    entry["name"],
                    seconds(entry) + reason,
                    speedup(entry.get("ratio")),
                    megabytes(entry),
                    error(entry),
                    placed(entry, None),
                    solver(entry),
                ]
            )
    return body
