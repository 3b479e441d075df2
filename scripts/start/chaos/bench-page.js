// The bench: two devices on one conversation, and what a person would count on them.
import { createSilence, judge } from './count-words.js';

// Long enough for one fault after the other, also where they take long.
const STEPS = 45;
const WORDS_OF_STEP = 40;
const EVERY_MS = 60;
const frames = { a: document.getElementById('a'), b: document.getElementById('b') };
const seen = { a: [], b: [] };
/** What each device showed when the newest reply was asked for: until that changes, it is the reply before. */
const old = { a: undefined, b: undefined };
let measure;
/** Of the newest reply: how many words it will have, and the worst that was seen of it on any device at any time. */
let expected = 0;
let worst = { lost: 0, doubled: 0 };
const session = `bench-${crypto.randomUUID().slice(0, 8)}`;

const show = (id, value) => (document.getElementById(id).textContent = String(value));
/** In large letters: what happened last, and how it went. State: 'down', 'back', or none. */
const log = (text, { outcome = '', state = '' } = {}) => {
  show('log', text);
  show('outcome', outcome);
  document.getElementById('now').dataset.state = state;
};
const say = (device, act, text) => frames[device].contentWindow.postMessage({ act, text }, '*');
const script = (...entries) => JSON.stringify({ script: entries });
const counting = (words, from = 0) => ({
  say: Array.from({ length: words }, (_, n) => `w${from + n + 1}`).join(' '),
  deltas: words,
  everyMs: EVERY_MS,
});
/** A reply of many steps, of which each is committed: a crash costs no more than the last one. */
const longReply = () =>
  Array.from({ length: STEPS }, (_, n) => ({
    ...counting(WORDS_OF_STEP, n * WORDS_OF_STEP),
    calls: [{ tool: 'echo', id: `e${n}`, args: { value: 'on' } }],
  }));

let secondDevice;

async function open() {
  const { deviceB } = await (await fetch('/chaos/devices')).json();
  const at = `/?session=${session}&agent=lab`;
  secondDevice = deviceB + at;
  frames.a.src = at;
}

/** The second device comes in the middle of a reply. */
function attach() {
  seen.b = [];
  frames.b.src = secondDevice;
  begin('attach', 'Second device opened', (device, { numbers }) => {
    return device === 'b' && numbers.length > 0;
  });
}

addEventListener('message', ({ source, data }) => {
  const device = source === frames.a.contentWindow ? 'a' : 'b';
  if (!Array.isArray(data.numbers)) return;
  const before = seen[device];
  const numbers = isOld(device, data.numbers) ? [] : data.numbers;
  seen[device] = numbers;
  count();
  if (frames.b.src === '' && seen.a.length > 20) attach();
  const over = measure?.isOver(device, { ...data, numbers }, before);
  if (over) {
    const ms = over === true ? performance.now() - measure.since : over;
    show(measure.shown, Math.round(ms));
    const outcome = `${measure.over} after ${(ms / 1_000).toFixed(1)} s, ${worst.lost} words lost`;
    log(measure.what, { outcome, state: 'back' });
    measure = undefined;
  }
});

function count() {
  const all = [judge(seen.a), judge(seen.b)];
  show('words', Math.max(...all.map(({ words }) => words)));
  for (const fault of ['lost', 'doubled']) {
    worst[fault] = Math.max(worst[fault], ...all.map((each) => each[fault]));
    show(fault, worst[fault]);
    const { classList } = document.getElementById(fault);
    classList.toggle('bad', worst[fault] > 0);
    classList.toggle('good', worst[fault] === 0);
  }
}

function isOld(device, numbers) {
  if (String(old[device]) === String(numbers)) return true;
  old[device] = undefined;
  return false;
}

/** A reply of so many words begins. */
function ask(text, words) {
  for (const device of ['a', 'b']) {
    if (seen[device].length > 0) old[device] = seen[device];
    seen[device] = [];
  }
  expected = words;
  worst = { lost: 0, doubled: 0 };
  say('a', 'say', text);
}

function begin(shown, what, isOver, { over = 'next word', state } = {}) {
  log(what, { state });
  measure = { shown, what, isOver, over, since: performance.now() };
}

/** So many more words are seen on the first device; then the longest silence is known. */
const ENOUGH = 25;

function beginRecovery(what) {
  const highest = Math.max(0, ...seen.a);
  if (highest >= expected) {
    log(what, { outcome: 'No reply was under way' });
    return;
  }
  const silence = createSilence({
    seen: highest,
    until: Math.min(highest + ENOUGH, expected),
    now: performance.now(),
  });
  const isOver = (device, { numbers }) =>
    device === 'a' && silence.see(Math.max(0, ...numbers), performance.now());
  begin('recovery', what, isOver, { over: 'new words', state: 'down' });
}

async function act(name) {
  const response = await fetch('/chaos/act', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ act: name }),
  });
  if (!response.ok) log(await response.text());
}

const ACTS = {
  start: () => {
    log(`The agent counts to ${STEPS * WORDS_OF_STEP}`);
    ask(script(...longReply()), STEPS * WORDS_OF_STEP);
  },
  ask: () => {
    const charge = { calls: [{ tool: 'charge', id: `c${Date.now()}`, args: { amount: 5 } }] };
    ask(script(charge, counting(40)), 40);
    log('The agent asks, and waits without a process');
  },
  answer: () => {
    say('b', 'approve');
    begin('recovery', 'Approved on the second device', (device, { numbers }, before) => {
      return device === 'a' && numbers.length > 0 && numbers.length !== before.length;
    });
  },
  expire: () => {
    const charge = {
      calls: [{ tool: 'hurriedCharge', id: `c${Date.now()}`, args: { amount: 5 } }],
    };
    ask(script(charge, counting(40)), 40);
    begin('recovery', 'An approval with four seconds to answer', (_, { numbers }, before) => {
      return numbers.length > 0 && numbers.length < 40 && numbers.length !== before.length;
    });
  },
  attach,
  stop: () => {
    const from = performance.now();
    expected = 0;
    say('a', 'stop');
    const isReady = (device, { isStopping }) =>
      device === 'a' && !isStopping && performance.now() > from;
    begin('stop', 'Stopped', isReady, { over: 'ready' });
  },
  'drop-network': async () => {
    beginRecovery('First device: no network for two seconds');
    await act('drop-network');
  },
};

const BROKEN = {
  'kill-worker': 'kill -9 worker',
  'kill-api': 'kill -9 API',
  'restart-redis': 'Redis restarts',
  'restart-temporal': 'Temporal restarts',
};

for (const button of document.querySelectorAll('button')) {
  button.addEventListener('click', () => {
    const name = button.dataset.act;
    if (name in ACTS) void ACTS[name]();
    else {
      beginRecovery(BROKEN[name]);
      void act(name);
    }
  });
}
void open();
