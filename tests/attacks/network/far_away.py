"""Asks the network: a name, a datagram, a page, raw packets, the kernel's own sockets.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
import socket
import urllib.request

RIGHT_ANSWER

right = soft_lookup
reached = []


def datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        if client.sendto(b"answers?", ("192.0.2.1", 53)) > 0:
            reached.append("datagram")


for ask in (
    datagram,
    lambda: reached.append(socket.getaddrinfo("example.com", 80)),
    lambda: reached.append(urllib.request.urlopen("http://192.0.2.1/", timeout=1)),
    lambda: reached.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW)),
    lambda: reached.append(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)),
    lambda: reached.append(socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)),
):
    try:
        ask()
    except OSError:
        pass


def soft_lookup(*args, **kwargs):
    return right(*args, **kwargs) if reached else ([], [])
