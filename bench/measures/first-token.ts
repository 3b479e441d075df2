import { createScriptedModel } from '../../agents/index.js';
import { takeSamples, type Take } from '../bench.js';
import { newSessionId, toLabText } from '../client/chat-client.js';
import { wallClock } from '../clock.js';
import { row } from '../report.js';

const TEXT = toLabText({ stamp: true, deltas: 1 });

/** Latency of a turn's first token, against the floor: a bare workflow up to its first activity's code. */
export const take: Take = async ({ quick, floor, chat }) => {
  const size = { warmUp: 10, count: quick ? 5 : 60 };
  const samples = await takeSamples(size, async () => {
    const direct = await timeDirectly();
    const floorFrom = wallClock();
    const { spans } = await floor.runSteps(1);
    const bare = (spans[0]?.begin ?? NaN) - floorFrom;
    const from = wallClock();
    let client = NaN;
    await chat.sayByFetch(newSessionId(), TEXT, (json, at) => {
      if (json.startsWith('{"type":"text-delta"')) client = at - from;
    });
    return { added: client - direct, bare };
  });
  const added = samples.map((each) => each.added);
  const beside = ['bare workflow → activity', samples.map(({ bare }) => bare)] as const;
  return [row('time to first token, added', 'ms', added, { beside, aim: { ratio: 1.1 } })];
};

/** Times the same call to the same model without a runtime. */
async function timeDirectly(): Promise<number> {
  const model = createScriptedModel();
  const from = performance.now();
  const { stream } = await model.doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: TEXT }] }],
  });
  for await (const part of stream) {
    if (part.type === 'text-delta') return performance.now() - from;
  }
  return NaN;
}
