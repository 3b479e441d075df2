// The bench: two devices on one conversation, and what a person would count on them.
const STEPS = 15;
const WORDS_OF_STEP = 40;
const EVERY_MS = 40;
const frames = { a: document.getElementById('a'), b: document.getElementById('b') };
const seen = { a: [], b: [] };
const state = { a: {}, b: {} };
let measure;
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

/** Lost: a number that is missing below one that came later. Doubled: one that is there twice. */
function judge(numbers) {
  const distinct = new Set(numbers);
  const highest = Math.max(0, ...distinct);
  return {
    words: distinct.size,
    lost: highest - distinct.size,
    doubled: numbers.length - distinct.size,
  };
}

addEventListener('message', ({ source, data }) => {
  const device = source === frames.a.contentWindow ? 'a' : 'b';
  if (!Array.isArray(data.numbers)) return;
  const before = seen[device];
  seen[device] = data.numbers;
  state[device] = data;
  const all = [judge(seen.a), judge(seen.b)];
  show('words', Math.max(...all.map(({ words }) => words)));
  for (const fault of ['lost', 'doubled']) {
    const count = Math.max(...all.map((each) => each[fault]));
    show(fault, count);
    const { classList } = document.getElementById(fault);
    classList.toggle('bad', count > 0);
    classList.toggle('good', count === 0);
  }
  if (frames.b.src === '' && seen.a.length > 20) attach();
  const over = measure?.isOver(device, data, before);
  if (over) {
    const ms = over === true ? performance.now() - measure.since : over;
    show(measure.shown, Math.round(ms));
    const lost = Math.max(...all.map((each) => each.lost));
    const outcome = `${measure.over} after ${(ms / 1_000).toFixed(1)} s, ${lost} words lost`;
    log(measure.what, { outcome, state: 'back' });
    measure = undefined;
  }
});

function begin(shown, what, isOver, { over = 'next word', state } = {}) {
  log(what, { state });
  measure = { shown, what, isOver, over, since: performance.now() };
}

/** So many more words are seen on the first device; then the longest silence is known. */
const ENOUGH = 25;

function beginRecovery(what) {
  let last = performance.now();
  let longest = 0;
  let gained = 0;
  const isOver = (device, { numbers }, before) => {
    if (device !== 'a' || numbers.length <= before.length) return false;
    gained += numbers.length - before.length;
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    return gained >= ENOUGH && longest;
  };
  begin('recovery', what, isOver, { over: 'words came back', state: 'down' });
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
    log('The agent counts to 600');
    say('a', 'say', script(...longReply()));
  },
  ask: () => {
    const charge = { calls: [{ tool: 'charge', id: `c${Date.now()}`, args: { amount: 5 } }] };
    say('a', 'say', script(charge, counting(40)));
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
    say('a', 'say', script(charge, counting(40)));
    begin('recovery', 'An approval with four seconds to answer', (_, { numbers }, before) => {
      return numbers.length > 0 && numbers.length < 40 && numbers.length !== before.length;
    });
  },
  attach,
  stop: () => {
    const from = performance.now();
    say('a', 'stop');
    begin('stop', 'Stopped', (_, { isStopping }) => !isStopping && performance.now() > from, {
      over: 'ready',
    });
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
