// The page shows what the server has. A change is sent to the server, and the list asked for anew.

const list = document.querySelector("#list");
const problem = document.querySelector("#problem");
const summary = document.querySelector("#summary");
const rowTemplate = document.querySelector("#row").content.firstElementChild;

// --- the server ----------------------------------------------------------------------------------

async function ask(method, path, body) {
  const options = { method };
  if (body) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server doesn't answer.");
  }
  const answer = await response.json().catch(() => null); // as after DELETE
  if (!response.ok) {
    throw new Error(answer?.error ?? `The server says ${response.status}.`);
  }
  return answer;
}

// Says whether it was possible. If it wasn't, the list comes anew all the same: what was ticked and
// refused is to look as it is.
async function change(method, path, body) {
  let possible = true;
  try {
    problem.textContent = "";
    await ask(method, path, body);
  } catch (error) {
    problem.textContent = error.message;
    possible = false;
  }
  await load();
  return possible;
}

let asked = 0;

async function load() {
  const mine = ++asked;
  try {
    const todos = await ask("GET", "/api/todos");
    if (mine === asked) { // or an older list would replace a newer one
      show(todos);
    }
  } catch (error) {
    problem.textContent = error.message;
  }
}

// --- the list ------------------------------------------------------------------------------------

// Rows that stay are not made anew: somebody may be typing in one. Ids grow, so new ones are last.
function show(todos) {
  const rows = new Map([...list.children].map((row) => [Number(row.dataset.id), row]));
  for (const todo of todos) {
    fill(rows.get(todo.id) ?? list.appendChild(makeRow(todo.id)), todo);
    rows.delete(todo.id);
  }
  for (const gone of rows.values()) {
    gone.remove();
  }
  const open = todos.filter((todo) => !todo.done).length;
  summary.textContent =
    todos.length === 0 ? "Nothing to do." : open === 0 ? "All done." : `${open} of ${todos.length} to do`;
}

// Titles come from strangers: textContent takes each for text, whatever is in it.
function fill(row, todo) {
  row.querySelector("[type=checkbox]").checked = todo.done;
  row.querySelector(".title").textContent = todo.title;
  row.querySelector(".edit").setAttribute("aria-label", `Edit ${todo.title}`);
  row.querySelector(".delete").setAttribute("aria-label", `Delete ${todo.title}`);
}

function makeRow(id) {
  const row = rowTemplate.cloneNode(true);
  const path = `/api/todos/${id}`;
  const form = row.querySelector("form");
  const field = form.querySelector("input");
  row.dataset.id = id;

  const edit = (editing) => {
    form.hidden = !editing;
    row.classList.toggle("editing", editing);
    (editing ? field : row.querySelector(".edit")).focus();
  };
  row.querySelector("[type=checkbox]").onchange = (event) =>
    change("PATCH", path, { done: event.target.checked });
  row.querySelector(".delete").onclick = async () => {
    await change("DELETE", path);
    list.focus(); // the button that had it has gone
  };
  row.querySelector(".edit").onclick = () => {
    field.value = row.querySelector(".title").textContent;
    edit(true);
  };
  form.onsubmit = async (event) => {
    event.preventDefault();
    if (await change("PATCH", path, { title: field.value.trim() })) {
      edit(false);
    }
  };
  form.querySelector(".cancel").onclick = () => edit(false);
  field.onkeydown = (event) => {
    if (event.key === "Escape") {
      edit(false);
    }
  };
  return row;
}

document.querySelector("#add").onsubmit = async (event) => {
  event.preventDefault();
  const field = document.querySelector("#new");
  if (await change("POST", "/api/todos", { title: field.value.trim() })) {
    field.value = "";
  }
};

load();
