// The names that a script finds: tools, ALL_TOOLS, input, text, image, exit.
(function (cage) {
  "use strict";
  const { list } = cage;
  const I = cage.intrinsics;
  const { wellFormedJson } = cage.text;
  const functions = new I.Map(); // index -> function
  let toolNames; // the exact names, once the script has looked at them
  let indexes; // exact name -> index
  let identifiers; // identifier of another name -> index
  let descriptions;
  let allTools;
  const names = new I.Map(); // the names of this dialect
  const state = new I.Map(); // key -> JSON text
  let stateBytes = 0;
  let isStateChanged = false;

  cage.onReset(() => {
    toolNames = indexes = identifiers = descriptions = allTools = undefined;
    I.mapClear(functions);
    I.mapClear(names);
    I.mapClear(state);
    stateBytes = 0;
    isStateChanged = false;
  });

  // A list of a thousand tools costs a script nothing until it looks at one: only then it comes in.
  function need(operation) {
    // It comes in below this call, which fails where the stack is nearly used up.
    if (cage.host(cage.TO_HOST.LISTING, operation, "", "") !== 1) throw cage.tooDeep();
  }

  function theTools() {
    if (toolNames === undefined) need(cage.FROM_HOST.TOOLS);
    return toolNames;
  }

  I.defineProperty(cage, "toolNames", { __proto__: null, get: theTools });

  // Takes in the names, and where each leads: the supervisor has decided that, and describes the tools so.
  cage.takeTools = (text) => {
    const map = I.jsonParse(text);
    indexes = I.setPrototypeOf(map.indexes, null);
    identifiers = I.setPrototypeOf(map.identifiers, null);
    toolNames = I.setPrototypeOf(map.names, null);
    return 1;
  };

  cage.takeDescriptions = (text) => {
    descriptions = I.jsonParse(text);
    return 1;
  };

  cage.indexOfTool = (name) => (theTools(), indexes[name] ?? -1);

  function toolFunction(index) {
    let found = I.mapGet(functions, index);
    if (found === undefined) {
      const name = cage.toolNames[index];
      found = { [name]: (args) => cage.calls.callTool(index, args) }[name];
      I.mapSet(functions, index, found);
    }
    return found;
  }

  function lookUp(key) {
    if (typeof key !== "string") return undefined;
    if (key === "call") return cage.calls.callByName;
    if (cage.rules.callForm === "name") return undefined;
    let index = cage.indexOfTool(key);
    if (index < 0) index = identifiers[key] ?? -1;
    return index < 0 ? undefined : toolFunction(index);
  }

  const refuse = () => false;
  // A proxy, so that a thousand tools cost a script nothing until it names one.
  const tools = new Proxy(I.create(null), {
    __proto__: null,
    get: (_, key) => lookUp(key),
    has: (_, key) => lookUp(key) !== undefined,
    ownKeys: () => {
      const keys = list();
      for (let i = 0; i < cage.toolNames.length; i++) keys[i] = cage.toolNames[i];
      return keys;
    },
    getOwnPropertyDescriptor: (_, key) => {
      const value = lookUp(key);
      if (value === undefined) return undefined;
      const enumerable = cage.indexOfTool(key) >= 0;
      return { __proto__: null, value, writable: false, enumerable, configurable: true };
    },
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
    preventExtensions: refuse,
  });

  function getAllTools() {
    if (allTools !== undefined) return allTools;
    const names = theTools();
    if (descriptions === undefined) need(cage.FROM_HOST.DESCRIPTIONS);
    const all = [];
    for (let i = 0; i < names.length; i++) {
      const entry = I.freeze({ name: names[i], description: descriptions[i] });
      I.defineProperty(all, i, { __proto__: null, value: entry, enumerable: true });
    }
    descriptions = undefined;
    return (allTools = I.freeze(all));
  }

  function toText(value) {
    if (typeof value === "string") return value;
    if (typeof value !== "object" || value === null) return cage.inspect(value, cage.budgets.output + 1);
    try {
      return cage.values.stringify(value) ?? cage.inspect(value, cage.budgets.output + 1);
    } catch {
      return cage.inspect(value, cage.budgets.output + 1);
    }
  }

  function spend(bytes, what) {
    cage.budgets.output -= bytes;
    if (cage.budgets.output >= 0) return;
    const at = cage.errors.place(I.stackOf(new I.Error()));
    cage.stop("output_limit", `${what} brings the output over its limit of ${cage.rules.outputBytes} bytes`, at);
  }

  function text(value) {
    const written = I.toWellFormed(toText(value));
    if (written.length > cage.budgets.output) spend(written.length, "text()");
    spend(cage.text.utf8Length(written), "text()");
    cage.host(cage.TO_HOST.OUTPUT, 0, written, "");
  }

  const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/;

  // image("data:image/png;base64,..."), image(base64, mimeType) or image({ data, mimeType }).
  function image(source, type) {
    const isObject = typeof source === "object" && source !== null;
    let data = isObject ? source.data : source;
    let mimeType = (isObject ? source.mimeType : type) ?? "image/png";
    if (typeof data !== "string" || typeof mimeType !== "string") {
      throw new I.TypeError("image() takes base64 text and a media type, or { data, mimeType }");
    }
    const url = I.exec(DATA_URL, I.slice(data, 0, 200));
    if (url !== null) {
      mimeType = url[1];
      data = I.slice(data, url[0].length);
    }
    spend(I.floor((data.length * 3) / 4), "image()");
    if (cage.host(cage.TO_HOST.OUTPUT, 6, cage.text.head(I.toWellFormed(mimeType), 200), I.toWellFormed(data)) !== 1) {
      throw new I.TypeError("image() takes base64 text");
    }
  }

  // What the service takes in again at the start of the next run.
  const MAX_STATE_BYTES = 1 << 20;
  const MAX_STATE_DEPTH = 128;
  const MAX_STATE_ITEMS = 100000;
  const sizeOf = (key, json) => (json === undefined ? 0 : cage.text.utf8Length(key) + cage.text.utf8Length(json));

  // Keeps a value under a key for the next run that is given this one's state; undefined forgets the key.
  function store(key, value) {
    const name = I.toWellFormed(I.String(key));
    const old = I.mapGet(state, name);
    const json = value === undefined ? undefined : wellFormedJson(storable(name, value));
    const bytes = stateBytes + sizeOf(name, json) - sizeOf(name, old);
    if (bytes > MAX_STATE_BYTES) throw new I.TypeError(`store(): the state is larger than ${MAX_STATE_BYTES} bytes`);
    const broken = json === undefined ? "" : cage.text.brokenShape(json, MAX_STATE_DEPTH, MAX_STATE_ITEMS);
    if (broken === "depth") throw new I.TypeError(`store(): the value is nested deeper than ${MAX_STATE_DEPTH} levels`);
    if (broken === "items") throw new I.TypeError(`store(): the value holds more than ${MAX_STATE_ITEMS} items`);
    stateBytes = bytes;
    if (json === undefined) I.mapDelete(state, name);
    else I.mapSet(state, name, json);
    isStateChanged = true;
  }

  function storable(name, value) {
    try {
      const json = cage.values.stringify(value);
      if (json !== undefined) return json;
    } catch (error) {
      throw new I.TypeError(`store(${I.jsonStringify(name)}): ${cage.values.explain(value, error, "value")}`);
    }
    throw new I.TypeError(`store(${I.jsonStringify(name)}): a ${typeof value} cannot be stored`);
  }

  // The value under a key, or undefined.
  function load(key) {
    const json = I.mapGet(state, I.toWellFormed(I.String(key)));
    return json === undefined ? undefined : I.jsonParse(json);
  }

  // Ends the run as completed. Nothing after it runs, no finally either.
  function exit(value) {
    cage.endWith(value);
  }

  cage.isGlobal = (name) => I.mapHas(names, name);

  // Gives the script the names of its dialect.
  cage.configureGlobals = (rules) => {
    for (let i = 0; i < rules.globals.length; i++) I.mapSet(names, rules.globals[i], true);
    const keys = I.ownKeys(optional);
    for (let i = 0; i < keys.length; i++) if (cage.isGlobal(keys[i])) cage.exposeForRun(keys[i], optional[keys[i]]);
    if (cage.isGlobal("ALL_TOOLS")) cage.exposeGetter("ALL_TOOLS", getAllTools);
    const stored = I.ownKeys(rules.state);
    for (let i = 0; i < stored.length; i++) {
      I.mapSet(state, stored[i], rules.state[stored[i]]);
      stateBytes += sizeOf(stored[i], rules.state[stored[i]]);
    }
  };

  // Tells the state as the script leaves it.
  cage.tellState = () => {
    if (!isStateChanged) return;
    const members = list();
    I.mapForEach(state, (json, key) => {
      members[members.length] = `${cage.text.quote(key)}:${cage.text.quote(json)}`;
    });
    cage.host(cage.TO_HOST.STATE, 0, `{${I.arrayJoin(members, ",")}}`, "");
  };

  const optional = { __proto__: null, text, image, store, load, exit };
  cage.expose("tools", tools);
})
