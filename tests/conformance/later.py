"""The cases that the service does not pass yet, by name, each with the reason.

The tests prove of each that it still fails: one that passes must leave the list.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["DIALECTS_LATER", "FIELD_LATER"]

_TYPESCRIPT = "TypeScript is not served"
_ENTRY_FORM = "only the body of a function is an entry form"
_DETERMINISM = "a clock and random numbers of the request are not served"
_DIALECT = "only the standard dialect is served"

FIELD_LATER: Mapping[str, str] = {
    "SF-04": f"{_ENTRY_FORM}: a code fence",
    "SF-06": f"{_ENTRY_FORM}: export default",
    "SF-08": f"{_ENTRY_FORM}: main() as the last statement",
    "SF-26": f"{_ENTRY_FORM}: an expression as the last statement",
    "TS-01": _TYPESCRIPT,
    "TS-03": _TYPESCRIPT,
    "TS-05": _TYPESCRIPT,
    "TS-07": _TYPESCRIPT,
    "TS-09": _TYPESCRIPT,
    "TS-11": _TYPESCRIPT,
    "TS-13": _TYPESCRIPT,
    "TS-15": _TYPESCRIPT,
    "TS-17": _TYPESCRIPT,
}

DIALECTS_LATER: Mapping[str, str] = {
    "gen-28-clock-and-random": _DETERMINISM,
    "devoxx-01-text-only-output": _DIALECT,
    "devoxx-02-error-string": _DIALECT,
    "devoxx-04-all-tools": _DIALECT,
    "devoxx-05-serial-calls": _DIALECT,
    "devoxx-07-output-order": _DIALECT,
    "devoxx-08-call-cap": _DIALECT,
    "devoxx-10-js-time-counted": _DIALECT,
    "devoxx-11-never-settles": _DIALECT,
    "devoxx-13-absent-globals": _DIALECT,
    "devoxx-14-output-truncated": _DIALECT,
    "devoxx-16-json-text-stays-text": _DIALECT,
    "devoxx-17-stop-prompt": _DIALECT,
    "devoxx-19-no-import": _DIALECT,
    "goose-01-parallel-map": _DIALECT,
    "goose-02-missing-entry": _DIALECT,
    "goose-04-arrow-run": _DIALECT,
    "goose-05-unprefixed-and-dashed-names": _DIALECT,
    "goose-07-script-throws": _DIALECT,
    "goose-08-tool-failure-rejects": _DIALECT,
    "goose-10-omitted-args": _DIALECT,
    "goose-11-bad-arg-values": _DIALECT,
    "goose-13-result-cyclic": _DIALECT,
    "goose-14-result-function": _DIALECT,
    "goose-16-state-discarded": _DIALECT,
    "goose-17-no-ambient-authority": _DIALECT,
    "goose-19-runaway-recursion": _DIALECT,
    "goose-20-unknown-tool": _DIALECT,
    "goose-22-text-json-parsed": _DIALECT,
    "goose-23-timeout-cancels-tool": _DIALECT,
    "sero-01-body-return-text": _DIALECT,
    "sero-02-typescript-stripped": _DIALECT,
    "sero-04-call-object-form": _DIALECT,
    "sero-05-call-wrong-shape": _DIALECT,
    "sero-07-result-parts": _DIALECT,
    "sero-08-invalid-args-not-run": _DIALECT,
    "sero-10-caught-tool-error": _DIALECT,
    "sero-11-call-cap": _DIALECT,
    "sero-13-source-too-large": _DIALECT,
    "sero-14-result-too-large": _DIALECT,
    "sero-16-lazy-dispatch": _DIALECT,
    "sero-17-syntax-error": _DIALECT,
    "sero-19-returned-promise": _DIALECT,
    "sero-20-trace-cap": _DIALECT,
    "sero-22-no-self-call": _DIALECT,
    "sero-23-console-does-not-enter-result": _DIALECT,
}
