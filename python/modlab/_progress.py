"""Waiting for work on another thread: a bar, Ctrl-C, and what the library has to say meanwhile."""

import html
import logging
import sys
import time

from . import _core

_LOOK = 0.1  # seconds between two looks
_PLAIN_LINE = 10  # seconds between two lines where there is no terminal


def _notebook():
    """IPython's display function in a notebook, otherwise None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import HTML, display

    def show(text, handle):
        if handle is None:
            return display(HTML(text), display_id=True)
        handle.update(HTML(text))
        return handle

    return show


def _time_left(seconds, share):
    if share <= 0:
        return "? left"
    left = int(seconds * (1 - share) / share + 0.5)
    if left < 60:
        return f"{left} s left"
    return f"{left // 60} min {left % 60} s left" if left < 3600 else f"{left // 3600} h {left % 3600 // 60} min left"


class _Bar:
    """A bar on a terminal or in a notebook, a plain line now and then elsewhere if it was asked for."""

    def __init__(self, progress):
        self._show = _notebook() if progress is not False else None
        self._is_terminal = self._show is None and progress is not False and sys.stderr.isatty()
        self._is_plain = progress is True and self._show is None and not self._is_terminal
        self._handle = None
        self._last_line = time.monotonic()

    def draw(self, work):
        if not (self._show or self._is_terminal or self._is_plain):
            return
        share, text = work.status()
        share = min(max(share, 0.0), 1.0)
        text = f"{text}, {_time_left(work.seconds, share)}"
        if self._show:
            bar = f'<progress value="{share:.3f}" max="1"></progress> {html.escape(text)}'
            self._handle = self._show(bar, self._handle)
        elif self._is_terminal:
            sys.stderr.write(f"\r\033[K[{'#' * int(20 * share):<20}] {100 * share:3.0f} %  {text}")
            sys.stderr.flush()
        elif time.monotonic() - self._last_line >= _PLAIN_LINE:
            self._last_line = time.monotonic()
            sys.stderr.write(f"{100 * share:.0f} %: {text}\n")

    def clear(self):
        if self._is_terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        if self._handle is not None:
            self._show("", self._handle)


def pass_on_notices():
    for line in _core.notices():
        logging.getLogger("modlab").warning(line)


def carry_out(work, progress):
    """Starts the work and waits until it is over. The interpreter's lock is free meanwhile. Whatever comes up here, such
    as Ctrl-C, stops the work before it goes on."""
    bar = _Bar(progress)
    work.start()
    try:
        while not work.wait(_LOOK):
            bar.draw(work)
            pass_on_notices()
    except BaseException:
        work.stop()
        while not _is_over(work):
            pass
        raise
    finally:
        bar.clear()
        pass_on_notices()


def _is_over(work):
    # The second Ctrl-C of an impatient person finds the work already on its way out.
    try:
        return work.wait(1.0)
    except KeyboardInterrupt:
        return False
    except Exception:
        return True
