// The shapes and colours of the language of pictures, for mermaid: who is what is written in a diagram
// as a class, `loop(["loop 1"]):::loop`, and the colours are those of pictures.css. The theme draws into
// closed shadow trees, where no style sheet of the page reaches, so they go in by mermaid's settings.
//
// A sequence diagram knows no classes. There it is a comment: `%% C:::client K:::kernel`.
//
// Loaded after mermaid and before the theme's script, which uses it.
"use strict";
{
  const KINDS = ["thread", "loop", "kernel", "buffer", "client", "process", "file", "timer"];
  const SHAPES = ["rect", "path", "polygon", "circle"];

  const colours = (kind) => `fill:var(--kind-${kind});stroke:var(--kind-${kind}-line)`;

  function rules() {
    const made = [
      `.node :is(${SHAPES.join(",")}),.actor{${colours("plain")}}`,
      ".cluster rect{fill:transparent;stroke:var(--kind-plain-line)}",
      ".nodeLabel,.nodeLabel p,.cluster span,.edgeLabel,.edgeLabel p,.label div .edgeLabel{color:var(--kind-text)}",
      "text.actor>tspan,.messageText,.noteText>tspan,.loopText,.loopText>tspan{fill:var(--kind-text)}",
    ];
    for (const kind of KINDS) {
      made.push(`.node.${kind} :is(${SHAPES.join(",")}),.cluster.${kind} rect{${colours(kind)};stroke-width:1.4px}`);
    }
    made.push(".thread rect{stroke-dasharray:5 4}");
    return made.join("");
  }

  // The actors of a sequence diagram that have a kind.
  function actors(text) {
    return [...text.matchAll(/^\s*%%(.*)$/gm)]
      .flatMap((line) => [...line[1].matchAll(/(\w+):::(\w+)/g)])
      .filter((pair) => KINDS.includes(pair[2]))
      .map((pair) => ({ name: pair[1], kind: pair[2] }));
  }

  const { initialize, render } = mermaid;

  mermaid.initialize = (settings) => initialize({ ...settings, themeCSS: (settings.themeCSS ?? "") + rules() });

  mermaid.render = async (id, text, ...more) => {
    const drawn = await render(id, text, ...more);
    const own = actors(text).map(({ name, kind }) =>
      `#${id} rect.actor[name="${name}"]{${colours(kind)}${kind === "thread" ? ";stroke-dasharray:5 4" : ""}}`);
    // Drawn for 16 px. Where there is no room, it shrinks until the page says that it is to scroll instead.
    const natural = /max-width: ([\d.]+)px;/.exec(drawn.svg);
    const svg = natural ? drawn.svg.replace(natural[0], `${natural[0]} min-width: calc(var(--turtle-shrink, 0) * ${natural[1]}px);`) : drawn.svg;
    return { ...drawn, svg: svg.replace("</style>", () => `${own.join("")}</style>`) };
  };
}
