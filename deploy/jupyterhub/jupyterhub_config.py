"""One course on one machine: accounts are the machine's own, and so is what keeps homes apart.

docs/operator.md says how this is set up. It runs as root, since it starts each person's server as
that person. What it knows is in STATE, so that it can be stopped, or die, and go on.
"""

from pathlib import Path

HUB = Path(__file__).resolve().parent  # /opt/attnlab-hub
STATE = "/var/lib/attnlab-hub"  # root's alone, mode 700

c = get_config()  # type: ignore[name-defined]

# Loopback: put a web server with a certificate before it, see docs/operator.md.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = f"{STATE}/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = f"{STATE}/proxy.pid"
c.ConfigurableHTTPProxy.command = [str(HUB / "node_modules/.bin/configurable-http-proxy")]

# Who restarts the hub takes nobody's kernel away: servers go on, and are found again.
c.JupyterHub.cleanup_servers = False

# The passwords of this machine, for whoever is in the group. Replace it by what your university
# has: OAuthenticator, LDAP, LTI. Names have to be those of accounts here.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_groups = {"attnlab"}
c.PAMAuthenticator.open_sessions = False  # of no use to a web server, and needs systemd's
# As Debian's useradd has them. nbgrader puts names between plus signs, a gradebook into tables.
c.Authenticator.username_pattern = r"[a-z_][a-z0-9_-]*"

# What is started, as the person; with every person's own home, and nothing of the hub's.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [str(HUB / "start-server")]
c.Spawner.start_timeout = 120  # the first start copies the lessons
c.Spawner.http_timeout = 120
c.Spawner.env_keep = ["LANG", "LC_ALL"]
c.Spawner.environment = {"PATH": f"{HUB}/env/bin:/usr/local/bin:/usr/bin:/bin"}
