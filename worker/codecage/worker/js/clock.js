// What time it is and what chance gives. With determinism both are functions of the request alone: the clock begins where
// the request says and goes on by a millisecond with every answer, and chance comes from a seed.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const { list } = cage;
  const NativeDate = Date;
  const { random, imul } = Math;
  const { parse, UTC } = Date;
  const dateToString = I.uncurryThis(Date.prototype.toString);
  const { DateTimeFormat } = Intl;
  const formatGetter = I.uncurryThis(I.getOwnPropertyDescriptor(DateTimeFormat.prototype, "format").get);
  const formatToParts = I.uncurryThis(DateTimeFormat.prototype.formatToParts);
  let fixed; // the time in milliseconds; undefined while it is the real one
  let started = I.now();
  let words; // the state of the generator
  const undo = list();

  cage.now = () => fixed ?? I.now();
  cage.random = () => (words === undefined ? random() : seededRandom());

  // One more answer has come.
  cage.tick = () => {
    if (fixed !== undefined) fixed++;
  };

  // Times count from the start of the script.
  cage.startClock = (determinism) => {
    if (determinism !== undefined) {
      fixed = determinism.start;
      words = { __proto__: null, a: determinism.high | 0, b: determinism.low | 0, c: 0x9e3779b9 | 0, d: 1 };
      for (let i = 0; i < 16; i++) nextWord(); // so that near seeds part
      replaceSources();
    }
    started = cage.now();
  };

  cage.startOfScript = () => started;

  cage.onReset(() => {
    fixed = words = undefined;
    for (let i = undo.length - 1; i >= 0; i--) undo[i]();
    undo.length = 0;
  });

  // sfc32, a small fast generator with a counter: no seed is a bad one.
  function nextWord() {
    const sum = (words.a + words.b + words.d) | 0;
    words.d = (words.d + 1) | 0;
    words.a = words.b ^ (words.b >>> 9);
    words.b = (words.c + imul(words.c, 8)) | 0;
    words.c = ((words.c << 21) | (words.c >>> 11)) + sum | 0;
    return sum >>> 0;
  }

  function seededRandom() {
    const high = nextWord() >>> 5;
    return (high * 67108864 + (nextWord() >>> 6)) / 9007199254740992;
  }

  function replace(object, key, value) {
    const before = I.getOwnPropertyDescriptor(object, key);
    undo[undo.length] = () => I.defineProperty(object, key, before);
    I.defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  }

  function remove(name) {
    const before = I.getOwnPropertyDescriptor(globalThis, name);
    undo[undo.length] = () => I.defineProperty(globalThis, name, before);
    delete globalThis[name];
  }

  function replaceSources() {
    function Date() {
      if (new.target === undefined) return dateToString(new NativeDate(fixed));
      return I.construct(NativeDate, arguments.length === 0 ? [fixed] : arguments, new.target);
    }
    I.defineProperty(Date, "length", { __proto__: null, value: 7, configurable: true });
    I.defineProperty(Date, "prototype", { __proto__: null, value: NativeDate.prototype, writable: false });
    replace(Date, "now", { now: () => fixed }.now);
    replace(Date, "parse", parse);
    replace(Date, "UTC", UTC);
    replace(globalThis, "Date", Date);
    replace(NativeDate.prototype, "constructor", Date);
    replace(Math, "random", { random: seededRandom }.random);
    replaceFormats();
    // They tell when memory was collected, which is nobody's to foresee.
    remove("WeakRef");
    remove("FinalizationRegistry");
  }

  // Without a date they take the present one.
  function replaceFormats() {
    const { prototype } = DateTimeFormat;
    const before = I.getOwnPropertyDescriptor(prototype, "format");
    undo[undo.length] = () => I.defineProperty(prototype, "format", before);
    const get = {
      get format() {
        const format = formatGetter(this);
        return (date) => format(date === undefined ? fixed : date);
      },
    };
    I.defineProperty(prototype, "format", {
      __proto__: null, get: I.getOwnPropertyDescriptor(get, "format").get, set: undefined, enumerable: false, configurable: true,
    });
    replace(prototype, "formatToParts", {
      formatToParts(date) { return formatToParts(this, date === undefined ? fixed : date); },
    }.formatToParts);
  }
})
