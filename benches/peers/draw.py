"""Draws the figures as SVG that is readable on light and on dark pages."""

import math
from html import escape

PANELS = (
    ("start", "Start until tools/list is answered", "ms"),
    ("resident", "Resident memory", "MiB"),
    ("search", "One search", "ms"),
    ("call beyond its process", "One call, beyond its process", "ms"),
)
SERVERS = {"climax-mcp 0.5.0": "peer", "bare SDK": "bare", "climax": "ours"}  # what is drawn last lies on top
WIDTH, PANEL_WIDTH, PANEL_HEIGHT = 860, 430, 236
LEFT, RIGHT, TOP, BOTTOM = 66, 60, 40, 30
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #57606a } .title { font-weight: 600; fill: #1f2328 }
.grid { stroke: #d0d7de } .line { fill: none; stroke-width: 2 } .value { font-size: 11px }
.line.ours { stroke: #0969da } .line.peer { stroke: #bc4c00 } .line.bare { stroke: #8c959f; stroke-dasharray: 4 3 }
circle.ours, rect.ours { fill: #0969da } circle.peer, rect.peer { fill: #bc4c00 } circle.bare, rect.bare { fill: #8c959f }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .title { fill: #f0f6fc } .grid { stroke: #3d444d }
.line.ours { stroke: #58a6ff } .line.peer { stroke: #f0883e } .line.bare { stroke: #768390 }
circle.ours, rect.ours { fill: #58a6ff } circle.peer, rect.peer { fill: #f0883e } circle.bare, rect.bare { fill: #768390 }
}
"""


def draw(results):
    """The figures of all sizes, `{tools: {server: {what: value}}}`, as four panels with logarithmic scales."""
    height = 44 + 2 * PANEL_HEIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
             "<title>climax beside climax-mcp 0.5.0 and a bare SDK server, by number of tools</title>",
             f"<style>{STYLE}</style>"]
    for at, (server, style) in enumerate(SERVERS.items()):
        x = LEFT + 150 * at
        parts.append(f'<rect class="{style}" x="{x}" y="14" width="10" height="10" rx="2"/>')
        parts.append(f'<text x="{x + 16}" y="23">{escape(server)}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="23" text-anchor="end">by number of tools; logarithmic scales</text>')
    for at, (what, title, unit) in enumerate(PANELS):
        parts.append(f'<g transform="translate({at % 2 * PANEL_WIDTH} {40 + at // 2 * PANEL_HEIGHT})">')
        parts += panel(results, what, f"{title} ({unit})")
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def panel(results, what, title):
    """One measure: a line for each server that has it."""
    lines = {server: [rows[server][what] for rows in results.values()] for server in SERVERS}
    lines = {server: values for server, values in lines.items() if None not in values}
    everything = [value for values in lines.values() for value in values]
    low, high = math.floor(math.log10(min(everything))), math.ceil(math.log10(max(everything)))
    bottom, right = PANEL_HEIGHT - BOTTOM, PANEL_WIDTH - RIGHT

    def y(value):
        return bottom - (math.log10(value) - low) / (high - low) * (bottom - TOP)

    def x(index):
        return LEFT + 10 + index / (len(results) - 1) * (right - LEFT - 20)

    yield f'<text class="title" x="{LEFT}" y="{TOP - 16}">{escape(title)}</text>'
    for power in range(low, high + 1):
        at = y(10.0**power)
        yield f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>'
        yield f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>'
    for index, size in enumerate(results):
        yield f'<text x="{x(index):.1f}" y="{bottom + 18}" text-anchor="middle">{size:,}</text>'
    for server, values in lines.items():
        style = SERVERS[server]
        points = [(x(index), y(value)) for index, value in enumerate(values)]
        path = " ".join(f"{left:.1f},{top:.1f}" for left, top in points)
        yield f'<polyline class="line {style}" points="{path}"/>'
        yield from (f'<circle class="{style}" cx="{left:.1f}" cy="{top:.1f}" r="3"/>' for left, top in points)
    label = 0
    for last in sorted((values[-1] for values in lines.values()), reverse=True):
        label = max(y(last) + 4, label + 12)  # a line's distance to the one above
        yield f'<text class="value" x="{right + 4}" y="{label:.1f}">{number(last)}</text>'


def number(value):
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
