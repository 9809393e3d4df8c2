"""Finds comments in C++ whose layout was broken, as by a formatter that takes a table for prose and reflows it.

A comment is read as lines. A line that is indented by two blanks or more is displayed: part of a table, list or formula. Two
blanks or more within a displayed line part its cells. Where a line was broken because it was too long, the line before has no
room for the first word of the rest: so the rest of a cell or list item can be distinguished from a row or item of its own.
"""

import re
from dataclasses import dataclass

import tidy_cpp

MOST_COLUMNS = 110

_CELL_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")
_LEAST_DISPLAYED = 2
# A line of prose may end early where a sentence ends, or a little early so that a formula is not torn.
_MOST_SPARE_COLUMNS = 40
_SENTENCE_END = re.compile(r"[.:;!?][)\"'`]*$")

MISALIGNED_ROW = "a row whose cells do not begin at the table's columns: rows were run together"
CONTINUED_AS_ROW = "the rest of a cell where rows begin: it belongs below its cell"
CONTINUED_AS_ITEM = "the rest of a list item where items begin: it must be indented further"
ENDS_EARLY = "a line that ends in the middle of a sentence: it was broken for its length and not filled up"


@dataclass(frozen=True)
class Line:
    number: int
    text: str  # what follows the two slashes
    room: int  # columns that are left behind it

    @property
    def indent(self):
        return len(self.text) - len(self.text.lstrip())

    @property
    def is_displayed(self):
        return self.indent >= _LEAST_DISPLAYED

    @property
    def is_item(self):
        return self.text.lstrip().startswith("- ")

    @property
    def cells(self):
        """Where the cells after the first one begin; none in a line of one cell."""
        return [gap.end() for gap in _CELL_GAP.finditer(self.text)]

    def has_room_for(self, following):
        return self.room > len(following.text.split()[0])

    def ends_a_sentence(self):
        return bool(_SENTENCE_END.search(self.text))


def _paragraphs(text):
    """The lines of comments between empty ones, displayed or prose, as lists of one kind each."""
    for block in tidy_cpp.comment_blocks(text):
        paragraph = []
        for comment in block:
            content = comment.text.rstrip()
            line = Line(comment.line, content, MOST_COLUMNS - comment.column - len("//") - len(content))
            if paragraph and (not content or line.is_displayed != paragraph[-1].is_displayed):
                yield paragraph
                paragraph = []
            if content:
                paragraph.append(line)
        if paragraph:
            yield paragraph


def _with_lines_before(lines):
    return zip([None, *lines], lines)


def _may_be_the_rest_of(before, line):
    """Whether the line may have been cut off the one before: that has no room for it, and a formatter keeps the indent."""
    return before is not None and before.indent == line.indent and not before.has_room_for(line)


def _begins_at(line, column):
    """Whether a word begins there, be it after a single blank: as after a first cell that fills its column."""
    return column < len(line.text) and line.text[column] != " " and line.text[column - 1] == " "


def _agrees(before, line, column):
    """Whether the line shows that cells begin at the column; in what continues a full line words are there by chance."""
    if line.cells:
        return column in line.cells
    begins_a_row = before is None or before.has_room_for(line)
    return line.indent == column or (begins_a_row and _begins_at(line, column))


def _columns(lines):
    """Where the cells of a table begin: at least two lines agree, and one of them has a cell before."""
    begun = {column for line in lines for column in line.cells}
    return {column for column in begun if sum(_agrees(*pair, column) for pair in _with_lines_before(lines)) >= 2}


def _misaligned_rows(lines):
    columns = _columns(lines)
    row_indents = {line.indent for line in lines if columns.intersection(line.cells)}
    for line in lines:
        if line.indent in row_indents and line.cells and not columns.intersection(line.cells):
            yield line.number, MISALIGNED_ROW


def _continued_cells(lines):
    columns = _columns(lines)
    row = None
    for before, line in _with_lines_before(lines):
        if line.cells:
            row = line
        elif row and line.indent == row.indent and _may_be_the_rest_of(before, line):
            if not any(column > line.indent and _begins_at(line, column) for column in columns):
                yield line.number, CONTINUED_AS_ROW


def _continued_items(lines):
    item = None
    for before, line in _with_lines_before(lines):
        if line.is_item:
            item = line
        elif item and line.indent == item.indent and _may_be_the_rest_of(before, line):
            yield line.number, CONTINUED_AS_ITEM


def _early_ends(lines):
    for before, line, after in zip(lines, lines[1:], lines[2:]):
        if line.cells or line.ends_a_sentence():
            continue
        if line.is_displayed:
            # The rest of a line, and then what was meant to stand below that line.
            is_torn = _may_be_the_rest_of(before, line) and after.indent > line.indent and line.has_room_for(after)
        else:
            is_torn = line.room > _MOST_SPARE_COLUMNS
        if is_torn:
            yield line.number, ENDS_EARLY


def _overlong(text):
    lines = text.split("\n")
    for number in tidy_cpp.lines_with_comments(text):
        if len(lines[number - 1]) > MOST_COLUMNS:
            yield number, f"a comment up to column {len(lines[number - 1])}; at most {MOST_COLUMNS}"


def findings(text):
    """Pairs of a line's number and what is wrong with it, at most one for each line."""
    found = dict(_overlong(text))
    for lines in _paragraphs(text):
        checks = [_early_ends]
        if lines[0].is_displayed:
            checks += [_misaligned_rows, _continued_cells, _continued_items]
        for check in checks:
            found.update(check(lines))
    return sorted(found.items())
