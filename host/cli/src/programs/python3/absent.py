"""What WASI has not: processes and sockets, as errors that say what to do instead."""

import errno

PROCESS = "no process can be started here: let the shell run the command, `COMMAND | python3 script.py`"
NETWORK = (
    "there is no network here: the tool `http` makes requests, in the shell as `curl URL | python3 script.py`, "
    "in Python as `tollhouse_tools.http.fetch` where the policy lets this program call it"
)


def _refuse(message):
    def refuse(*_, **__):
        raise OSError(errno.ENOTSUP, message)

    return refuse


def adapt(module):
    """Makes what a module of the standard library cannot do an error that says so."""
    match module.__name__:
        case "os":
            module.system = _refuse(PROCESS)
        case "subprocess":
            module.Popen.__init__ = _refuse(PROCESS)
        case "multiprocessing.context":
            module.BaseContext.Pool = _refuse(PROCESS)
            for name in ("Process", "ForkProcess", "SpawnProcess", "ForkServerProcess"):
                if hasattr(module, name):
                    getattr(module, name)._Popen = staticmethod(_refuse(PROCESS))
        case "socket":
            for name in (
                "getaddrinfo",
                "gethostbyname",
                "gethostbyaddr",
                "create_connection",
                "create_server",
                "socketpair",
            ):
                setattr(module, name, _refuse(NETWORK))
            module.socket.__init__ = _refuse(NETWORK)
