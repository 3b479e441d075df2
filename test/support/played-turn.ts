import type { RunInput } from '../../protocol/run.js';
import type { MemoryStores } from '../../store/memory/index.js';
import { toOpening, type FakeCall } from './fake-call.js';
import { drive, type SessionDriver } from './session-driver.js';

/** A run's first step, written through the real store as a worker does. */
export class PlayedTurn {
  readonly #session: SessionDriver;
  readonly #runId: string;
  #token = 0;
  #batch = 0;
  #text = '';
  #messageId = '';

  constructor(stores: MemoryStores, { sessionId, runId }: Pick<RunInput, 'sessionId' | 'runId'>) {
    this.#session = drive(stores, sessionId);
    this.#runId = runId;
  }

  /** Begins the step; the attempt before it, if any, is taken for dead and withdrawn. */
  async begin(): Promise<void> {
    this.#token += 1;
    this.#batch = 0;
    this.#text = '';
    const claimed = await this.#session.claim(this.#writer);
    if (claimed.kind !== 'claimed') throw new Error(`claim replied ${claimed.kind}`);
    this.#messageId = claimed.messageId;
  }

  async say(text: string): Promise<void> {
    if (this.#token === 0) await this.begin();
    this.#batch += 1;
    this.#text += text;
    await this.#session.say(this.#writer, this.#batch, text);
  }

  /** Commits the step, which ends the run unless it has calls. */
  async finish(calls: (FakeCall & Required<Pick<FakeCall, 'kind'>>)[] = []): Promise<void> {
    if (this.#token === 0) await this.begin();
    const { runId, step, sessionId: agentId, agentType } = this.#writer;
    const opened = calls.map(({ id, name, kind, input }) => {
      return { toolCallId: id, toolName: name, kind, input };
    });
    const parts = opened.map((call) => ({ type: 'tool-call' as const, ...call }));
    const common = { agentId, agentType, step, timestamp: 1 };
    const row = { role: 'assistant' as const, messageId: this.#messageId, runId, step };
    await this.#session.commit(this.#writer, {
      row: { ...row, parts: [{ type: 'text', text: this.#text }, ...parts] },
      calls: opened,
      chunks: [
        ...calls.map((call) => ({ ...toOpening(runId, call), ...common })),
        { type: 'step_end', ...common },
      ],
    });
  }

  get #writer() {
    return this.#session.writer(this.#runId, 1, this.#token);
  }
}

/** What happens in a run. */
export type Play = (turn: PlayedTurn, sessionId: string) => Promise<void>;

/** Returns what starts such runs in place of an engine. */
export function playWith(stores: MemoryStores, play: Play) {
  return async (run: RunInput): Promise<void> => {
    await play(new PlayedTurn(stores, run), run.sessionId);
  };
}

/** The newest run of a conversation, which nothing plays. */
export async function turnOf(stores: MemoryStores, sessionId: string): Promise<PlayedTurn> {
  const record = await stores.store.sessions.read(sessionId);
  if (record === undefined) throw new Error(`no conversation ${sessionId}`);
  return new PlayedTurn(stores, record);
}
