"""Denies the network: whatever leaves this machine fails at once. Loopback and AF_UNIX stay free."""

import errno
import socket

_FREE = ("localhost", "127.", "::1", "0.0.0.0")  # noqa: S104 (names, not a bind)


def deny():
    """Make name look-ups and connections of the ``socket`` module fail."""
    real = socket.socket

    def guarded(name):
        inner = getattr(real, name)

        def method(self, *args):
            address = args[-1] if args else None
            if self.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
                if not _local(address[0]):
                    if name == "connect_ex":
                        return errno.ENETUNREACH
                    raise OSError(errno.ENETUNREACH, "Network is unreachable")
            return inner(self, *args)

        return method

    for name in ("connect", "connect_ex", "sendto"):
        setattr(real, name, guarded(name))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        setattr(socket, name, _lookup(getattr(socket, name)))


def _lookup(inner):
    def look_up(host, *args, **kwargs):
        if not _local(host):
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return inner(host, *args, **kwargs)

    return look_up


def _local(host):
    if host is None:
        return True
    name = host.decode("utf-8", "replace") if isinstance(host, bytes) else str(host)
    return name == "" or name.startswith(_FREE)
