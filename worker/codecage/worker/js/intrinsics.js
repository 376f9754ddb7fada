// Copies of every built-in that the prelude uses, taken before a script can change one.
//
// Rules for all files of the prelude: no iteration protocol, no spread, no destructuring of arrays, no method call on a
// value that the script can reach, no array with a prototype. Each of them runs code that a script can replace.
(function (cage) {
  "use strict";
  const bind = Function.prototype.bind;
  const call = Function.prototype.call;
  const uncurryThis = bind.bind(call);
  const { apply, construct, ownKeys } = Reflect;
  const { create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
  const getter = (object, key) => uncurryThis(getOwnPropertyDescriptor(object, key).get);

  cage.intrinsics = freeze({
    __proto__: null,
    apply,
    construct,
    ownKeys,
    create,
    defineProperty,
    freeze,
    getOwnPropertyDescriptor,
    getPrototypeOf,
    setPrototypeOf,
    uncurryThis,

    isArray: Array.isArray,
    arrayFrom: bind.call(Array.from, Array),
    arrayJoin: uncurryThis(Array.prototype.join),

    JSON,
    jsonParse: JSON.parse,
    jsonStringify: JSON.stringify,

    String,
    Number,
    isSafeInteger: Number.isSafeInteger,
    isInteger: Number.isInteger,
    floor: Math.floor,
    min: Math.min,
    now: Date.now,
    charCodeAt: uncurryThis(String.prototype.charCodeAt),
    indexOf: uncurryThis(String.prototype.indexOf),
    lastIndexOf: uncurryThis(String.prototype.lastIndexOf),
    slice: uncurryThis(String.prototype.slice),
    startsWith: uncurryThis(String.prototype.startsWith),
    toLowerCase: uncurryThis(String.prototype.toLowerCase),
    toWellFormed: uncurryThis(String.prototype.toWellFormed),
    repeat: uncurryThis(String.prototype.repeat),
    exec: uncurryThis(RegExp.prototype.exec),

    Map,
    mapClear: uncurryThis(Map.prototype.clear),
    mapDelete: uncurryThis(Map.prototype.delete),
    mapForEach: uncurryThis(Map.prototype.forEach),
    mapGet: uncurryThis(Map.prototype.get),
    mapHas: uncurryThis(Map.prototype.has),
    mapSet: uncurryThis(Map.prototype.set),
    mapSize: getter(Map.prototype, "size"),
    Set,
    setForEach: uncurryThis(Set.prototype.forEach),
    setSize: getter(Set.prototype, "size"),
    WeakMap,
    WeakRef,
    deref: uncurryThis(WeakRef.prototype.deref),
    weakGet: uncurryThis(WeakMap.prototype.get),
    weakSet: uncurryThis(WeakMap.prototype.set),

    Promise,
    promiseThen: uncurryThis(Promise.prototype.then),
    promiseAll: Promise.all,
    promiseRace: Promise.race,
    promiseAny: Promise.any,

    Error,
    RangeError,
    TypeError,
    stackOf: getter(Error.prototype, "stack"),
    objectToString: uncurryThis(Object.prototype.toString),
    functionToString: uncurryThis(Function.prototype.toString),
    symbolToString: uncurryThis(Symbol.prototype.toString),
    regexpToString: uncurryThis(RegExp.prototype.toString),
    dateToISOString: uncurryThis(Date.prototype.toISOString),
    dateValue: uncurryThis(Date.prototype.getTime),
    AsyncFunction: (async () => {}).constructor,
  });

  // An array without a prototype: writing an index of it reaches no setter of the script.
  cage.list = () => setPrototypeOf([], null);
})
