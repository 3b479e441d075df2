// What the chaos bench says of faults; see mutations.mjs.
const CHAOS = 'test/page/page-chaos.test.ts';
const COUNT = 'test/scripts/count-words.test.mjs';

export const chaos = [
  {
    defence: 'Chaos bench: words of an earlier reply do not count for the next',
    file: 'scripts/start/chaos/bench-page.js',
    edits: [['isOld(device, data.numbers) ? [] : data.numbers', 'data.numbers']],
    suite: 'test/page/page-chaos.test.ts',
    test: 'the bench says that nothing was under way, and counts no word of an earlier reply for the next',
  },
  {
    defence: 'Chaos bench: the other device answers',
    file: 'scripts/start/chaos/bench-page.js',
    edits: [["say('b', 'approve');", '']],
    suite: CHAOS,
    test: 'the bench answers an approval from the other device: both see one charge and the whole reply',
  },
  {
    defence: 'Chaos bench: an approval expires',
    file: 'scripts/start/chaos/bench-page.js',
    edits: [["tool: 'hurriedCharge', id:", "tool: 'charge', id:"]],
    suite: CHAOS,
    test: 'the bench lets an approval expire: it is denied, nothing is charged, and the agent continues on both devices',
  },
  {
    defence: 'Chaos bench: a phone shows devices that can be used',
    file: 'scripts/start/chaos/bench.html',
    edits: [['repeat(2, clamp(24rem, 80svh, 40rem))', '1fr 1fr']],
    suite: CHAOS,
    test: 'on a phone of 390 px the bench is as wide as the screen, and each device is high enough to be used',
  },
  {
    defence: 'Chaos bench: the focus of a device does not scroll the bench away from its buttons',
    file: 'scripts/start/chaos/device-page.js',
    edits: [[', preventScroll: true', '']],
    suite: CHAOS,
    test: 'on a phone of 320 px the bench is as wide as the screen, and each device is high enough to be used',
  },
  {
    defence: 'Chaos bench: words count by their place in the text',
    file: 'scripts/start/chaos/count-words.js',
    edits: [['lost += number - highest - 1;', '']],
    suite: COUNT,
    test: 'what the chaos bench counts a gap',
  },
  {
    defence: 'Chaos bench: a word that is still being written is not counted',
    file: 'scripts/start/chaos/count-words.js',
    edits: [['return isCutOff ? numbers.slice(0, -1) : numbers;', 'return numbers;']],
    suite: COUNT,
    test: 'what the chaos bench counts a word that is still being written is not counted',
  },
  {
    defence: 'Chaos bench: words that are shown again are not new',
    file: 'scripts/start/chaos/count-words.js',
    edits: [['if (highest <= seen) return undefined;', '']],
    suite: COUNT,
    test: 'what the chaos bench counts words that are shown again end no silence',
  },
];
