// The bench: two devices on one conversation, and what a person would count on them.
/* eslint-env browser */
const WORDS = 400;
const EVERY_MS = 40;
const frames = { a: document.getElementById('a'), b: document.getElementById('b') };
const seen = { a: [], b: [] };
const state = { a: {}, b: {} };
let measure;
let session = `bench-${crypto.randomUUID().slice(0, 8)}`;

const show = (id, value) => (document.getElementById(id).textContent = String(value));
const log = (text) => show('log', text);
const say = (device, act, text) => frames[device].contentWindow.postMessage({ act, text }, '*');
const script = (...entries) => JSON.stringify({ script: entries });
const counting = (words) => ({
  say: Array.from({ length: words }, (_, n) => n + 1).join(' '),
  deltas: words,
  everyMs: EVERY_MS,
});

async function open() {
  const { deviceB } = await (await fetch('/chaos/devices')).json();
  const at = `/?session=${session}&agent=lab`;
  frames.a.src = at;
  frames.b.src = deviceB + at;
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
    document.getElementById(fault).classList.toggle('bad', count > 0);
  }
  if (measure?.isOver(device, data, before)) {
    show(measure.shown, Math.round(performance.now() - measure.since));
    log(`${measure.what}: over`);
    measure = undefined;
  }
});

function begin(shown, what, isOver) {
  log(what);
  measure = { shown, what, isOver, since: performance.now() };
}

/** Words come again at a device that was cut off, or at any. */
const wordsAgain = (only, from = performance.now()) => {
  let silent = false;
  let last = from;
  return (device, { numbers }, before) => {
    if (only !== undefined && device !== only) return false;
    const grew = numbers.length > before.length;
    const now = performance.now();
    // What was on its way does not count: first there has to be a gap.
    silent ||= now - last > 250;
    if (grew) last = now;
    return grew && silent;
  };
};

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
    log('the agent counts');
    say('a', 'say', script(counting(WORDS)));
  },
  ask: () => {
    const charge = { calls: [{ tool: 'charge', id: `c${Date.now()}`, args: { amount: 5 } }] };
    say('a', 'say', script(charge, counting(40)));
    log('the agent asks');
  },
  answer: () => {
    say('b', 'approve');
    begin('recovery', 'answered on the second device', (device, { numbers }, before) => {
      return device === 'a' && numbers.length > 0 && numbers.length !== before.length;
    });
  },
  expire: () => {
    const ask = {
      calls: [{ tool: 'ask', id: `c${Date.now()}`, args: { question: 'Any answer?' } }],
    };
    say('a', 'say', script(ask, counting(40)));
    begin('recovery', 'a question with two seconds', (_, { numbers }, before) => {
      return numbers.length > 0 && numbers.length < 40 && numbers.length !== before.length;
    });
  },
  attach: () => {
    seen.b = [];
    begin('attach', 'the second device is loaded again', (device, { numbers }) => {
      return device === 'b' && numbers.length > 0;
    });
    frames.b.src = frames.b.src.replace(/&?$/, '');
  },
  stop: () => {
    const from = performance.now();
    say('a', 'stop');
    begin('stop', 'stop', (_, { isStopping }) => !isStopping && performance.now() > from);
  },
  'drop-network': async () => {
    begin('recovery', 'the first device has no network for two seconds', wordsAgain('a'));
    await act('drop-network');
  },
};

for (const button of document.querySelectorAll('button')) {
  button.addEventListener('click', () => {
    const name = button.dataset.act;
    if (name in ACTS) void ACTS[name]();
    else {
      begin('recovery', button.textContent, wordsAgain());
      void act(name);
    }
  });
}
void open();
