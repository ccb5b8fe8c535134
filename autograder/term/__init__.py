"""Before and after a run: hand-ins that come in from an LMS, grades that go back, and reports.

The commands `collect`, `return`, `report`, `forget` and `archive` call it. In go an LMS's archives
and tables, a roster, the gradebook and the journals; out come
`class/submitted/<student>/<lesson>/`, the LMS's own table with scores in it, a zip of pages, and a
page about the class. Whose a hand-in is, is said
by the roster and the outermost part of its path, and never guessed: who is not found is told.
Begin at `collect` for what comes in, `give_back` for what goes out, `class_report` for the page.
"""
