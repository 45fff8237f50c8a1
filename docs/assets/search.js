// The theme's search, with one thing more: who asks for a name of the book, a class, a call of the
// system, a term, gets the place that explains it first before all others. Which place that is,
// tools/website/search.py has written into the index.
//
// This runs in the place of the theme's worker, whose file the address names, and loads it. A message
// of type 0 brings the index, 2 a question, 3 is an answer.
"use strict";
{
  const listen = self.addEventListener.bind(self);
  const post = self.postMessage.bind(self);
  let answer = null; // what the theme does with a message
  let names = new Map();
  let question = "";

  self.addEventListener = (type, handler) => {
    if (type === "message") {
      answer = handler;
    } else {
      listen(type, handler);
    }
  };
  self.postMessage = (message) => post(message.type === 3 ? { ...message, data: sorted(message.data) } : message);
  importScripts(new URL(self.location).searchParams.get("theme"));

  listen("message", (event) => {
    const { type, data } = event.data;
    if (type === 0) {
      names = new Map(Object.entries(data.config.names ?? {}));
    } else if (type === 2) {
      question = data;
    }
    return answer(event);
  });

  const pageOf = (location) => location.split("#")[0];

  function placeOf(text) {
    const name = text.trim().toLowerCase().replace(/["`]/g, "").replace(/\(.*$/, "")
      .replace(/^(?:turtle_server|turtle)?::/, "");
    return names.get(name) ?? names.get(name.replace(/::[^:]*$/, ""));
  }

  function sorted(found) {
    const place = placeOf(question);
    if (place === undefined) {
      return found;
    }
    const items = [...found.items];
    const index = items.findIndex((group) => pageOf(group[0].location) === pageOf(place));
    if (index < 0) {
      return found;
    }
    const [group] = items.splice(index, 1);
    const best = 1 + Math.max(...found.items.flat().map((each) => each.score));
    const marked = group.map((each) => (each.location === place ? { ...each, score: best } : each));
    return { ...found, items: [marked.sort((a, b) => b.score - a.score), ...items] };
  }
}
