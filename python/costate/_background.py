"""The compiler at work while a model already runs as byte code."""
import atexit
import threading
import weakref

from costate import _compile
from costate._library import ModelError

RUNNING = weakref.WeakSet()             # what the end of this program stops
PATIENCE = 5.0                          # s, until the thread has removed its directory


class Background:
    """Compiles the model of an equation file in a thread; result: the Compiled, None while or if there is none"""

    def __init__(self, text, file):
        self.text, self.file, self.result = text, file, None
        self._process, self._stopped = None, False
        self._thread = threading.Thread(target=self._work, name="costate-compiler", daemon=True)
        RUNNING.add(self)
        self._thread.start()

    def _work(self):
        try:
            self.result = _compile.found(self.text, self.file) or _compile.made(self.text, self.file, self._started)
        except (ModelError, OSError):
            pass                        # no compiler, or one that fails: byte code has the same results

    def _started(self, process):
        self._process = process
        if self._stopped:
            process.kill()

    @property
    def ended(self):
        return not self._thread.is_alive()

    def wait(self, timeout=None):
        """until the compiler has ended"""
        self._thread.join(timeout)

    def stop(self):
        self._stopped = True
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
        self.wait(PATIENCE)


@atexit.register
def stop_all():
    """Compilers do not outlive the program, nor do their directories"""
    for each in list(RUNNING):
        each.stop()
