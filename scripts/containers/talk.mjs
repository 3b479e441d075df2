// What a person does through the HTTP API: says something, reads on wherever the reply was cut, answers.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { waitUntil } from '../start/wait-until.mjs';
import { projectRoot } from '../system/project.mjs';

const REST_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 300;
const WORDS = Array.from({ length: 80 }, (_, n) => `word${n}`);

/** @param options.headers sent along, as a token is */
export async function createTalk(url, { agent, headers = {} }) {
  const fromBuild = (name) =>
    import(pathToFileURL(join(projectRoot, 'dist/bench/soak', name)).href);
  const [{ createReader }, { createRequests, json }, { tally, toWords }] = await Promise.all(
    ['reader.js', 'requests.js', 'tally.js'].map(fromBuild),
  );
  const requests = createRequests(() => url);
  const send = (path, init = {}) =>
    requests.send(path, { ...init, headers: { ...init.headers, ...headers } });
  const look = async (sessionId) => (await send(`/chat/${sessionId}/snapshot`)).json();

  /** Until the turn is over or asks; `during` begins when the first words are there. */
  async function say(sessionId, text, during) {
    const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
    const post = json({ id: sessionId, agent, messages: [message] });
    const reader = createReader(() => {});
    const begun =
      during &&
      waitUntil(() => reader.words().length > 5, { withinMs: REST_WITHIN_MS }).then(during);
    begun?.catch(() => {});
    let shown;
    let isStored = false;
    let isLive = false;
    const rests = await waitUntil(
      async () => {
        const response = await send(`/chat/${sessionId}`, isStored ? {} : post);
        if (response.status >= 400) throw new Error(`${response.status} ${await response.text()}`);
        isLive = response.status === 200 && (await reader.read(response));
        shown = await look(sessionId);
        isStored = (shown.messages ?? []).some(({ id }) => id === message.id);
        return (
          isStored && (['ended', 'failed'].includes(shown.status) || shown.pending?.length > 0)
        );
      },
      { withinMs: REST_WITHIN_MS, everyMs: LOOK_EVERY_MS },
    );
    await begun;
    if (!rests) throw new Error(`the reply did not come to rest: ${JSON.stringify(shown?.run)}`);
    // A reply that ends while no server answers is only in the record.
    return { shown, words: isLive ? reader.words() : undefined, text: textOf(shown) };
  }

  return {
    send,
    say,
    /** A reply of 80 words that a page sees and the record keeps, whole and once. */
    hear: async (during) => {
      const script = [{ say: `${WORDS.join(' ')} `, deltas: WORDS.length, everyMs: 100 }];
      const sessionId = randomUUID();
      const { words, text } = await say(sessionId, JSON.stringify({ script }), during);
      const stored = toWords(text);
      for (const found of [words ?? stored, stored]) {
        const { lost, doubled } = tally(WORDS, found, false);
        if (lost + doubled > 0) throw new Error(`${lost} words lost, ${doubled} doubled`);
      }
      return sessionId;
    },
    /** Decides about the call that waits; resolves with the text of the turn when it is over. */
    approve: async (sessionId) => {
      const { pending } = await look(sessionId);
      if (pending?.length !== 1) throw new Error(`${pending?.length ?? 0} questions wait`);
      const { toolCallId, approvalId, inputHash } = pending[0];
      const path = `/chat/${sessionId}/pending/${encodeURIComponent(toolCallId)}`;
      const { status } = await send(path, json({ approved: true, approvalId, inputHash }));
      if (status !== 202) throw new Error(`the answer got ${status}`);
      let shown;
      const isOver = async () => (shown = await look(sessionId)).status === 'ended';
      if (!(await waitUntil(isOver, { withinMs: REST_WITHIN_MS, everyMs: LOOK_EVERY_MS }))) {
        throw new Error('the run did not end after the answer');
      }
      return textOf(shown);
    },
  };
}

/** Of the newest reply. */
function textOf({ messages }) {
  const { role, parts } = messages.at(-1);
  return role === 'assistant' ? parts.flatMap(({ text }) => text ?? []).join(' ') : '';
}
