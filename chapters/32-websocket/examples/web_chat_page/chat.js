// The page of web_chat: one WebSocket, which comes back when the server does.
const kMaxLines = 500;
const [lines, state, join, say] =
    ['lines', 'state', 'join', 'say'].map((id) => document.getElementById(id));
let socket = null;
let pause = 500;  // milliseconds before the next try

function show(text) {
  const line = document.createElement('li');
  line.textContent = text;  // never as HTML: it comes from strangers
  lines.append(line);
  if (lines.childElementCount > kMaxLines) {
    lines.firstElementChild.remove();
  }
  lines.scrollTop = lines.scrollHeight;
}

function connect(name) {
  const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
  socket = new WebSocket(`${scheme}//${location.host}/chat?name=${encodeURIComponent(name)}`);
  socket.onopen = () => {
    pause = 500;
    state.textContent = `connected as ${name}`;
  };
  socket.onmessage = (event) => show(event.data);
  socket.onclose = (event) => {
    state.textContent = `not connected (${event.code}${event.reason && ': ' + event.reason})`;
    // Ten thousand pages must not all come back in the same moment.
    setTimeout(() => connect(name), pause * (0.5 + Math.random()));
    pause = Math.min(pause * 2, 30000);
  };
}

join.onsubmit = (event) => {
  event.preventDefault();
  join.hidden = true;
  say.hidden = false;
  say.elements.line.focus();
  connect(join.elements.name.value);
};

say.onsubmit = (event) => {
  event.preventDefault();
  if (socket.readyState === WebSocket.OPEN) {
    socket.send(say.elements.line.value);
    say.reset();
  }
};
