import { createScriptedModel } from '../../agents/index.js';
import type { Bench, Measurement } from '../bench.js';
import { toLabText } from '../client/lab-script.js';
import { newSessionId } from '../client/chat-client.js';
import { wallClock } from '../clock.js';
import { summarize } from '../report.js';

const WARM_UP = 10;
const SAMPLES = 60;

const TEXT = toLabText({ stamp: true, deltas: 1 });

interface Samples {
  /** Latency of a turn's first token over the HTTP API, minus the model's own. */
  added: number[];
  /** The part before the model speaks. */
  untilModel: number[];
  /** The part from the model to the client. */
  fromModel: number[];
  floor: number[];
}

/** Latency of a turn's first token, against the floor: a bare workflow up to its first activity's code. */
export const firstToken: Measurement = {
  name: 'first-token',
  take: async (bench) => {
    for (let index = 0; index < WARM_UP; index += 1) await sample(bench);
    const samples: Samples = { added: [], untilModel: [], fromModel: [], floor: [] };
    const count = bench.isQuick ? 5 : SAMPLES;
    for (let index = 0; index < count; index += 1) {
      const { direct, floor, model, client } = await sample(bench);
      samples.added.push(client - direct);
      samples.untilModel.push(model);
      samples.fromModel.push(client - model);
      samples.floor.push(floor);
    }
    const beside = { what: 'bare workflow → activity', value: summarize(samples.floor) };
    return {
      rows: [
        {
          what: 'time to first token, added',
          unit: 'ms',
          value: summarize(samples.added),
          beside,
          aim: { ratio: 1.1 },
        },
        {
          what: '  until the model speaks',
          unit: 'ms',
          value: summarize(samples.untilModel),
          beside,
        },
        { what: '  model → client', unit: 'ms', value: summarize(samples.fromModel) },
      ],
      notes: [],
    };
  },
};

/** Takes one sample of each kind in turn, so that all see the same state of the machine. */
async function sample(bench: Bench): Promise<{
  direct: number;
  floor: number;
  model: number;
  client: number;
}> {
  const direct = await timeDirectly();
  const floorFrom = wallClock();
  const { spans } = await bench.floor.runSteps(1);
  const floor = (spans[0]?.begin ?? NaN) - floorFrom;
  const from = wallClock();
  let model = NaN;
  let client = NaN;
  await bench.chat.say(newSessionId(), TEXT, (json, at) => {
    if (!json.startsWith('{"type":"text-delta"')) return;
    client = at - from;
    model = Number((JSON.parse(json) as { delta: string }).delta) - from;
  });
  return { direct, floor, model, client };
}

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
