import type { HelixError } from '../../protocol/errors.js';
import { toWords } from '../../protocol/shown-call.js';

export interface Decision {
  token: string;
  /** Titles of the agent and the call. */
  agent: string;
  title: string;
  /** Description of the tool by its author. */
  description: string | undefined;
  input: unknown;
  /** ms since the epoch. */
  deadline: number | undefined;
  person: string;
  /** Texts of messages that the model saw and the conversation does not show. */
  hidden: readonly string[];
}

/** Renders the question with its exact input and a form. Only sending the form decides. Pure. */
export function toDecisionPage(question: Decision): string {
  const { token, agent, title, description, input, deadline, person, hidden } = question;
  const about =
    description === undefined
      ? ''
      : `<details><summary>What this does</summary><p>${escaped(description)}</p></details>`;
  const until =
    deadline === undefined
      ? '<p>No deadline: this waits until it is answered.</p>'
      : `<p>Until ${escaped(new Date(deadline).toUTCString())}.</p>`;
  const unseen =
    hidden.length === 0
      ? ''
      : `<details><summary>The model saw ${String(hidden.length)} message${hidden.length === 1 ? '' : 's'} that the conversation does not show</summary>
${hidden.map((text) => `<pre>${escaped(text)}</pre>`).join('\n')}</details>`;
  return toPage(
    title,
    `<p>${escaped(agent)} asks for approval. You decide as <b>${escaped(person)}</b>.</p>
${about}
${toFields(input)}
<details><summary>Exactly as it was asked</summary>
<pre>${escaped(JSON.stringify(input, null, 2))}</pre></details>
${unseen}
${until}
<form method="post" action="/api/decide">
<input type="hidden" name="token" value="${escaped(token)}">
<label>Reason <input name="reason" maxlength="2000" autocomplete="off"></label>
<p><button name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button></p>
</form>`,
  );
}

export function toDecidedPage(approved: boolean): string {
  return toPage(
    approved ? 'Approved' : 'Denied',
    '<p>The decision is stored. You can close this page.</p>',
  );
}

export function toRefusedPage({ code, message }: HelixError): string {
  return toPage('Not decided', `<p data-code="${escaped(code)}">${escaped(message)}</p>`);
}

function toPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 36rem; margin: 2rem auto; padding: 0 1rem; }
dl { display: grid; gap: 0.5rem; margin: 1rem 0; }
dl dl, dd ol { margin: 0; padding-left: 1rem; border-left: 1px solid color-mix(in srgb, currentcolor 40%, transparent); }
dd ol { padding-left: 2rem; }
li > dl { padding-left: 0; border: 0; }
li + li { margin-top: 0.75rem; }
dt { font-size: 0.85rem; opacity: 0.75; }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
summary { cursor: pointer; }
pre { overflow: auto; max-height: 60vh; padding: 0.75rem; border: 1px solid; border-radius: 0.5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
input[name='reason'] { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: 0.5rem; }
button { font: inherit; padding: 0.6rem 1.2rem; margin-right: 0.5rem; min-height: 2.75rem; }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`;
}

/** Deeper values are shown as JSON. */
const MAX_DEPTH = 3;

/** Renders a value as HTML: objects as named fields, arrays as lists. Pure. */
function toFields(value: unknown, depth = 0): string {
  if (typeof value === 'string') return escaped(value);
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) {
    return escaped(JSON.stringify(value ?? null));
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => `<li>${toFields(item, depth + 1)}</li>`);
    return items.length === 0 ? '–' : `<ol>${items.join('')}</ol>`;
  }
  const fields = Object.entries(value).map(
    ([name, field]) => `<dt>${escaped(toWords(name))}</dt><dd>${toFields(field, depth + 1)}</dd>`,
  );
  return fields.length === 0 ? '–' : `<dl>${fields.join('')}</dl>`;
}

/** Escapes text of models and tools, which must never become markup. */
function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
