// Positions of the running text, told in the text as it was sent. A part of the prelude: here no script may have run,
// but the positions are told when one has.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const AT_FILE = "@script.js:";
  const FRAME = /^([0-9]{1,9}):([0-9]{1,9})/;
  let insertions = cage.list(); // line -> list of column, width, column, width, ...
  let lastLine = 0;

  // Takes { insertions, lines } as JSON text: what the normaliser put in, and the number of lines of the source.
  cage.setColumns = (text) => {
    const { insertions: found, lines } = I.jsonParse(text);
    insertions = cage.list();
    lastLine = lines;
    for (let i = 0; i < found.length; i++) {
      const line = found[i][0];
      insertions[line] ??= cage.list();
      const list = insertions[line];
      list[list.length] = found[i][1];
      list[list.length] = found[i][2];
    }
  };

  // The column of the source for one of the running text. What was inserted lies where the insertion is.
  cage.sourceColumn = (line, column) => {
    const list = insertions[line];
    if (list === undefined) return column;
    let shift = 0;
    for (let i = 0; i < list.length; i += 2) {
      if (column - shift <= list[i]) break;
      if (column - shift <= list[i] + list[i + 1]) return list[i];
      shift += list[i + 1];
    }
    return column - shift;
  };

  // Whether a line belongs to the source; the header stands on line 0, the epilogue behind the last.
  cage.isSourceLine = (line) => line >= 1 && (lastLine === 0 || line <= lastLine);

  // One line of a stack with its column told in the source; "" for a frame of the header or the epilogue.
  cage.sourceFrame = (frame) => {
    const at = I.indexOf(frame, AT_FILE);
    if (at < 0) return frame;
    const found = I.exec(FRAME, I.slice(frame, at + AT_FILE.length));
    if (found === null) return frame;
    const line = I.Number(found[1]);
    if (!cage.isSourceLine(line)) return "";
    return I.slice(frame, 0, at) + AT_FILE + `${line}:${cage.sourceColumn(line, I.Number(found[2]))}`;
  };
})
