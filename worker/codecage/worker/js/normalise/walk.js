// The way through a syntax tree: one visit of every node that is left at run time, types aside.
(function (norm) {
  "use strict";
  const visitors = { __proto__: null };

  function visit(node, context) {
    const own = visitors[node.type];
    if (own === undefined) visitChildren(node, context);
    else own(node, context);
  }

  // Visits what `node` holds. `skipped` names one property that is not visited.
  function visitChildren(node, context, skipped) {
    for (const key in node) {
      const value = node[key];
      if (typeof value !== "object" || value === null || key === skipped) continue;
      if (typeof value.type === "string") visit(value, context);
      else if (Array.isArray(value)) visitAll(value, context);
    }
  }

  function visitAll(list, context) {
    for (let i = 0; i < list.length; i++) {
      const item = list[i];
      if (typeof item === "object" && item !== null && typeof item.type === "string") visit(item, context);
    }
  }

  norm.walk = { visitors, visit, visitChildren, visitAll };
})
