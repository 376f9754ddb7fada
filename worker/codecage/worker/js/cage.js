// The private object that the files of the prelude share. No script can reach it.
(function (host) {
  "use strict";
  const cage = Object.create(null);
  // One function of the supervisor's side, always called with exactly these four: number, number, text, text.
  cage.host = (op, n, first, second) => host(op, n, first, second);
  cage.TO_HOST = { __proto__: null, OUTPUT: 1, CALL: 2, LIMIT: 3, SETTLED: 4, RESULT: 5, ERROR: 6, NOTICE: 7, END: 8, STATE: 9, LISTING: 10 };
  cage.FROM_HOST = {
    __proto__: null, CONFIGURE: 1, INPUT: 2, CHECK: 3, SETTLE: 4, REJECTIONS: 5, FINISH: 6, RESET: 7,
    TOOLS: 8, DESCRIPTIONS: 9, ANSWER: 10,
  };
  cage.ANSWER = { __proto__: null, JSON: 1, TEXT: 2, ERROR: 3, TEXT_OR_JSON: 4 };
  cage.budgets = { __proto__: null, console: 0, output: 0 };
  cage.rules = { __proto__: null };
  const { defineProperty } = Object;
  const resets = [];
  const exposed = [];
  // Rehearsals run before the script does: each file that holds state says how to forget it.
  cage.onReset = (forget) => {
    resets[resets.length] = forget;
  };
  cage.reset = () => {
    for (let i = 0; i < resets.length; i++) resets[i]();
    for (let i = 0; i < exposed.length; i++) delete globalThis[exposed[i]];
    exposed.length = 0;
    // The engine lets everybody read the last text that a pattern was tried on.
    cage.intrinsics.exec(/^/, "");
  };
  // A name that only this run's script finds.
  cage.exposeForRun = (name, value) => {
    exposed[exposed.length] = name;
    cage.expose(name, value);
  };
  cage.expose = (name, value) => {
    defineProperty(globalThis, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  };
  cage.exposeGetter = (name, get) => {
    exposed[exposed.length] = name;
    defineProperty(globalThis, name, { __proto__: null, get, set: undefined, configurable: true, enumerable: false });
  };
  return cage;
})
