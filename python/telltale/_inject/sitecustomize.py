"""Brings telltale into Python processes that `telltale record` starts.

Its folder stands first in PYTHONPATH, so that Python imports this module when it starts. It steps aside at once: the
folder leaves `sys.path`, the `sitecustomize` that Python would have found without it runs, and all that stays is a
finder which waits for the import of torch. A process that never imports torch runs as it would have.

Whatever Python a command runs meets this file: its syntax is that of all of them.
"""

import os
import sys

_text = os.environ.get("TELLTALE_ATTACH")
if os.getuid() != os.geteuid() or os.getgid() != os.getegid():
    _text = None  # whoever set it has fewer rights than this process
if _text and sys.version_info >= (3, 8):
    try:
        sys.meta_path.insert(0, __import__("telltale_watch").TorchWatch(_text))
        for _module in ("telltale_watch", "telltale_attachment", "telltale_say", "telltale_steps"):
            del sys.modules[_module]
    except ImportError as _error:
        sys.stderr.write("telltale: nothing is recorded in this process: %s\n" % _error)  # noqa: UP031

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [_entry for _entry in sys.path if os.path.abspath(_entry or ".") != _here]

_ours = sys.modules.pop("sitecustomize")
try:
    __import__("sitecustomize")
except ImportError as _missing:  # the one error that Python itself takes for none; Python 2 does not name the module
    if getattr(_missing, "name", "sitecustomize") != "sitecustomize":
        raise
finally:
    sys.modules.setdefault("sitecustomize", _ours)  # the import of this very module needs one
