// The private object that the files of the prelude share. No script can reach it.
(function (host) {
  "use strict";
  const cage = Object.create(null);
  // One function of the supervisor's side, always called with exactly these four: number, number, text, text.
  cage.host = (op, n, first, second) => host(op, n, first, second);
  cage.TO_HOST = { __proto__: null, OUTPUT: 1, CALL: 2, LIMIT: 3, SETTLED: 4, RESULT: 5, ERROR: 6, NOTICE: 7, END: 8, STATE: 9 };
  cage.FROM_HOST = {
    __proto__: null, CONFIGURE: 1, INPUT: 2, CHECK: 3, SETTLE: 4, REJECTIONS: 5, FINISH: 6, STATE: 7, ANSWER: 10,
  };
  cage.ANSWER = { __proto__: null, JSON: 1, TEXT: 2, ERROR: 3, TEXT_OR_JSON: 4 };
  cage.budgets = { __proto__: null, console: 0, output: 0 };
  cage.rules = { __proto__: null };
  const { defineProperty } = Object;
  cage.expose = (name, value) => {
    defineProperty(globalThis, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  };
  cage.exposeGetter = (name, get) => {
    defineProperty(globalThis, name, { __proto__: null, get, set: undefined, configurable: true, enumerable: false });
  };
  return cage;
})
