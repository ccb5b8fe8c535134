"""The suite runs with the network cut off, so that a lesson that needs it fails."""

from __future__ import annotations

import socket

import pytest

from tests import offline


def test_nothing_outside_this_machine_can_be_reached() -> None:
    if not offline.is_cut_off():
        if not offline.namespace():
            pytest.skip("this machine offers no network namespaces, so the network is on")
        pytest.skip("the network is on: `make test` cuts it off")
    # An address kept for documentation. Connecting a datagram socket looks for a route and sends
    # nothing.
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as somewhere,
        pytest.raises(OSError, match="unreachable"),
    ):
        somewhere.connect(("192.0.2.1", 9))


def test_kernels_can_be_reached_over_loopback() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
