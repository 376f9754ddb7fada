"""SpiderMonkey through the extension module of pythonmonkey: all that knows the engine's native interface.

The package pythonmonkey is never imported. Its own `__init__` puts Python's eval, files and a network stack into the
JavaScript realm; the extension module alone holds the engine and nothing else. What its binding does not offer is done
through functions that the engine's library exports; each is checked after use, and a library without them is refused.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["BINDING_VERSION", "OUT_OF_MEMORY_EXIT", "Engine", "EngineError", "PreparedForkUnavailable"]

BINDING_VERSION = "1.4.1"
"""The version of pythonmonkey that was verified. Another one is refused by the prepared mode."""

OUT_OF_MEMORY_EXIT = 77
"""Exit code of a worker whose engine could not get memory."""

_LIBRARY = "libmozjs-136a1.so"
_SYMBOLS = {
    "set_helper_threads": "_ZN2JS27SetHelperThreadTaskCallbackEPFvPNS_16HelperThreadTaskEEmm",
    "run_helper_task": "_ZN2JS19RunHelperThreadTaskEPNS_16HelperThreadTaskE",
    "set_offthread_ion": "_Z36JS_SetOffthreadIonCompilationEnabledP9JSContextb",
    "set_out_of_memory": "_ZN2JS22SetOutOfMemoryCallbackEP9JSContextPFvS1_PvES2_",
    "set_gc_parameter": "_Z17JS_SetGCParameterP9JSContext12JSGCParamKeyj",
    "set_stack_quota": "_Z22JS_SetNativeStackQuotaP9JSContextmmm",
    "context_options": "_ZN2JS17ContextOptionsRefEP9JSContext",
    "collect": "_Z5JS_GCP9JSContextN2JS8GCReasonE",
    "version": "_Z27JS_GetImplementationVersionv",
    "set_rejection_tracker": (
        "_ZN2JS34SetPromiseRejectionTrackerCallbackEP9JSContextPFvS1_bNS_6HandleIP8JSObjectEE"
        "NS_29PromiseRejectionHandlingStateEPvES7_"
    ),
    "promise_id": "_ZN2JS12GetPromiseIDENS_6HandleIP8JSObjectEE",
    "set_element": "_Z13JS_SetElementP9JSContextN2JS6HandleIP8JSObjectEEjS5_",
}
_NURSERY_KEY = 2  # JSGC_MAX_NURSERY_BYTES
# Buffers of dead young objects wait for two minor collections, which come at eight times this many bytes of them:
# with 4 MiB, garbage alone would fill a budget of 64 MiB.
_NURSERY_BYTES = 1 << 20
_MALLOC_THRESHOLD_KEY = 35  # JSGC_MALLOC_THRESHOLD_BASE, in MiB
# What the elements of arrays and other buffers may take before a collection. The engine's own 38 MiB, grown by half as
# it does, are more than most scripts have in all: garbage of parsed JSON would end them.
_MALLOC_THRESHOLD_MIB = 8
# In the context's options: a bit, and a byte whose value 1 says that asm.js is off. Its compiler needs helper threads.
_WEBASSEMBLY_BIT = 1
_ASM_JS_MASK, _ASM_JS_OFF = 0xFF << 24, 1 << 24
_MAX_REJECTIONS = 64
# Where the binding keeps the rooted pointer of an array: behind PyListObject, and in it behind a linked-list element.
_ARRAY_ROOT_OFFSET = 40
_ROOT_POINTER_OFFSET = 24


class EngineError(Exception):
    """The engine could not be loaded or does not behave as the one that was verified."""


class PreparedForkUnavailable(EngineError):
    """This engine cannot be forked once it is initialised; prepare one in each worker instead."""


class Engine:
    """The one engine of this process, not yet holding a script."""

    def __init__(self, module: ModuleType, directory: Path) -> None:
        self._module = module
        self._library = ctypes.PyDLL(str(directory / _LIBRARY))
        binding = ctypes.PyDLL(str(directory / "pythonmonkey.so"))
        self._context = ctypes.c_void_p.in_dll(binding, "GLOBAL_CX")
        self._callbacks: list[object] = []
        self._rejected: dict[int, int] = {}
        self._free_slots = list(range(_MAX_REJECTIONS))

    @classmethod
    def load(cls) -> Engine:
        """Loads and initialises the engine. Raises EngineError; at most once in a process."""
        directory = cls.find()
        path = str(directory / "pythonmonkey.so")
        loader = importlib.machinery.ExtensionFileLoader("pythonmonkey", path)
        spec = importlib.machinery.ModuleSpec("pythonmonkey", loader, origin=path)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        sys.modules["pythonmonkey"] = module
        engine = cls(module, directory)
        engine._disable_webassembly()
        return engine

    @staticmethod
    def find() -> Path:
        """The folder of the extension module. Raises EngineError if it is not installed."""
        spec = importlib.util.find_spec("pythonmonkey")
        if spec is None or spec.origin is None:
            raise EngineError(f"pythonmonkey is not installed: pip install --no-deps pythonmonkey=={BINDING_VERSION}")
        return Path(spec.origin).parent

    @staticmethod
    def map_libraries() -> None:
        """Maps the engine's library without initialising it, so that workers which load it themselves share it."""
        ctypes.CDLL(str(Engine.find() / _LIBRARY))

    @property
    def version(self) -> str:
        """Name and version as the engine tells them, for instance "JavaScript-C136.0a1"."""
        function = self._function("version", [], ctypes.c_char_p)
        return str(function().decode())

    def evaluate(self, source: str, filename: str, first_line: int = 1) -> Any:
        """The completion value of `source`. Only for our own sources and for a script that was checked."""
        return self._module.eval(source, {"filename": filename, "lineno": first_line})

    def run_single_threaded(self) -> None:
        """Makes the engine do all work in the calling thread. First act of a forked worker.

        The helper threads did not survive the fork. With a thread count of zero no task is ever handed to one; each is
        run by whoever joins it.
        """
        callback = ctypes.cast(self._symbol("run_helper_task"), ctypes.c_void_p)
        set_threads = self._function("set_helper_threads", [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t])
        set_threads(callback, 0, 1 << 20)
        self._function("set_offthread_ion", [ctypes.c_void_p, ctypes.c_bool])(self._context, False)

    def check_symbols(self) -> None:
        """Raises PreparedForkUnavailable where the library lacks what a prepared fork needs."""
        for name in ("run_helper_task", "set_helper_threads", "set_offthread_ion"):
            self._symbol(name)

    def limit_nursery(self) -> None:
        """Keeps the youngest generation small: a worker lives for one script."""
        set_parameter = self._function("set_gc_parameter", [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32])
        set_parameter(self._context, _NURSERY_KEY, _NURSERY_BYTES)

    def collect_early(self) -> None:
        """Makes the engine collect garbage before it fills the memory that a script has."""
        set_parameter = self._function("set_gc_parameter", [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32])
        set_parameter(self._context, _MALLOC_THRESHOLD_KEY, _MALLOC_THRESHOLD_MIB)

    def exit_when_out_of_memory(self) -> None:
        """Makes exhaustion final: without this a script can catch it and run on in a half-broken process."""
        exit_now = os._exit

        def leave(_context: int, _data: int) -> None:
            exit_now(OUT_OF_MEMORY_EXIT)

        callback = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(leave)
        self._callbacks.append(callback)
        function = self._function("set_out_of_memory", [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p])
        function(self._context, ctypes.cast(callback, ctypes.c_void_p), None)

    def set_stack_quota(self, size: int) -> None:
        """Limits the native stack of scripts to `size` bytes; over it they get an InternalError."""
        function = self._function("set_stack_quota", [ctypes.c_void_p] + [ctypes.c_size_t] * 3)
        function(self._context, size, size, size)

    def collect(self) -> None:
        """Collects garbage now."""
        self._function("collect", [ctypes.c_void_p, ctypes.c_int])(self._context, 0)

    def track_rejections(self, array: object) -> None:
        """Puts each rejected promise that nobody handles into `array`, an engine array without a prototype.

        Replaces the tracker of the binding, which crashes on a Symbol, prints to standard error and turns reasons into
        Python objects. At most 64 promises are kept at a time.
        """
        root = ctypes.c_void_p.from_address(id(array) + _ARRAY_ROOT_OFFSET).value
        if root is None:
            raise EngineError("the binding keeps its arrays in another place")
        tracker = self._tracker(root + _ROOT_POINTER_OFFSET)
        callback = ctypes.PYFUNCTYPE(
            None, ctypes.c_void_p, ctypes.c_bool, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
        )(tracker)
        self._callbacks.append(callback)
        function = self._function("set_rejection_tracker", [ctypes.c_void_p] * 3)
        function(self._context, ctypes.cast(callback, ctypes.c_void_p), None)

    def _tracker(self, array: int) -> Callable[[int, bool, int, int, int], None]:
        promise_id = self._function("promise_id", [ctypes.c_void_p], ctypes.c_uint64)
        arguments = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
        set_element = self._function("set_element", arguments, ctypes.c_bool)
        context, rejected, free_slots = self._context, self._rejected, self._free_slots

        def track(_context: int, _muted: bool, promise: int, was_handled: int, _data: int) -> None:
            identity = promise_id(promise)
            if was_handled:
                slot = rejected.pop(identity, None)
                if slot is not None:
                    free_slots.append(slot)
            elif free_slots:
                slot = rejected[identity] = free_slots.pop()
                set_element(context, array, slot, promise)

        return track

    def unhandled_rejections(self) -> list[int]:
        """Indexes, in the array of `track_rejections`, of the promises that are still unhandled; forgets them."""
        indexes = list(self._rejected.values())
        self._rejected.clear()
        return indexes

    def _disable_webassembly(self) -> None:
        reference = self._function("context_options", [ctypes.c_void_p], ctypes.c_void_p)
        options = ctypes.c_uint32.from_address(reference(self._context))
        options.value = options.value & ~(_WEBASSEMBLY_BIT | _ASM_JS_MASK) | _ASM_JS_OFF

    def _symbol(self, name: str) -> Any:
        try:
            return self._library[_SYMBOLS[name]]
        except AttributeError as error:
            raise PreparedForkUnavailable(f"the engine's library does not export {name}") from error

    def _function(self, name: str, arguments: list[Any], result: Any = None) -> Any:
        function = self._symbol(name)
        function.argtypes, function.restype = arguments, result
        return function
