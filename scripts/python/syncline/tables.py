"""Turns the tables that the program prints into HTML."""
import html
import itertools


def _columns(lines):
    """Returns where columns begin and end: on every line, two blanks or more are between them."""
    width = max(map(len, lines))
    blank = [all(line[at:at + 1] in ("", " ") for line in lines) for at in range(width)]
    runs = [(is_blank, list(run)) for is_blank, run in itertools.groupby(range(width), blank.__getitem__)]
    ends = [run[0] for is_blank, run in runs if is_blank and len(run) > 1 and run[0] > 0] + [width]
    return list(zip([0, *ends], ends))


def _joined(rows):
    """Returns rows of which none has an empty first cell: cells that were broken into lines are joined."""
    joined = []
    for row in rows:
        if joined and not (row[0] and joined[-1][0]):
            joined[-1] = [f"{above} {below}".strip() for above, below in zip(joined[-1], row)]
        else:
            joined.append(row)
    return joined


def _table(lines):
    """Returns lines as an HTML table, or as they are if they have no columns."""
    columns = _columns(lines)
    if len(lines) == 1 or len(columns) == 1:
        return f"<pre style='white-space: pre-wrap'>{html.escape(chr(10).join(lines))}</pre>"
    cells = [[line[first:end].ljust(end - first) for first, end in columns] for line in lines]
    aligned = ["left" if any(cell.strip() and cell.endswith(" ") for cell in column) else "right" for column in zip(*cells)]
    rows = []
    for kind, row in zip(itertools.chain(["th"], itertools.repeat("td")), _joined([[cell.strip() for cell in row] for row in cells])):
        rows.append("<tr>" + "".join(f"<{kind} style='text-align: {side}'>{html.escape(cell)}</{kind}>"
                                     for cell, side in zip(row, aligned)) + "</tr>")
    return f"<table>{''.join(rows)}</table>"


def to_html(text):
    """Returns what a verb prints as HTML. Blocks have an empty line between them; those with columns become tables."""
    return "\n".join(_table(block.split("\n")) for block in text.strip("\n").replace("\n\n\n", "\n\n").split("\n\n"))
