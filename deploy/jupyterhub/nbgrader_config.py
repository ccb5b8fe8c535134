"""For everyone on the hub: which course there is, and where hand-ins go.

It lies in the environment's etc/jupyter/. An instructor's own settings are in their course's
folder, and come after these.
"""

c = get_config()  # type: ignore[name-defined]

c.CourseDirectory.course_id = "attnlab"
c.Exchange.root = "/srv/attnlab/exchange"
