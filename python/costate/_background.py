"""The compiler at work while a model already runs as byte code."""
import atexit
import threading
import weakref

from costate._library import ModelError

RUNNING = weakref.WeakSet()             # what the end of this program stops
PATIENCE = 5.0                          # s, until the thread has removed its directory


class Background:
    """Compiles a model in a thread; result: the Compiled, None while or if there is none.

    work(started)   returns it; started(process) is called with each process that works"""

    def __init__(self, work):
        self.work, self.result = work, None
        self._process, self._stopped = None, False
        self._thread = threading.Thread(target=self._work, name="costate-compiler", daemon=True)
        RUNNING.add(self)
        self._thread.start()

    def _work(self):
        try:
            self.result = self.work(self._started)
        except (ModelError, OSError):
            pass                        # no compiler, or one that fails: byte code has the same results
        self.work = None                # and what it holds

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
