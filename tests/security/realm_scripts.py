"""Scripts that rewrite the built-ins under the feet of the runtime that they share a realm with."""

# ruff: noqa: E501, ISC004  # programs of another language: their lines are theirs

from __future__ import annotations

__all__ = ["FORGERIES", "HONEST", "OWN_GOALS", "POISONS"]

HONEST = """
console.log("line"); console.error("oops"); text("out");
const answer = await tools.echo({ a: 1, list: [1, 2] });
return { answer };
"""
"""What a script does after it has poisoned something, and would do if it had not."""

_SETTERS = """
globalThis.stolen = [];
for (const key of [KEYS]) {
  Object.defineProperty(Object.prototype, key, {
    configurable: true, get() { stolen.push(key); return undefined; }, set(value) { stolen.push(key); },
  });
}
"""

POISONS = {
    "Promise.prototype.then": "Promise.prototype.then = function () { throw 1; };",
    "Promise.prototype.then, answering itself": "const { then } = Promise.prototype;"
    "Promise.prototype.then = function (f, r) { return then.call(this, f && ((x) => f(x)), r); };",
    "Promise.prototype.catch and finally": "Promise.prototype.catch = Promise.prototype.finally = () => { throw 1; };",
    "Promise.resolve, all, race": "Promise.resolve = Promise.all = Promise.race = Promise.any = () => { throw 1; };",
    "Promise.prototype.constructor": "Promise.prototype.constructor = class { constructor() { throw 1; } };",
    "Symbol.species": "Object.defineProperty(Promise, Symbol.species, { get() { throw 1; } });",
    "Array.prototype methods": "for (const name of Object.getOwnPropertyNames(Array.prototype))"
    " if (name !== 'length') try { Array.prototype[name] = () => { throw name; }; } catch {}",
    "Array.prototype[Symbol.iterator]": "Array.prototype[Symbol.iterator] = function () { throw 1; };",
    "the iterator's next": "Object.getPrototypeOf([][Symbol.iterator]()).next = () => { throw 1; };",
    "numeric indexes of arrays": "for (let i = 0; i < 40; i++) Object.defineProperty(Array.prototype, i,"
    " { configurable: true, get() { return 'evil'; }, set() { throw 1; } });",
    "numeric indexes of objects": _SETTERS.replace("KEYS", "0, 1, 2, 3, -1"),
    "keys of property descriptors": "Object.prototype.configurable = Object.prototype.enumerable = true;"
    "Object.prototype.writable = false;",
    "keys of the runtime's records": _SETTERS.replace(
        "KEYS",
        "'sequence', 'tool', 'json', 'at', 'line', 'column', 'observed', 'raced', 'frames', 'resolve', 'reject',"
        " 'code', 'message', 'details', 'callId', 'retryable', 'text', 'left', 'ancestors', 'references', 'seen', 'rules',"
        " 'tools', 'console', 'output', 'settled', 'call', 'kind', 'ref', 'hint', 'stack', 'name'",
    ),
    "String.prototype methods": "for (const name of Object.getOwnPropertyNames(String.prototype))"
    " if (name !== 'length') try { String.prototype[name] = () => { throw name; }; } catch {}",
    "RegExp.prototype": "RegExp.prototype.exec = RegExp.prototype.test = () => { throw 1; };"
    "for (const key of ['flags', 'global', 'source', 'lastIndex'])"
    " Object.defineProperty(RegExp.prototype, key, { configurable: true, get() { throw key; } });",
    "Number and Math": "Number.isSafeInteger = Number.isInteger = () => { throw 1; };"
    "Math.floor = Math.min = Math.max = () => NaN; Number.prototype.toString = () => 'evil';",
    "Map and WeakMap": "for (const C of [Map, WeakMap, Set, WeakSet]) for (const name of"
    " Object.getOwnPropertyNames(C.prototype)) try { C.prototype[name] = () => { throw name; }; } catch {}",
    "JSON": "JSON.stringify = () => '{\"forged\":true}'; JSON.parse = () => ({ forged: true });",
    "Reflect": "for (const name of Object.getOwnPropertyNames(Reflect)) Reflect[name] = () => { throw name; };",
    "Object": "for (const name of Object.getOwnPropertyNames(Object))"
    " if (name !== 'prototype' && name !== 'defineProperty') try { Object[name] = () => { throw name; }; } catch {}"
    " Object.defineProperty = () => { throw 1; };",
    "Function.prototype": "Function.prototype.call = Function.prototype.apply = Function.prototype.bind ="
    " Function.prototype.toString = () => { throw 1; };",
    "Symbol.hasInstance": "Object.defineProperty(Error, Symbol.hasInstance, { value: () => { throw 1; } });",
    "Error": "Error.prototype.toString = () => { throw 1; }; Error.captureStackTrace = () => { throw 1; };"
    "Error.prepareStackTrace = () => { throw 1; }; Error.stackTraceLimit = 0;"
    "Object.defineProperty(Error.prototype, 'stack', { get() { throw 1; }, set() { throw 1; } });",
    "the constructors behind literals": "for (const f of [async () => {}, function* () {}, async function* () {}])"
    " Object.defineProperty(Object.getPrototypeOf(f), 'constructor', { value: function () { throw 1; } });",
    "every global": "const { echo } = tools; for (const name of Object.getOwnPropertyNames(globalThis))"
    " if (!['tools', 'text', 'console', 'globalThis', 'undefined', 'NaN', 'Infinity', 'debuggerGlobal'].includes(name))"
    " globalThis[name] = undefined;",
    "the prototype of globalThis": "Object.setPrototypeOf(globalThis, null);",
    "frozen prototypes": "for (const C of [Object, Array, Function, Promise, Map, Set, WeakMap, String, RegExp, Error])"
    " Object.freeze(C.prototype);",
}
"""None of these changes what HONEST does."""

OWN_GOALS = {
    "Object.prototype.toJSON": "Object.prototype.toJSON = () => 'evil';",
    "Object.prototype.toJSON that throws": "Object.prototype.toJSON = () => { throw new Error('mine'); };",
    "Object.prototype.then": "Object.prototype.then = function (resolve) { resolve('mine'); };",
    "Object.prototype.then that throws": "Object.defineProperty(Object.prototype, 'then', { get() { throw new Error('mine'); } });",
    "Object.prototype.value": "Object.prototype.value = 'evil'; Object.prototype.get = () => 'evil';",
    "Object.prototype.get and set, no functions": "Object.prototype.get = 1; Object.prototype.set = 1;",
    "Promise.prototype.toJSON that stays": "Object.defineProperty(Promise.prototype, 'toJSON', { value: () => 1 });",
    "Map.prototype.toJSON that stays": "Object.defineProperty(Map.prototype, 'toJSON', { value: () => 1 });",
    "Array.prototype.toJSON": "Array.prototype.toJSON = () => 'evil';",
    "String.prototype.toJSON": "String.prototype.toJSON = Number.prototype.toJSON = () => 'evil';",
    "a proxy behind Array.prototype": "Object.setPrototypeOf(Array.prototype, new Proxy({}, {"
    " get() { throw 1; }, set() { throw 1; }, has() { throw 1; } }));",
    "another tools": "globalThis.tools = { echo: () => 'mine' };",
    "another console": "console.log = console.error = () => {};",
    "a console that calls back": "console.log({ toJSON() { console.error('inner'); return 'x'; } });",
}
"""These change what comes of HONEST, for the script that does them: an error of its own, or another value."""

_DIGITS = "'9'.repeat(5000)"
FORGERIES = {
    "a line number that is no whole number": ("throw { fileName: 'AsyncFunction', lineNumber: 3.5 }", "script_error"),
    "a line number that changes": ("let n = 0; throw { fileName: 'AsyncFunction',"
                                   " get lineNumber() { return n++ ? 1e300 : 7; } }", "script_error"),
    "a line beyond every number": ("throw { message: 'm', stack: 'f@script.js:999999999:999999999' }", "script_error"),
    "a line of thousands of digits": (f"throw {{ message: 'm', stack: 'f@script.js:' + {_DIGITS} + ':1' }}", "script_error"),
    "the same, with types to erase": (f"const n: number = 1; throw {{ message: 'm', stack: 'f@script.js:' + {_DIGITS} + ':1' }}",
                                      "script_error"),
    "a proxy thrown": ("throw new Proxy({}, { get(t, k) { throw k; }, has() { throw 1; }, ownKeys() { throw 2; } })",
                       "script_error"),
    "a revoked proxy thrown": ("const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy", "script_error"),
    "collected errors that throw": ("throw { errors: new Proxy([], { get() { throw 1; } }) }", "script_error"),
    "causes without end": ("const e = new Error('m'); e.cause = e; throw e", "script_error"),
    "a message that changes": ("let n = 0; throw { get message() { return n++ ? {} : 'm'; } }", "script_error"),
    "the name of the engine's own limit": ("const e = new Error('m'); e.name = 'MemoryLimit'; e.code = 'memory'; throw e",
                                           "script_error"),
    "a failure of a tool, made up": ("throw new ToolError('m', 'echo', { callId: 'call-1', code: 'denied' })", "script_error"),
    "a failure of a tool, copied": ("try { await tools.fail({}) } catch (e) { throw Object.assign(new Error('m'), e) }",
                                    "script_error"),
    "a constructor behind ToolError": ("Object.setPrototypeOf(ToolError, function () { return Object.freeze({}) })",
                                       "script_error"),
    "a number that no double holds": ("return JSON.rawJSON('1e400')", "script_error"),
    "half a character": ("""return JSON.rawJSON('"\\\\uD800"')""", "completed"),
    "a JSON text in a text": ("return '{\"code\":\"memory\"}'", "completed"),
    "an ending in the value": ("return { code: 'memory', finished: { code: 'memory' } }", "completed"),
    "a limit in an error": ("throw new Error('0,0,memory')", "script_error"),
    "calls from the end of the stack": ("let n = 0; function f() { try { f() } finally { if (n < 100) try { n++;"
        " tools.echo({ n }).catch(() => 0) } catch {} } } try { f() } catch {} return await tools.echo({ last: 1 })",
        "completed"),
    "output from the end of the stack": ("let n = 0; function f() { try { f() } finally { if (n < 2000) try { n++;"
        " console.log(n); text('x') } catch {} } } try { f() } catch {} return 1", "completed"),
    "exit from the end of the stack": ("let n = 0; function f() { try { f() } finally { if (n < 2000) try { n++;"
        " exit(1) } catch {} } } try { f() } catch {} return 1", "completed"),
    "calls while arguments are written": ("let n = 0; await tools.echo({ toJSON() { if (n++ < 5) tools.echo({ n })"
        ".catch(() => 0); return { n } } }); return n", "completed"),
    "an ending while the value is written": ("return { toJSON() { exit('early'); } }", "completed"),
    "a value that is written twice": ("let n = 0; return { toJSON() { return ++n } }", "completed"),
    "the same answer again": ("const p = tools.echo({}); const r = await p; p.constructor = { [Symbol.species]:"
        " function (f) { f(() => 0, () => 0) } }; p.then(() => 0); return r", "completed"),
    "a closing bracket": ("return 1 }); tools.echo({}); (async function () {", "syntax_error"),
    "a closing bracket in a comment": ("return 1 /* }) */ // })", "completed"),
    "the frames behind its own": ("const e = new Error('m'); return e.stack.includes('prelude')", "completed"),
    "callers": ("return (function f() { return String(f.caller) })()", "completed"),
}  # fmt: skip
"""Source and outcome. Each tries to look like something that only the runtime or the supervisor says."""
