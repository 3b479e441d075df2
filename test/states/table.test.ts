import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { HelixError } from '../../protocol/errors.js';
import { isTerminal } from '../../protocol/run.js';
import { CALLS } from './model/invariants/calls.js';
import { RUNS_AND_MESSAGES } from './model/invariants/runs.js';
import { STATUS } from './model/invariants/status.js';
import { SESSION } from './model/plan.js';
import type { Sent } from './model/record/play.js';
import { TABLE_EVENTS, TABLE_STATES, type Happen, type Reach } from './table-cells.js';
import { createWorld, driverOf, storedIn, storeOf, type World } from './world.js';

/** Stands for the request, which only rules about writers read. */
const SENT: Sent = { sessionId: SESSION, what: 'stop', input: {} };

/** Status of the newest run, as an operator reads it. */
async function statusOf(world: World): Promise<string> {
  const record = await storeOf(world).sessions.read(SESSION);
  if (record === undefined) return 'no session';
  const { status, stop, resume } = record;
  if (stop !== undefined && !isTerminal(status)) return `${status}, stopping`;
  return resume !== undefined && !isTerminal(status) ? `${status}, answered` : status;
}

/** Returns the outcome of an event in a state: the reply, and the status if it changes. */
async function cellOf(where: string, reach: Reach, happen: Happen): Promise<string> {
  const world = createWorld();
  const session = driverOf(world);
  await reach(session, world);
  const before = await statusOf(world);
  const stored = storedIn(world);
  let reply: string;
  try {
    reply = (await happen(session, world)).kind;
  } catch (error) {
    if (!HelixError.isInstance(error)) throw error;
    reply = error.code;
  }
  for (const { rule, find } of [...CALLS, ...RUNS_AND_MESSAGES, ...STATUS]) {
    const fault = find(storedIn(world), stored, SENT);
    if (fault !== undefined) throw new Error(`${where}: ${rule}: ${fault}`);
  }
  const after = await statusOf(world);
  return after === before ? reply : `${reply} → ${after}`;
}

/** Returns a section for each event, with a line for each outcome and the states in which it is the outcome. */
async function toTable(): Promise<string> {
  const sections: string[] = [];
  for (const [event, happen] of Object.entries(TABLE_EVENTS)) {
    const states = new Map<string, string[]>();
    for (const [state, reach] of Object.entries(TABLE_STATES)) {
      const outcome = await cellOf(`${state}, ${event}`, reach, happen);
      states.set(outcome, [...(states.get(outcome) ?? []), state]);
    }
    const lines = [...states].map(([outcome, of]) => `  ${outcome}: ${of.join(' | ')}`);
    sections.push([event, ...lines].join('\n'));
  }
  return sections.join('\n');
}

/** UPDATE_STATES=1 writes this file. */
const file = fileURLToPath(new URL('./outcomes.txt', import.meta.url));

it('the recorded outcome of every event in every state is what the code does', async () => {
  const table = `${await toTable()}\n`;
  if (process.env['UPDATE_STATES'] !== undefined) await writeFile(file, table);
  expect(await readFile(file, 'utf8')).toBe(table);
});
