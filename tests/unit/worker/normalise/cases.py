"""Scripts for the normaliser and what is expected of each. Found by trying; each stands for a kind."""

from __future__ import annotations

from typing import Any

ERASED: list[tuple[str, Any]] = [
    ("let a = 1\ninterface X {}\n[1].map(x => x)\nreturn a", 1),
    (
        ("class A {\n a = 1\n private ['b'] = 2;\n *g() { yield 1 }\n}\nreturn new A().b"),
        2,
    ),
    ("const f = async <\n T\n>(x: T) => x;\nreturn await f(3)", 3),
    ("const f = () => { return <\nT,\n>\n(x: T) => x };\nreturn f()(4)", 4),
    (
        ("const f = (\n a: number // c )\n): // why\n {x: number\n } => ({x: a});\nreturn f(1).x"),
        1,
    ),
    ("const f = (): Promise<\nvoid\n> => 5;\nreturn f()", 5),
    ("const f = async (): Promise<\nvoid\n> => 5;\nreturn f()", 5),
    (
        ("const f = (...a: number[]): number\n | string => a.length;\nreturn f(1,2)"),
        2,
    ),
    ("const f = () => <any>{ a: 1 };\nreturn f().a", 1),
    ("<any>{ a: 1 };\nreturn 2", 2),
    ("function f() { return <\nany\n> 7 }\nreturn f()", 7),
    ("function f() { return <any>\n 7 }\nreturn f()", 7),
    ("return 1 + 1 as any * 3", 6),
    ("return 2 ** 2 as any ** 3", 64),
    ("let a=2; return -a as any ** 2", 4),
    ("return 1 < 2 as any + 1", 2),
    ("return 1 + 1 as any as number * 3", 6),
    ("return (1 + 1 as any) * 3", 6),
    (
        (
            "class A { get: number\n"
            " x(){return 1} set?: string\n"
            " y(){return 2} static static: T\n"
            " z(){return 3} async!: T\n"
            " w(){return 4} }\n"
            "const a=new A(); return [a.x(),a.y(),a.z(),a.w()]"
        ),
        [1, 2, 3, 4],
    ),
    (
        (
            "class A { m?(): void; n?(x): void { } p: number; 'q r'?: string; ['s']!: number; 5?: "
            "string; #t?: number = 3; t(){return this.#t} }\n"
            "return [new A().t(), Object.keys(new A())]"
        ),
        [3, ["5", "p", "q r", "s"]],
    ),
    (
        (
            "abstract class A { abstract x: number; abstract m(): void; protected abstract get z(): "
            "number; static #p: number = 1; static q() { return A.#p } }\n"
            "class B extends A { constructor(public override readonly x = 5, protected y?: number) { "
            "super() } }\n"
            "const b = new B(); return [b.x, 'y' in b, A.q()]"
        ),
        [5, True, 1],
    ),
    (
        (
            "class A { constructor(private x: number) { 'use strict2'; } get(): number { return this.x "
            "} }\n"
            "return new A(4).get()"
        ),
        4,
    ),
    (
        (
            "class A {} class B extends A { constructor(private x: number) { super()\n"
            " } g() { return this.x } }\n"
            "return new B(4).g()"
        ),
        4,
    ),
    (
        (
            "class A { constructor({a}: {a: number}, [b]: [number] = [2], ...c: any[]) { this.v = a + "
            "b + c.length } v: number }\n"
            "return new A({a:1}).v"
        ),
        3,
    ),
    (
        (
            "function f(this: Window): number { return 1 } function g(this: T, a?: number, b: string = "
            "'x'): a is string { return a }\n"
            "return f() + g(2)"
        ),
        3,
    ),
    (
        (
            "function f<T,>({ a, b: { c } = { c: 2 } }: { a: T; b?: { c: number } } = { a: 1 }) { "
            "return a + c }\n"
            "return f()"
        ),
        3,
    ),
    (
        ("let x: number, y!: string, { z }: any = { z: 1 }, [w]: number[] = [2];\nreturn z + w"),
        3,
    ),
    ("for (const x: number of [1]) {}\nreturn 1", 1),
    (
        ("for (const x of [1,2] as number[]) { if (x as any) continue }\nreturn 3"),
        3,
    ),
    ("try { throw 1 } catch (e: any) { return e }", 1),
    ("try { throw 1 } catch { return 2 }", 2),
    (
        (
            "type A = 1; type B<T> = { [k in keyof T]?: T[k] }\n"
            "interface C { (a): b }\n"
            "declare const x: 1; declare function f(): void; declare class D {}\n"
            "declare module 'm' { export const a: 1 }\n"
            "declare global { interface W {} }\n"
            "declare enum E { A }\n"
            "declare let q\n"
            "export {}\n"
            "export type { A }\n"
            "export interface Z {}\n"
            "export declare const p: number\n"
            "namespace N { export type X = 1; interface Q {} namespace M { type R = 1 } }\n"
            "import type X from 'y'\n"
            "import { type P } from 'z'\n"
            "export default interface Foo {}\n"
            "export as namespace U\n"
            "import type W = require('w')\n"
            "return 9"
        ),
        9,
    ),
    (
        (
            "enum E { A, B = 5, C, D = 'x', F = B * 2, 'g-h' = 1, default = 3, E = 4 }\n"
            "return [E.A,E.C,E[6],E.D,E.F,E['g-h'],E.default,E[3],E.E]"
        ),
        [0, 6, "C", "x", 10, 1, 3, "default", 4],
    ),
    (
        (
            'const enum E { A = 1 << 2, B = A | 1, C = "s".length, D = (E.A + 1) as number }\n'
            "export enum F { X = -1, Y }\n"
            "return [E.A, E.B, E.C, E[5], F.Y, F[-1], E.D]"
        ),
        [4, 5, 1, "D", 0, "X", 5],
    ),
    ("enum E { A } enum E { B = 1 }\nreturn [E.A, E.B, E[1]]", [0, 1, "B"]),
    ("function f() { enum L { Q = 'q' } return L.Q }\nreturn f()", "q"),
    ("enum E {}\nreturn typeof E", "object"),
    (
        ("enum A { X = 1 // c\n , Y /* d */ = 2 , /* e */ Z, }\nreturn A.Z"),
        3,
    ),
    ("const a = [1,2] as const\nconst b = a[0]! + a[1]!\nreturn b", 3),
    ("const x = { a: { b: 1 } } as any\nreturn x!.a!.b! ", 1),
    ("let v = 1; v!++; (v as any) = v as any + 1; [(v as any)] = [v]; return v", 3),
    ("const f = <T,>(x: T) => x; const g = f<number>; return g(1)", 1),
    (
        ("const f = (x) => x; const g = f<number>\nconst h = 2\nreturn g(h)"),
        2,
    ),
    ("const m = new Map<string, number[]>\nreturn m.size", 0),
    ("const s = String.raw<string>`a\\n`; return s", "a\\n"),
    (
        (
            "const o = { m<T>(x: T): T { return x }, get p(): number { return 1 }, async *g<T>(): "
            "AsyncGenerator<T> {}, set q(v: number) {} , [`k${1 as any}` as const]: 2 as number};\n"
            "return o.m(o.p) + o.k1"
        ),
        3,
    ),
    ("const a = (x?: number, y?) => x ?? y ?? 5; return a()", 5),
    (
        (
            "const f = async (x: number): Promise<number> => x; const g = async x => x as any; return "
            "(await f(1)) + (await g(2))"
        ),
        3,
    ),
    ("class A<T> extends Map<string, T> implements I<T>, J { } return new A<number>().size", 0),
    (
        ("const C = class implements I {}; const D = class<T> extends (C) implements J {}; return typeof new D()"),
        "object",
    ),
    (
        (
            "let as = 1, satisfies = 2, type = 3, of = 4, declare = 5, namespace = 6, module = 7, "
            "abstract = 8, readonly = 9, is = 10; return as + type\n"
        ),
        4,
    ),
    ("label: for (;;) { break label }\nreturn 1", 1),
    (
        (
            "export const a = 1; export function b() { return 2 }\n"
            "export class C {}\n"
            "export { a, b as c };\n"
            "return a + b()"
        ),
        3,
    ),
    (
        ("function f(a: string): void\nfunction f(a: number): void\nfunction f(a) { return 1 }\nreturn f()"),
        1,
    ),
    (
        (
            "abstract class A { static async *[Symbol.iterator]?(): any {} private static async m() { "
            "return 1 } static { const q: number = 2 } }\n"
            "return A.m()"
        ),
        1,
    ),
    ("const x = y => ({ ...y as any, ...(y!) }); return x({a:1}).a", 1),
    ("return ((a: number, b = (c: string): string => c) => b('z'))(1)", "z"),
    (
        ("if (true) { type X = 1; interface Y {} }\nswitch (1) { case 1: type Z = 2; return 5 }"),
        5,
    ),
    ("const a = 1 as number, b = 2 satisfies number; const c = `${a as any}${`${b!}`}`; return c", "12"),
    ("const q = (1 as any)\n;(q as any).x = 1\nreturn q", 1),
    (
        ("async function run() { const x = await (async () => 3 as any)()\n return x as number }"),
        3,
    ),
    (
        ("let x = 1 as any\n/* c */ ;[2].forEach(() => {})\nlet z = 3 as any // c\n`t`\nreturn z"),
        3,
    ),
    ("class A { x = 1 as any\n ['y'] = 2 as any }\nreturn new A().y", 2),
    ("const o = {} as { [k: string]: number }; o.x = 1; return o?.x!", 1),
    (
        ("const \\u0061b: number = 1; function f(\\u0061?: number) { return \\u0061 }\nreturn ab"),
        1,
    ),
    ("let f = function <T>(this: any, x: T): T { return x }; return f(1)", 1),
    (
        ("function assert(x: unknown): asserts x is string {} \nassert(1); return 1"),
        1,
    ),
    ("const x = <const T,>(a: T) => a; return x(1)", 1),
    (
        (
            "class P { constructor(readonly a: string, public b?: number, private c: number[] = []) {} "
            "}\n"
            "return JSON.stringify(new P('x'))"
        ),
        '{"a":"x","c":[]}',
    ),
    ("const f = (cb: (x: number) => void, n = 2): number => n; return f(() => {})", 2),
    ("let u: undefined | (() => void); return u?.()", "undefined"),
    ("const r = await Promise.all<number>([1]); return r", [1]),
    ("using = 3; var using; accessor = 1; var accessor; return using", 3),
    ("const a: Array<Array<number>>= [[1]]; return a[0][0]", 1),
    ("const fn = function(): void {} as () => void; return typeof fn", "function"),
    (
        (
            "class A { private #n = 1; readonly m(): number { return this.#n } override get x(): "
            "number { return 2 } static public s = 3; set y(v: number): void {} constructor<T>() {} "
            "private readonly z = 4 }\n"
            "return [new A().m(), new A().x, A.s]"
        ),
        [1, 2, 3],
    ),
    (
        (
            "function f({ a, b }?: { a: number; b?: string }, [c,]?: number[], {}?: any) { return a + "
            "c }\n"
            "return f({ a: 1 }, [2], {})"
        ),
        3,
    ),
    (
        ("class A { abstract m(): void; n() { return 1 } }\nreturn new A().n()"),
        1,
    ),
]
"""TypeScript and what it comes to."""

REFUSED: list[tuple[str, tuple[int, int, str]]] = [
    ("class A {} class B extends A { constructor(private x: number) { if (x) { super() } } }", (1, 32, "super")),
    ("enum E { A = 'x', B }", (1, 19, "needs a value")),
    (
        ("class A { private #n = 1; m(): number { return } }\nconst x = ;"),
        (2, 11, ""),
    ),
    ("namespace A { export const b = 1 }", (1, 1, "namespace")),
    ("let q = 1;\nmodule Foo { let x = 1 }", (2, 1, "namespace")),
    ("@dec class A {}", (1, 1, "decorator")),
    ("class A {\n  @dec m() {} }", (2, 3, "decorator")),
    ("class A { constructor(@I x) {} }", (1, 0, "decorator")),
    ("class A { accessor x = 1 }", (1, 11, "accessor")),
    ("{ using x = f(); }", (1, 3, "using")),
    ("using x = f();", (1, 1, "using")),
    ("await using x = f();", (1, 1, "using")),
    ("async function f() { await using x = 1; }", (1, 22, "using")),
    ("import x from 'y'", (1, 1, "import")),
    ('const a = 1;\nimport { get_user } from "tools";', (2, 1, "import")),
    ("import 'x'", (1, 1, "import")),
    ("import * as fs from 'fs'", (1, 1, "import")),
    ("import a = b.c", (1, 1, "import")),
    ("export * from 'x'", (1, 1, "export")),
    ("export { a } from 'x'", (1, 1, "export")),
    ("export = 5", (1, 1, "export")),
    ("return import.meta.url", (1, 8, "import.meta")),
    ("const x = <div>hi</div>;\nreturn x", (1, 0, "jsx")),
    ("return (\n  <Foo a={1} />\n)", (2, 0, "jsx")),
    ("const a = <><b/></>", (1, 0, "jsx")),
    ("function f() { await g() }", (1, 16, "await")),
    ("[1].map(x => { const y = await x; })", (1, 26, "await")),
    ("const f = (x) => await x", (1, 18, "await")),
    ("ls -la | grep json", (1, 1, "JavaScript")),
    ("def main():\n    return 1\n", (1, 1, "JavaScript")),
    ("I will now read the file and count.", (1, 1, "plain text")),
    ("\n\n  Here is what I would do:\n- read", (3, 3, "plain text")),
    ("SELECT a FROM b WHERE c = 1", (1, 1, "SQL")),
    ("npm install left-pad", (1, 1, "shell")),
    ("<!DOCTYPE html>\n<html></html>", (1, 1, "HTML")),
    ("let a = 1; let a = 2;", (1, 16, "already")),
    ("foo(\n", (2, 0, "ends here")),
    ("const a = ;", (1, 11, 'found ";"')),
]
"""Text that is refused: line, column (0 where it does not matter) and a part of the message or the hint."""

FORMS: list[tuple[str, Any]] = [
    ("", "undefined"),
    ("   \n // c\n", "undefined"),
    ("/* x */", "undefined"),
    ("interface A {}", "undefined"),
    (";;", "undefined"),
    ("```\nreturn 1\n```", 1),
    ("~~~ts\nlet a: number = 2; return a\n~~~", 2),
    ("```js\nreturn 3", 3),
    ("```js return 4 ```", 4),
    (
        ("text\n```bash\nls -la /very/long/path/here/and/there/and\n```\nthen\n```ts\nreturn 5 as number\n```\n"),
        5,
    ),
    ("text here is\n````js\nreturn `\n\n`.length\n````\nbye", 2),
    ("a b\n~~~\nreturn 1\n~~~\n```js\nreturn 22222\n```", 22222),
    ("\ufeffreturn 1", 1),
    ("#!/usr/bin/env node\n1 + 1", 2),
    ("```js\n#!/usr/bin/env node\nreturn 8\n```", 8),
    ("return 1 //# sourceURL=x.js", 1),
    ("//# sourceURL=x.js\n'//# sourceURL=y'", "//# sourceURL=y"),
    (
        ("export default async function () { return 1 }\n[2].map(x => x)"),
        1,
    ),
    ("export default function main() { return 2 }", 2),
    ("export default async () => 3", 3),
    ("export default { a: 1 }", {"a": 1}),
    ("async function go() { return 4 }\nexport default go", 4),
    ("export\ndefault 5", 5),
    ("const f = () => 6\nexport { f as default }", 6),
    ("export default (async () => 7)", 7),
    ("export default 8 as number", 8),
    ("export default <any>{ a: 9 }", {"a": 9}),
    ("export default await Promise.resolve(3)", 3),
    ("module.exports = async () => 1", 1),
    ("async function main() { return 2 }\nmodule.exports = main;", 2),
    ("module.exports = { a: 1 }\n", {"a": 1}),
    ("if (1) return 2\n3", 2),
    ("const f = () => { return 1 }\nf()", 1),
    ("async () => 1", 1),
    ("async function () { return 2 }", 2),
    ("function () { return 3 };", 3),
    ("(function () { return 3 })", 3),
    ("() => ({ a: 1 })", {"a": 1}),
    ('{ "a": 1, "b": [2] }', {"a": 1, "b": [2]}),
    ("{ a: 1 }", {"a": 1}),
    ("[1,2]", [1, 2]),
    ("42", 42),
    ("`x`", "x"),
    ("async ({ tools, input }) => typeof tools + typeof input", "objectobject"),
    ("async (args: any) => typeof args", "object"),
    ("(input: { n?: number }) => input.n ?? 3", 3),
    ("async function main({ city } = {}) { return city ?? 'none' }", "none"),
    ("async function main() { return 1 }\nmain", 1),
    ("async function main() { return 1 }\nawait main();", 1),
    ("async function main() { return 1 }\nvoid main();", 1),
    (
        ("main();\nasync function main() { return h() }\nfunction h() { return 2 }"),
        2,
    ),
    (
        ("function helper() { return 2 }\nasync function report() { return helper() }"),
        2,
    ),
    ("const run = async (): Promise<number> => 3", 3),
    ("let main = function () { return 4 }", 4),
    ("async function walk(n = 2) { return n ? walk(n - 1) : 'end' }", "end"),
    ("function a() {}\nfunction b() {}", "undefined"),
    ("export async function execute() { return 5 }", 5),
    ("'use strict'", "undefined"),
    ("'a'; 'b'", "b"),
    ('"use strict";\n1 + 1', 2),
    (
        ("'use strict';\nreturn (function(){ return this === undefined })()"),
        True,
    ),
    ("type A = 1\n'x'", "x"),
    ("const a = 1; a as any", 1),
    ("const a = [1]\na\n  .map((x: number) => x) // c\n  // d\n", [1]),
    ("let x; x = 5;", 5),
    ("1;2 // c\n;", 2),
    ("foo: { }", "undefined"),
    ("(async () => { return 4 })()\n\n/* end */", 4),
    ("(1, 2)", 2),
    ("const x = 1\n;(x)", 1),
    ("const y = 1;y as number + 1", 2),
    ("const o = { a: 1 }\n;({ ...o } as any)", {"a": 1}),
    ("async () => { return 1 } // note", 1),
    ("(async () => 5) satisfies Function", 5),
    ("const a = 1\nif (a) { 5 }", "undefined"),
    ("var a = 1, b = 2;\na < b", True),
    ("{ total: 1 + 1 }", {"total": 2}),
    ("let a = 1\n!function () {}()\na", 1),
    ("async function f() { return 1 }\nf().then(v => v + 1)", 2),
    ("Code:\n```js\nconst a = 1;\nreturn a;\n```", 1),
    ("Solution:\n```ts\nconst a: number = 1;\nreturn a;\n```\n", 1),
]
"""Entry forms of `any`."""

RUNS: list[tuple[str, Any]] = [
    ("async function run() { return 1 }", 1),
    ("const run = async () => 2", 2),
    ("function run(): number { return 3 }", 3),
    ("var run = function () { return 4 };", 4),
    ("async function run() { return 5 }\nrun();", 5),
    ("async function run() { return 6 }\nreturn await run()", 6),
    (
        ("async function run() { return h() }\nfunction h() { return 7 }"),
        7,
    ),
    ("export async function run() { return 8 }", 8),
    ("export default async function run() { return 8 }", 8),
    ("let run; run = () => 9", 9),
    (
        ("let c = 0; async function run() { return ++c }\nconst go = () => run()\nconsole.log"),
        1,
    ),
]
"""Entry form `run_function`."""

RUNS_REFUSED: list[tuple[str, tuple[int, int, str]]] = [
    ("const answer = 42;", (0, 0, "run")),
    ("", (0, 0, "run")),
    ("async () => 1", (0, 0, "run")),
    ("class run {}", (0, 0, "run")),
    ("function outer() { function run() {} }", (0, 0, "run")),
    ("async function run( {", (1, 0, "")),
]

BODIES: list[tuple[str, Any]] = [
    ("return 1", 1),
    ("5", "undefined"),
    ("interface R {}\nreturn 2 as any", 2),
    ("async function run() { return 1 }", "undefined"),
    ("export type A = 1\nreturn 1", 1),
    ("```js\nreturn 1\n```", 1),
]
"""Entry form `body`."""

BODIES_REFUSED: list[tuple[str, tuple[int, int, str]]] = [
    ("export default 1", (1, 1, "export")),
]

JAVASCRIPT: list[tuple[str, Any]] = [
    ("var a=1,b=2,c=3,d=1; return f(a < b, c > (d)); function f(x, y) { return [x,y] }", [True, True]),
    ("const n: number = 20; return n + 1", 21),
]
"""Read as JavaScript."""

JAVASCRIPT_REFUSED: list[tuple[str, tuple[int, int, str]]] = [
    ("const n: number = ;", (1, 19, "")),
]
