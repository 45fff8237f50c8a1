// The page shows what the server tells once a second: sums since its start. All that changes with
// time, such as requests a second, is the difference of two of them, and is worked out here.

const WINDOW = 300; // seconds that a picture shows
const RECENT = 10; // seconds that times are of
const BUSY = 0.8; // from here on a loop is called busy
const RETRY = 2000; // milliseconds, when the browser has given up by itself

const samples = []; // what the server has told, the oldest first
const state = document.querySelector("#state");
const main = document.querySelector("main");
const loops = document.querySelector("#loops");
const loopTemplate = document.querySelector("#loop").content.firstElementChild;

// --- numbers -------------------------------------------------------------------------------------

const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
const count = (number) => Math.round(number).toLocaleString("en");
const percent = (share) => `${(100 * share).toFixed(share < 0.0005 || share >= 0.0995 ? 0 : 1)} %`;

function rate(number) {
  return number >= 100 || number === 0 ? count(number) : number.toPrecision(2);
}

function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; number >= 1000 && unit + 1 < units.length; ++unit) {
    number /= 1024;
  }
  return `${number < 10 && unit > 0 ? number.toFixed(1) : Math.round(number)} ${units[unit]}`;
}

function time(seconds) {
  const [scale, unit] = seconds < 0.001 ? [1e6, "µs"] : seconds < 1 ? [1e3, "ms"] : [1, "s"];
  const number = seconds * scale;
  return `${number < 10 ? number.toPrecision(2) : Math.round(number)} ${unit}`;
}

function span(seconds) {
  const [days, hours, minutes] = [86400, 3600, 60].map((unit) => Math.floor(seconds / unit));
  return days > 0 ? `${days} d ${hours % 24} h`
    : hours > 0 ? `${hours} h ${minutes % 60} min`
    : minutes > 0 ? `${minutes} min`
    : `${Math.floor(seconds)} s`;
}

// What `share` of the requests took at most. Within a bucket they are taken to be spread evenly.
function quantile(counts, bounds, share) {
  const rank = share * sum(counts);
  if (rank === 0) {
    return "–";
  }
  let below = 0;
  let bucket = 0;
  while (bucket < bounds.length && below + counts[bucket] < rank) {
    below += counts[bucket++];
  }
  if (bucket === bounds.length) {
    return `over ${time(bounds.at(-1))}`;
  }
  const from = bucket === 0 ? 0 : bounds[bucket - 1];
  return time(from + (bounds[bucket] - from) * (rank - below) / counts[bucket]);
}

// --- differences ---------------------------------------------------------------------------------

const requestsOf = (loop) => sum(Object.values(loop.codes)) + loop.unanswered;

// The sample of `seconds` ago, or the oldest.
function before(seconds) {
  const now = samples.at(-1);
  return samples.find((each) => now.at - each.at <= seconds + 0.5) ?? now;
}

// How much `number` of the loops has grown in a second.
function growth(earlier, now, number) {
  const seconds = now.at - earlier.at;
  return seconds > 0 ? (number(now) - number(earlier)) / seconds : 0;
}

function busyShare(earlier, now, index) {
  const busy = now.loops[index].busy - earlier.loops[index].busy;
  const waited = now.loops[index].waited - earlier.loops[index].waited;
  return busy + waited > 0 ? Math.min(busy / (busy + waited), 1) : 0;
}

const tookSince = (earlier, now, index) =>
  now.loops[index].took.map((number, bucket) => number - earlier.loops[index].took[bucket]);

// --- the page ------------------------------------------------------------------------------------

// Elements that stay are not made anew: a reader of the screen would lose its place.
function list(element, entries) {
  for (const [index, [name, value]] of entries.entries()) {
    let row = element.children[index];
    if (!row) {
      row = element.appendChild(document.createElement("div"));
      row.append(document.createElement("dt"), document.createElement("dd"));
    }
    row.firstElementChild.textContent = name;
    row.lastElementChild.textContent = value;
  }
}

function table(name, rows) {
  const body = document.querySelector(`#${name} tbody`);
  body.closest("div").hidden = rows.length === 0;
  while (body.rows.length > rows.length) {
    body.deleteRow(-1);
  }
  for (const [index, cells] of rows.entries()) {
    const row = body.rows[index] ?? body.insertRow();
    for (const [column, text] of cells.entries()) {
      if (!row.children[column]) {
        const cell = row.appendChild(document.createElement(column === 0 ? "th" : "td"));
        if (column === 0) {
          cell.scope = "row";
        }
      }
      row.children[column].textContent = text;
    }
  }
}

function showLoop(card, index) {
  const now = samples.at(-1);
  const loop = now.loops[index];
  const last = before(1);
  const share = busyShare(last, now, index);
  const took = tookSince(before(RECENT), now, index);
  const shares = samples.slice(1).map((each, i) => [each.at, busyShare(samples[i], each, index)]);
  card.querySelector(".share").textContent = `${percent(share)} busy`;
  card.classList.toggle("is-busy", share >= BUSY);

  const stuck = loop.round > now.stuckAfter;
  card.classList.toggle("is-stuck", stuck);
  const alert = card.querySelector(".stuck");
  if (stuck) {
    alert.textContent = `Stuck: a callback does not return, for ${span(loop.round)} now.`;
  }
  alert.hidden = !stuck;

  const picture = card.querySelector("svg");
  const points = shares.map(([at, height]) =>
    `${(WINDOW - (now.at - at)).toFixed(1)} ${(100 - 98 * height).toFixed(1)}`);
  const line = points.length > 0 ? `M${points.join("L")}` : "";
  const first = points.length > 0 ? points[0].split(" ")[0] : 0;
  picture.querySelector(".line").setAttribute("d", line);
  picture.querySelector(".area").setAttribute("d", line && `${line}L${WINDOW} 100L${first} 100Z`);
  const most = Math.max(0, ...shares.map(([, height]) => height));
  picture.setAttribute("aria-label",
    `Loop ${index} is ${percent(share)} busy; at most ${percent(most)} in what the picture shows`);

  list(card.querySelector("dl"), [
    ["connections", count(loop.connections)],
    ["requests / s", rate(growth(last, now, (each) => requestsOf(each.loops[index])))],
    ["open", count(loop.open)],
    ["half within", quantile(took, now.bounds, 0.5)],
    ["99 % within", quantile(took, now.bounds, 0.99)],
    ["accepted", count(loop.accepted)],
  ]);
}

function showLoops() {
  const now = samples.at(-1);
  while (loops.children.length < now.loops.length) {
    const card = loops.appendChild(loopTemplate.cloneNode(true));
    card.querySelector(".name").textContent = `Loop ${loops.children.length - 1}`;
  }
  while (loops.children.length > now.loops.length) {
    loops.lastElementChild.remove();
  }
  [...loops.children].forEach(showLoop);
}

function showTotals() {
  const now = samples.at(-1);
  const last = before(1);
  const recent = before(RECENT);
  const indexes = [...now.loops.keys()];
  const took = now.bounds.concat(0).map((_, bucket) =>
    sum(indexes.map((index) => tookSince(recent, now, index)[bucket])));
  const ofAll = (number) => (each) => sum(each.loops.map(number));
  list(document.querySelector("#totals"), [
    ["requests / s", rate(growth(last, now, ofAll(requestsOf)))],
    ["half within", quantile(took, now.bounds, 0.5)],
    ["99 % within", quantile(took, now.bounds, 0.99)],
    ["connections", count(ofAll((loop) => loop.connections)(now))],
    ["sent / s", bytes(growth(last, now, ofAll((loop) => loop.bytes)))],
    ["processor", now.cpu === null ? "–" : percent(growth(last, now, (each) => each.cpu))],
    ["memory", now.memory === null ? "–" : bytes(now.memory)],
    ["descriptors", now.descriptors === null ? "–" : count(now.descriptors)],
  ]);
}

function showTables() {
  const now = samples.at(-1);
  const last = before(1);
  const ofCode = (code) => (each) => sum(each.loops.map((loop) => loop.codes[code] ?? 0));
  const codes = [...new Set(now.loops.flatMap((loop) => Object.keys(loop.codes)))].sort();
  table("codes", codes.map((code) =>
    [code, rate(growth(last, now, ofCode(code))), count(ofCode(code)(now))]));

  const names = [...new Set(now.caches.map((cache) => cache.name))];
  table("caches", names.map((name) => {
    const shares = now.caches.filter((cache) => cache.name === name);
    const all = (what) => sum(shares.map((share) => share[what]));
    const asked = all("hits") + all("misses");
    return [name, asked > 0 ? percent(all("hits") / asked) : "–", count(all("entries")), bytes(all("bytes"))];
  }));

  table("pool", now.pool === null ? [] : [
    ["running", `${count(now.pool.running)} of ${count(now.pool.threads)}`],
    ["waiting", count(now.pool.queued)],
    ["have run", count(now.pool.ran)],
    ["refused", count(now.pool.refused)],
    ["came too late", count(now.pool.expired)],
  ]);
  table("lost", [
    ["clients for whom there was no room", count(sum(now.loops.map((loop) => loop.refused)))],
    ["clients whose address is blocked", count(now.blocked)],
    ["requests whose client had gone", count(sum(now.loops.map((loop) => loop.unanswered)))],
    ["replies that were cut", count(sum(now.loops.map((loop) => loop.cut)))],
    ...Object.entries(now.logs).map(([name, dropped]) => [`lines of the log of ${name}`, count(dropped)]),
  ]);
}

function say(name, text) {
  state.dataset.state = name;
  if (state.textContent !== text) { // or it would be read out once a second
    state.textContent = text;
  }
}

function show(now) {
  const last = samples.at(-1);
  if (last && (now.start !== last.start || now.at <= last.at || now.loops.length !== last.loops.length)) {
    samples.length = 0; // another process: its sums begin anew
  }
  samples.push(now);
  while (now.at - samples[0].at > WINDOW) {
    samples.shift();
  }
  const names = { ready: "Ready", draining: "Draining: no new clients", starting: "Starting" };
  say(now.readiness, names[now.readiness]);
  document.querySelector("#version").textContent = now.version;
  document.querySelector("#since").textContent =
    now.start === null ? "" : `up for ${span(Date.now() / 1000 - now.start)}`;
  main.hidden = false;
  main.classList.remove("stale");
  showTotals();
  showLoops();
  showTables();
}

// --- the server ----------------------------------------------------------------------------------

function connect() {
  const events = new EventSource("events");
  events.onmessage = (event) => show(JSON.parse(event.data));
  events.onerror = () => {
    if (state.dataset.state !== "lost") {
      const when = new Date().toLocaleTimeString();
      say("lost", `No answer since ${when}; trying again`);
      main.classList.add("stale");
    }
    if (events.readyState === EventSource.CLOSED) {
      setTimeout(connect, RETRY);
    }
  };
}

connect();
