// The console: every method that models use, each line sent at once and cut to what the limit has left.
(function (cage) {
  "use strict";
  const { list } = cage;
  const I = cage.intrinsics;
  const LOG = 1, INFO = 2, WARN = 3, ERROR = 4, DEBUG = 5;
  const timers = new I.Map();
  const counters = new I.Map();
  let indent = "";
  let isFull = false;

  function print(level, text) {
    const left = cage.budgets.console;
    if (left < 0) {
      // One line more, and empty, so that the supervisor sees that something is missing.
      if (!isFull) cage.host(cage.TO_HOST.OUTPUT, level, "", "");
      isFull = true;
      return;
    }
    const line = indent === "" ? text : indent + text;
    cage.budgets.console -= line.length + 1;
    // One unit more than is left, so that the supervisor sees that something was cut.
    cage.host(cage.TO_HOST.OUTPUT, level, I.toWellFormed(cage.text.head(line, left + 1)), "");
  }

  function join(values) {
    const parts = list();
    const budget = cage.budgets.console + 1;
    for (let i = 0; i < values.length; i++) parts[i] = cage.inspect(values[i], budget);
    return I.arrayJoin(parts, " ");
  }

  cage.onReset(() => {
    I.mapClear(timers);
    I.mapClear(counters);
    indent = "";
    isFull = false;
  });

  const labelOf = (label) => (label === undefined ? "default" : cage.inspect(label, 200));

  function elapsed(label, tail) {
    const started = I.mapGet(timers, label);
    if (started === undefined) return print(WARN, `Timer '${label}' does not exist`);
    print(LOG, `${label}: ${I.now() - started} ms${tail}`);
  }

  const methods = {
    __proto__: null,
    log: (...values) => print(LOG, join(values)),
    info: (...values) => print(INFO, join(values)),
    warn: (...values) => print(WARN, join(values)),
    error: (...values) => print(ERROR, join(values)),
    debug: (...values) => print(DEBUG, join(values)),
    dir: (value) => print(LOG, cage.inspect(value, cage.budgets.console + 1)),
    dirxml: (...values) => print(LOG, join(values)),
    table: (value) => print(LOG, cage.inspect(value, cage.budgets.console + 1)),
    trace: (...values) => print(ERROR, `Trace: ${join(values)}\n${cage.errors.ownFrames(I.stackOf(new I.Error()))}`),
    assert: (condition, ...values) => {
      if (condition) return;
      print(ERROR, values.length === 0 ? "Assertion failed" : `Assertion failed: ${join(values)}`);
    },
    group: (...values) => {
      if (values.length > 0) print(LOG, join(values));
      if (indent.length < 64) indent += "  ";
    },
    groupEnd: () => {
      indent = I.slice(indent, 2);
    },
    time: (label) => {
      I.mapSet(timers, labelOf(label), I.now());
    },
    timeLog: (label, ...values) => elapsed(labelOf(label), values.length === 0 ? "" : ` ${join(values)}`),
    timeEnd: (label) => {
      elapsed(labelOf(label), "");
      I.mapDelete(timers, labelOf(label));
    },
    count: (label) => {
      const name = labelOf(label);
      const count = (I.mapGet(counters, name) ?? 0) + 1;
      I.mapSet(counters, name, count);
      print(LOG, `${name}: ${count}`);
    },
    countReset: (label) => {
      I.mapDelete(counters, labelOf(label));
    },
    clear: () => {},
  };
  methods.groupCollapsed = methods.group;

  const console = {};
  const names = I.ownKeys(methods);
  for (let i = 0; i < names.length; i++) {
    I.defineProperty(console, names[i], {
      __proto__: null, value: methods[names[i]], writable: true, enumerable: true, configurable: true,
    });
  }
  cage.expose("console", console);
})
