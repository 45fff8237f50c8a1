// Pictures that are stepped through. On the page stands a list of sentences, and beside it, as JSON, a
// scene: the parts of the picture, and what each step changes of them. Here the two become a drawing with
// four buttons. Without this script, and on paper, the list is the picture. CONTRIBUTING.md, "Pictures",
// says how a scene is written.
"use strict";
{
  const SVG = "http://www.w3.org/2000/svg";
  // What is said in the language of the page. While it plays, a step stays for as long as it takes to read:
  // `perLetter` is in milliseconds, and a Chinese character is more than a letter.
  const WORDS = {
    en: {
      stage: "Picture. Right and left arrow: a step forward, back. Home: the first. Space: play",
      bar: "Steps", reset: "Reset", back: "Back", play: "Play", pause: "Pause", next: "Next",
      count: (step, all) => `${step} of ${all}`,
      perLetter: 45,
    },
    zh: {
      stage: "图。右箭头、左箭头：前进、后退一步；Home：回到第一步；空格：播放",
      bar: "步骤", reset: "重来", back: "上一步", play: "播放", pause: "暂停", next: "下一步",
      count: (step, all) => `${step} / ${all}`,
      perLetter: 130,
    },
  };
  const words = WORDS[document.documentElement.lang.split("-")[0]] ?? WORDS.en;
  const LEAST = 1800; // milliseconds

  function element(namespace, name, attributes = {}, ...children) {
    const made = namespace ? document.createElementNS(namespace, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  const svg = (name, attributes, ...children) => element(SVG, name, attributes, ...children);
  const html = (name, attributes, ...children) => element(null, name, attributes, ...children);

  // ---------------------------------------------------------------- the shapes of the language

  function cylinder(x, y, w, h) {
    const r = 7; // the height of the lid, halved
    return `M${x} ${y + r}a${w / 2} ${r} 0 0 1 ${w} 0v${h - 2 * r}a${w / 2} ${r} 0 0 1 ${-w} 0z` +
      `m0 0a${w / 2} ${r} 0 0 0 ${w} 0`;
  }

  function outline(kind, x, y, w, h) {
    if (kind === "kernel") {
      return [svg("path", { class: "shape", d: cylinder(x, y, w, h) })];
    }
    if (kind === "process") {
      return [svg("path", { class: "shape", d: `M${x + 8} ${y}h${w - 16}l8 ${h}h${-w}z` })];
    }
    const round = { client: 10, loop: Math.min(h / 2, 22), thread: 4 }[kind] ?? 2;
    const box = svg("rect", { class: "shape", x, y, width: w, height: h, rx: round });
    if (kind !== "buffer") {
      return [box];
    }
    const sides = `M${x + 6} ${y}v${h}M${x + w - 6} ${y}v${h}`;
    return [box, svg("path", { class: "shape", d: sides, fill: "none" })];
  }

  // How full it is: a rectangle that grows from the ground, cut to the shape.
  function content(id, kind, x, y, w, h) {
    const inset = kind === "buffer" ? 6 : 0;
    const top = y + (kind === "kernel" ? 14 : 0);
    const height = y + h - top;
    const bar = svg("rect", { class: "level", x: x + inset, y: top, width: w - 2 * inset, height });
    bar.style.transformOrigin = `0 ${top + height}px`;
    const clip = svg("clipPath", { id }, ...outline(kind, x, y, w, h).slice(0, 1));
    return { bar: [clip, svg("g", { "clip-path": `url(#${id})` }, bar)], rect: bar, at: (share) => top + height * (1 - share) };
  }

  function label(text, x, y, extra = "") {
    return svg("text", { class: `label ${extra}`, x, y }, text);
  }

  // A part's element, and how it shows a step.
  function part(spec, prefix) {
    const group = svg("g", { class: `part ${spec.kind ?? ""}`, "data-part": spec.id });
    const drawn = { group, show: () => {} };
    if (spec.path) {
      group.classList.add("arrow");
      group.append(svg("path", { d: spec.path, "marker-end": `url(#${prefix}-head)` }));
      if (spec.title) {
        group.append(label(spec.title, ...spec.label, "call"));
      }
      return drawn;
    }
    if (spec.token) {
      const width = 12 + 7.4 * spec.token.length;
      group.classList.add("token");
      group.append(svg("rect", { class: "shape", x: -width / 2, y: -10, width, height: 20, rx: 10 }),
        label(spec.token, 0, 4.5));
      drawn.show = ({ at }) => {
        group.style.transform = `translate(${(at ?? spec.at)[0]}px, ${(at ?? spec.at)[1]}px)`;
        group.classList.toggle("gone", !at);
      };
      return drawn;
    }
    if (!spec.box) {
      group.append(label(spec.title, ...spec.at, "name"));
      return drawn;
    }
    const [x, y, w, h] = spec.box;
    const middle = x + w / 2;
    const shapes = outline(spec.kind, x, y, w, h);
    group.append(shapes[0]);
    if (spec.level !== undefined) {
      const { bar, rect, at } = content(`${prefix}-${spec.id}`, spec.kind, x, y, w, h);
      const edges = outline(spec.kind, x, y, w, h);
      edges.forEach((edge) => edge.setAttribute("fill", "none"));
      group.append(...bar, ...edges);
      for (const [share, text] of spec.marks ?? []) {
        group.append(svg("path", { class: "mark", d: `M${x} ${at(share)}h${w}` }),
          label(text, x + w + 4, at(share) + 4, "aside"));
      }
      drawn.level = rect;
    } else {
      group.append(...shapes.slice(1));
    }
    const inside = spec.place !== "above";
    const frame = spec.kind === "thread" || spec.kind === "process";
    const name = label("", frame ? x + (spec.kind === "process" ? 14 : 10) : middle, y - 6, frame ? "name start" : "name");
    const state = label("", middle, y + h / 2 + (inside ? 14 : 7), "state");
    group.append(name, state);
    drawn.show = ({ text, title, level }) => {
      if (inside) {
        name.setAttribute("y", frame ? y + 17 : y + h / 2 + (text ? -4 : 5));
      }
      name.textContent = title ?? "";
      state.textContent = text ?? "";
      if (drawn.level) {
        drawn.level.style.transform = `scaleY(${level ?? 0})`;
      }
    };
    return drawn;
  }

  // The scene as it is after each step: what a step doesn't name stays; `on` is of the step alone.
  function states(scene) {
    let now = Object.fromEntries(scene.parts.map((spec) => [spec.id, { text: spec.text, title: spec.title, level: spec.level }]));
    return scene.steps.map((step) => {
      now = structuredClone(now);
      for (const key of ["text", "title", "level", "at"]) {
        for (const [id, value] of Object.entries(step[key] ?? {})) {
          now[id][key] = value;
        }
      }
      return { now, on: new Set(step.on ?? []) };
    });
  }

  // ---------------------------------------------------------------- a figure

  function animate(figure) {
    const list = figure.querySelector("ol");
    const scene = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const sentences = [...list.children].map((item) => item.innerHTML);
    const shown = states(scene);
    const parts = scene.parts.map((spec) => ({ id: spec.id, ...part(spec, figure.dataset.scene) }));
    const [width, height] = scene.size;

    const head = svg("marker", {
      id: `${figure.dataset.scene}-head`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, orient: "auto",
      markerUnits: "userSpaceOnUse",
    }, svg("path", { class: "head", d: "M0 0l8 4l-8 4z" }));
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", focusable: "false" },
      svg("defs", {}, head), ...parts.map(({ group }) => group));

    const stage = html("div", { class: "steps-stage", tabindex: "0", role: "group" }, drawing);
    stage.setAttribute("aria-label", words.stage);
    const say = html("p", { class: "steps-say", "aria-live": "polite", "aria-atomic": "true" });
    // All sentences, unseen, in the place of the one: the page below doesn't move.
    const room = html("div", { class: "steps-room" }, say, ...sentences.map((text) => {
      const ghost = html("p", { "aria-hidden": "true" });
      ghost.innerHTML = text;
      ghost.querySelectorAll("a").forEach((link) => link.setAttribute("tabindex", "-1"));
      return ghost;
    }));
    const button = (name) => html("button", { type: "button", "data-do": name }, words[name]);
    const [reset, back, play, next] = ["reset", "back", "play", "next"].map(button);
    const count = html("span", { class: "steps-count" });
    const bar = html("div", { class: "steps-bar", role: "group", "aria-label": words.bar }, reset, back, play, next, count);
    const live = html("div", { class: "steps-live" }, stage, bar, room);

    let step = 0;
    let timer = null;

    function show(index) {
      step = Math.max(0, Math.min(index, shown.length - 1));
      const { now, on } = shown[step];
      for (const each of parts) {
        each.group.classList.toggle("on", on.has(each.id));
        each.show(now[each.id]);
      }
      say.innerHTML = sentences[step];
      count.textContent = words.count(step + 1, shown.length);
      figure.dataset.step = String(step + 1);
      // A button that is switched off loses the focus; one that says it is off keeps it.
      for (const [each, off] of [[reset, step === 0], [back, step === 0], [next, step === shown.length - 1]]) {
        each.setAttribute("aria-disabled", String(off));
      }
    }

    function pause() {
      clearTimeout(timer);
      timer = null;
      play.textContent = words.play;
    }

    function wait() {
      const letters = say.textContent.length;
      timer = setTimeout(() => {
        show(step + 1);
        if (step < shown.length - 1) {
          wait();
        } else {
          pause();
        }
      }, LEAST + words.perLetter * letters);
    }

    const actions = {
      reset: () => show(0),
      back: () => show(step - 1),
      next: () => show(step + 1),
      last: () => show(shown.length - 1),
      play: () => {
        if (step === shown.length - 1) {
          show(0);
        }
        play.textContent = words.pause;
        wait();
      },
    };

    function act(name) {
      const playing = timer !== null;
      pause();
      if (name !== "play" || !playing) {
        actions[name]();
      }
    }

    bar.addEventListener("click", (event) => {
      const name = event.target.closest("button")?.dataset.do;
      if (name) {
        act(name);
      }
    });
    live.addEventListener("keydown", (event) => {
      const name = { ArrowRight: "next", ArrowLeft: "back", Home: "reset", End: "last" }[event.key] ??
        (event.key === " " && event.target === stage ? "play" : null);
      if (name && !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey) {
        event.preventDefault();
        event.stopPropagation();
        act(name);
      }
    });
    addEventListener("beforeprint", pause);

    show(0);
    list.before(live);
    figure.classList.add("steps-on");
  }

  document.querySelectorAll("figure.steps").forEach(animate);
}
