// What a page is given when it is open; without it, it can be read all the same.
"use strict";
{
  // What scrolls sideways can be reached by the keyboard, and what doesn't is no stop on the way.
  const sideways = "pre > code, .md-typeset__scrollwrap, .turtle-diff, .turtle-scroll";
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) {
        target.tabIndex = 0;
      } else {
        target.removeAttribute("tabindex");
      }
    }
  });
  addEventListener("load", () => {
    for (const each of document.querySelectorAll(sideways)) {
      watch.observe(each);
    }
  });

  // A console block is copied without its prompts and without what the commands have printed.
  function commandsOf(text) {
    const commands = [];
    let goesOn = false;
    for (const line of text.split("\n")) {
      if (goesOn) {
        commands.push(line);
      } else if (line.startsWith("$ ")) {
        commands.push(line.slice(2));
      }
      goesOn = (goesOn || line.startsWith("$ ")) && line.endsWith("\\");
    }
    return commands.join("\n");
  }
  // Before the theme's own listener, which copies this attribute if it is there.
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".language-console [data-clipboard-target]");
    if (button) {
      const code = document.querySelector(button.dataset.clipboardTarget);
      button.dataset.clipboardText = commandsOf(code.textContent);
    }
  }, true);
}
