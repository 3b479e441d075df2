import { compaction, type PrepareStep } from '../../agents/index.js';
import { createInProcessExecutor } from '../../in-process/index.js';
import type { Bench, Measurement } from '../bench.js';
import { createTalkativeAgent, TALKATIVE } from '../load/talkative-agent.js';
import type { Report, Row } from '../report/row.js';
import { summarize, type Summary } from '../report/statistics.js';
import { openStores } from '../stores.js';

const STEPS = 1_000;
const QUICK_STEPS = 100;
const MAX_TOKENS = 20_000;
/** Of about 1,000 tokens. */
const SUMMARY = 'What was read so far. '.repeat(180);
const NEIGHBOURS = 20;
const CHARACTERS_PER_TOKEN = 4;

/** A thousand model calls in one turn, with summaries and without: prompts and steps stay as they are. */
export const compactedConversation: Measurement = {
  name: 'compaction',
  take: async (bench) => {
    const steps = bench.isQuick ? QUICK_STEPS : STEPS;
    let summaries = 0;
    const compact = compaction({
      maxTokens: MAX_TOKENS,
      summarize: () => {
        summaries += 1;
        return SUMMARY;
      },
    });
    bench.say(`compaction: ${String(steps)} steps with all messages`);
    const whole = await perform(bench, steps, ({ messages }) => ({ messages }));
    bench.say(`compaction: ${String(steps)} steps with summaries`);
    const compacted = await perform(bench, steps, compact);
    return toReport(steps, { whole, compacted, summaries });
  },
};

/** By step: from its model call to the next one, ms; and the prompt's tokens. */
interface Performed {
  ms: number[];
  tokens: number[];
}

async function perform(
  { servers }: Bench,
  steps: number,
  prepareStep: PrepareStep,
): Promise<Performed> {
  const stores = openStores(servers.redisUrl);
  const ms: number[] = [];
  const tokens: number[] = [];
  let askedAt = NaN;
  const agent = createTalkativeAgent(
    steps,
    (step, prompt) => {
      const now = performance.now();
      ms[step - 1] = now - askedAt;
      tokens[step] = JSON.stringify(prompt).length / CHARACTERS_PER_TOKEN;
      askedAt = performance.now();
    },
    prepareStep,
  );
  try {
    await stores.ping();
    const executor = createInProcessExecutor({ agents: [agent], stores, name: 'bench-compaction' });
    const handle = await executor.execute(TALKATIVE, 'Talk to me.');
    await handle.result();
    await executor.close();
  } finally {
    await stores.close();
  }
  return { ms, tokens };
}

function toReport(
  steps: number,
  { whole, compacted, summaries }: Record<'whole' | 'compacted', Performed> & { summaries: number },
): Report {
  const places = [50, 100, 500, 980].filter((place) => place <= steps - NEIGHBOURS);
  const rows = places.map((place): Row => ({
    what: `with summaries: step ${String(place)}, its tool included`,
    unit: 'ms',
    value: around(compacted.ms, place),
    beside: { what: 'with all messages', value: around(whole.ms, place) },
  }));
  const most = (tokens: number[]): string => (Math.max(...tokens.slice(1)) / 1_000).toFixed(1);
  const notes = [
    `${String(steps)} model calls in one process: ${String(summaries)} summaries; the longest prompt has ` +
      `${most(compacted.tokens)}k tokens, with all messages ${most(whole.tokens)}k`,
  ];
  return { rows, notes };
}

function around(byStep: readonly number[], place: number): Summary {
  return summarize(byStep.slice(Math.max(2, place - NEIGHBOURS), place + NEIGHBOURS));
}
